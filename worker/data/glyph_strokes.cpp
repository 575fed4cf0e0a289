#include "worker/data/glyph_strokes.h"

#include <array>

namespace ballast {
namespace {

constexpr GlyphPoint kZeroA1[] = {{0.5F, 0.02F},  {0.24F, 0.17F}, {0.15F, 0.5F},  {0.24F, 0.83F}, {0.5F, 0.98F},
                                  {0.76F, 0.83F}, {0.85F, 0.5F},  {0.76F, 0.17F}, {0.5F, 0.02F}};
constexpr GlyphStroke kZeroA[] = {{kZeroA1}};
constexpr GlyphPoint kZeroB1[] = {{0.56F, 0.01F}, {0.34F, 0.2F},  {0.27F, 0.55F}, {0.36F, 0.87F}, {0.53F, 0.98F},
                                  {0.68F, 0.8F},  {0.74F, 0.45F}, {0.66F, 0.12F}, {0.48F, 0.05F}};
constexpr GlyphStroke kZeroB[] = {{kZeroB1}};
constexpr GlyphShape kZero[] = {{kZeroA}, {kZeroB}};

constexpr GlyphPoint kOneA1[] = {{0.5F, 0.01F}, {0.5F, 0.99F}};
constexpr GlyphStroke kOneA[] = {{kOneA1}};
constexpr GlyphPoint kOneB1[] = {{0.28F, 0.25F}, {0.52F, 0.02F}};
constexpr GlyphPoint kOneB2[] = {{0.52F, 0.02F}, {0.52F, 0.98F}};
constexpr GlyphStroke kOneB[] = {{kOneB1}, {kOneB2}};
constexpr GlyphPoint kOneC1[] = {{0.3F, 0.22F}, {0.5F, 0.03F}};
constexpr GlyphPoint kOneC2[] = {{0.5F, 0.03F}, {0.5F, 0.96F}};
constexpr GlyphPoint kOneC3[] = {{0.28F, 0.96F}, {0.74F, 0.96F}};
constexpr GlyphStroke kOneC[] = {{kOneC1}, {kOneC2}, {kOneC3}};
constexpr GlyphShape kOne[] = {{kOneA}, {kOneB}, {kOneC}};

constexpr GlyphPoint kTwoA1[] = {{0.2F, 0.25F},  {0.32F, 0.06F}, {0.56F, 0.02F}, {0.77F, 0.2F},
                                 {0.68F, 0.46F}, {0.42F, 0.72F}, {0.17F, 0.96F}};
constexpr GlyphPoint kTwoA2[] = {{0.17F, 0.96F}, {0.85F, 0.94F}};
constexpr GlyphStroke kTwoA[] = {{kTwoA1}, {kTwoA2}};
constexpr GlyphPoint kTwoB1[] = {{0.2F, 0.22F},  {0.4F, 0.03F},  {0.68F, 0.07F}, {0.75F, 0.3F},  {0.55F, 0.62F},
                                 {0.26F, 0.92F}, {0.13F, 0.86F}, {0.26F, 0.75F}, {0.55F, 0.88F}, {0.88F, 0.92F}};
constexpr GlyphStroke kTwoB[] = {{kTwoB1}};
constexpr GlyphShape kTwo[] = {{kTwoA}, {kTwoB}};

constexpr GlyphPoint kThreeA1[] = {{0.2F, 0.14F}, {0.45F, 0.01F}, {0.73F, 0.13F}, {0.71F, 0.35F}, {0.42F, 0.47F}};
constexpr GlyphPoint kThreeA2[] = {{0.42F, 0.47F}, {0.75F, 0.57F}, {0.82F, 0.8F}, {0.55F, 0.99F}, {0.17F, 0.87F}};
constexpr GlyphStroke kThreeA[] = {{kThreeA1}, {kThreeA2}};
constexpr GlyphPoint kThreeB1[] = {{0.18F, 0.03F}, {0.78F, 0.03F}};
constexpr GlyphPoint kThreeB2[] = {{0.78F, 0.03F}, {0.44F, 0.4F}};
constexpr GlyphPoint kThreeB3[] = {{0.44F, 0.4F}, {0.74F, 0.5F}, {0.81F, 0.76F}, {0.52F, 0.98F}, {0.16F, 0.87F}};
constexpr GlyphStroke kThreeB[] = {{kThreeB1}, {kThreeB2}, {kThreeB3}};
constexpr GlyphShape kThree[] = {{kThreeA}, {kThreeB}};

constexpr GlyphPoint kFourA1[] = {{0.3F, 0.05F}, {0.2F, 0.35F}, {0.17F, 0.6F}};
constexpr GlyphPoint kFourA2[] = {{0.17F, 0.6F}, {0.88F, 0.58F}};
constexpr GlyphPoint kFourA3[] = {{0.68F, 0.1F}, {0.65F, 0.98F}};
constexpr GlyphStroke kFourA[] = {{kFourA1}, {kFourA2}, {kFourA3}};
constexpr GlyphPoint kFourB1[] = {{0.62F, 0.02F}, {0.13F, 0.66F}};
constexpr GlyphPoint kFourB2[] = {{0.13F, 0.66F}, {0.9F, 0.66F}};
constexpr GlyphPoint kFourB3[] = {{0.62F, 0.02F}, {0.62F, 0.99F}};
constexpr GlyphStroke kFourB[] = {{kFourB1}, {kFourB2}, {kFourB3}};
constexpr GlyphShape kFour[] = {{kFourA}, {kFourB}};

constexpr GlyphPoint kFiveA1[] = {{0.78F, 0.04F}, {0.3F, 0.05F}};
constexpr GlyphPoint kFiveA2[] = {{0.3F, 0.05F}, {0.24F, 0.45F}};
constexpr GlyphPoint kFiveA3[] = {{0.24F, 0.45F}, {0.5F, 0.38F},  {0.78F, 0.52F},
                                  {0.8F, 0.78F},  {0.52F, 0.98F}, {0.17F, 0.88F}};
constexpr GlyphStroke kFiveA[] = {{kFiveA1}, {kFiveA2}, {kFiveA3}};
constexpr GlyphPoint kFiveB1[] = {{0.8F, 0.05F}, {0.45F, 0.05F}, {0.27F, 0.22F}, {0.34F, 0.43F}, {0.62F, 0.49F},
                                  {0.8F, 0.68F}, {0.68F, 0.92F}, {0.42F, 0.98F}, {0.18F, 0.88F}};
constexpr GlyphStroke kFiveB[] = {{kFiveB1}};
constexpr GlyphShape kFive[] = {{kFiveA}, {kFiveB}};

constexpr GlyphPoint kSixA1[] = {{0.7F, 0.03F},  {0.4F, 0.2F},   {0.22F, 0.55F}, {0.3F, 0.88F}, {0.55F, 0.98F},
                                 {0.78F, 0.82F}, {0.72F, 0.58F}, {0.48F, 0.5F},  {0.25F, 0.66F}};
constexpr GlyphStroke kSixA[] = {{kSixA1}};
constexpr GlyphPoint kSixB1[] = {{0.6F, 0.0F},   {0.34F, 0.36F}, {0.2F, 0.72F}, {0.38F, 0.97F}, {0.66F, 0.93F},
                                 {0.77F, 0.73F}, {0.6F, 0.55F},  {0.36F, 0.6F}, {0.21F, 0.76F}};
constexpr GlyphStroke kSixB[] = {{kSixB1}};
constexpr GlyphShape kSix[] = {{kSixA}, {kSixB}};

constexpr GlyphPoint kSevenA1[] = {{0.17F, 0.05F}, {0.84F, 0.05F}};
constexpr GlyphPoint kSevenA2[] = {{0.84F, 0.05F}, {0.6F, 0.4F}, {0.45F, 0.98F}};
constexpr GlyphStroke kSevenA[] = {{kSevenA1}, {kSevenA2}};
constexpr GlyphPoint kSevenB1[] = {{0.17F, 0.05F}, {0.84F, 0.05F}};
constexpr GlyphPoint kSevenB2[] = {{0.84F, 0.05F}, {0.58F, 0.45F}, {0.42F, 0.98F}};
constexpr GlyphPoint kSevenB3[] = {{0.32F, 0.5F}, {0.76F, 0.48F}};
constexpr GlyphStroke kSevenB[] = {{kSevenB1}, {kSevenB2}, {kSevenB3}};
constexpr GlyphPoint kSevenC1[] = {{0.16F, 0.2F}, {0.18F, 0.04F}};
constexpr GlyphPoint kSevenC2[] = {{0.18F, 0.04F}, {0.84F, 0.05F}};
constexpr GlyphPoint kSevenC3[] = {{0.84F, 0.05F}, {0.62F, 0.5F}, {0.54F, 0.98F}};
constexpr GlyphStroke kSevenC[] = {{kSevenC1}, {kSevenC2}, {kSevenC3}};
constexpr GlyphShape kSeven[] = {{kSevenA}, {kSevenB}, {kSevenC}};

constexpr GlyphPoint kEightA1[] = {{0.5F, 0.47F},  {0.27F, 0.3F},  {0.3F, 0.08F},  {0.5F, 0.01F},  {0.71F, 0.08F},
                                   {0.73F, 0.3F},  {0.5F, 0.47F},  {0.24F, 0.66F}, {0.21F, 0.88F}, {0.5F, 0.99F},
                                   {0.79F, 0.88F}, {0.76F, 0.66F}, {0.5F, 0.47F}};
constexpr GlyphStroke kEightA[] = {{kEightA1}};
constexpr GlyphPoint kEightB1[] = {{0.74F, 0.14F}, {0.5F, 0.02F}, {0.27F, 0.17F}, {0.4F, 0.4F},
                                   {0.65F, 0.58F}, {0.77F, 0.8F}, {0.5F, 0.98F},  {0.23F, 0.8F},
                                   {0.36F, 0.58F}, {0.62F, 0.4F}, {0.74F, 0.14F}};
constexpr GlyphStroke kEightB[] = {{kEightB1}};
constexpr GlyphShape kEight[] = {{kEightA}, {kEightB}};

constexpr GlyphPoint kNineA1[] = {{0.76F, 0.28F}, {0.55F, 0.52F}, {0.28F, 0.45F}, {0.24F, 0.2F}, {0.48F, 0.02F},
                                  {0.72F, 0.12F}, {0.77F, 0.35F}, {0.73F, 0.7F},  {0.64F, 0.98F}};
constexpr GlyphStroke kNineA[] = {{kNineA1}};
constexpr GlyphPoint kNineB1[] = {{0.76F, 0.26F}, {0.52F, 0.5F},  {0.25F, 0.4F}, {0.25F, 0.15F}, {0.5F, 0.02F},
                                  {0.75F, 0.14F}, {0.79F, 0.45F}, {0.7F, 0.8F},  {0.45F, 0.98F}, {0.22F, 0.88F}};
constexpr GlyphStroke kNineB[] = {{kNineB1}};
constexpr GlyphShape kNine[] = {{kNineA}, {kNineB}};

constexpr std::array<std::span<const GlyphShape>, 10> kDigits = {kZero, kOne, kTwo,   kThree, kFour,
                                                                 kFive, kSix, kSeven, kEight, kNine};

}  // namespace

std::span<const GlyphShape> glyph_shapes(std::uint32_t digit) { return kDigits.at(digit); }

}  // namespace ballast

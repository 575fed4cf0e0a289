#include "common/job/steps.h"

namespace ballast {
namespace {

constexpr SplitSizes kMnist = {60000, 10000};
constexpr SplitSizes kGlyphs = {20000, 4000};  // unless the job names other numbers: the generator has no end
constexpr SplitSizes kNone = {1000000, 0};

std::uint32_t fewer(std::uint32_t wanted, std::uint32_t most) { return wanted == 0 ? most : std::min(wanted, most); }

std::uint32_t or_default(std::uint32_t wanted, std::uint32_t usual) { return wanted == 0 ? usual : wanted; }

SplitSizes whole_splits(const DataSpec& data) {
  if (data.name == "mnist") {
    return {fewer(data.train_examples, kMnist.train), fewer(data.test_examples, kMnist.test)};
  }
  if (data.name == "glyphs") {
    return {or_default(data.train_examples, kGlyphs.train), or_default(data.test_examples, kGlyphs.test)};
  }
  if (data.name == "none") {
    return {or_default(data.train_examples, kNone.train), kNone.test};
  }
  return {data.train_examples, data.test_examples};
}

}  // namespace

SplitSizes split_sizes(const DataSpec& data) {
  SplitSizes sizes = whole_splits(data);
  sizes.validation = std::min(data.validation_examples, sizes.train);
  sizes.train -= sizes.validation;
  return sizes;
}

}  // namespace ballast

#include "worker/compute/cpu/dropout_loops.h"

#include <array>
#include <cmath>

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {
namespace {

constexpr std::size_t kDraws = 4;   // of a block of Philox
constexpr std::size_t kBlocks = 8;  // drawn together: the compiler makes vectors of them

// uniform_from(bits) < rate, for whole numbers: uniform_from's result is (bits >> 8) / 2^24, exactly.
std::uint32_t first_kept(float rate) {
  return static_cast<std::uint32_t>(std::ceil(static_cast<double>(rate) * 0x1p24));
}

struct DrawFactors {
  BALLAST_VECTOR_INLINE static void run(const RandomStream* stream, std::uint64_t block, std::uint32_t kept,
                                        float factor, float* factors, std::size_t n) {
    std::array<PhiloxBlock, kBlocks> drawn = {};
    for (std::size_t begin = 0; begin < n; begin += kBlocks * kDraws, block += kBlocks) {
      for (std::size_t i = 0; i < kBlocks; ++i) {
        drawn[i] = stream->block(block + i);
      }
      const std::size_t count = std::min(n - begin, kBlocks * kDraws);
      for (std::size_t i = 0; i < count; ++i) {
        factors[begin + i] = (drawn[i / kDraws][i % kDraws] >> 8U) < kept ? 0.0F : factor;
      }
    }
  }
};

struct Multiply {
  BALLAST_VECTOR_INLINE static void run(const float* a, const float* b, float* product, std::size_t n) {
    in_vectors(n, [=](std::size_t i, auto lanes)
                      BALLAST_VECTOR_LAMBDA { lanes.put(product + i, lanes.get(a + i) * lanes.get(b + i)); });
  }
};

}  // namespace

void draw_factors(const RandomStream& stream, std::uint64_t first, float rate, float* factors, std::size_t n,
                  std::uint32_t threads) {
  share_out_pieces(n, kPiece, threads, [&](std::size_t begin, std::size_t end) {
    run_widest<DrawFactors>(&stream, (first + begin) / kDraws, first_kept(rate), 1.0F / (1.0F - rate), factors + begin,
                            end - begin);
  });
}

void multiply_loop(const float* a, const float* b, float* product, std::size_t n, std::uint32_t threads) {
  share_out_pieces(n, kPiece, threads, [&](std::size_t begin, std::size_t end) {
    run_widest<Multiply>(a + begin, b + begin, product + begin, end - begin);
  });
}

}  // namespace ballast::cpu

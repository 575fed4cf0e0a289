// Products of matrices in memory of any place and stride, for operations that make many of changing sizes. By oneDNN's
// sgemm, cut into pieces that depend on the sizes alone, each on one thread: the same bytes for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// Row-major; rows are `stride` floats apart. Transposed: of what lies there so.
struct Factor {
  const float* at = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

struct ProductSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

// What becomes of what the result held: replaced (not read) or added to.
enum class Into : std::uint8_t { replace, add };

// to = scale * left right, or added to it; left is rows x depth, right is depth x columns. A size of 0 is allowed.
void multiply(const ProductSize& size, Factor left, Factor right, float* to, std::size_t to_stride, Into into,
              std::uint32_t threads, float scale = 1.0F);

}  // namespace ballast::cpu

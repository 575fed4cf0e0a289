#include "worker/compute/cpu/softmax_loops.h"

#include <limits>

#include "worker/compute/cpu/vector_math.h"

namespace ballast::cpu {
namespace {

BALLAST_VECTOR_INLINE float largest_in(const float* x, std::size_t n) {
  Floats largest = all_lanes(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats value = load(x + i);
    largest = value > largest ? value : largest;
  }
  float of_all = largest_of(largest);
  for (; i < n; ++i) {
    of_all = x[i] > of_all ? x[i] : of_all;
  }
  return of_all;
}

// Some at a time in float, and their sums in double.
struct Exponentials {
  BALLAST_VECTOR_INLINE static void run(const float* x, std::size_t n, float* exponentials, ExponentialSum* result) {
    constexpr std::size_t kTogether = 512;
    const float largest = largest_in(x, n);
    double sum = 0;
    for (std::size_t begin = 0; begin < n; begin += kTogether) {
      Floats some{};
      in_vectors(std::min(kTogether, n - begin), [&](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
        float* const to = exponentials + begin + i;
        lanes.put(to, exp_of(lanes.get(x + begin + i) - largest));
        some += lanes.get(to);  // 0 where there is none
      });
      sum += static_cast<double>(sum_of(some));
    }
    *result = {largest, sum};
  }
};

struct Scale {
  BALLAST_VECTOR_INLINE static void run(float* values, std::size_t n, float factor, float less, const float* weights) {
    in_vectors(n, [=](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats weight = weights == nullptr ? all_lanes(1.0F) : lanes.get(weights + i);
      lanes.put(values + i, lanes.get(values + i) * factor - weight * less);
    });
  }
};

struct LossBackward {
  BALLAST_VECTOR_INLINE static void run(const float* probabilities, float* gradient, std::size_t n, float scale) {
    Floats sum{};
    in_vectors(n, [&](std::size_t i, auto lanes)
                      BALLAST_VECTOR_LAMBDA { sum += lanes.get(probabilities + i) * lanes.get(gradient + i); });
    const float mean = sum_of(sum);
    in_vectors(n, [=](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
      lanes.put(gradient + i, lanes.get(probabilities + i) * (lanes.get(gradient + i) - mean) * scale);
    });
  }
};

}  // namespace

ExponentialSum exponentials_of_row(const float* x, std::size_t n, float* exponentials) {
  ExponentialSum result;
  run_widest<Exponentials>(x, n, exponentials, &result);
  return result;
}

void scale_row(float* values, std::size_t n, float factor, float less, const float* weights) {
  run_widest<Scale>(values, n, factor, less, weights);
}

void softmax_row(float* row, std::size_t n) {
  const auto made = exponentials_of_row(row, n, row);
  scale_row(row, n, static_cast<float>(1.0 / made.sum), 0.0F, nullptr);
}

void softmax_row_backward(const float* probabilities, float* gradient, std::size_t n, float scale) {
  run_widest<LossBackward>(probabilities, gradient, n, scale);
}

}  // namespace ballast::cpu

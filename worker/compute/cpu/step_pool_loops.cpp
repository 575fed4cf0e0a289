#include "worker/compute/cpu/step_pool_loops.h"

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {
namespace {

struct Average {
  BALLAST_VECTOR_INLINE static void run(const float* x, std::size_t steps, std::size_t features, float* y) {
    in_vectors(features, [=](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
      Floats sum = lanes.get(x + i);
      for (std::size_t step = 1; step < steps; ++step) {
        sum += lanes.get(x + step * features + i);
      }
      lanes.put(y + i, sum / static_cast<float>(steps));
    });
  }
};

struct AverageBackward {
  BALLAST_VECTOR_INLINE static void run(const float* y_gradient, std::size_t steps, std::size_t features,
                                        float* x_gradient) {
    in_vectors(features, [=](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats share = lanes.get(y_gradient + i) / static_cast<float>(steps);
      for (std::size_t step = 0; step < steps; ++step) {
        lanes.put(x_gradient + step * features + i, share);
      }
    });
  }
};

struct Largest {
  BALLAST_VECTOR_INLINE static void run(const float* x, std::size_t steps, std::size_t features, float* y,
                                        std::int32_t* winners) {
    std::copy_n(x, features, y);
    std::fill_n(winners, features, 0);
    for (std::size_t step = 1; step < steps; ++step) {
      const float* const row = x + step * features;
      for (std::size_t i = 0; i < features; ++i) {
        // NOLINTNEXTLINE(misc-redundant-expression): only a not-a-number differs from itself
        const bool better = (row[i] > y[i]) | ((row[i] != row[i]) & (y[i] == y[i]));
        y[i] = better ? row[i] : y[i];
        winners[i] = better ? static_cast<std::int32_t>(step) : winners[i];
      }
    }
  }
};

}  // namespace

void average_steps(const float* x, std::size_t steps, std::size_t features, float* y) {
  run_widest<Average>(x, steps, features, y);
}

void average_steps_backward(const float* y_gradient, std::size_t steps, std::size_t features, float* x_gradient) {
  run_widest<AverageBackward>(y_gradient, steps, features, x_gradient);
}

void largest_steps(const float* x, std::size_t steps, std::size_t features, float* y, std::int32_t* winners) {
  run_widest<Largest>(x, steps, features, y, winners);
}

}  // namespace ballast::cpu

#include "worker/compute/cpu/activation_loops.h"

#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/vector_math.h"

namespace ballast::cpu {
namespace {

struct LeakyRelu {
  BALLAST_VECTOR_INLINE static Floats of(Floats x, float slope) { return x < 0.0F ? x * slope : x; }
  BALLAST_VECTOR_INLINE static Floats backward(Floats known, Floats gradient, float slope) {
    return known <= 0.0F ? gradient * slope : gradient;
  }
};

struct Gelu {
  BALLAST_VECTOR_INLINE static Floats of(Floats x, float /*slope*/) { return x * normal_of(x).cumulative; }
  BALLAST_VECTOR_INLINE static Floats backward(Floats x, Floats gradient, float /*slope*/) {
    constexpr float kPerSqrt2Pi = 0.39894228F;
    const Normal normal = normal_of(x);
    return gradient * (normal.cumulative + x * (normal.density * kPerSqrt2Pi));
  }
};

struct Tanh {
  BALLAST_VECTOR_INLINE static Floats of(Floats x, float /*slope*/) { return tanh_of(x); }
  BALLAST_VECTOR_INLINE static Floats backward(Floats y, Floats gradient, float /*slope*/) {
    return gradient * (1.0F - y * y);
  }
};

struct Sigmoid {
  BALLAST_VECTOR_INLINE static Floats of(Floats x, float /*slope*/) { return sigmoid_of(x); }
  BALLAST_VECTOR_INLINE static Floats backward(Floats y, Floats gradient, float /*slope*/) {
    return gradient * (y * (1.0F - y));
  }
};

template <typename Function>
struct Forward {
  BALLAST_VECTOR_INLINE static void run(const float* x, float* y, std::size_t n, float slope) {
    in_vectors(n, [=](std::size_t i, auto lanes)
                      BALLAST_VECTOR_LAMBDA { lanes.put(y + i, Function::of(lanes.get(x + i), slope)); });
  }
};

template <typename Function>
struct ActivationBackward {
  BALLAST_VECTOR_INLINE static void run(const float* known, const float* y_gradient, float* x_gradient, std::size_t n,
                                        float slope) {
    in_vectors(n, [=](std::size_t i, auto lanes) BALLAST_VECTOR_LAMBDA {
      lanes.put(x_gradient + i, Function::backward(lanes.get(known + i), lanes.get(y_gradient + i), slope));
    });
  }
};

template <typename Function>
void activate_with(const float* x, float* y, std::size_t n, float slope, std::uint32_t threads) {
  share_out_pieces(n, kPiece, threads, [&](std::size_t begin, std::size_t end) {
    run_widest<Forward<Function>>(x + begin, y + begin, end - begin, slope);
  });
}

template <typename Function>
void backward_with(const float* known, const float* y_gradient, float* x_gradient, std::size_t n, float slope,
                   std::uint32_t threads) {
  share_out_pieces(n, kPiece, threads, [&](std::size_t begin, std::size_t end) {
    run_widest<ActivationBackward<Function>>(known + begin, y_gradient + begin, x_gradient + begin, end - begin, slope);
  });
}

}  // namespace

// A leaky ReLU's result has its input's sign, if its slope is positive.
bool follows_from_result(const Activation& activation) {
  return activation.kind != Activation::Kind::gelu &&
         (activation.kind != Activation::Kind::leaky_relu || activation.slope > 0);
}

void activate(const Activation& activation, const float* x, float* y, std::size_t n, std::uint32_t threads) {
  switch (activation.kind) {
    case Activation::Kind::relu:
      return relu_loop(x, y, n, threads);
    case Activation::Kind::leaky_relu:
      return activate_with<LeakyRelu>(x, y, n, activation.slope, threads);
    case Activation::Kind::gelu:
      return activate_with<Gelu>(x, y, n, activation.slope, threads);
    case Activation::Kind::tanh:
      return activate_with<Tanh>(x, y, n, activation.slope, threads);
    case Activation::Kind::sigmoid:
      return activate_with<Sigmoid>(x, y, n, activation.slope, threads);
  }
}

void activate_backward(const Activation& activation, const float* known, const float* y_gradient, float* x_gradient,
                       std::size_t n, std::uint32_t threads) {
  switch (activation.kind) {
    case Activation::Kind::relu:
      return relu_backward_loop(known, y_gradient, x_gradient, n, threads);
    case Activation::Kind::leaky_relu:
      return backward_with<LeakyRelu>(known, y_gradient, x_gradient, n, activation.slope, threads);
    case Activation::Kind::gelu:
      return backward_with<Gelu>(known, y_gradient, x_gradient, n, activation.slope, threads);
    case Activation::Kind::tanh:
      return backward_with<Tanh>(known, y_gradient, x_gradient, n, activation.slope, threads);
    case Activation::Kind::sigmoid:
      return backward_with<Sigmoid>(known, y_gradient, x_gradient, n, activation.slope, threads);
  }
}

}  // namespace ballast::cpu

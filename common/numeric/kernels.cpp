// Compiled once for each instruction set, with BALLAST_KERNELS naming the table. Plain loops, which the compiler turns
// into vectors: each element's operations are rounded one by one whatever the width. No function of another header may
// be called here: the linker keeps one copy of an inline function, and it could be this one, with instructions that the
// processor lacks.
#include "common/numeric/kernels.h"

namespace ballast::numeric {
namespace {

float load(const void* base, std::size_t index) {
  float value = 0;
  __builtin_memcpy(&value, static_cast<const char*>(base) + index * sizeof(float), sizeof(float));
  return value;
}

// NaN stays NaN.
float clipped(float g, float limit) {
  g = g > limit ? limit : g;
  return g < -limit ? -limit : g;
}

// Each rule: the new weight from the old one `w` and the gradient `g`; `a` and `b` are the state.
struct Sgd {
  static constexpr int kState = 0;
  static float step(float w, float g, float& /*a*/, float& /*b*/, const Factors& f) { return w - f.learning_rate * g; }
};

struct SgdMomentum {
  static constexpr int kState = 1;
  static float step(float w, float g, float& a, float& /*b*/, const Factors& f) {
    a = f.momentum * a + g;
    return w - f.learning_rate * a;
  }
};

struct SgdNesterov {
  static constexpr int kState = 1;
  static float step(float w, float g, float& a, float& /*b*/, const Factors& f) {
    a = f.momentum * a + g;
    return w - f.learning_rate * (g + f.momentum * a);
  }
};

struct Adam {
  static constexpr int kState = 2;
  static float step(float w, float g, float& a, float& b, const Factors& f) {
    a = f.keep_first * a + f.add_first * g;
    b = f.keep_second * b + f.add_second * g * g;
    return w - f.learning_rate * (a / (__builtin_sqrtf(b) / f.root + f.epsilon));
  }
};

struct AdamW {
  static constexpr int kState = 2;
  static float step(float w, float g, float& a, float& b, const Factors& f) {
    return Adam::step(w * f.decay, g, a, b, f);
  }
};

struct Adagrad {
  static constexpr int kState = 1;
  static float step(float w, float g, float& a, float& /*b*/, const Factors& f) {
    a = a + g * g;
    return w - f.learning_rate * (g / (__builtin_sqrtf(a) + f.epsilon));
  }
};

struct RmsProp {
  static constexpr int kState = 1;
  static float step(float w, float g, float& a, float& /*b*/, const Factors& f) {
    a = f.keep_second * a + f.add_second * g * g;
    return w - f.learning_rate * (g / (__builtin_sqrtf(a) + f.epsilon));
  }
};

struct RmsPropMomentum {
  static constexpr int kState = 2;
  static float step(float w, float g, float& a, float& b, const Factors& f) {
    a = f.keep_second * a + f.add_second * g * g;
    b = f.momentum * b + g / (__builtin_sqrtf(a) + f.epsilon);
    return w - f.learning_rate * b;
  }
};

struct LarsMomentum {
  static constexpr int kState = 1;
  static float step(float w, float g, float& a, float& /*b*/, const Factors& f) {
    a = f.momentum * a + f.learning_rate * g;
    return w - a;
  }
};

struct Lamb {
  static constexpr int kState = 2;
  // Before the learning rate and the ratio.
  static float update(float w, float g, float& a, float& b, const Factors& f) {
    a = f.keep_first * a + f.add_first * g;
    b = f.keep_second * b + f.add_second * g * g;
    return a * f.correction / (__builtin_sqrtf(b) / f.root + f.epsilon) + f.decay * w;
  }
  static float step(float w, float g, float& a, float& b, const Factors& f) {
    return w - f.learning_rate * update(w, g, a, b, f);
  }
};

template <class Optimizer, bool kDecay>
void run(const Slice& slice, const Factors& given) {
  const Factors f = given;  // a copy that no store through a pointer can change
  const float* __restrict weights = slice.weights;
  const void* __restrict gradient = slice.gradient;
  float* __restrict first = slice.state[0];
  float* __restrict second = slice.state[1];
  float* __restrict new_weights = slice.new_weights;
  const std::size_t elements = slice.elements;
  for (std::size_t i = 0; i < elements; ++i) {
    const float w = weights[i];
    float g = clipped(load(gradient, i) * f.scale, f.clip);
    if constexpr (kDecay) {
      g = g + f.decay * w;
    }
    float a = 0;
    float b = 0;
    if constexpr (Optimizer::kState > 0) {
      a = first[i];
    }
    if constexpr (Optimizer::kState > 1) {
      b = second[i];
    }
    new_weights[i] = Optimizer::step(w, g, a, b, f);
    if constexpr (Optimizer::kState > 0) {
      first[i] = a;
    }
    if constexpr (Optimizer::kState > 1) {
      second[i] = b;
    }
  }
}

constexpr std::size_t kSums = 16;

double joined(double (&sums)[kSums]) {
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      sums[j] = sums[j] + sums[j + half];
    }
  }
  return sums[0];
}

double sum_of_squares(const void* values, std::size_t elements) {
  double sums[kSums] = {};
  const std::size_t whole = elements / kSums * kSums;
  for (std::size_t i = 0; i < whole; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) {
      const double value = load(values, i + j);
      sums[j] = sums[j] + value * value;
    }
  }
  for (std::size_t i = whole; i < elements; ++i) {
    const double value = load(values, i);
    sums[i - whole] = sums[i - whole] + value * value;
  }
  return joined(sums);
}

// The part of a prospective update whose norm counts: what `Optimizer::step` makes of the same numbers.
struct LarsNorm {
  static float of(const Slice& slice, std::size_t i, const Factors& f) {
    return clipped(load(slice.gradient, i) * f.scale, f.clip);
  }
};

struct LambNorm {
  static float of(const Slice& slice, std::size_t i, const Factors& f) {
    float a = slice.state[0][i];
    float b = slice.state[1][i];
    return Lamb::update(slice.weights[i], clipped(load(slice.gradient, i) * f.scale, f.clip), a, b, f);
  }
};

// Both in the order of sum_of_squares.
template <class Norm>
TwoSums trust_sums(const Slice& given_slice, const Factors& given) {
  const Slice slice = given_slice;
  const Factors f = given;
  double weights[kSums] = {};
  double update[kSums] = {};
  const std::size_t whole = slice.elements / kSums * kSums;
  for (std::size_t i = 0; i < whole; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) {
      const double w = slice.weights[i + j];
      const double u = Norm::of(slice, i + j, f);
      weights[j] = weights[j] + w * w;
      update[j] = update[j] + u * u;
    }
  }
  for (std::size_t i = whole; i < slice.elements; ++i) {
    const double w = slice.weights[i];
    const double u = Norm::of(slice, i, f);
    weights[i - whole] = weights[i - whole] + w * w;
    update[i - whole] = update[i - whole] + u * u;
  }
  return {joined(weights), joined(update)};
}

// From the nearer end, as torch.lerp has it, so that a share of 1 gives the weights themselves.
void average(const float* __restrict weights, float share, float* __restrict averages, std::size_t elements) {
  if (share < 0.5F) {
    for (std::size_t i = 0; i < elements; ++i) {
      averages[i] = averages[i] + share * (weights[i] - averages[i]);
    }
    return;
  }
  const float rest = 1 - share;
  for (std::size_t i = 0; i < elements; ++i) {
    averages[i] = weights[i] - (weights[i] - averages[i]) * rest;
  }
}

}  // namespace

const Kernels BALLAST_KERNELS = {
    {{run<Sgd, false>, run<Sgd, true>},
     {run<SgdMomentum, false>, run<SgdMomentum, true>},
     {run<SgdNesterov, false>, run<SgdNesterov, true>},
     {run<Adam, false>, run<Adam, true>},
     {run<AdamW, false>, run<AdamW, false>},
     {run<Adagrad, false>, run<Adagrad, true>},
     {run<RmsProp, false>, run<RmsProp, true>},
     {run<RmsPropMomentum, false>, run<RmsPropMomentum, true>},
     {run<LarsMomentum, false>, run<LarsMomentum, true>},
     {run<Lamb, false>, run<Lamb, false>}},
    sum_of_squares,
    trust_sums<LarsNorm>,
    trust_sums<LambNorm>,
    average,
};

}  // namespace ballast::numeric

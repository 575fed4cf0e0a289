// The loops below optimizer.h: one table of them for each instruction set. For optimizer.cpp alone.
#pragma once

#include <cstddef>

namespace ballast::numeric {

// A slice and what a step does to it. `gradient` may have any alignment.
struct Slice {
  const float* weights = nullptr;
  const void* gradient = nullptr;
  float* state[2] = {nullptr, nullptr};
  float* new_weights = nullptr;
  std::size_t elements = 0;
};

// The numbers of optimizer.h's formulas, each rounded to float once.
struct Factors {
  float scale = 1;
  float clip = 0;
  float decay = 0;          // weight_decay; adamw: 1 - lr * weight_decay
  float learning_rate = 0;  // adam, adamw: the step size; lars, lamb: lr * ratio
  float momentum = 0;
  float keep_first = 0;   // beta1
  float add_first = 0;    // 1 - beta1
  float keep_second = 0;  // beta2, alpha
  float add_second = 0;   // 1 - beta2, 1 - alpha
  float root = 1;
  float epsilon = 0;
  float correction = 1;  // lamb: 1 / (1 - beta1^t)
};

enum Rule : unsigned char {
  sgd,
  sgd_momentum,
  sgd_nesterov,
  adam,
  adamw,
  adagrad,
  rmsprop,
  rmsprop_momentum,
  lars_momentum,
  lamb,
  kRules
};

// The sums of squares of which trust ratios are made.
struct TwoSums {
  double weights = 0;
  double update = 0;
};

struct Kernels {
  void (*step[kRules][2])(const Slice& slice, const Factors& factors);  // [..][1]: with coupled decay
  double (*sum_of_squares)(const void* values, std::size_t elements);
  TwoSums (*lars_sums)(const Slice& slice, const Factors& factors);  // read the slice, and write nothing
  TwoSums (*lamb_sums)(const Slice& slice, const Factors& factors);
  void (*average)(const float* weights, float share, float* average, std::size_t elements);  // share: of the weights
};

extern const Kernels kBaselineKernels;
extern const Kernels kAvx2Kernels;    // only in builds with BALLAST_X86_VECTORS
extern const Kernels kAvx512Kernels;  // the same

}  // namespace ballast::numeric

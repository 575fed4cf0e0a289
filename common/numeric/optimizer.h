// The optimizers: how a slice of the arena changes by its step's mean gradient. Arithmetic alone, in one pass over
// memory.
//
// Each follows its PyTorch class (torch.optim; maximize, amsgrad, centered and dampening off), elementwise, with w the
// weight, g the gradient, t the step (counted from 1) and all state zero at first unless said otherwise:
//
//   all        g = clip(gradient * scale)                     clip: into [-clip_value, clip_value]
//              g = g + weight_decay * w                       coupled (L2); not adamw
//   sgd        w -= lr * g                                    H. Robbins, S. Monro, "A Stochastic Approximation
//   Method",
//                                                             1951; torch.optim.SGD
//    momentum  b = momentum * b + g;  w -= lr * b             B. Polyak, "Some methods of speeding up the convergence
//    of
//                                                             iteration methods", 1964
//    nesterov  b = momentum * b + g;                          I. Sutskever et al., "On the importance of initialization
//              w -= lr * (g + momentum * b)                   and momentum in deep learning", 2013
//   adam       m = beta1 * m + (1 - beta1) * g                D. Kingma, J. Ba, "Adam: A Method for Stochastic
//              v = beta2 * v + (1 - beta2) * g * g            Optimization", 2015; torch.optim.Adam: epsilon is added
//              to w -= step_size * m / (sqrt(v) / root + epsilon)     the corrected root, not the paper's "epsilon hat"
//                step_size = lr / (1 - beta1^t), root = sqrt(1 - beta2^t)
//   adamw      w = w * (1 - lr * weight_decay), then adam     I. Loshchilov, F. Hutter, "Decoupled Weight Decay
//                                                             Regularization", 2019; torch.optim.AdamW: the decay
//                                                             follows the schedule together with lr
//   adagrad    s = s + g * g                                  J. Duchi et al., "Adaptive Subgradient Methods", 2011;
//              w -= lr * g / (sqrt(s) + epsilon)              torch.optim.Adagrad (lr_decay 0); s begins with
//                                                             initial_accumulator
//   rmsprop    s = alpha * s + (1 - alpha) * g * g            T. Tieleman, G. Hinton, lecture 6.5, 2012;
//              w -= lr * g / (sqrt(s) + epsilon)              torch.optim.RMSprop: epsilon outside the root
//    momentum  b = momentum * b + g / (sqrt(s) + epsilon);  w -= lr * b
//   lars       b = momentum * b + lr * ratio * (g + weight_decay * w);  w -= b
//                                                             Y. You, I. Gitman, B. Ginsburg, "Large Batch Training of
//                                                             Convolutional Networks", 2017, algorithm 1. While lr is
//                                                             constant also torchlars and timm.optim.Lars, in which lr
//                                                             multiplies the momentum
//   lamb       m, v as adam's, of g without decay
//              u = m / (1 - beta1^t) / (sqrt(v) / root + epsilon) + weight_decay * w
//              w -= lr * ratio * u                            Y. You et al., "Large Batch Optimization for Deep
//                                                             Learning: Training BERT in 76 minutes", 2020, algorithm 2
//                                                             with phi(z) = z; timm.optim.Lamb with always_adapt and
//                                                             without max_grad_norm
//
// lars and lamb have a *trust ratio* for each tensor, from the norms of all of it, in which g is not decayed yet:
//
//   lars       ratio = trust_coefficient * |w| / (|g| + weight_decay * |w| + epsilon), 1 if |w| or |g| is 0
//   lamb       ratio = |w| / |u|, 1 if |w| or |u| is 0
//
// Every product, sum, quotient and root is rounded on its own and to nearest (nothing is fused or reassociated), and
// denormals count: the bits depend neither on the vector width nor on where a slice begins (a NaN's payload may). The
// thread must not have switched the processor to flush denormals to zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "common/numeric/instruction_set.h"

namespace ballast {

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw, adagrad, rmsprop, lars, lamb };

// What stays the same over a job. In doubles, so that 1 - beta is rounded once.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::sgd;
  double momentum = 0;              // sgd, rmsprop, lars; 0: no buffer is kept
  bool nesterov = false;            // sgd with momentum
  double beta1 = 0.9;               // adam, adamw, lamb
  double beta2 = 0.999;             // adam, adamw, lamb
  double alpha = 0.99;              // rmsprop
  double epsilon = 1e-8;            // all but sgd
  double initial_accumulator = 0;   // adagrad
  double trust_coefficient = 1e-3;  // lars
  bool trust_ratio = true;          // lars, lamb; false: the ratio is 1
  double weight_decay = 0;          // 0 for Group::no_decay
  double clip_value = std::numeric_limits<double>::infinity();
  bool operator==(const OptimizerSettings&) const = default;
};

// What changes from step to step.
struct StepScalars {
  float learning_rate = 0;
  float step_size = 0;           // adam, adamw: see above; lamb: 1 / (1 - beta1^t), without the rate
  float second_moment_root = 1;  // adam, adamw, lamb: `root` above
};

// What an optimizer keeps for each weight: so many floats, each named as in PyTorch's state.
struct StateTensor {
  const char* name = "";
  float initial = 0;
};

// At most kMaxStateTensors. sgd, lars: none or momentum_buffer; adam, adamw, lamb: exp_avg, exp_avg_sq; adagrad: sum;
// rmsprop: square_avg, and momentum_buffer with momentum.
inline constexpr std::size_t kMaxStateTensors = 2;
std::vector<StateTensor> state_tensors(const OptimizerSettings& settings);

// One step of a slice. `scale` multiplies the gradient first (1: no clipping by norm); of lars and lamb, whose
// gradients are not clipped by norm, it is the tensor's trust ratio. `state` holds the tensors that state_tensors()
// lists, in that order; they are changed in place. All spans have weights.size() elements and don't overlap;
// std::invalid_argument, before anything is written, if sizes or the number of state tensors differ, or if this
// processor lacks `set`. `gradient.data()` may have any alignment, the others that of float. Thread-safe for disjoint
// outputs.
void optimizer_step(const OptimizerSettings& settings, const StepScalars& scalars, float scale,
                    std::span<const float> weights, std::span<const float> gradient,
                    std::span<const std::span<float>> state, std::span<float> new_weights,
                    InstructionSet set = detected());

// Whether each tensor's updates are scaled by a ratio of norms.
constexpr bool has_trust_ratios(OptimizerKind kind) {
  return kind == OptimizerKind::lars || kind == OptimizerKind::lamb;
}

// Sums of squares over a part of a tensor. Those of a whole tensor are the sums over its parts.
struct TrustSums {
  double weights = 0;
  double update = 0;  // lars: of the gradient; lamb: of u. Both clipped by value first
};

// Of the step that optimizer_step would make of the same slice, bit for bit, and in measure()'s order of addition;
// changes nothing. Needs step_size and second_moment_root of `scalars`, and those only of lamb. A sum that is not
// finite is the largest double. Errors as optimizer_step; std::invalid_argument also if the optimizer has no trust
// ratios. Thread-safe.
TrustSums trust_sums(const OptimizerSettings& settings, const StepScalars& scalars, std::span<const float> weights,
                     std::span<const float> gradient, std::span<const std::span<const float>> state,
                     InstructionSet set = detected());

// The ratio of a whole tensor: in double and rounded to float once, at most the largest float; 1 if a norm is not
// finite or settings.trust_ratio is false. Pure.
float trust_ratio(const OptimizerSettings& settings, const TrustSums& sums);

// One step of a moving average of weights, in place: with share = 1 - decay rounded to float once,
//
//   average = average + share * (weights - average)          share < 0.5
//   average = weights - (weights - average) * (1 - share)    otherwise
//
// which is torch.lerp, by which torch.optim.swa_utils.get_ema_multi_avg_fn(decay) averages (PyTorch's vector code may
// fuse the product and the sum). Spans have the same size and don't overlap; std::invalid_argument otherwise, or if
// this processor lacks `set`. Thread-safe for disjoint outputs.
void average_weights(std::span<const float> weights, double decay, std::span<float> average,
                     InstructionSet set = detected());

// The update of Group::state by changes: old + scale * change, so that what no slot has changed keeps its value.
// `change`: the sum over the slots of what each makes of an element less what it was, weighted by the slot's share of
// the examples. All spans have the same size and don't overlap; std::invalid_argument otherwise. `change` may have any
// alignment. Thread-safe for disjoint outputs.
void change_state(std::span<const float> old_state, std::span<const float> change, float scale,
                  std::span<float> new_state);

// One step of running statistics: old + momentum * (statistic - old), which lies between the two for a momentum of at
// most 1, but for rounding. Spans as above; `statistic` may have any alignment. Thread-safe for disjoint outputs.
void blend_state(std::span<const float> old_state, std::span<const float> statistic, float momentum,
                 std::span<float> new_state);

// What clipping by norm and the reaction to non-finite gradients need to know of a slice.
struct SliceMeasure {
  double sum_of_squares = 0;  // in double; infinite or NaN if an element is
  std::optional<std::size_t> first_non_finite;
};

// In one pass and a fixed order: element i goes to partial sum i % 16, and these are joined in a tree; so the bits
// follow from the slice alone, whatever `set`. `values.data()` may have any alignment. std::invalid_argument if this
// processor lacks `set`. Thread-safe.
SliceMeasure measure(std::span<const float> values, InstructionSet set = detected());

}  // namespace ballast

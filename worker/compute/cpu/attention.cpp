// Scaled dot-product attention: for each example and head, some queries at a time, so that a causal mask saves work and
// what is between products stays in the cache.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/gemm.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/packed_steps.h"
#include "worker/compute/cpu/softmax_loops.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

enum Input : std::size_t { kQueries, kKeys, kValues, kInputs };
constexpr std::size_t kQueriesTogether = 64;  // queries

class AttentionOperation : public Operation {
 public:
  AttentionOperation(const Context& context, const LayerTask& task, const Attention& attention, const CpuTensor& y)
      : context_(context),
        causal_(attention.causal),
        heads_(attention.heads),
        examples_(y.shape().n),
        steps_(y.shape().steps),
        stride_(y.shape().c),
        channels_(stride_ / heads_),
        scale_(1.0F / std::sqrt(static_cast<float>(channels_))),
        y_(y.value()),
        y_gradient_(y.gradient()),
        probabilities_(examples_ * heads_ * steps_ * steps_),
        of_threads_(context.threads * kQueriesTogether * steps_) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      const CpuTensor& x = as_cpu(*task.inputs[i]);
      inputs_[i] = Incoming(context, x.value(), plain(x.shape()));
      if (x.with_gradient()) {
        gradients_[i] = Outgoing(context, x.gradient(), plain(x.shape()));
        has_gradient_[i] = true;
      }
    }
  }

  void forward() override {
    for (const Incoming& input : inputs_) {
      input.refresh();
    }
    share_out(examples_ * heads_, context_.threads, [&](std::size_t head) {
      for (std::size_t begin = 0; begin < steps_; begin += kQueriesTogether) {
        attend(head, some_queries(head, begin));
      }
    });
  }

  void backward_input() override {
    share_out(examples_ * heads_, context_.threads, [&](std::size_t head) {
      clear(kKeys, head);
      clear(kValues, head);
      for (std::size_t begin = 0; begin < steps_; begin += kQueriesTogether) {
        go_back(head, some_queries(head, begin));
      }
    });
    for (std::size_t i = 0; i < kInputs; ++i) {
      if (has_gradient_[i]) {
        gradients_[i].deliver();
      }
    }
  }

 private:
  struct Queries {
    std::size_t begin;
    std::size_t count;
    std::size_t keys;  // that any of them sees: the first ones
  };

  [[nodiscard]] std::size_t length(std::size_t head) const {
    return length_of(context_.pass->batch, head / heads_, steps_);
  }
  [[nodiscard]] Queries some_queries(std::size_t head, std::size_t begin) const {
    const auto end = std::min(steps_, begin + kQueriesTogether);
    return {begin, end - begin, causal_ ? std::min(length(head), end) : length(head)};
  }
  // Those that one query sees.
  [[nodiscard]] std::size_t keys_of(std::size_t query, const Queries& some) const {
    return causal_ ? std::min(some.keys, query + 1) : some.keys;
  }

  // A head's part of a tensor, from a step on.
  [[nodiscard]] std::size_t offset(std::size_t head, std::size_t step) const {
    return (head / heads_ * steps_ + step) * stride_ + head % heads_ * channels_;
  }
  [[nodiscard]] Factor input(Input which, std::size_t head, std::size_t step) const {
    return {floats(inputs_[which].memory()) + offset(head, step), stride_};
  }
  [[nodiscard]] float* gradient(Input which, std::size_t head, std::size_t step) const {
    return floats(gradients_[which].memory()) + offset(head, step);
  }
  [[nodiscard]] float* probabilities(std::size_t head, std::size_t query) {
    return probabilities_.data() + (head * steps_ + query) * steps_;
  }
  static Factor transposed(Factor factor) { return {factor.at, factor.stride, true}; }

  void attend(std::size_t head, const Queries& some) {
    float* const weights = probabilities(head, some.begin);
    multiply({some.count, some.keys, channels_}, input(kQueries, head, some.begin), transposed(input(kKeys, head, 0)),
             weights, steps_, Into::replace, 1, scale_);
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto seen = keys_of(some.begin + i, some);
      softmax_row(weights + i * steps_, seen);
      std::fill(weights + i * steps_ + seen, weights + i * steps_ + some.keys, 0.0F);
    }
    multiply({some.count, channels_, some.keys}, {weights, steps_}, input(kValues, head, 0),
             floats(y_) + offset(head, some.begin), stride_, Into::replace, 1);
  }

  void go_back(std::size_t head, const Queries& some) {
    const float* const weights = probabilities(head, some.begin);
    const Factor y_gradient = {floats(y_gradient_) + offset(head, some.begin), stride_};
    float* const between =
        of_threads_.data() + static_cast<std::size_t>(omp_get_thread_num()) * kQueriesTogether * steps_;
    if (has_gradient_[kValues]) {
      multiply({some.keys, channels_, some.count}, {weights, steps_, true}, y_gradient, gradient(kValues, head, 0),
               stride_, Into::add, 1);
    }
    multiply({some.count, some.keys, channels_}, y_gradient, transposed(input(kValues, head, 0)), between, steps_,
             Into::replace, 1);
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto seen = keys_of(some.begin + i, some);
      softmax_row_backward(weights + i * steps_, between + i * steps_, seen, scale_);
      std::fill(between + i * steps_ + seen, between + i * steps_ + some.keys, 0.0F);
    }
    if (has_gradient_[kQueries]) {
      multiply({some.count, channels_, some.keys}, {between, steps_}, input(kKeys, head, 0),
               gradient(kQueries, head, some.begin), stride_, Into::replace, 1);
    }
    if (has_gradient_[kKeys]) {
      multiply({some.keys, channels_, some.count}, {between, steps_, true}, input(kQueries, head, some.begin),
               gradient(kKeys, head, 0), stride_, Into::add, 1);
    }
  }

  // What is summed over queries, and 0 where a step is no key.
  void clear(Input which, std::size_t head) const {
    if (!has_gradient_[which]) {
      return;
    }
    for (std::size_t step = 0; step < steps_; ++step) {
      std::fill_n(gradient(which, head, step), channels_, 0.0F);
    }
  }

  const Context& context_;
  bool causal_;
  std::size_t heads_;
  std::size_t examples_;
  std::size_t steps_;
  std::size_t stride_;    // of rows: channels of all heads
  std::size_t channels_;  // of a head
  float scale_;
  std::array<Incoming, kInputs> inputs_;
  std::array<Outgoing, kInputs> gradients_;
  std::array<bool, kInputs> has_gradient_ = {};
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  std::vector<float> probabilities_;  // examples x heads x queries x keys
  std::vector<float> of_threads_;     // each thread's: queries x keys
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Attention& attention) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<AttentionOperation>(context, task, attention, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

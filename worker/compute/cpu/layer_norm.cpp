// Layer normalization of plain rows. A row's sums have eight lanes, added up in one order; the parameters' gradients
// are summed in the order of rows: neither vector width nor threads change a bit.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

// The sum over a row: several(i) of eight features from i on, single(i) of one.
template <typename Several, typename Single>
BALLAST_VECTOR_INLINE float sum_over(std::size_t features, const Several& several, const Single& single) {
  Floats sums{};
  std::size_t i = 0;
  for (; i + kLanes <= features; i += kLanes) {
    sums += several(i);
  }
  float sum = sum_of(sums);
  for (; i < features; ++i) {
    sum += single(i);
  }
  return sum;
}

// One row: y, and what the backward pass needs of it.
struct NormalizeRow {
  BALLAST_VECTOR_INLINE static void run(const float* x, const float* weight, const float* bias, float* y,
                                        std::size_t features, float epsilon, float* mean, float* inverse_deviation) {
    const float middle = sum_over(
                             features, [&](std::size_t i) __attribute__((always_inline)) { return load(x + i); },
                             [&](std::size_t i) __attribute__((always_inline)) { return x[i]; }) /
                         static_cast<float>(features);
    const float squares = sum_over(
        features,
        [&](std::size_t i) __attribute__((always_inline)) {
          const Floats difference = load(x + i) - middle;
          return difference * difference;
        },
        [&](std::size_t i) __attribute__((always_inline)) { return (x[i] - middle) * (x[i] - middle); });
    const float deviation = 1 / std::sqrt(squares / static_cast<float>(features) + epsilon);
    std::size_t i = 0;
    for (; i + kLanes <= features; i += kLanes) {
      store(y + i, (load(x + i) - middle) * deviation * load(weight + i) + load(bias + i));
    }
    for (; i < features; ++i) {
      y[i] = (x[i] - middle) * deviation * weight[i] + bias[i];
    }
    *mean = middle;
    *inverse_deviation = deviation;
  }
};

// One row's gradient, which may be written over y's.
struct BackwardRow {
  BALLAST_VECTOR_INLINE static void run(const float* x, const float* weight, const float* gradient, float* x_gradient,
                                        std::size_t features, float mean, float deviation) {
    const float sum = sum_over(
        features, [&](std::size_t i) __attribute__((always_inline)) { return load(gradient + i) * load(weight + i); },
        [&](std::size_t i) __attribute__((always_inline)) { return gradient[i] * weight[i]; });
    const float product = sum_over(
        features,
        [&](std::size_t i)
            __attribute__((always_inline)) { return load(gradient + i) * load(weight + i) * (load(x + i) - mean); },
        [&](std::size_t i) __attribute__((always_inline)) { return gradient[i] * weight[i] * (x[i] - mean); });
    const auto count = static_cast<float>(features);
    const float constant = deviation * (sum / count);
    const float slope = deviation * deviation * deviation * (product / count);
    std::size_t i = 0;
    for (; i + kLanes <= features; i += kLanes) {
      const Floats share = load(gradient + i) * load(weight + i) * deviation;
      store(x_gradient + i, share - (constant + (load(x + i) - mean) * slope));
    }
    for (; i < features; ++i) {
      x_gradient[i] = gradient[i] * weight[i] * deviation - (constant + (x[i] - mean) * slope);
    }
  }
};

// Sums over rows, of features `begin` to `end`; what is not written before is zero.
struct ParametersOfRow {
  BALLAST_VECTOR_INLINE static void run(const float* x, const float* gradient, float mean, float deviation,
                                        float* weight_gradient, float* bias_gradient, std::size_t begin,
                                        std::size_t end) {
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      const Floats g = load(gradient + i);
      store(weight_gradient + i, load(weight_gradient + i) + g * ((load(x + i) - mean) * deviation));
      store(bias_gradient + i, load(bias_gradient + i) + g);
    }
    for (; i < end; ++i) {
      weight_gradient[i] += gradient[i] * ((x[i] - mean) * deviation);
      bias_gradient[i] += gradient[i];
    }
  }
};

class LayerNormOperation : public Operation {
 public:
  LayerNormOperation(const Context& context, const LayerTask& task, const CpuTensor& y, const LayerNorm& norm)
      : context_(context),
        epsilon_(norm.epsilon),
        features_(y.shape().features()),
        weight_(task.parameters[0].extent),
        bias_(task.parameters[1].extent),
        x_(context, as_cpu(*task.inputs[0]).value(), plain(y.shape())),
        y_(y.value()),
        y_gradient_(y.gradient()),
        mean_(y.shape().rows()),
        inverse_deviation_(mean_.size()) {
    const CpuTensor& x = as_cpu(*task.inputs[0]);
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(y.shape()));
    }
  }

  void forward() override {
    x_.refresh();
    const float* const x = floats(x_.memory());
    float* const y = floats(y_);
    const float* const weight = &context_.weights[weight_.offset];
    const float* const bias = &context_.weights[bias_.offset];
    for_each_row([&](std::size_t row, std::size_t at) {
      run_widest<NormalizeRow>(x + at, weight, bias, y + at, features_, epsilon_, &mean_[row],
                               &inverse_deviation_[row]);
    });
  }

  void backward_parameters() override {
    const float* const x = floats(x_.memory());
    const float* const gradient = floats(y_gradient_);
    float* const weight_gradient = &context_.gradients[weight_.offset];
    float* const bias_gradient = &context_.gradients[bias_.offset];
    share_out_pieces(features_, kFeaturesOfPiece, context_.threads, [&](std::size_t begin, std::size_t end) {
      std::fill(weight_gradient + begin, weight_gradient + end, 0.0F);
      std::fill(bias_gradient + begin, bias_gradient + end, 0.0F);
      for (std::size_t row = 0; row < mean_.size(); ++row) {
        run_widest<ParametersOfRow>(x + row * features_, gradient + row * features_, mean_[row],
                                    inverse_deviation_[row], weight_gradient, bias_gradient, begin, end);
      }
    });
  }

  void backward_input() override {
    const float* const x = floats(x_.memory());
    const float* const gradient = floats(y_gradient_);
    float* const x_gradient = floats(x_gradient_.memory());
    const float* const weight = &context_.weights[weight_.offset];
    for_each_row([&](std::size_t row, std::size_t at) {
      run_widest<BackwardRow>(x + at, weight, gradient + at, x_gradient + at, features_, mean_[row],
                              inverse_deviation_[row]);
    });
    x_gradient_.deliver();
  }

 private:
  static constexpr std::size_t kFeaturesOfPiece = 256;

  // Calls work(row, its first float).
  template <typename Work>
  void for_each_row(const Work& work) const {
    share_out_pieces(mean_.size(), rows_of_piece(features_), context_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        work(row, row * features_);
      }
    });
  }

  const Context& context_;
  float epsilon_;
  std::size_t features_;
  Extent weight_;
  Extent bias_;
  Incoming x_;
  Outgoing x_gradient_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  // By row.
  std::vector<float> mean_;
  std::vector<float> inverse_deviation_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const LayerNorm& norm) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<LayerNormOperation>(context, task, *y, norm);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

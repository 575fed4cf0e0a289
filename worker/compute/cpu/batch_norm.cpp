// Batch normalization: one set of all rows.
#include <cmath>

#include "worker/compute/cpu/channel_norm.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

// In the order of the layer's description.
enum Parameters : std::size_t { kWeight, kBias, kRunningMean, kRunningVariance };

class BatchNormOperation : public ChannelNorm {
 public:
  BatchNormOperation(const Context& context, const LayerTask& task, const ChannelLayout& layout, const CpuTensor& y,
                     const BatchNorm& norm)
      : ChannelNorm(context, task, layout, NormOver::all_rows, y),
        epsilon_(static_cast<double>(norm.epsilon)),
        variance_(y.shape().c),
        inverse_deviation_(y.shape().c) {}

 private:
  void settle() override {
    if (context().pass->training) {
      settle_moments(find_moments());
    } else {
      settle_running();
    }
    const auto weight = weights(kWeight);
    const auto bias = weights(kBias);
    for (std::size_t c = 0; c < channels(); ++c) {
      inverse_deviation_[c] = 1 / std::sqrt(variance_[c] + epsilon_);
      scale[c] = static_cast<float>(static_cast<double>(weight[c]) * inverse_deviation_[c]);
      shift[c] = bias[c];
    }
  }

  void settle_moments(const Sums& moments) {
    for (std::size_t c = 0; c < channels(); ++c) {
      mean[c] = static_cast<float>(moments.first[c]);
      variance_[c] = moments.second[c] / static_cast<double>(count());
    }
  }
  void settle_running() {
    const auto running_mean = weights(kRunningMean);
    const auto running_variance = weights(kRunningVariance);
    for (std::size_t c = 0; c < channels(); ++c) {
      mean[c] = running_mean[c];
      variance_[c] = static_cast<double>(running_variance[c]);
    }
  }

  void settle_gradients(const Sums& sums) override {
    const auto all = static_cast<double>(count());
    const double unbiased = count() > 1 ? all / (all - 1) : 1;
    for (std::size_t c = 0; c < channels(); ++c) {
      const double deviation = inverse_deviation_[c];
      gradients(kWeight)[c] = static_cast<float>(sums.second[c] * deviation);
      gradients(kBias)[c] = static_cast<float>(sums.first[c]);
      gradients(kRunningMean)[c] = mean[c];
      gradients(kRunningVariance)[c] = static_cast<float>(variance_[c] * unbiased);
      const double factor = static_cast<double>(scale[c]) / all;
      constant[c] = static_cast<float>(factor * sums.first[c]);
      slope[c] = static_cast<float>(factor * deviation * deviation * sums.second[c]);
    }
  }

  double epsilon_;
  // By channel.
  std::vector<double> variance_;
  std::vector<double> inverse_deviation_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const BatchNorm& norm) {
  fit(task);
  const ChannelLayout layout = layout_of(as_cpu(*task.inputs[0]));
  auto y = make_norm_output(context, task, layout);
  auto operation = std::make_unique<BatchNormOperation>(context, task, layout, *y, norm);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

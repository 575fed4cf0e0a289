// Group normalization: each row is a set of its own, and neighbouring channels of it share their moments.
#include <cmath>

#include "worker/compute/cpu/channel_norm.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class GroupNormOperation : public ChannelNorm {
 public:
  GroupNormOperation(const Context& context, const LayerTask& task, const ChannelLayout& layout, const CpuTensor& y,
                     const GroupNorm& norm)
      : ChannelNorm(context, task, layout, NormOver::each_row, y),
        epsilon_(static_cast<double>(norm.epsilon)),
        rows_(y.shape().rows()),
        groups_(norm.groups),
        of_group_(y.shape().c / norm.groups),
        inverse_deviation_(rows_ * norm.groups) {}

 private:
  void settle() override {
    const Sums& moments = find_moments();
    for (std::size_t group = 0; group < inverse_deviation_.size(); ++group) {
      settle_group(moments, group / groups_, group % groups_);
    }
  }

  void settle_group(const Sums& moments, std::size_t row, std::size_t group) {
    double middle = 0;
    for_each_channel(row, group, [&](std::size_t, std::size_t lane) { middle += moments.first[lane]; });
    middle /= static_cast<double>(of_group_);
    double squares = 0;
    for_each_channel(row, group, [&](std::size_t, std::size_t lane) {
      const double difference = moments.first[lane] - middle;
      squares += moments.second[lane] + difference * difference * static_cast<double>(count());
    });
    const double deviation = 1 / std::sqrt(squares / values_of_group() + epsilon_);
    inverse_deviation_[row * groups_ + group] = deviation;
    const auto weight = weights(0);
    const auto bias = weights(1);
    for_each_channel(row, group, [&](std::size_t c, std::size_t lane) {
      mean[lane] = static_cast<float>(middle);
      scale[lane] = static_cast<float>(static_cast<double>(weight[c]) * deviation);
      shift[lane] = bias[c];
    });
  }

  void settle_gradients(const Sums& sums) override {
    settle_parameters(sums);
    for (std::size_t group = 0; group < inverse_deviation_.size(); ++group) {
      settle_group_gradients(sums, group / groups_, group % groups_);
    }
  }

  void settle_parameters(const Sums& sums) {
    for (std::size_t c = 0; c < channels(); ++c) {
      double weight_gradient = 0;
      double bias_gradient = 0;
      for (std::size_t row = 0; row < rows_; ++row) {
        const std::size_t lane = row * lanes() + c;
        weight_gradient += sums.second[lane] * inverse_deviation_[row * groups_ + c / of_group_];
        bias_gradient += sums.first[lane];
      }
      gradients(0)[c] = static_cast<float>(weight_gradient);
      gradients(1)[c] = static_cast<float>(bias_gradient);
    }
  }

  void settle_group_gradients(const Sums& sums, std::size_t row, std::size_t group) {
    double first = 0;
    double second = 0;
    for_each_channel(row, group, [&](std::size_t, std::size_t lane) {
      first += static_cast<double>(scale[lane]) * sums.first[lane];
      second += static_cast<double>(scale[lane]) * sums.second[lane];
    });
    const double deviation = inverse_deviation_[row * groups_ + group];
    for_each_channel(row, group, [&](std::size_t, std::size_t lane) {
      constant[lane] = static_cast<float>(first / values_of_group());
      slope[lane] = static_cast<float>(second * deviation * deviation / values_of_group());
    });
  }

  // Calls visit(channel, lane) for each channel of a group.
  template <typename Visit>
  void for_each_channel(std::size_t row, std::size_t group, const Visit& visit) const {
    for (std::size_t c = group * of_group_; c < (group + 1) * of_group_; ++c) {
      visit(c, row * lanes() + c);
    }
  }

  [[nodiscard]] double values_of_group() const { return static_cast<double>(of_group_ * count()); }

  double epsilon_;
  std::size_t rows_;
  std::size_t groups_;
  std::size_t of_group_;                   // channels
  std::vector<double> inverse_deviation_;  // rows x groups
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const GroupNorm& norm) {
  fit(task);
  const ChannelLayout layout = layout_of(as_cpu(*task.inputs[0]));
  auto y = make_norm_output(context, task, layout);
  auto operation = std::make_unique<GroupNormOperation>(context, task, layout, *y, norm);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

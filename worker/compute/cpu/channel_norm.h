// What batch and group normalization share: y = (x - mean) * scale + shift, each of these for every channel of every
// *set* of rows, in the layout that x has. Padding of blocked layouts stays zero.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "worker/compute/cpu/channel_layout.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/norm_loops.h"

namespace ballast::cpu {

// The moments over all rows, or over each row alone.
enum class NormOver { all_rows, each_row };

class ChannelNorm : public Operation {
 public:
  ChannelNorm(const Context& context, const LayerTask& task, const ChannelLayout& layout, NormOver over,
              const CpuTensor& y);

  void forward() final;
  void backward_parameters() final;
  void backward_input() final;

 protected:
  // For each lane: set * lanes() + channel, padding included, whose values nobody reads.
  struct Sums {
    std::vector<double> first;
    std::vector<double> second;
  };

  // Sets mean, scale and shift, reading whatever the pass says.
  virtual void settle() = 0;
  // Sets constant and slope, and writes the parameters' gradients. `sums`: of y's gradient g, and of g * (x - mean).
  virtual void settle_gradients(const Sums& sums) = 0;

  // Mean and sum of squares of differences from it, of every lane of x.
  const Sums& find_moments();

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] std::size_t channels() const { return channels_; }
  [[nodiscard]] std::size_t lanes() const { return lanes_; }  // channels, padding included
  [[nodiscard]] std::size_t sets() const { return mean.size() / lanes_; }
  [[nodiscard]] std::size_t count() const { return count_; }  // values of a lane
  [[nodiscard]] std::span<const float> weights(std::size_t parameter) const;
  [[nodiscard]] std::span<float> gradients(std::size_t parameter) const;

  // By lane; zero at first, and to be left so in padding.
  std::vector<float> mean;
  std::vector<float> scale;
  std::vector<float> shift;
  // x_gradient = g * scale - (constant + (x - mean) * slope)
  std::vector<float> constant;
  std::vector<float> slope;

 private:
  [[nodiscard]] NormLanes forward_lanes() const;
  [[nodiscard]] NormLanes backward_lanes() const;
  // Calls add(lane, value, positions) for each lane of each piece, in order.
  template <typename Add>
  void for_each_lane(const std::vector<float>& of_pieces, const Add& add) const;

  const Context& context_;
  std::vector<Extent> parameters_;
  std::size_t channels_;
  std::size_t lanes_;
  Runs runs_;
  std::size_t run_sets_;
  std::size_t count_;
  Incoming x_;
  Outgoing x_gradient_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  std::vector<float> first_of_pieces_;
  std::vector<float> second_of_pieces_;
  Sums sums_;
};

// In the memory of x's gradient, where that is allowed and in the layout that the loops work in.
std::unique_ptr<CpuTensor> make_norm_output(const Context& context, const LayerTask& task, const ChannelLayout& layout);

}  // namespace ballast::cpu

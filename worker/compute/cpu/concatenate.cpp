// Tensors behind each other along the channels: in blocks where all inputs consist of whole blocks, channels innermost
// where all have them so, otherwise plain.
#include <algorithm>
#include <utility>
#include <vector>

#include "worker/compute/cpu/channel_layout.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

// A layout in which each input is a part of the output.
Tag common_layout(std::span<Tensor* const> inputs) {
  const Tag first = layout_of(as_cpu(*inputs[0])).tag;
  const bool fits = std::ranges::all_of(inputs, [&](const Tensor* input) {
    const ChannelLayout layout = layout_of(as_cpu(*input));
    return layout.tag == first && input->shape().c % layout.inner == 0;
  });
  return fits ? first : Tag::nchw;
}

// The part of a memory that has `shape`'s channels from `channel` on.
dnnl::memory part_of(const Context& context, const dnnl::memory& whole, const Shape& shape, std::uint32_t channel) {
  return {whole.get_desc().submemory_desc(dims_of(shape), {0, channel, 0, 0}), context.engine, whole.get_data_handle()};
}

class ConcatenateOperation : public Operation {
 public:
  ConcatenateOperation(const Context& context, std::span<Tensor* const> inputs, const CpuTensor& y) {
    std::uint32_t channel = 0;
    for (const Tensor* input : inputs) {
      const CpuTensor& x = as_cpu(*input);
      values_.push_back(make_reorder(context, x.value(), part_of(context, y.value(), x.shape(), channel)));
      if (x.with_gradient()) {
        gradients_.push_back(make_reorder(context, part_of(context, y.gradient(), x.shape(), channel), x.gradient()));
      }
      channel += x.shape().c;
    }
  }

  void forward() override {
    for (const Primitive& copy : values_) {
      copy.run();
    }
  }
  void backward_input() override {
    for (const Primitive& copy : gradients_) {
      copy.run();
    }
  }

 private:
  std::vector<Primitive> values_;
  std::vector<Primitive> gradients_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Concatenate& /*concatenate*/) {
  const Shape to = fit(task);
  const bool with_gradient =
      std::ranges::any_of(task.inputs, [](const Tensor* input) { return input->with_gradient(); });
  auto y = std::make_unique<CpuTensor>(context, to, describe(to, common_layout(task.inputs)), with_gradient);
  auto operation = std::make_unique<ConcatenateOperation>(context, task.inputs, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

// Convolution along the steps of sequences: a two-dimensional one of images whose width is the steps, with channels
// innermost, as sequences lie in memory.
//
// The bytes of the weights' gradient depend on the number of threads; everything else does not.
#include <algorithm>
#include <utility>
#include <vector>

#include "worker/compute/conv1d_as_2d.h"
#include "worker/compute/cpu/direct_convolution.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

// A name of its own for the memory of plain sequences, as images; empty if that is empty.
dnnl::memory image_of(const Context& context, const Shape& shape, const dnnl::memory& sequences) {
  return sequences ? dnnl::memory(describe(as_image(shape), Tag::nhwc), context.engine, sequences.get_data_handle())
                   : sequences;
}

class Conv1dOperation : public Operation {
 public:
  Conv1dOperation(const Context& context, const LayerTask& task, const CpuTensor& y, const Conv1d& conv)
      : context_(context),
        shape_(task.inputs[0]->shape()),
        x_(context, as_cpu(*task.inputs[0]).value(), plain(shape_)),
        x_gradient_(outgoing_gradient(context, as_cpu(*task.inputs[0]))),
        x_image_(as_image(shape_), image_of(context, shape_, x_.memory()),
                 image_of(context, shape_, x_gradient_.memory())),
        y_image_(as_image(y.shape()), image_of(context, y.shape(), y.value()),
                 image_of(context, y.shape(), y.gradient())),
        convolution_(context, task,
                     describe_convolution(context, x_image_.shape(), y_image_.shape(), as_2d(conv), Tag::nhwc),
                     x_image_, y_image_),
        within_(shape_.elements()) {}

  void forward() override {
    x_.refresh();
    const auto lengths = context_.pass->batch.lengths;
    x_image_.value().set_data_handle(lengths.empty() ? floats(x_.memory()) : within(lengths));
    convolution_.forward();
  }

  void backward_parameters() override { convolution_.backward_parameters(); }

  void backward_input() override {
    convolution_.backward_input();
    clear_beyond(context_.pass->batch.lengths, floats(x_gradient_.memory()));
    x_gradient_.deliver();
  }

 private:
  static Outgoing outgoing_gradient(const Context& context, const CpuTensor& x) {
    return x.with_gradient() ? Outgoing(context, x.gradient(), plain(x.shape())) : Outgoing();
  }

  // x with zeros beyond each example's length.
  float* within(std::span<const std::uint32_t> lengths) {
    std::copy_n(floats(x_.memory()), within_.size(), within_.begin());
    clear_beyond(lengths, within_.data());
    return within_.data();
  }

  void clear_beyond(std::span<const std::uint32_t> lengths, float* sequences) const {
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      float* const example = sequences + n * shape_.steps * shape_.c;
      std::fill(example + std::size_t{lengths[n]} * shape_.c, example + std::size_t{shape_.steps} * shape_.c, 0.0F);
    }
  }

  const Context& context_;
  Shape shape_;
  Incoming x_;
  Outgoing x_gradient_;
  CpuTensor x_image_;
  CpuTensor y_image_;
  ConvolutionOperation<DirectConvolution> convolution_;
  std::vector<float> within_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Conv1d& conv) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<Conv1dOperation>(context, task, *y, conv);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu

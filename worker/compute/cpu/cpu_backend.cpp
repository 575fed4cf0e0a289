#include <omp.h>

#include <stdexcept>
#include <string>

#include "worker/compute/backend.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"

namespace ballast {
namespace cpu {
namespace {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(std::uint32_t threads) {
    context_.threads = threads;
    use_threads();
  }

  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    require(shape.elements() > 0, "an input of " + to_string(shape) + " holds no values");
    return std::make_unique<CpuTensor>(context_, shape, plain(shape), with_gradient);
  }

  void write(Tensor& tensor, std::span<const float> nchw) override {
    copy_in(as_cpu(tensor).value(), tensor.shape(), nchw);
  }
  void read(const Tensor& tensor, std::span<float> nchw) override {
    copy_out(as_cpu(tensor).value(), tensor.shape(), nchw);
  }
  void write_gradient(Tensor& tensor, std::span<const float> nchw) override {
    copy_in(as_cpu(tensor).gradient(), tensor.shape(), nchw);
  }
  void read_gradient(const Tensor& tensor, std::span<float> nchw) override {
    copy_out(as_cpu(tensor).gradient(), tensor.shape(), nchw);
  }

  // The number of threads belongs to the calling thread, which may be another one than last time.
  void bind_weights(std::span<const float> weights) override {
    use_threads();
    context_.weights = weights;
  }
  void bind_gradients(std::span<float> gradients) override {
    use_threads();
    context_.gradients = gradients;
  }
  void deliver(const Extent&) override {}  // written where it belongs

  Prepared conv2d(Tensor& x, const Conv2d& conv, const Extent& weights, const Extent& bias) override {
    use_threads();
    const Shape& shape = x.shape();
    require(conv.stride > 0 && conv.kernel > 0 && conv.channels > 0,
            "a convolution needs channels, a kernel and a stride of at least 1");
    require(sliding_outputs(shape.h, conv.kernel, conv.stride, conv.padding) > 0 &&
                sliding_outputs(shape.w, conv.kernel, conv.stride, conv.padding) > 0,
            "a convolution's kernel of " + std::to_string(conv.kernel) + " does not fit into " + to_string(shape));
    const std::uint64_t elements = std::uint64_t{conv.channels} * shape.c * conv.kernel * conv.kernel;
    require(weights.elements == elements && bias.elements == conv.channels,
            "a convolution's parameters do not have the sizes of its shapes");
    return make_conv2d(context_, as_cpu(x), conv, weights, bias);
  }

  Prepared linear(Tensor& x, std::uint32_t units, const Extent& weights, const Extent& bias) override {
    use_threads();
    require(units > 0 && weights.elements == units * x.shape().features() && bias.elements == units,
            "a linear layer's parameters do not have the sizes of its shapes");
    return make_linear(context_, as_cpu(x), units, weights, bias);
  }

  Prepared relu(Tensor& x) override {
    use_threads();
    return make_relu(context_, as_cpu(x));
  }

  Prepared max_pool2d(Tensor& x, const MaxPool2d& pool) override {
    use_threads();
    require(pool.stride > 0 && pool.window > 0, "a pooling needs a window and a stride of at least 1");
    require(pool.window <= x.shape().h && pool.window <= x.shape().w,
            "a pooling's window of " + std::to_string(pool.window) + " does not fit into " + to_string(x.shape()));
    return make_max_pool2d(context_, as_cpu(x), pool);
  }

  std::unique_ptr<LossOperation> softmax_cross_entropy(Tensor& logits) override {
    use_threads();
    require(logits.with_gradient(), "the logits of a loss need a gradient");
    return make_softmax_cross_entropy(context_, as_cpu(logits));
  }

 private:
  static void require(bool fits, const std::string& otherwise) {
    if (!fits) {
      throw std::invalid_argument(otherwise);
    }
  }

  void use_threads() const {
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(context_.threads));
  }

  // An input's layout is the host's; then copying needs no reorder, and so no allocation.
  void copy_in(const dnnl::memory& to, const Shape& shape, std::span<const float> nchw) {
    require(nchw.size() == shape.elements(), size_message(shape, nchw.size()));
    if (to.get_desc() == plain(shape)) {
      std::ranges::copy(nchw, static_cast<float*>(to.get_data_handle()));
      return;
    }
    const dnnl::memory from(plain(shape), context_.engine, const_cast<float*>(nchw.data()));
    make_reorder(context_, from, to).run();
  }

  void copy_out(const dnnl::memory& from, const Shape& shape, std::span<float> nchw) {
    require(nchw.size() == shape.elements(), size_message(shape, nchw.size()));
    const dnnl::memory to(plain(shape), context_.engine, nchw.data());
    make_reorder(context_, from, to).run();
  }

  static std::string size_message(const Shape& shape, std::size_t floats) {
    return std::to_string(floats) + " floats were given for a tensor of " + to_string(shape);
  }

  Context context_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(std::uint32_t threads) {
  if (threads == 0 || threads > static_cast<std::uint32_t>(omp_get_thread_limit())) {
    throw std::invalid_argument("training.threads_per_slot: " + std::to_string(threads) +
                                " threads cannot be had; between 1 and " + std::to_string(omp_get_thread_limit()) +
                                " can (the upper bound is OMP_THREAD_LIMIT)");
  }
  return std::make_unique<cpu::CpuBackend>(threads);
}

}  // namespace ballast

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/cuda_tensor.h"
#include "worker/compute/cuda/deliveries.h"
#include "worker/compute/cuda/device.h"
#include "worker/compute/cuda/input_tensor.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"
#include "worker/compute/module.h"

namespace ballast {
namespace cuda {
namespace {

class CudaBackend : public Backend {
 public:
  CudaBackend(std::uint32_t device, Precision precision)
      : context_(device, precision),
        deliveries_(context_),
        description_(describe_device(static_cast<int>(device), precision)) {}

  [[nodiscard]] std::string description() const override { return description_; }
  [[nodiscard]] std::string arithmetic() const override { return std::string("cuda-") + name_of(context_.precision()); }
  [[nodiscard]] std::string bus_id() const override { return cuda::bus_id(context_.device()); }

  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    context_.use_device();
    check_input(shape);
    return std::make_unique<InputTensor>(shape, with_gradient);
  }

  void write(Tensor& tensor, std::span<const float> nchw) override {
    context_.use_device();
    check_copy(tensor.shape(), nchw.size());
    if (auto* const input = dynamic_cast<InputTensor*>(&tensor)) {
      input->fill(context_, nchw);
    } else {
      copy_in(as_cuda(tensor).value(), nchw);
    }
  }
  void read(const Tensor& tensor, std::span<float> nchw) override {
    check_copy(tensor.shape(), nchw.size());
    copy_out(as_cuda(tensor).value(), nchw);
  }
  void write_gradient(Tensor& tensor, std::span<const float> nchw) override {
    check_copy(tensor.shape(), nchw.size());
    copy_in(as_cuda(tensor).gradient(), nchw);
  }
  void read_gradient(const Tensor& tensor, std::span<float> nchw) override {
    check_copy(tensor.shape(), nchw.size());
    copy_out(as_cuda(tensor).gradient(), nchw);
  }

  // Where pages cannot be pinned (a limit of the system), copies are slower, no more.
  void pin(std::span<float> arena) override {
    context_.use_device();
    if (cudaHostRegister(arena.data(), arena.size_bytes(), cudaHostRegisterDefault) == cudaSuccess) {
      pins_.emplace_back(arena.data());
    } else {
      cudaGetLastError();  // or a later kernel's launch would be taken for failed
    }
  }
  void reserve_arenas(std::size_t elements) override {
    context_.use_device();
    context_.reserve_arenas(elements);
  }
  void bind_weights(const WeightArena& weights) override {
    context_.use_device();
    context_.bind_weights(weights);
  }
  void bind_gradients(std::span<float> gradients) override {
    context_.use_device();
    deliveries_.reset();
    context_.bind_gradients(gradients);
  }
  bool deliver(const Extent& parameter) override {
    deliveries_.begin(parameter);
    return false;
  }
  void await_delivery() override { deliveries_.await(); }

  void begin(const Pass& pass) override { context_.begin(pass); }

  Prepared prepare(const LayerTask& task) override {
    context_.use_device();
    return std::visit([&](const auto& layer) { return make(context_, task, layer); }, task.layer);
  }
  Forked fork(Tensor& x, std::size_t uses) override {
    context_.use_device();
    return make_fork(context_, as_cuda(x), uses);
  }
  std::unique_ptr<LossOperation> prepare_loss(const Loss& loss, Tensor& prediction,
                                              const ExampleShape& example) override {
    context_.use_device();
    check_prediction(prediction);
    return std::visit([&](const auto& made) { return make_loss(context_, as_cuda(prediction), example, made); }, loss);
  }

 private:
  // For tests; a network's own copies go beside its computing.
  void copy_in(float* to, std::span<const float> from) {
    check(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, context_.compute()),
          "writing a tensor");
    context_.finish("writing a tensor");
  }
  void copy_out(const float* from, std::span<float> to) const {
    check(cudaMemcpyAsync(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost, context_.compute()),
          "reading a tensor");
    context_.finish("reading a tensor");
  }

  std::vector<Pin> pins_;  // before the context, which waits for copies that use them
  Context context_;
  Deliveries deliveries_;
  std::string description_;
};

// A GPU on which nothing can be started (others fill its memory, say) is one that cannot be had.
std::unique_ptr<Backend> make_cuda_backend(std::uint32_t device, Precision precision) {
  try {
    return std::make_unique<CudaBackend>(device, precision);
  } catch (const BackendUnavailable&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw BackendUnavailable("GPU " + std::to_string(device) + " cannot be used: " + error.what());
  }
}

}  // namespace
}  // namespace cuda
}  // namespace ballast

extern "C" [[gnu::visibility("default")]] const ballast::BackendModule* ballast_backend_module() {
  static const ballast::BackendModule module = {ballast::kBackendInterface, ballast::cuda::make_cuda_backend};
  return &module;
}

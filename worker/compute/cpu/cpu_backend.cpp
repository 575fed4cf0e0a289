#include <omp.h>

#include <stdexcept>
#include <string>

#include "worker/compute/backend.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast {
namespace cpu {
namespace {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(std::uint32_t threads) {
    context_.threads = threads;
    use_threads();
  }

  [[nodiscard]] std::string description() const override {
    return "the cpu (oneDNN, " + std::to_string(context_.threads) + (context_.threads == 1 ? " thread)" : " threads)");
  }

  [[nodiscard]] std::string arithmetic() const override { return std::string("cpu-") + name_of(Precision::float32); }

  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    check_input(shape);
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
  void bind_weights(const WeightArena& weights) override {
    use_threads();
    context_.weights = weights.values;
  }
  void bind_gradients(std::span<float> gradients) override {
    use_threads();
    context_.gradients = gradients;
  }
  bool deliver(const Extent&) override { return true; }  // written where it belongs
  void await_delivery() override {}

  void begin(const Pass& pass) override { context_.pass = &pass; }

  Prepared prepare(const LayerTask& task) override {
    use_threads();
    return std::visit([&](const auto& layer) { return make(context_, task, layer); }, task.layer);
  }
  Forked fork(Tensor& x, std::size_t uses) override {
    use_threads();
    return make_fork(context_, as_cpu(x), uses);
  }
  std::unique_ptr<LossOperation> prepare_loss(const Loss& loss, Tensor& prediction,
                                              const ExampleShape& example) override {
    use_threads();
    check_prediction(prediction);
    return std::visit([&](const auto& made) { return make_loss(context_, as_cpu(prediction), example, made); }, loss);
  }

 private:
  void use_threads() const {
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(context_.threads));
  }

  // An input's layout is the host's; then copying needs no reorder, and so no allocation.
  void copy_in(const dnnl::memory& to, const Shape& shape, std::span<const float> nchw) {
    check_copy(shape, nchw.size());
    if (to.get_desc() == plain(shape)) {
      std::ranges::copy(nchw, static_cast<float*>(to.get_data_handle()));
      return;
    }
    const dnnl::memory from(plain(shape), context_.engine, const_cast<float*>(nchw.data()));
    make_reorder(context_, from, to).run();
  }

  void copy_out(const dnnl::memory& from, const Shape& shape, std::span<float> nchw) {
    check_copy(shape, nchw.size());
    const dnnl::memory to(plain(shape), context_.engine, nchw.data());
    make_reorder(context_, from, to).run();
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

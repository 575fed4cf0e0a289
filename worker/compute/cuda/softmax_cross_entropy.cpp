// The examples' losses are summed on the host, in their order. They travel beside the backward pass.
#include <algorithm>
#include <string>
#include <vector>

#include "worker/compute/cuda/kernels.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

// More than 15 fields: what comes and goes lies on the device and on the host, with an event for each way.
class SoftmaxOperation : public LossOperation {
 public:
  SoftmaxOperation(Context& context, const CudaTensor& logits)
      : context_(context),
        shape_(logits.shape()),
        what_("softmax_cross_entropy of " + to_string(shape_)),
        examples_(shape_.n),
        classes_(static_cast<std::uint32_t>(shape_.features())),
        logits_(logits.value()),
        gradient_(logits.gradient()),
        labels_(examples_, what_),
        probabilities_(shape_.elements(), what_),
        losses_(examples_, what_),
        correct_(examples_, what_),
        host_labels_(examples_, what_),
        host_losses_(examples_, what_),
        host_correct_(examples_, what_),
        host_probabilities_(shape_.elements()),
        labels_read_(make_event()),
        losses_arrived_(make_event()) {}

  void forward() override {
    const auto labels = context_.pass().batch.labels;
    check_labels(labels, examples_, classes_);
    check(cudaEventSynchronize(labels_read_.get()), what_, "forward");
    std::ranges::copy(labels, host_labels_.data());
    context_.upload(labels_.data(), host_labels_.data(), labels_.bytes(), what_);
    check(cudaEventRecord(labels_read_.get(), context_.upload_stream()), what_, "forward");
    check(launch_softmax(examples_, classes_, logits_, labels_.data(), probabilities_.data(), losses_.data(),
                         correct_.data(), context_.compute()),
          what_, "forward");
    context_.download_after_compute(what_);
    fetch(host_losses_.data(), losses_.data(), losses_.bytes(), context_.download());
    fetch(host_correct_.data(), correct_.data(), correct_.bytes(), context_.download());
    check(cudaEventRecord(losses_arrived_.get(), context_.download()), what_, "download");
    probabilities_fetched_ = false;
  }

  [[nodiscard]] LossSums sums() const override {
    check(cudaEventSynchronize(losses_arrived_.get()), what_, "download");
    LossSums sums;
    for (std::uint32_t i = 0; i < examples_; ++i) {
      sums.loss_sum += host_losses_.data()[i];
      sums.correct += static_cast<std::uint32_t>(host_correct_.data()[i]);
    }
    return sums;
  }

  // Brought here only for who asks.
  [[nodiscard]] std::span<const double> predictions() const override {
    if (!probabilities_fetched_) {
      fetch(host_probabilities_.data(), probabilities_.data(), probabilities_.bytes(), context_.compute());
      context_.finish(what_);
      probabilities_fetched_ = true;
    }
    return host_probabilities_;
  }

  void backward(float scale) override {
    check(launch_softmax_backward(examples_, classes_, probabilities_.data(), labels_.data(), scale, gradient_,
                                  context_.compute()),
          what_, "backward");
  }

 private:
  void fetch(void* to, const void* from, std::size_t bytes, cudaStream_t stream) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), what_, "download");
  }

  Context& context_;
  Shape shape_;
  std::string what_;
  std::uint32_t examples_;
  std::uint32_t classes_;
  const float* logits_;
  float* gradient_;
  DeviceBuffer<std::int32_t> labels_;
  DeviceBuffer<double> probabilities_;
  DeviceBuffer<double> losses_;
  DeviceBuffer<std::int32_t> correct_;
  PinnedBuffer<std::int32_t> host_labels_;
  PinnedBuffer<double> host_losses_;
  PinnedBuffer<std::int32_t> host_correct_;
  mutable std::vector<double> host_probabilities_;
  mutable bool probabilities_fetched_ = false;
  Event labels_read_;     // the device has read the host's labels
  Event losses_arrived_;  // and those of the correct
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss) {
  if (example.labels != Labels::classes || loss.smoothing != 0 || !loss.class_weights.empty()) {
    throw std::invalid_argument("the cuda backend has no such loss");
  }
  return std::make_unique<SoftmaxOperation>(context, prediction);
}

}  // namespace ballast::cuda

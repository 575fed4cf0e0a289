// The cpu backend as devices of another kind would be: late with gradients, or short of memory.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/compute/backend.h"
#include "worker/compute/held_weights.h"

namespace ballast::testing {

// Passes everything on.
class WrappedBackend : public Backend {
 public:
  [[nodiscard]] std::string description() const override { return "a wrapped " + inner_->description(); }
  [[nodiscard]] std::string arithmetic() const override { return inner_->arithmetic(); }
  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    return inner_->input(shape, with_gradient);
  }
  void write(Tensor& tensor, std::span<const float> nchw) override { inner_->write(tensor, nchw); }
  void read(const Tensor& tensor, std::span<float> nchw) override { inner_->read(tensor, nchw); }
  void write_gradient(Tensor& tensor, std::span<const float> nchw) override { inner_->write_gradient(tensor, nchw); }
  void read_gradient(const Tensor& tensor, std::span<float> nchw) override { inner_->read_gradient(tensor, nchw); }
  void bind_weights(const WeightArena& weights) override { inner_->bind_weights(weights); }
  void bind_gradients(std::span<float> gradients) override { inner_->bind_gradients(gradients); }
  bool deliver(const Extent& parameter) override { return inner_->deliver(parameter); }
  void await_delivery() override { inner_->await_delivery(); }
  void begin(const Pass& pass) override { inner_->begin(pass); }
  Prepared prepare(const LayerTask& task) override { return inner_->prepare(task); }
  Forked fork(Tensor& x, std::size_t uses) override { return inner_->fork(x, uses); }
  std::unique_ptr<LossOperation> prepare_loss(const Loss& loss, Tensor& prediction,
                                              const ExampleShape& example) override {
    return inner_->prepare_loss(loss, prediction, example);
  }

 protected:
  std::unique_ptr<Backend> inner_ = make_cpu_backend(1);
};

// Computes gradients in memory of its own; each reaches the bound arena when it is awaited. Writes down when somebody
// waits for the sums of its losses.
class LateBackend : public WrappedBackend {
 public:
  // Of a whole backward pass, kept by the test: what happened, in order.
  explicit LateBackend(std::vector<std::string>& happened) : happened_(happened) {}

  void bind_gradients(std::span<float> gradients) override {
    host_ = gradients;
    own_.assign(gradients.size(), 0);
    inner_->bind_gradients(own_);
  }
  bool deliver(const Extent& parameter) override {
    happened_.emplace_back("deliver");
    on_their_way_.push_back(parameter);
    return false;
  }
  void await_delivery() override {
    happened_.emplace_back("await");
    const Extent extent = on_their_way_.front();
    on_their_way_.pop_front();
    std::ranges::copy(std::span(own_).subspan(extent.offset, extent.elements), host_.subspan(extent.offset).begin());
  }
  std::unique_ptr<LossOperation> prepare_loss(const ballast::Loss& loss, Tensor& prediction,
                                              const ExampleShape& example) override {
    return std::make_unique<NotedLoss>(happened_, inner_->prepare_loss(loss, prediction, example));
  }

 private:
  class NotedLoss : public LossOperation {
   public:
    NotedLoss(std::vector<std::string>& happened, std::unique_ptr<LossOperation> inner)
        : happened_(happened), inner_(std::move(inner)) {}
    void forward() override { inner_->forward(); }
    [[nodiscard]] LossSums sums() const override {
      happened_.emplace_back("sums");
      return inner_->sums();
    }
    [[nodiscard]] std::span<const double> predictions() const override { return inner_->predictions(); }
    void backward(float scale) override { inner_->backward(scale); }

   private:
    std::vector<std::string>& happened_;
    std::unique_ptr<LossOperation> inner_;
  };

  std::vector<std::string>& happened_;
  std::span<float> host_;
  std::vector<float> own_;
  std::deque<Extent> on_their_way_;
};

// Computes on a copy of the weights, as a device does, and counts how often it copies them.
class CopyingBackend : public WrappedBackend {
 public:
  // Kept by the test.
  explicit CopyingBackend(int& copies) : copies_(copies) {}

  void bind_weights(const WeightArena& weights) override {
    if (!held_.are(weights)) {
      own_.assign(weights.values.begin(), weights.values.end());
      held_.become(weights);
      ++copies_;
    }
    inner_->bind_weights(own_);
  }

 private:
  int& copies_;
  HeldWeights held_;
  std::vector<float> own_;
};

// Has room for `room` examples at once, in all that is prepared and still alive.
class SmallBackend : public WrappedBackend {
 public:
  explicit SmallBackend(std::uint32_t room) : room_(room) {}

  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    if (*taken_ + shape.n > room_) {
      throw DeviceMemoryExhausted("no room for " + to_string(shape));
    }
    return std::make_unique<Counted>(shape, with_gradient, taken_, inner_->input(shape, with_gradient));
  }
  void write(Tensor& tensor, std::span<const float> nchw) override { inner_->write(unwrap(tensor), nchw); }
  Prepared prepare(const LayerTask& task) override {
    std::vector<Tensor*> inputs;
    std::ranges::transform(task.inputs, std::back_inserter(inputs), [](Tensor* input) { return &unwrap(*input); });
    return inner_->prepare({task.layer, inputs, task.parameters, task.in_place, task.number});
  }

 private:
  using Count = std::shared_ptr<std::uint32_t>;

  // Takes room as long as it lives.
  class Counted : public Tensor {
   public:
    Counted(const Shape& shape, bool with_gradient, Count count, std::unique_ptr<Tensor> inner)
        : Tensor(shape, with_gradient), count_(std::move(count)), inner_(std::move(inner)) {
      *count_ += shape.n;
    }
    ~Counted() override { *count_ -= shape().n; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    [[nodiscard]] Tensor& inner() const { return *inner_; }

   private:
    Count count_;
    std::unique_ptr<Tensor> inner_;
  };

  static Tensor& unwrap(Tensor& tensor) {
    auto* const counted = dynamic_cast<Counted*>(&tensor);
    return counted == nullptr ? tensor : counted->inner();
  }

  std::uint32_t room_;
  Count taken_ = std::make_shared<std::uint32_t>(0);
};

}  // namespace ballast::testing

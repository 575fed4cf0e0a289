#include "worker/training/delay.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace ballast {

namespace {

constexpr std::size_t kMostDigits = 7;  // three hours

std::chrono::milliseconds time_of(std::string_view digits, std::string_view part) {
  if (digits.empty() || digits.size() > kMostDigits ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    throw std::runtime_error("BALLAST_DELAY: " + std::string(part) + ": '" + std::string(digits) +
                             "' is no time; say NAME:MILLISECONDS, for example worker-0:20, or *:5 for all others");
  }
  return std::chrono::milliseconds(std::stoull(std::string(digits)));
}

class Delayed : public Model {
 public:
  Delayed(std::unique_ptr<Model> model, std::chrono::milliseconds delay) : model_(std::move(model)), delay_(delay) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    std::this_thread::sleep_for(delay_);
    return model_->train(task, batch, weights, gradients, ready);
  }
  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    return model_->evaluate(batch, weights);
  }
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) override {
    model_->predict(batch, weights, probabilities);
  }
  [[nodiscard]] ComputeTimes last_times() const override {
    auto times = model_->last_times();
    times.forward_us += static_cast<std::uint64_t>(std::chrono::microseconds(delay_).count());
    return times;
  }

 private:
  std::unique_ptr<Model> model_;
  std::chrono::milliseconds delay_;
};

}  // namespace

std::chrono::milliseconds parse_delay(std::string_view text, std::string_view worker) {
  std::chrono::milliseconds own{0};
  std::chrono::milliseconds others{0};
  bool is_named = false;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
    const auto colon = part.rfind(':');
    const auto name = part.substr(0, colon);
    const auto time = time_of(colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1), part);
    if (name == "*") {
      others = time;
    } else if (name == worker) {
      own = time;
      is_named = true;
    }
  }
  return is_named ? own : others;
}

std::chrono::milliseconds delay_from_environment(std::string_view worker) {
  const char* text = std::getenv("BALLAST_DELAY");
  return parse_delay(text == nullptr ? "" : text, worker);
}

std::unique_ptr<Model> with_delay(std::unique_ptr<Model> model, std::chrono::milliseconds delay) {
  if (delay.count() == 0) {
    return model;
  }
  return std::make_unique<Delayed>(std::move(model), delay);
}

}  // namespace ballast

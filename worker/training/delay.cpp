#include "worker/training/delay.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "worker/models/timed_work.h"

namespace ballast {

namespace {

std::optional<std::uint64_t> number_of(std::string_view digits) {
  constexpr std::size_t kMostDigits = 7;  // three hours, or ten million steps
  if (digits.empty() || digits.size() > kMostDigits ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::stoull(std::string(digits));
}

// Takes what follows the last `mark`, and the mark, off the text.
std::optional<std::string_view> take_after(std::string_view& text, char mark) {
  const auto at = text.rfind(mark);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto after = text.substr(at + 1);
  text.remove_suffix(text.size() - at);
  return after;
}

class Delayed : public Model {
 public:
  Delayed(std::unique_ptr<Model> model, Delays delays) : model_(std::move(model)), delays_(std::move(delays)) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    last_ = delays_.at(task.step, task.slot);
    wait_for(last_);
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
    times.forward_us += static_cast<std::uint64_t>(last_.count());
    return times;
  }

 private:
  std::unique_ptr<Model> model_;
  Delays delays_;
  std::chrono::microseconds last_{0};
};

}  // namespace

Delays::Part Delays::read_part(std::string_view variable, std::string_view part, std::string_view said) {
  const auto every = take_after(part, '/');
  const auto steps = take_after(part, '@');
  const auto dash = steps ? steps->find('-') : std::string_view::npos;
  const auto spread = take_after(part, '~');
  const auto time = number_of(part);
  const auto about = spread ? number_of(*spread) : 0;
  const auto first = steps ? number_of(steps->substr(0, dash)) : 0;
  const auto last =
      dash == std::string_view::npos ? std::numeric_limits<Step>::max() : number_of(steps->substr(dash + 1));
  const auto each = every ? number_of(*every) : 1;
  if (!time || !about || !first || !last || !each || *each == 0 || *last < *first) {
    throw std::runtime_error(
        std::string(variable) + ": '" + std::string(said) +
        "' is none; say NAME:MILLISECONDS, for example worker-0:20, or *:5 for all others; spread: *:20~4; in some "
        "steps only: worker-0:20@30-90, or worker-0:200@30/10 for each tenth from step 30 on");
  }
  return {std::chrono::milliseconds(*time), std::chrono::milliseconds(*about), *first, *last, *each};
}

Delays Delays::parse(std::string_view variable, std::string_view text, std::string_view worker) {
  Delays own;
  Delays others;
  bool is_named = false;
  while (!text.empty()) {
    const auto said = text.substr(0, text.find(','));
    text.remove_prefix(said.size() == text.size() ? said.size() : said.size() + 1);
    const auto colon = said.rfind(':');
    const auto name = said.substr(0, colon);
    const auto part =
        read_part(variable, colon == std::string_view::npos ? std::string_view() : said.substr(colon + 1), said);
    is_named = is_named || name == worker;
    if ((name == "*" || name == worker) && part.time.count() > 0) {
      (name == worker ? own : others).parts_.push_back(part);
    }
  }
  auto& chosen = is_named ? own : others;
  chosen.seed_ = std::hash<std::string_view>()(worker);
  return chosen;
}

Delays Delays::from_environment(const char* variable, std::string_view worker) {
  const char* text = std::getenv(variable);
  return parse(variable, text == nullptr ? "" : text, worker);
}

std::chrono::microseconds Delays::at(Step step, Slot slot) const {
  std::seed_seq seed{seed_, step, std::uint64_t{slot}};
  std::mt19937 random(seed);
  std::chrono::microseconds all{0};
  for (const auto& part : parts_) {
    if (step < part.first || step > part.last || (step - part.first) % part.every != 0) {
      continue;
    }
    std::normal_distribution<double> about(0, 1e3 * static_cast<double>(part.spread.count()));
    all += part.time + std::chrono::microseconds(part.spread.count() > 0 ? std::lround(about(random)) : 0);
  }
  return std::max(all, std::chrono::microseconds(0));
}

PlannedDelays delays_from_environment(std::string_view worker) {
  return {Delays::from_environment("BALLAST_DELAY", worker), Delays::from_environment("BALLAST_READ_DELAY", worker)};
}

void wait_for(std::chrono::microseconds delay) { TimedWork(delay).wait(1); }

std::unique_ptr<Model> with_delay(std::unique_ptr<Model> model, const Delays& delays) {
  if (delays.empty()) {
    return model;
  }
  return std::make_unique<Delayed>(std::move(model), delays);
}

}  // namespace ballast

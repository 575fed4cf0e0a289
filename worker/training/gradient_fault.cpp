#include "worker/training/gradient_fault.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ballast {

namespace {

[[noreturn]] void refuse(std::string_view fault, const std::string& what) {
  throw std::runtime_error("BALLAST_FAULT: " + std::string(fault) + ": " + what);
}

// Takes what stands before the next `end` off the front of `rest`; all of it if there is none.
std::string_view take_until(std::string_view& rest, char end) {
  const auto at = rest.find(end);
  const auto part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

float value_of(std::string_view kind, std::string_view fault) {
  if (kind == "nan") {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (kind == "inf") {
    return std::numeric_limits<float>::infinity();
  }
  if (kind == "huge") {
    return std::numeric_limits<float>::max();
  }
  refuse(fault, "kinds are nan, inf and huge");
}

std::uint64_t number_of(std::string_view digits, const char* what, std::string_view fault) {
  if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    refuse(fault, "'" + std::string(digits) + "' is no " + what + "; say KIND@STEP:SLOT:PARAMETER");
  }
  return std::stoull(std::string(digits));
}

std::size_t parameter_of(std::string_view name, const Arena& arena, std::string_view fault) {
  std::string known;
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    if (arena.parameters[i].name == name) {
      return i;
    }
    known += (known.empty() ? "" : ", ") + arena.parameters[i].name;
  }
  refuse(fault, "the model has no parameter '" + std::string(name) + "'; it has " + known);
}

GradientFault parse_one(std::string_view fault, const Arena& arena, Slot slots) {
  std::string_view rest = fault;
  GradientFault parsed;
  parsed.value = value_of(take_until(rest, '@'), fault);
  parsed.step = number_of(take_until(rest, ':'), "step", fault);
  const auto slot = number_of(take_until(rest, ':'), "slot", fault);
  if (slot >= slots) {
    refuse(fault, "a step has " + std::to_string(slots) + " slots, numbered from 0");
  }
  parsed.slot = static_cast<Slot>(slot);
  parsed.parameter = parameter_of(rest, arena, fault);
  return parsed;
}

class Faulty : public Model {
 public:
  Faulty(std::unique_ptr<Model> model, const Arena& arena, std::vector<GradientFault> faults)
      : model_(std::move(model)), arena_(arena), faults_(std::move(faults)) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    return model_->train(task, batch, weights, gradients, [&](std::size_t parameter) {
      for (const auto& fault : faults_) {
        if (fault.step == task.step && fault.slot == task.slot && fault.parameter == parameter) {
          gradients[arena_.extents[parameter].offset] = fault.value;
        }
      }
      ready(parameter);
    });
  }
  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    return model_->evaluate(batch, weights);
  }
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) override {
    model_->predict(batch, weights, probabilities);
  }
  [[nodiscard]] ComputeTimes last_times() const override { return model_->last_times(); }

 private:
  std::unique_ptr<Model> model_;
  const Arena& arena_;
  std::vector<GradientFault> faults_;
};

}  // namespace

std::vector<GradientFault> parse_gradient_faults(std::string_view text, const Arena& arena, Slot slots) {
  std::vector<GradientFault> faults;
  while (!text.empty()) {
    faults.push_back(parse_one(take_until(text, ','), arena, slots));
  }
  return faults;
}

std::unique_ptr<Model> with_gradient_faults(std::unique_ptr<Model> model, const Arena& arena,
                                            std::vector<GradientFault> faults) {
  if (faults.empty()) {
    return model;
  }
  return std::make_unique<Faulty>(std::move(model), arena, std::move(faults));
}

std::unique_ptr<Model> with_gradient_faults(std::unique_ptr<Model> model, const Arena& arena, Slot slots) {
  const char* text = std::getenv("BALLAST_FAULT");
  return with_gradient_faults(std::move(model), arena,
                              parse_gradient_faults(text == nullptr ? "" : text, arena, slots));
}

}  // namespace ballast

// What a model declares of itself: its parameters, first layer first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

// Parameters of one group share optimizer settings.
enum class Group : std::uint8_t {
  decay,       // descended, with weight decay
  no_decay,    // descended, without weight decay (biases, normalisation scales)
  state,       // changed by what the slots make of it rather than descended (running statistics, other buffers)
  statistics,  // the step's loss and counts; replaced by each step's root, never part of the model
};

// Whether an optimizer descends along its gradient.
constexpr bool is_descended(Group group) { return group == Group::decay || group == Group::no_decay; }

// How shards fill a parameter before step 0, from (seed, parameter index, element index) alone.
struct Initial {
  enum class Kind : std::uint8_t { zero, constant, uniform };
  Kind kind = Kind::zero;
  float value = 0.0F;  // constant: the value; uniform: the bound b of [-b, b)
};

struct Parameter {
  std::string name;                  // unique within the model, e.g. "conv1.weight"
  std::vector<std::uint32_t> shape;  // row-major, outermost first
  Group group = Group::decay;
  Initial initial;
  // Of state that is a running statistic: new = old + momentum * (statistic - old). 0: state without a known rule.
  float momentum = 0.0F;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const auto extent : shape) {
      count *= extent;
    }
    return count;
  }
};

}  // namespace ballast

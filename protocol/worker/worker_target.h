// What a session does next, and the weights that it needs for that.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// What weights are asked for by: a version, or the newest one after the grant of that clock; and whether it is their
// averages that are meant.
struct WeightsKey {
  Version version = 0;
  LeadNumber clock = {};
  bool averages = false;
  auto operator<=>(const WeightsKey&) const = default;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(version), listed::names(clock), listed::plain(averages));
  }
};

inline WeightsKey key_of(const Weights& header) {
  return header.clock != kNoLeadNumber ? WeightsKey{kNewestVersion, header.clock, header.averages}
                                       : WeightsKey{header.version, {}, header.averages};
}

struct WorkerTarget {
  enum class Kind : std::uint8_t { none, train, evaluate };
  Kind kind = Kind::none;
  WeightsKey weights;
  Step step = 0;                  // train
  std::vector<SlotRange> ranges;  // train
  Evaluation evaluation;          // evaluate
  bool operator==(const WorkerTarget&) const = default;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(kind), listed::parts(weights), listed::plain(step, ranges, evaluation));
  }
};

// Slots of a step whose examples are worth reading ahead.
struct SlotsAhead {
  Step step = 0;
  std::vector<SlotRange> ranges;
  bool operator==(const SlotsAhead&) const = default;
};

// Whose receipts are counted together: those of a step, or of one of its slots.
struct ReceiptScope {
  Step step = 0;
  Slot slot = kNoSlot;  // none: all that is computed at once is of one step
  bool operator==(const ReceiptScope&) const = default;
  [[nodiscard]] bool contains(Step of_step, Slot of_slot) const {
    return slot == kNoSlot ? of_step >= step : of_step == step && of_slot == slot;
  }
};

}  // namespace ballast

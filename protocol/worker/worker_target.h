// What a session does next, and the weights that it needs for that.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"

namespace ballast {

// What weights are asked for by: a version, or the newest one after the grant whose clock the ticket is.
struct WeightsKey {
  Version version = 0;
  std::uint64_t ticket = 0;
  bool operator==(const WeightsKey&) const = default;
};

inline WeightsKey key_of(const Weights& header) {
  return header.ticket != 0 ? WeightsKey{kNewestVersion, header.ticket} : WeightsKey{header.version, 0};
}

struct WorkerTarget {
  enum class Kind : std::uint8_t { none, train, evaluate };
  Kind kind = Kind::none;
  WeightsKey weights;
  Step step = 0;                  // train
  std::vector<SlotRange> ranges;  // train
  Evaluation evaluation;          // evaluate
  bool operator==(const WorkerTarget&) const = default;
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
  [[nodiscard]] bool contains(Step of_step, Slot of_slot) const {
    return slot == kNoSlot ? of_step >= step : of_step == step && of_slot == slot;
  }
};

}  // namespace ballast

// Which examples a slot holds: pure functions of (seed, epoch, step, slot).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// A permutation of 0 .. examples - 1: R. A. Fisher's and F. Yates' shuffle in R. Durstenfeld's form (CACM 7:7, 1964),
// drawn with (seed, Purpose::shuffle, epoch).
std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::uint32_t examples);

// Where a slot's examples stand in the order of its epoch: positions [first, first + count).
struct SlotExtent {
  std::uint64_t epoch = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // below batch / slots, perhaps 0, only in an epoch's last step
};
SlotExtent slot_extent(const TrainingSpec& training, std::uint32_t examples, std::uint64_t step, std::uint32_t slot);

// The orders of the epochs used last. Thread-safe.
class EpochOrders {
 public:
  using Order = std::shared_ptr<const std::vector<std::uint32_t>>;

  EpochOrders(std::uint64_t seed, std::uint32_t examples) : seed_(seed), examples_(examples) {}
  Order of(std::uint64_t epoch);

 private:
  struct Known {
    std::uint64_t epoch = 0;
    Order order;
  };
  const std::uint64_t seed_;
  const std::uint32_t examples_;
  std::mutex mutex_;
  Known newest_;
  Known other_;  // read ahead crosses an epoch's end, so two are in use at once
};

}  // namespace ballast

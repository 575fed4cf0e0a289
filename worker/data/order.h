// Which examples a slot holds: pure functions of (seed, epoch, step, slot), and of the labels where slots draw by
// class.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// A permutation of 0 .. examples - 1: R. A. Fisher's and F. Yates' shuffle in R. Durstenfeld's form (CACM 7:7, 1964),
// drawn with (seed, Purpose::shuffle, epoch).
std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::uint32_t examples);

// The examples 0 .. labels - 1 by label, those of one label in their order.
std::vector<std::uint32_t> sorted_by_label(std::span<const std::int32_t> labels);

// The order with training.local.partition: by_class. `sorted` is cut into a part for each slot, as equal as they come:
// part s is [n * s / slots, n * (s + 1) / slots). Each part is shuffled for itself, as above, drawn with (seed,
// Purpose::classes, epoch, slot), and stays where it is.
std::vector<std::uint32_t> epoch_order_by_class(std::uint64_t seed, std::uint64_t epoch,
                                                std::span<const std::uint32_t> sorted, std::uint32_t slots);

// Where a slot's examples stand in the order of its epoch: positions [first, first + count). mixed: each step takes the
// next `batch` of the order, each slot its part of them. by_class: each slot takes the next batch / slots of its part;
// with as many steps as when mixed, and as many examples in each step.
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

  using Make = std::function<std::vector<std::uint32_t>(std::uint64_t epoch)>;

  explicit EpochOrders(Make make) : make_(std::move(make)) {}
  Order of(std::uint64_t epoch);

 private:
  struct Known {
    std::uint64_t epoch = 0;
    Order order;
  };
  const Make make_;
  std::mutex mutex_;
  Known newest_;
  Known other_;  // read ahead crosses an epoch's end, so two are in use at once
};

}  // namespace ballast

#include "worker/data/order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/numeric/philox.h"

namespace ballast {

std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::uint32_t examples) {
  const RandomStream stream({seed, Purpose::shuffle, epoch, 0});
  std::vector<std::uint32_t> order(examples);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t last = examples; last-- > 1;) {
    std::swap(order[last], order[stream.bounded(last, last + 1)]);
  }
  return order;
}

SlotExtent slot_extent(const TrainingSpec& training, std::uint32_t examples, std::uint64_t step, std::uint32_t slot) {
  const std::uint64_t steps_per_epoch = (std::uint64_t{examples} + training.batch - 1) / training.batch;
  const std::uint64_t share = training.batch / training.slots;
  const std::uint64_t step_first = step % steps_per_epoch * training.batch;
  const std::uint64_t first = std::min<std::uint64_t>(step_first + slot * share, examples);
  const std::uint64_t end = std::min<std::uint64_t>(first + share, examples);
  return {step / steps_per_epoch, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

EpochOrders::Order EpochOrders::of(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (newest_.order && newest_.epoch == epoch) {
    return newest_.order;
  }
  std::swap(newest_, other_);
  if (!newest_.order || newest_.epoch != epoch) {
    newest_ = {epoch, std::make_shared<const std::vector<std::uint32_t>>(epoch_order(seed_, epoch, examples_))};
  }
  return newest_.order;
}

}  // namespace ballast

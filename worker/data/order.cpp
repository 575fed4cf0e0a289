#include "worker/data/order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/numeric/philox.h"

namespace ballast {

namespace {

void shuffle(std::span<std::uint32_t> order, const RandomKey& key) {
  const RandomStream stream(key);
  for (auto last = static_cast<std::uint32_t>(order.size()); last-- > 1;) {
    std::swap(order[last], order[stream.bounded(last, last + 1)]);
  }
}

// Of the slot's part among `examples` sorted ones.
std::uint64_t part_begin(std::uint64_t examples, std::uint32_t slots, std::uint32_t slot) {
  return examples * slot / slots;
}

}  // namespace

std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::uint32_t examples) {
  std::vector<std::uint32_t> order(examples);
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, {seed, Purpose::shuffle, epoch, 0});
  return order;
}

std::vector<std::uint32_t> sorted_by_label(std::span<const std::int32_t> labels) {
  std::vector<std::uint32_t> sorted(labels.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, {}, [&](std::uint32_t example) { return labels[example]; });
  return sorted;
}

std::vector<std::uint32_t> epoch_order_by_class(std::uint64_t seed, std::uint64_t epoch,
                                                std::span<const std::uint32_t> sorted, std::uint32_t slots) {
  std::vector<std::uint32_t> order(sorted.begin(), sorted.end());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const auto begin = part_begin(sorted.size(), slots, slot);
    const auto end = part_begin(sorted.size(), slots, slot + 1);
    shuffle(std::span(order).subspan(begin, end - begin), {seed, Purpose::classes, epoch, slot});
  }
  return order;
}

SlotExtent slot_extent(const TrainingSpec& training, std::uint32_t examples, std::uint64_t step, std::uint32_t slot) {
  const std::uint64_t steps_per_epoch = (std::uint64_t{examples} + training.batch - 1) / training.batch;
  const std::uint64_t share = training.batch / training.slots;
  const std::uint64_t in_epoch = step % steps_per_epoch;
  std::uint64_t wanted = in_epoch * training.batch + slot * share;
  std::uint64_t limit = examples;
  if (draws_by_class(training)) {
    wanted = part_begin(examples, training.slots, slot) + in_epoch * share;
    limit = part_begin(examples, training.slots, slot + 1);
  }
  const std::uint64_t first = std::min(wanted, limit);
  const std::uint64_t end = std::min(first + share, limit);
  return {step / steps_per_epoch, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

EpochOrders::Order EpochOrders::of(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (newest_.order && newest_.epoch == epoch) {
    return newest_.order;
  }
  std::swap(newest_, other_);
  if (!newest_.order || newest_.epoch != epoch) {
    newest_ = {epoch, std::make_shared<const std::vector<std::uint32_t>>(make_(epoch))};
  }
  return newest_.order;
}

}  // namespace ballast

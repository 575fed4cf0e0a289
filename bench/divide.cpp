// How many models workers send up a step, and what the division of the slots costs the lead.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/spread.h"
#include "protocol/lead/slot_division.h"
#include "protocol/tree.h"

namespace ballast::bench {

namespace {

using Division = std::vector<SlotRange> (*)(Slot slots, std::size_t workers);

// The baseline: as even as it can be, wherever the tree's nodes lie.
std::vector<SlotRange> divide_evenly(Slot slots, std::size_t workers) {
  std::vector<SlotRange> ranges;
  for (std::uint64_t i = 0; i < workers; ++i) {
    ranges.push_back({static_cast<Slot>(i * slots / workers), static_cast<Slot>((i + 1) * slots / workers)});
  }
  return ranges;
}

double models_by_worker(Division divide, Slot slots, std::size_t workers) {
  std::uint64_t nodes = 0;
  for (const auto range : divide(slots, workers)) {
    nodes += tree::nodes_in(range, slots);
  }
  return static_cast<double>(nodes) / static_cast<double>(workers);
}

double milliseconds(Slot slots, std::size_t workers, unsigned repetitions) {
  std::vector<double> times;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    const auto begin = Clock::now();
    divide_slots(slots, workers);
    times.push_back(seconds_since(begin) * 1e3);
  }
  return spread_of(times).median;
}

Row row_of(Slot slots, std::size_t workers, unsigned repetitions) {
  return {{"workers", std::to_string(workers)},
          {"slots", std::to_string(slots)},
          {"models_even", models_by_worker(divide_evenly, slots, workers)},
          {"models", models_by_worker(divide_slots, slots, workers)},
          {"ms", milliseconds(slots, workers, repetitions)}};
}

Row mean_of_all() {
  double even = 0;
  double own = 0;
  std::uint64_t cases = 0;
  const auto begin = Clock::now();
  for (std::size_t workers = 1; workers <= 64; ++workers) {
    for (Slot slots = std::max(Slot{8}, static_cast<Slot>(workers)); slots <= 512; ++slots, ++cases) {
      even += models_by_worker(divide_evenly, slots, workers);
      own += models_by_worker(divide_slots, slots, workers);
    }
  }
  const auto count = static_cast<double>(cases);
  return {{"workers", std::string("1 to 64")},
          {"slots", std::string("8 to 512")},
          {"models_even", even / count},
          {"models", own / count},
          {"ms", seconds_since(begin) * 1e3 / count}};
}

}  // namespace

Result divide(const Options& options) {
  Result result;
  result.how =
      "models that a worker sends up a step, on average over the workers: with the lead's division of the slots, and "
      "with one that is only even, of the same longest range. ms: median of a division's time.";
  for (const auto& [workers, slots] :
       {std::pair<std::size_t, Slot>{12, 64}, {10, 128}, {48, 512}, {100, 4096}, {1000, 4096}, {250, 4096}}) {
    result.rows.push_back(row_of(slots, workers, options.repetitions));
  }
  result.rows.push_back(mean_of_all());
  return result;
}

}  // namespace ballast::bench

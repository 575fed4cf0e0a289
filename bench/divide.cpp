// How many models workers send up a step, when the last of them is done, and what the division of the slots costs the
// lead.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "protocol/lead/slot_division.h"
#include "protocol/tree.h"

namespace ballast::bench {

namespace {

using Ranges = std::vector<SlotRange>;

struct Paces {
  std::string name;
  double slots = 0;  // slot times spread over so many decades around 250 ms
  double links = 0;  // uplinks likewise around 1 Gbit/s
};

// The baseline: as even as it can be, wherever the tree's nodes lie.
Ranges divide_evenly(Slot slots, std::size_t workers) {
  Ranges ranges;
  for (std::uint64_t i = 0; i < workers; ++i) {
    ranges.push_back({static_cast<Slot>(i * slots / workers), static_cast<Slot>((i + 1) * slots / workers)});
  }
  return ranges;
}

double models_by_worker(const Ranges& ranges, Slot slots) {
  std::uint64_t nodes = 0;
  for (const auto range : ranges) {
    nodes += tree::nodes_in(range, slots);
  }
  return static_cast<double>(nodes) / static_cast<double>(ranges.size());
}

StepSize step_of(Slot slots) { return {.slots = slots, .bytes = 8'000'000, .chunks = 8}; }

std::vector<SessionPace> sessions_of(const Paces& paces, std::size_t workers) {
  std::mt19937_64 random(1);
  const auto around = [&](double middle, double decades) {
    return middle * std::pow(10, decades * (static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5));
  };
  std::vector<SessionPace> sessions(workers);
  for (auto& session : sessions) {
    session.slot = static_cast<Micros>(around(250'000, paces.slots));
    session.up = around(125, paces.links);
  }
  return sessions;
}

double milliseconds(const StepSize& step, const std::vector<SessionPace>& sessions, const Ranges* kept,
                    unsigned repetitions) {
  std::vector<double> times;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    const auto begin = own_cpu_seconds();
    divide_slots(step, sessions, kept);
    times.push_back((own_cpu_seconds() - begin) * 1e3);
  }
  return spread_of(times).median;
}

// Everybody's slots become up to a tenth slower: a division that is looked at again.
std::vector<SessionPace> drifted(std::vector<SessionPace> sessions) {
  std::mt19937_64 random(2);
  for (auto& session : sessions) {
    session.slot += session.slot * (random() % 10) / 100;
  }
  return sessions;
}

Row row_of(const Paces& paces, Slot slots, std::size_t workers, unsigned repetitions) {
  const auto step = step_of(slots);
  const auto sessions = sessions_of(paces, workers);
  const auto even = divide_evenly(slots, workers);
  const auto own = divide_slots(step, sessions);
  return {{"paces", paces.name},
          {"workers", std::to_string(workers)},
          {"slots", std::to_string(slots)},
          {"models_even", models_by_worker(even, slots)},
          {"models", models_by_worker(own, slots)},
          {"end_even_s", static_cast<double>(latest_end(step, sessions, even)) / 1e6},
          {"end_s", static_cast<double>(latest_end(step, sessions, own)) / 1e6},
          {"ms", milliseconds(step, sessions, nullptr, repetitions)},
          {"ms_again", milliseconds(step, drifted(sessions), &own, repetitions)}};
}

Row mean_of_all() {
  double even = 0;
  double own = 0;
  std::uint64_t cases = 0;
  const auto begin = own_cpu_seconds();
  for (std::size_t workers = 1; workers <= 64; ++workers) {
    const std::vector<SessionPace> sessions(workers, {.slot = 250'000, .up = 125});
    for (Slot slots = std::max(Slot{8}, static_cast<Slot>(workers)); slots <= 512; ++slots, ++cases) {
      even += models_by_worker(divide_evenly(slots, workers), slots);
      own += models_by_worker(divide_slots(step_of(slots), sessions), slots);
    }
  }
  const auto count = static_cast<double>(cases);
  return {{"paces", std::string("alike")},
          {"workers", std::string("1 to 64")},
          {"slots", std::string("8 to 512")},
          {"models_even", even / count},
          {"models", own / count},
          {"end_even_s", std::string("")},
          {"end_s", std::string("")},
          {"ms", (own_cpu_seconds() - begin) * 1e3 / count},
          {"ms_again", std::string("")}};
}

}  // namespace

Result divide(const Options& options) {
  Result result;
  result.how =
      "models that a worker sends up a step, on average over the workers, and the step's latest predicted end: with "
      "the lead's division of the slots, and with an even one. A slot takes 250 ms, or times over two decades around "
      "that; a model has 8 MB and goes up at 1 Gbit/s, or at rates over two decades around that. ms: median of a "
      "division's processor time; again: of one that is looked at again, when each worker's slots have become 0 to 9 % "
      "slower.";
  const std::vector<Paces> all{{"alike", 0, 0}, {"slots differ", 2, 0}, {"slots and links differ", 2, 2}};
  for (const auto& paces : all) {
    for (const auto& [workers, slots] : {std::pair<std::size_t, Slot>{12, 64},
                                         {10, 128},
                                         {48, 512},
                                         {100, 4096},
                                         {250, 4096},
                                         {1000, 4096},
                                         {1000, 16384}}) {
      result.rows.push_back(row_of(paces, slots, workers, options.repetitions));
    }
  }
  result.rows.push_back(mean_of_all());
  return result;
}

}  // namespace ballast::bench

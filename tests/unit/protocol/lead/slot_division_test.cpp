#include "protocol/lead/slot_division.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "protocol/tree.h"

using namespace ballast;

namespace {

std::vector<SlotRange> divide_evenly_paced(Slot slots, std::size_t workers) {
  return divide_slots({.slots = slots}, std::vector<SessionPace>(workers, SessionPace{.slot = 1}));
}

// No longer than it has to be, or a hundredth of that more.
Slot longest(Slot slots, std::size_t workers) {
  const auto least = static_cast<Slot>((slots + workers - 1) / workers);
  return least + least / 100;
}

std::uint32_t nodes(const std::vector<SlotRange>& ranges, Slot slots) {
  std::uint32_t sum = 0;
  for (const auto range : ranges) {
    sum += tree::nodes_in(range, slots);
  }
  return sum;
}

// The nodes of each range.
class Nodes {
 public:
  explicit Nodes(Slot slots) : slots_(slots) {
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = begin; end <= slots; ++end) {
        table_.push_back(tree::nodes_in({begin, end}, slots));
      }
    }
  }
  [[nodiscard]] std::uint32_t of(Slot begin, Slot end) const {
    return table_[std::size_t{begin} * (2 * slots_ + 3 - begin) / 2 + (end - begin)];
  }

 private:
  std::size_t slots_;
  std::vector<std::uint32_t> table_;
};

// Of all divisions none of whose ranges is longer than it has to be, wherever their boundaries lie.
std::uint32_t fewest_nodes(const Nodes& nodes, Slot slots, std::size_t workers) {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max() / 2;
  std::vector<std::uint32_t> fewest(slots + 1, kNone);  // up to each boundary
  fewest[0] = 0;
  for (std::size_t i = 0; i < workers; ++i) {
    std::vector<std::uint32_t> next(slots + 1, kNone);
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = begin; fewest[begin] != kNone && end <= std::min(slots, begin + longest(slots, workers)); ++end) {
        next[end] = std::min(next[end], fewest[begin] + nodes.of(begin, end));
      }
    }
    fewest = std::move(next);
  }
  return fewest[slots];
}

void check_is_division(const std::vector<SlotRange>& ranges, Slot slots, std::size_t sessions) {
  REQUIRE(ranges.size() == sessions);
  Slot next = 0;
  for (const auto range : ranges) {
    REQUIRE(range.begin == next);
    REQUIRE(range.end >= next);
    next = range.end;
  }
  REQUIRE(next == slots);
}

void check(Slot slots, std::size_t workers, std::uint32_t fewest) {
  CAPTURE(slots);
  CAPTURE(workers);
  const auto ranges = divide_evenly_paced(slots, workers);
  check_is_division(ranges, slots, workers);
  for (const auto range : ranges) {
    REQUIRE(range.size() <= longest(slots, workers));
  }
  REQUIRE(nodes(ranges, slots) == fewest);
}

// Of all divisions, wherever their boundaries lie.
class Exhaustive {
 public:
  Exhaustive(const StepSize& step, const std::vector<SessionPace>& sessions)
      : nodes_(step.slots), slots_(step.slots), ends_(sessions.size()) {
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      for (Slot begin = 0; begin <= slots_; ++begin) {
        for (Slot end = begin; end <= slots_; ++end) {
          const auto latest = EndPrediction(sessions[i], step).end({begin, end}, begin, sessions[i].lag, 0);
          ends_[i].push_back(begin == end ? 0 : latest);
        }
      }
    }
  }

  [[nodiscard]] Micros best_end() const {
    return best<Micros>([](Micros before, Micros end, std::uint32_t) { return std::max(before, end); });
  }
  [[nodiscard]] std::uint32_t fewest_nodes(Micros limit) const {
    return best<std::uint32_t>([&](std::uint32_t before, Micros end, std::uint32_t nodes) {
      return end <= limit ? before + nodes : std::numeric_limits<std::uint32_t>::max();
    });
  }

 private:
  template <typename Value, typename Add>
  [[nodiscard]] Value best(const Add& add) const {
    constexpr auto kNone = std::numeric_limits<Value>::max();
    std::vector<Value> values(slots_ + 1, kNone);
    values[0] = 0;
    for (const auto& ends : ends_) {
      std::vector<Value> next(slots_ + 1, kNone);
      std::size_t range = 0;
      for (Slot begin = 0; begin <= slots_; ++begin) {
        for (Slot end = begin; end <= slots_; ++end, ++range) {
          if (values[begin] != kNone) {
            next[end] = std::min(next[end], add(values[begin], ends[range], nodes_.of(begin, end)));
          }
        }
      }
      values = std::move(next);
    }
    return values[slots_];
  }

  Nodes nodes_;
  Slot slots_;
  std::vector<std::vector<Micros>> ends_;
};

class Drawn {
 public:
  // Slot times over so many decades around a millisecond; a model takes about `model` milliseconds, over a decade.
  Drawn(std::uint64_t seed, double decades, double model) : random_(seed), decades_(decades), model_(model) {}

  [[nodiscard]] std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return least + random_() % (most - least + 1);
  }
  [[nodiscard]] std::vector<SessionPace> sessions(std::size_t count) {
    std::vector<SessionPace> sessions(count);
    for (auto& pace : sessions) {
      pace.lag = number(0, 2) == 0 ? number(0, 5000) : 0;
      pace.slot = static_cast<Micros>(1000 * around_one(decades_));
      pace.up = model_ > 0 ? kBytes / (1000 * model_ * around_one(1)) : 0;
    }
    return sessions;
  }
  static constexpr double kBytes = 8e6;

 private:
  double around_one(double decades) {
    return std::pow(10, decades * (static_cast<double>(number(0, 1'000'000)) / 1e6 - 0.5));
  }
  std::mt19937_64 random_;
  double decades_;
  double model_;
};

struct Agreement {
  int cases = 0;
  int with_fewest_nodes = 0;
  double worst_end = 0;  // beside the best
  double nodes = 0;      // beside the fewest, on average
};

Agreement agreement(Drawn drawn, int cases, std::pair<Slot, Slot> slots, std::pair<std::size_t, std::size_t> sessions) {
  Agreement agreement{.cases = cases};
  for (int i = 0; i < cases; ++i) {
    const StepSize step{static_cast<Slot>(drawn.number(slots.first, slots.second)),
                        static_cast<std::uint64_t>(Drawn::kBytes), static_cast<std::uint32_t>(drawn.number(1, 12))};
    const auto paces = drawn.sessions(drawn.number(sessions.first, sessions.second));
    const auto ranges = divide_slots(step, paces);
    check_is_division(ranges, step.slots, paces.size());
    const Exhaustive all(step, paces);
    const auto best = all.best_end();
    const auto fewest = all.fewest_nodes(best + best / 100);
    const auto own = nodes(ranges, step.slots);
    const auto end = latest_end(step, paces, ranges);
    agreement.worst_end = std::max(agreement.worst_end, static_cast<double>(end) / static_cast<double>(best));
    agreement.with_fewest_nodes += own == fewest && end <= best + best / 100 ? 1 : 0;
    agreement.nodes += static_cast<double>(own) / fewest / cases;
  }
  return agreement;
}

}  // namespace

TEST_CASE("a division gives out all slots, no range longer than it has to be, with the fewest nodes") {
  for (Slot slots = 1; slots <= 512; slots += slots < 70 ? 1 : 17) {
    const Nodes nodes(slots);
    for (std::size_t workers = 1; workers <= 64; workers += slots < 70 ? 1 : 3) {
      check(slots, workers, fewest_nodes(nodes, slots, workers));
    }
  }
}

TEST_CASE("of the divisions with the fewest nodes it is an even one") {
  CHECK(divide_evenly_paced(8, 2) == std::vector<SlotRange>{{0, 4}, {4, 8}});
  CHECK(divide_evenly_paced(8, 3) == std::vector<SlotRange>{{0, 2}, {2, 5}, {5, 8}});
  CHECK(divide_evenly_paced(12, 4) == std::vector<SlotRange>{{0, 3}, {3, 6}, {6, 9}, {9, 12}});
  CHECK(divide_evenly_paced(3, 1) == std::vector<SlotRange>{{0, 3}});
}

TEST_CASE(
    "workers send 2.2 models a step on average where they sent 3.1, and some sit idle where nobody waits for it") {
  double by_worker = 0;
  double even_by_worker = 0;
  int cases = 0;
  for (std::uint32_t workers = 1; workers <= 64; ++workers) {
    for (Slot slots = std::max(8U, workers); slots <= 512; slots += 5, ++cases) {
      by_worker += static_cast<double>(nodes(divide_evenly_paced(slots, workers), slots)) / workers;
      for (Slot i = 0; i < workers; ++i) {
        even_by_worker +=
            static_cast<double>(tree::nodes_in({i * slots / workers, (i + 1) * slots / workers}, slots)) / workers;
      }
    }
  }
  CHECK(by_worker / cases == doctest::Approx(2.17).epsilon(0.01));
  CHECK(even_by_worker / cases == doctest::Approx(3.08).epsilon(0.01));
  const auto ranges = divide_evenly_paced(9, 8);  // two slots are the longest range either way
  CHECK(std::ranges::count_if(ranges, [](const SlotRange& range) { return range.empty(); }) == 3);
}

TEST_CASE("of many workers and slots the ranges are as long as they have to be") {
  for (const auto& shape : {std::pair<Slot, std::size_t>{4096, 1000}, {4095, 1000}, {65536, 3}, {7, 1000}}) {
    const auto slots = shape.first;
    const auto workers = shape.second;
    CAPTURE(slots);
    Slot next = 0;
    for (const auto range : divide_evenly_paced(slots, workers)) {
      REQUIRE(range.begin == next);
      REQUIRE(range.size() <= longest(slots, workers));
      next = range.end;
    }
    CHECK(next == slots);
  }
}

TEST_CASE("of few slots and sessions, whatever their paces and links, no division is better than that which is found") {
  for (const auto decades : {0.0, 0.1, 2.0}) {
    for (const auto model : {0.0, 0.1, 1.0, 5.0, 20.0}) {
      CAPTURE(decades);
      CAPTURE(model);
      const auto found = agreement(Drawn(20, decades, model), 150, {1, 24}, {1, 6});
      CHECK(found.worst_end <= 1.01);
      CHECK(found.with_fewest_nodes == found.cases);
    }
  }
}

TEST_CASE("of more slots and sessions hardly any division is better, with fast links none of those that were drawn") {
  for (const auto decades : {0.0, 0.1, 2.0}) {
    for (const auto model : {0.0, 0.1, 1.0}) {
      CAPTURE(decades);
      CAPTURE(model);
      const auto found = agreement(Drawn(21, decades, model), 4, {205, 240}, {25, 32});
      CHECK(found.worst_end <= 1.01);
      CHECK(found.with_fewest_nodes == found.cases);
    }
    for (const auto model : {5.0, 20.0}) {
      CAPTURE(decades);
      CAPTURE(model);
      const auto found = agreement(Drawn(22, decades, model), 8, {205, 240}, {25, 32});
      CHECK(found.worst_end <= 1.02);
      CHECK(found.with_fewest_nodes >= found.cases * 9 / 10);
      CHECK(found.nodes <= 1.03);
    }
  }
}

TEST_CASE("a slow session gets as many slots as it has done when the others are done, a much slower one none") {
  const StepSize step{.slots = 16};
  const auto slow_one = [&](Micros slot) {
    const auto ranges = divide_slots(step, {{.slot = slot}, {.slot = 250}, {.slot = 250}, {.slot = 250}});
    std::vector<Slot> lengths;
    for (const auto range : ranges) {
      lengths.push_back(range.size());
    }
    std::sort(lengths.begin() + 1, lengths.end());
    return lengths;
  };
  CHECK(slow_one(1000) == std::vector<Slot>{1, 5, 5, 5});
  CHECK(slow_one(500) == std::vector<Slot>{2, 4, 5, 5});
  CHECK(slow_one(250'000) == std::vector<Slot>{0, 4, 6, 6});
  CHECK(latest_end(step, {{.lag = 1500, .slot = 250}, {.slot = 250}},
                   divide_slots(step, {{.lag = 1500, .slot = 250}, {.slot = 250}})) == 2750);  // 5 slots and 11
  CHECK(divide_slots(step, {{.lag = 4000, .slot = 250}, {.slot = 250}}) == std::vector<SlotRange>{{0, 0}, {0, 16}});
}

TEST_CASE("a session with a slow link gets fewer slots, so that its sums have left when the others' have") {
  const StepSize step{.slots = 64, .bytes = 8'000'000, .chunks = 8};
  std::vector<SessionPace> sessions(4, {.slot = 250'000, .up = 125});
  sessions[2].up = 4;  // two seconds for a model
  const auto ranges = divide_slots(step, sessions);
  CHECK(ranges[2].size() == 10);
  CHECK(tree::nodes_in(ranges[2], 64) == 2);
  CHECK(latest_end(step, sessions, ranges) == 19 * 250'000 + 8000);
  const std::vector<SlotRange> even{{0, 16}, {16, 32}, {32, 48}, {48, 64}};
  CHECK(latest_end(step, sessions, even) > 23 * 250'000);
}

TEST_CASE("twelve workers send 1.67 models by step where an even division has them send 2.33, in the same time") {
  const StepSize step{.slots = 64, .bytes = 8'000'000, .chunks = 8};
  const std::vector<SessionPace> sessions(12, {.slot = 250'000, .up = 125});
  std::vector<SlotRange> even;
  for (Slot i = 0; i < 12; ++i) {
    even.push_back({i * 64 / 12, (i + 1) * 64 / 12});
  }
  const auto ranges = divide_slots(step, sessions);
  CHECK(nodes(ranges, 64) == 20);
  CHECK(nodes(even, 64) == 28);
  CHECK(latest_end(step, sessions, ranges) == 6 * 250'000 + 8000);
  CHECK(latest_end(step, sessions, even) == 6 * 250'000 + 8000);
}

TEST_CASE("a division is kept while its end is within three hundredths of the best") {
  const StepSize step{.slots = 128};
  std::vector<SessionPace> sessions(2, {.slot = 1000});
  const std::vector<SlotRange> kept{{0, 65}, {65, 128}};
  CHECK(divide_slots(step, sessions) == std::vector<SlotRange>{{0, 64}, {64, 128}});
  CHECK(divide_slots(step, sessions, &kept) == kept);
  const std::vector<SlotRange> further{{0, 66}, {66, 128}};
  CHECK(divide_slots(step, sessions, &further) == std::vector<SlotRange>{{0, 64}, {64, 128}});
  sessions[1].slot = 1100;
  CHECK(divide_slots(step, sessions, &further) == further);
  sessions[1].slot = 1200;
  CHECK(divide_slots(step, sessions, &further) != further);
}

TEST_CASE("of large jobs, too, what is kept is what would hardly be better") {
  Drawn drawn(23, 0.2, 1);
  auto sessions = drawn.sessions(300);
  const StepSize step{.slots = 2048, .bytes = 8'000'000, .chunks = 8};
  const auto kept = divide_slots(step, sessions);
  CHECK(divide_slots(step, sessions, &kept) == kept);
  sessions[150].slot *= 2;
  const auto next = divide_slots(step, sessions, &kept);
  CHECK(next != kept);
  CHECK(latest_end(step, sessions, next) < latest_end(step, sessions, kept));
}

TEST_CASE("what is no division of the slots is not kept") {
  const StepSize step{.slots = 8};
  const std::vector<SessionPace> sessions(2, {.slot = 1000});
  const auto best = divide_slots(step, sessions);
  for (const std::vector<SlotRange>& kept : {std::vector<SlotRange>{},
                                             {{0, 8}},
                                             {{0, 4}, {4, 7}},
                                             {{0, 4}, {4, 9}},
                                             {{0, 3}, {4, 8}},
                                             {{0, 5}, {4, 8}},
                                             {{0, 9}, {9, 8}},
                                             {{0, 4}, {4, 8}, {8, 8}}}) {
    CHECK(divide_slots(step, sessions, &kept) == best);
  }
}

TEST_CASE("no pace is too extreme to divide by") {
  constexpr auto kLong = std::numeric_limits<Micros>::max();
  constexpr auto kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<SessionPace> all{{0, 0, 0},
                                     {kLong, 1, 0},
                                     {0, kLong, 0},
                                     {kLong, kLong, 1e-300},
                                     {0, 10'000'000'000, 5},
                                     {1, 1, std::nan("")},
                                     {1, 1, -1},
                                     {1, 1, kInfinite},
                                     {1, 1, 1e-300},
                                     {1, 1, std::numeric_limits<double>::denorm_min()},
                                     {250'000, 250'000, 125}};
  for (const Slot slots : {1U, 2U, 7U, 64U, 1000U}) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8'000'000}, kLong}) {
      const StepSize step{slots, bytes, 3};
      check_is_division(divide_slots(step, all), slots, all.size());
      for (const auto& one : all) {
        CHECK(divide_slots(step, {one}) == std::vector<SlotRange>{{0, slots}});
        for (const auto& other : all) {
          const std::vector<SessionPace> sessions{one, other, one, one, other};
          const auto ranges = divide_slots(step, sessions);
          check_is_division(ranges, slots, sessions.size());
          CHECK(divide_slots(step, sessions, &ranges) == ranges);
        }
      }
    }
  }
}

TEST_CASE("with one reachable session it gets all, wherever it stands") {
  const StepSize step{.slots = 4096, .bytes = 8'000'000, .chunks = 8};
  for (const std::size_t place : {0U, 500U, 999U}) {
    std::vector<SessionPace> sessions(1000, {.lag = 3'600'000'000'000, .slot = 1000, .up = 125});
    sessions[place].lag = 0;
    const auto ranges = divide_slots(step, sessions);
    CHECK(ranges[place] == SlotRange{0, 4096});
    check_is_division(ranges, 4096, 1000);
  }
}

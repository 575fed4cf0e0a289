#include "protocol/lead/round_progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

constexpr Slot kSlots = 70;  // of more than one word
constexpr Step kRounds = 6;

// It lacks that slot first, which these sessions offer to it.
LaneReport wanting(Step open, Slot slot, std::vector<SessionId> offered_by) {
  auto report = at_step(open, {~std::uint64_t{0} << slot});
  report.rounds.wanted = slot;
  report.rounds.offered_by = std::move(offered_by);
  return report;
}

SlotSet missing_of(const LaneReport& report) { return SlotSet::from_words(kSlots, report.rounds.missing); }

// The same by a look at all.
Step open_step(const std::map<LaneId, LaneReport>& lanes) {
  Step open = kRounds;
  for (const auto& [id, report] : lanes) {
    open = std::min(open, report.open_step);
  }
  return open;
}

SlotSet missing(const std::map<LaneId, LaneReport>& lanes) {
  SlotSet missing(kSlots);
  for (const auto& [id, report] : lanes) {
    if (report.open_step < kRounds && report.open_step == open_step(lanes)) {
      missing.insert(missing_of(report));
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("the oldest open step and what is missing of it are those of a look at all lanes, report by report") {
  std::mt19937_64 random(1);
  for (int life = 0; life < 50; ++life) {
    RoundProgress progress(kSlots, kRounds);
    std::map<LaneId, LaneReport> lanes;
    for (int turn = 0; turn < 100; ++turn) {
      const LaneId id{static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(random() % 2)};
      lanes[id] = at_step(random() % (kRounds + 1), {random() & random(), random()});
      progress.take(id, lanes[id]);
      CHECK(progress.open_step() == open_step(lanes));
      CHECK(progress.missing() == missing(lanes));
    }
  }
}

TEST_CASE("after a rewind nothing is known of any lane") {
  RoundProgress progress(kSlots, kRounds);
  progress.take({0, 0}, at_step(2, {1}));
  CHECK(progress.open_step() == 2);
  progress.rewind();
  CHECK(progress.open_step() == kRounds);
  CHECK(progress.missing().empty());
}

TEST_CASE("whoever is out of good standing at some lane is told, whatever step that lane is at") {
  RoundProgress progress(kSlots, kRounds);
  auto behind = at_step(2, {1});
  behind.rounds.out_of_standing = {7, 8};
  behind.rounds.unpaying = {8};
  auto ahead = at_step(3, {1});
  ahead.rounds.out_of_standing = {9};
  progress.take({0, 0}, behind);
  progress.take({0, 1}, ahead);
  CHECK(progress.wanted().out_of_standing == std::set<SessionId>{7, 8, 9});
  CHECK(progress.wanted().unpaying == std::set<SessionId>{8});
  progress.take({0, 0}, at_step(2, {1}));
  CHECK(progress.wanted().out_of_standing == std::set<SessionId>{9});
  CHECK(progress.wanted().unpaying.empty());
}

TEST_CASE("of a slot that several lanes want next those are told who offer it to all of them") {
  RoundProgress progress(kSlots, kRounds);
  progress.take({0, 0}, wanting(2, 3, {1, 2}));
  progress.take({0, 1}, wanting(2, 3, {2}));
  progress.take({1, 0}, wanting(2, 5, {1}));
  using Offered = std::map<Slot, std::vector<SessionId>>;
  CHECK(progress.wanted().offered == Offered{{3, {2}}, {5, {1}}});
  CHECK(progress.wanted().of_anybody.empty());
  progress.take({0, 1}, wanting(2, 3, {7}));
  CHECK(progress.wanted().offered == Offered{{3, {}}, {5, {1}}});
}

TEST_CASE("what a lane wants that is at another step than the oldest open one does not count") {
  RoundProgress progress(kSlots, kRounds);
  progress.take({0, 0}, wanting(2, 3, {1, 2}));
  progress.take({0, 1}, wanting(3, 3, {7}));
  progress.take({1, 0}, wanting(3, 4, {1}));
  progress.take({1, 1}, at_step(3, {1}));  // and so what a lane lacks that tells nothing of what it wants
  using Offered = std::map<Slot, std::vector<SessionId>>;
  CHECK(progress.wanted().offered == Offered{{3, {1, 2}}});
  CHECK(progress.wanted().of_anybody.empty());
}

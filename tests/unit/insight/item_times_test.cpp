#include <doctest/doctest.h>

#include <algorithm>

#include "insight/analysis.h"
#include "insight/item_times.h"
#include "insight/items_done.h"
#include "insight/job_times.h"
#include "insight/seen_grants.h"
#include "insight/windows.h"
#include "tests/unit/insight/made_items.h"

namespace ballast::insight {
namespace {

using WholeSteps = std::vector<WholeStep>;

TEST_CASE("items: a step is over when as many items are done as there are up to it, in whatever order") {
  ItemsDone done;
  done.slots = 2;
  done.all = {{100, 10}, {200, 13}, {300, 12}, {400, 14}, {500, 11}, {600, 16}};
  // Ten were done before the first, so the second is the twelfth.
  CHECK(steps_of_items(done, 9) == WholeSteps{{5, 200}, {6, 400}, {7, 600}});
  CHECK(steps_of_items(done, 2) == WholeSteps{{6, 400}, {7, 600}});
  CHECK(steps_of_items({}, 9).empty());
}

TEST_CASE("items: what has not updated every chunk is not done, nor counts what somebody did of whom nothing is here") {
  MadeItems made(3, 60, "async");
  const auto all = items_done(made.trace());
  CHECK(all.slots == 4);
  CHECK(all.chunks == 2);
  CHECK(all.all.size() == 60);
  auto& lane = made.lane().records;
  std::erase_if(lane, [](const TraceRecord& record) {
    return record.kind == TraceKind::update && record.step == 9 && record.slots.begin == 1 && record.chunk == 1;
  });
  CHECK(items_done(made.trace()).all.size() == 59);
  lane.push_back({5, 4711, 0, 0, all.all[19].at, 0, 0, {0, 1}, TraceKind::contribution});
  CHECK(items_done(made.trace()).all.size() == 40);  // it was one of the first twenty
}

TEST_CASE("items: of steps of one slot no record says which, and each is one") {
  MadeItems job(2, 40, "async");
  for (auto& process : job.trace().processes) {
    for (auto& record : process.records) {
      if (record.kind == TraceKind::update) {
        record.step = 4 * record.step + record.slots.begin;
        record.slots = {};
      }
    }
  }
  const auto done = items_done(job.trace());
  CHECK(done.slots == 1);
  CHECK(steps_of_items(done, 10).size() == 10);
}

TEST_CASE("item times: what each piece of work took") {
  const MadeItems made(3, 90, "async");
  const auto times = job_times(made.trace(), 20);
  REQUIRE(times);
  REQUIRE(times->items);
  CHECK(times->items->bound == 0);
  CHECK(times->items->ahead == 4);
  CHECK(times->rules.slots == 4);
  CHECK(times->rules.chunks == 2);
  CHECK(times->steps == 20);
  // Three workers bring an item each 60 ms.
  CHECK(times->step == doctest::Approx(4 * MadeItems::kItem / 3.0).epsilon(0.02));
  CHECK(times->bytes == std::vector<double>{100, 200});
  CHECK(times->lanes[0].journal == MadeItems::kCommit);
  CHECK(times->apply == std::vector<double>{MadeItems::kApply, MadeItems::kApply});
  const auto& worker = times->workers[1];
  CHECK(worker.slot == MadeItems::kCompute);
  CHECK(worker.fetch == MadeItems::kWait);
  CHECK(worker.begins == MadeItems::kBegins);
  CHECK(worker.ready == std::vector<double>{0.5, 1});
  REQUIRE(worker.slots.size() == 1);
  CHECK(worker.slots[0].size() >= 26);
  CHECK(worker.slots[0].size() <= 27);
}

TEST_CASE("item times: of a trace of which it is not known that it is in items, or of too few, none are told") {
  MadeItems made(3, 90, "async");
  made.trace().mode.clear();
  CHECK_FALSE(job_times(made.trace()));
  CHECK_FALSE(job_times(MadeItems(3, 8, "async").trace()));
  made.trace().mode = "async";
  std::ranges::find(made.lane().records, TraceKind::update, &TraceRecord::kind)->slots = {0, kMaxSlots + 1};
  CHECK_FALSE(job_times(made.trace()));
}

TEST_CASE("items: windows are cut by how many are done, and a part has what ended in its time") {
  const MadeItems made(3, 250, "async");
  const auto all = windows(made.trace(), {20, 2});
  REQUIRE(all.size() == 2);
  CHECK(all[0].last + 1 == all[1].first);
  CHECK(all[1].steps() == 20);
  const auto part = part_of(made.trace(), all[1]);
  REQUIRE(part.part_of);
  CHECK(part.part_of->ended - part.part_of->began == doctest::Approx(80 * MadeItems::kItem / 3.0).epsilon(0.02));
  const auto times = job_times(part, 20);
  REQUIRE(times);
  CHECK(times->steps == 20);
  std::size_t slots = 0;
  for (const auto& worker : times->workers) {
    slots += worker.slots[0].size();
  }
  CHECK(slots >= 78);
  CHECK(slots <= 82);
}

TEST_CASE("items: an exposure that was seen is no larger than the bound, and a replay tells the rest") {
  const MadeItems made(3, 250, "ssp");
  const auto seen = seen_grants(made.trace());
  CHECK(seen.ahead == 1);
  CHECK(seen.bound == 4);  // each of the others has one, and gets another meanwhile
  auto times = items_of(4, 16, {4, 1});
  slow_down(times.workers[2], 4);
  times.step = 16.0 / 7 * 4 * kSlot;
  CHECK(with_fitted_bound(times).items->bound == 6);
  times.step = 16 / 3.25 * kSlot;
  CHECK(with_fitted_bound(times).items->bound == 0);
  times.items->bound = 0;
  times.step *= 2;
  CHECK(with_fitted_bound(times).items->bound == 0);
}

TEST_CASE("items: an analysis names the one that is slow, and the journal that all wait for") {
  MadeItems made(3, 250, "async", 2);
  const auto told = Analyst().analyze(made.trace(), {20, 2});
  REQUIRE(told.verdict);
  CHECK(told.verdict->items == 4);
  CHECK(told.verdict->replayed == doctest::Approx(told.verdict->step).epsilon(0.03));
  const auto& found = told.verdict->found;
  REQUIRE(found.size() >= 2);
  const auto is = [&](Cause cause, const std::string& who) {
    return std::ranges::find_if(found, [&](const Finding& one) { return one.cause == cause && one.who == who; });
  };
  REQUIRE(is(Cause::compute, "worker w1") != found.end());
  REQUIRE(is(Cause::storage, "shard 0") != found.end());
  CHECK(is(Cause::compute, "worker w1")->gain > 1.1);
  CHECK(is(Cause::storage, "shard 0")->gain > 1.03);
  CHECK(is(Cause::compute, "worker w0") == found.end());
}

TEST_CASE("items: a journal whose thread waits for a processor is no slow disk") {
  MadeItems made(3, 250, "async", 1);
  const auto is_storage_found = [&] {
    const auto told = Analyst().analyze(made.trace(), {20, 2});
    REQUIRE(told.verdict);
    return std::ranges::find(told.verdict->found, Cause::storage, &Finding::cause) != told.verdict->found.end();
  };
  REQUIRE(is_storage_found());
  for (auto& record : made.lane().records) {
    if (record.kind == TraceKind::journal) {
      record.third = 1;
    }
  }
  CHECK_FALSE(is_storage_found());
}

TEST_CASE("items: of a record's wait it is told what the disk took of it, and whether syncs did") {
  MadeItems made(3, 250, "async");
  const auto lane = [&](Micros disk, Micros syncs) {
    for (auto& record : made.lane().records) {
      if (record.kind == TraceKind::journal) {
        record.third = disk;
        record.fourth = syncs;
      }
    }
    return item_times(made.trace(), 20)->lanes[0];
  };
  const auto half = lane(MadeItems::kCommit / 2, MadeItems::kCommit / 8);
  CHECK(half.journal == MadeItems::kCommit);
  CHECK(half.beside_disk == MadeItems::kCommit / 2);
  CHECK_FALSE(half.syncs);
  CHECK(lane(MadeItems::kCommit / 2, MadeItems::kCommit / 2).syncs);
  const auto unknown = lane(0, 0);  // a server of a version that does not measure it
  CHECK(unknown.beside_disk == 0);
  CHECK(unknown.syncs);
}

}  // namespace
}  // namespace ballast::insight

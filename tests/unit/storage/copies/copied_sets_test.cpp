// Which sets of copies are kept, and which count, of one run and of several.
#include "tests/unit/storage/copies/copied_run.h"

namespace ballast {
namespace {

using namespace copied;

TEST_CASE("the newest complete sets are kept, and what is not whole does not count") {
  const Places places;
  Run run(places.copies());
  for (Step step = 10; step <= 50; step += 10) {
    run.reach({1, step});
  }
  run.copy({1, 10});
  run.copy({1, 20});
  REQUIRE(run.copy_part({1, 30}, 1));  // and given up for the next
  const auto steps = [&run] {
    std::string job;
    const auto place = run.place();
    std::vector<Step> found;
    const auto sets = list_copies(*place, job);
    REQUIRE(sets.ok());
    for (const auto& set : sets.value()) {
      found.push_back(set.snapshot.step);
    }
    return found;
  };
  CHECK(steps() == std::vector<Step>{10, 20, 30});
  REQUIRE(run.copy_part({1, 40}, 0));
  CHECK(steps() == std::vector<Step>{10, 20, 40});  // what is older than the named one, and not whole, will never be
  REQUIRE(run.copy_part({1, 40}, 1));
  CHECK(steps() == std::vector<Step>{10, 20, 40});
  run.copy({1, 40});  // it is there: nothing is written again
  CHECK(steps() == std::vector<Step>{20, 40});
  run.copy({1, 50});
  CHECK(steps() == std::vector<Step>{40, 50});
  CHECK(restored_from(run, places.options()).snapshot == SnapshotId{1, 50});
}

TEST_CASE("a run that goes on from an older copy never meets a timeline of which there are copies") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  run.copy({1, 10});
  run.reach({4, 20});
  REQUIRE(run.copy_part({4, 20}, 1));  // the folder of shard 0 was lost before it was copied
  const auto restored = restored_from(run, places.options());
  REQUIRE(restored.snapshot == SnapshotId{1, 10});
  const auto ledger = open(restored.databases[0])->read_ledger().value().ledger;
  CHECK(ledger.timeline == 4);
  CHECK(ledger.base == SnapshotId{1, 10});
}

TEST_CASE("runs of one job do not mix, and none removes what is another's") {
  const Places places;
  Run older(places.copies(), "0123456789", 0xa);
  Run newer(places.copies(), "0123456789", 0xb);
  older.reach({1, 10});
  older.copy({1, 10}, 1);
  REQUIRE(older.copy_part({1, 10}, 0));
  newer.reach({1, 10});
  newer.reach({1, 20});
  REQUIRE(newer.copy_part({1, 10}, 1, 1));  // of both runs' sets of this step each lacks nothing of the other's
  newer.copy({1, 20}, 1);
  CHECK(names(older) ==
        std::vector<std::string>{"job-01234567/run-000000000000000a/t0000000000000001-s000000000000000a/shard-0-of-2",
                                 "job-01234567/run-000000000000000a/t0000000000000001-s000000000000000a/shard-1-of-2",
                                 "job-01234567/run-000000000000000b/t0000000000000001-s0000000000000014/shard-0-of-2",
                                 "job-01234567/run-000000000000000b/t0000000000000001-s0000000000000014/shard-1-of-2"});
  const auto refused = restore_from(newer, places.options());
  CHECK(refused.status().code() == StoreCode::mismatch);
  CHECK(refused.status().text().find("name one with --run: 000000000000000a (newest: timeline 1, step 10), "
                                     "000000000000000b (newest: timeline 1, step 20)") != std::string::npos);
  auto options = places.options();
  options.run = 0xa;
  const auto restored = restored_from(older, options);
  CHECK(restored.run == 0xa);
  is_at(restored.databases, older, {1, 10});
  // What goes on from there is another run, which copies anew.
  CHECK(open(restored.databases[0])->read_ledger().value().ledger.copies == CopyState{});
  options.run = 0xc;
  options.run_folder = places.folder.path() / "none";
  CHECK(restore_from(older, options).status().text().find("no copies of run 000000000000000c") != std::string::npos);
}

TEST_CASE("a run whose copies are not whole does not stand in the way of the one whose are") {
  const Places places;
  Run older(places.copies(), "0123456789", 0xa);
  Run newer(places.copies(), "0123456789", 0xb);
  older.reach({1, 10});
  older.copy({1, 10});
  newer.reach({1, 20});
  REQUIRE(newer.copy_part({1, 20}, 1));
  CHECK(restored_from(newer, places.options()).snapshot == SnapshotId{1, 10});
}

}  // namespace
}  // namespace ballast

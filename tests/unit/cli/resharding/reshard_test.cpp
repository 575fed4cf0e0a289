#include "cli/resharding/reshard.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/asking/finished_run.h"
#include "cli/models/closed_database.h"
#include "cli/models/gather.h"
#include "cli/models/inspect.h"
#include "cli/models/opened_run.h"
#include "cli/models/run_removal.h"
#include "cli/models/runs.h"
#include "cli/resharding/shard_count.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "storage/journal/journal.h"
#include "storage/reshard/switch.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// A run that has finished, or one that has only kEarly, as `ballast run` leaves it.
void make_whole(const SampleRun& run, bool finished) {
  run.write_ledger(finished);
  std::ofstream(fs::path(run.path()) / "job.yaml") << run.job.yaml;
  mark_run_folder(run.path());
}

std::string after_reshard(const SampleRun& run, std::uint32_t shards, const std::string& output = {}) {
  return captured([&] { CHECK(reshard({run.path(), shards, output, false}) == 0); });
}

void expect_refused(const SampleRun& run, const char* why) {
  CHECK_THROWS_WITH_AS(reshard({run.path(), 3, {}, false}), doctest::Contains(why), std::runtime_error);
  CHECK(find_shard_databases(run.path()).value().size() == kShards);
  CHECK_FALSE(fs::exists(reshard_build_folder(run.path())));
}

TEST_CASE("a finished run has the same weights with any number of shards") {
  const SampleRun run;
  make_whole(run, true);
  const auto end = OpenedRun(run.path()).digest(kEnd);
  const auto early = OpenedRun(run.path()).digest(kEarly);
  for (const std::uint32_t shards : {1U, 5U, 2U}) {
    const auto said = after_reshard(run, shards);
    CHECK(said.find("over " + std::to_string(shards)) != std::string::npos);
    CHECK(said.find(end.weights) != std::string::npos);
    CHECK(said.find("the job has finished") != std::string::npos);
    const OpenedRun opened(run.path());
    CHECK(opened.reader().shards() == shards);
    CHECK(opened.digest(kEnd).weights == end.weights);
    CHECK(opened.digest(kEnd).optimizer == end.optimizer);
    CHECK(opened.digest(kEarly).weights == early.weights);
    CHECK(opened.job().spec.cluster.shards == shards);
    CHECK(opened.job().spec_digest == run.job.spec_digest);
    CHECK(opened.reader().ledger().rolled_back_steps == 3);
    CHECK(opened.reader().evaluations().size() == 1);
    CHECK(find_shard_databases(run.path()).value().size() == shards);
    CHECK(foreign_to_run(run.path()).empty());
  }
  CHECK(after_reshard(run, 2).find("there is nothing to do") != std::string::npos);
}

TEST_CASE("a new run beside the old one") {
  const SampleRun run;
  make_whole(run, false);
  const auto digest = OpenedRun(run.path()).digest(kEarly);
  const auto before = fs::last_write_time(fs::path(run.path()) / "job.yaml");
  const auto said = after_reshard(run, 3, run.file("new"));
  CHECK(said.find("go on with: ballast run --resume " + run.file("new")) != std::string::npos);
  CHECK_FALSE(fs::exists(fs::path(run.path()) / "lock"));
  CHECK_FALSE(fs::exists(run.file("new.resharding")));
  CHECK(OpenedRun(run.path()).reader().shards() == kShards);
  CHECK(OpenedRun(run.file("new")).digest(kEarly).weights == digest.weights);
  CHECK(is_marked_run_folder(run.file("new")));
  static_cast<void>(after_reshard(run, kShards, run.file("as-many")));  // a copy, where in place there is nothing to do
  CHECK(OpenedRun(run.file("as-many")).reader().shards() == kShards);
  CHECK(OpenedRun(run.file("as-many")).digest(kEarly).weights == digest.weights);
  CHECK(fs::last_write_time(run.file("new") + "/job.yaml") == before);  // it began when the old one did
}

// What a reshard to three shards leaves that is killed right after it was decided, or when all old databases are gone
// from their places.
void kill_in_switch(const SampleRun& run, int steps) {
  make_whole(run, true);
  static_cast<void>(after_reshard(run, 3, run.file("three")));
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    fs::create_directories(reshard_build_folder(run.path()));
    fs::rename(shard_database(run.file("three"), shard), reshard_build_database(run.path(), shard));
  }
  fs::rename(run.file("three") + "/job.yaml", reshard_build_job(run.path()));
  const auto kill = [&steps] {
    if (steps-- == 0) {
      throw std::runtime_error("killed");
    }
  };
  CHECK_THROWS(static_cast<void>(switch_databases(run.path(), kill)));
  CHECK(has_unfinished_switch(run.path()));
}

TEST_CASE("whoever looks first brings a switch to its end") {
  const std::vector<std::function<void(const SampleRun&)>> lookers = {
      [](const SampleRun& run) { CHECK(OpenedRun(run.path()).reader().shards() == 3); },
      [](const SampleRun& run) {
        static_cast<void>(captured([&] { CHECK(inspect({run.path(), true, false}) == 0); }));
      },
      [](const SampleRun& run) { CHECK(RunFolder::of_earlier_run(run.path()).path() == run.path()); },
      [](const SampleRun& run) { CHECK(job_of_run(run.path())->spec.cluster.shards == 3); },
      [](const SampleRun& run) { CHECK(after_reshard(run, 3).find("there is nothing to do") != std::string::npos); },
      [](const SampleRun& run) {
        CHECK_THROWS_WITH_AS(RunFolder(run.path(), "sample"), doctest::Contains("of an earlier run"),
                             std::runtime_error);
      },
      [](const SampleRun& run) {
        const auto runs = list_runs(run.folder.path());
        CHECK(std::count_if(runs.begin(), runs.end(),
                            [](const auto& listed) { return listed.condition == RunCondition::finished; }) == 1);
      },
      [](const SampleRun& run) {
        std::vector<std::string> databases;
        for (std::uint32_t shard = 0; shard < 3; ++shard) {
          databases.push_back(shard_database(run.path(), shard).string());
        }
        static_cast<void>(captured([&] { CHECK(gather({databases, run.file("gathered"), true}) == 0); }));
      },
      [](const SampleRun& run) {
        const auto left = remove_run(run.path());
        CHECK(left.empty());
        CHECK_FALSE(fs::exists(run.path()));
      },
  };
  for (std::size_t looker = 0; looker < lookers.size(); ++looker) {
    for (const int steps : {0, 3, 4}) {
      CAPTURE(looker);
      CAPTURE(steps);
      const SampleRun run;
      kill_in_switch(run, steps);
      lookers[looker](run);
      CHECK_FALSE(has_unfinished_switch(run.path()));
      if (fs::exists(run.path())) {
        CHECK(find_shard_databases(run.path()).value().size() == 3);
        CHECK_FALSE(OpenedRun(run.path()).digest(kEnd).weights.empty());
      }
    }
  }
}

TEST_CASE("what is no number of shards is told with those that are allowed") {
  for (const auto* fine : {"1", "2", "64"}) {
    CHECK(shard_count_fault(fine).empty());
  }
  for (const auto* bad : {"", "0", "65", "-1", "abc", "1.5", "3 ", " 3", "+3", "3x", "4294967297"}) {
    CHECK(shard_count_fault(bad) ==
          "'" + std::string(bad) + "' is no number of shards; allowed: whole numbers from 1 to 64");
  }
}

TEST_CASE("there is no run to reshard where there is no job") {
  const SampleRun run;
  CHECK_THROWS_WITH_AS(
      reshard({run.file("nowhere"), 2, {}, false}),
      doctest::Contains(("there is no run in " + run.file("nowhere") + ": it has no job.yaml").c_str()),
      std::runtime_error);
}

TEST_CASE("while a run, a server or another reshard has it, a run is not resharded") {
  const SampleRun run;
  make_whole(run, true);
  {
    const RunLock lock(run.path());
    expect_refused(run, "another run uses the folder");
  }
  {
    const RunLock lock(run.path(), RunLock::Use::reshard);
    expect_refused(run, "works on the folder");
    CHECK_THROWS_WITH_AS(RunFolder::of_earlier_run(run.path()), doctest::Contains("wait for its end"),
                         std::runtime_error);
  }
  {
    const auto reader = RunLock::to_read(run.path());
    const auto another = RunLock::to_read(run.path());
    expect_refused(run, "`ballast reshard -o` reads the folder");
  }
  after_reshard(run, 3);
}

TEST_CASE("what a reshard that was killed while it built has left goes with the next one") {
  const SampleRun run;
  make_whole(run, true);
  fs::create_directories(reshard_build_database(run.path(), 7));
  std::ofstream(reshard_build_database(run.path(), 7) / "000004.log") << "half";
  CHECK(foreign_to_run(run.path()).empty());
  CHECK(OpenedRun(run.path()).reader().shards() == kShards);
  after_reshard(run, 3);
  CHECK(OpenedRun(run.path()).reader().shards() == 3);
  CHECK_FALSE(fs::exists(reshard_build_folder(run.path())));
}

TEST_CASE("a run without a snapshot, or without a part of one, is not resharded") {
  SUBCASE("never began") {
    const SampleRun run;
    make_whole(run, false);
    REQUIRE(run.open(0)->write_ledger({{}, {}, {}, {}}).ok());
    expect_refused(run, "has no complete snapshot yet");
  }
  SUBCASE("initial weights alone") {
    const SampleRun run;
    make_whole(run, false);
    Ledger ledger;
    ledger.timeline = 1;
    ledger.complete = {{0, 0}};
    REQUIRE(run.open(0)->write_ledger({ledger, {}, {}, {}}).ok());
    expect_refused(run, "ballast run --resume");
  }
  SUBCASE("a part is not there") {
    const SampleRun run;
    make_whole(run, true);
    REQUIRE(run.open(1)->store().write(WriteBatch{}.erase(sealed_key(kEarly)), Sync::yes).ok());
    expect_refused(run, "lacks shard 1's part of the complete snapshot, timeline 1, step 4");
  }
  SUBCASE("a damaged chunk") {
    const SampleRun run;
    make_whole(run, true);
    const TensorKey key{kEarly, TensorKind::weights, Placement(run.job.arena, kShards, 1).of_model(1).front().id};
    REQUIRE(run.open(1)->store().write(WriteBatch{}.put(tensor_key(key), "nonsense"), Sync::yes).ok());
    expect_refused(run, tensor_key(key).c_str());
  }
  SUBCASE("no database at all") {
    const SampleRun run;
    make_whole(run, true);
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      fs::remove_all(shard_database(run.path(), shard));
    }
    CHECK_THROWS_WITH_AS(reshard({run.path(), 3, {}, false}), doctest::Contains("there is nothing to reshard"),
                         std::runtime_error);
  }
}

TEST_CASE("updates that only journals have go when somebody says so") {
  SampleRun run(
      "job: sample\n"
      "model: {name: mlp, hidden: [12]}\n"
      "data: {name: glyphs, train_examples: 120, test_examples: 230}\n"
      "training: {mode: async, batch: 16, slots: 4, max_steps: 9, optimizer: {name: sgd, learning_rate: 0.1}}\n"
      "durability: {mode: journal}\n"
      "cluster: {shards: 2}\n");
  make_whole(run, false);
  const auto append = [&](std::uint64_t item) {
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      auto journal = Journal::open(Journal::folder_in(shard_database(run.path(), shard)),
                                   {"sample", run.job.spec_digest, shard}, {}, {});
      REQUIRE(journal.ok());
      REQUIRE(journal.value()->begin(1).ok());
      JournalRecord record;
      record.timeline = 1;
      record.item = item;
      record.factors.skip = true;
      CHECK(journal.value()->append(record) == 1);
      REQUIRE(journal.value()->sync().ok());
    }
  };
  append(4 * 4 - 1);  // the last item before the snapshot
  CHECK(after_reshard(run, 3).find("3 shards") != std::string::npos);
  CHECK(after_reshard(run, 2).find("2 shards") != std::string::npos);
  append(4 * 4 + 5);
  expect_refused(
      run, "its journals have updates of steps 4 to 5, which are not in the newest complete snapshot and would be");
  expect_refused(run, "--drop-updates");
  static_cast<void>(captured([&] { CHECK(reshard({run.path(), 3, {}, true}) == 0); }));
  CHECK_FALSE(fs::exists(Journal::folder_in(shard_database(run.path(), 0))));
  CHECK(OpenedRun(run.path()).reader().shards() == 3);
}

}  // namespace
}  // namespace ballast

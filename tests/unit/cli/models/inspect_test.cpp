#include "cli/models/inspect.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/models/opened_run.h"
#include "common/arena/placement.h"
#include "common/telling/amounts.h"
#include "storage/journal/journal.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"

namespace ballast {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("amounts of bytes") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "1.0 kB");
  CHECK(bytes_text(102'228'128) == "102.2 MB");
  CHECK(bytes_text(999'949) == "999.9 kB");
  CHECK(bytes_text(999'951) == "1.0 MB");
  CHECK(bytes_text(~std::uint64_t{0}) == "18.4 EB");
}

TEST_CASE("a finished run is told whole") {
  const SampleRun run;
  run.write_ledger(true);
  for (const bool verify : {false, true}) {
    const auto state = inspect_run(run.path(), verify);
    CHECK(state.problems.empty());
    REQUIRE(state.identity);
    CHECK(state.identity->job == "sample");
    CHECK(state.chunks.size() == kShards);
    CHECK(state.chunks[0] + state.chunks[1] == run.job.arena.chunks.size() - 1);
    CHECK(state.ledger.ledger.rollbacks.total() == 1);
    CHECK(state.ledger.evaluations.size() == 1);
    REQUIRE(state.snapshots.size() == 3);
    CHECK(state.snapshots[0].id == SnapshotId{0, 0});
    CHECK((state.snapshots[1].id == kEarly && state.snapshots[1].complete && state.snapshots[1].whole));
    CHECK((state.snapshots[1].best && !state.snapshots[1].finished));
    CHECK((state.snapshots[2].id == kEnd && state.snapshots[2].finished && !state.snapshots[2].best));
    // Weights and one state, and the records' heads.
    CHECK(state.snapshots[2].bytes > 2 * (run.job.arena.elements - kStatisticsFloats) * sizeof(float));
    CHECK(state.disk.size() == kShards);
    CHECK((state.disk[0] > 0 && state.disk[1] > 0));
    // Each chunk twice (weights, state) in two snapshots, with a seal for each in each shard, two identities, the
    // ledger and an evaluation.
    CHECK(state.records == (verify ? 4 * (run.job.arena.chunks.size() - 1) + 8 : 0));
  }
}

TEST_CASE("a shard's journal is told") {
  const SampleRun run;
  run.write_ledger(true);
  CHECK(inspect_run(run.path(), false).journals.empty());
  {
    auto journal =
        Journal::open(Journal::folder_in(shard_database(run.path(), 1)), {"sample", run.job.spec_digest, 1}, {}, {});
    REQUIRE(journal.ok());
    REQUIRE(journal.value()->begin(2).ok());
    REQUIRE(journal.value()->record_life(77).ok());
    const std::vector<std::byte> payload(64);
    for (std::uint64_t item = 0; item < 5; ++item) {
      JournalRecord record;
      record.timeline = 2;
      record.item = item;
      record.version = item;
      record.payload = payload;
      journal.value()->append(record);
    }
    REQUIRE(journal.value()->sync().ok());
  }
  const auto state = inspect_run(run.path(), false);
  CHECK(state.problems.empty());
  REQUIRE(state.journals.size() == 1);
  const auto& journal = state.journals[0];
  CHECK(journal.shard == 1);
  CHECK(journal.timeline == 2);
  CHECK(journal.records == 5);
  CHECK(journal.last == 5);
  CHECK(journal.bytes > 5 * 64);
  CHECK(journal.lives == std::vector<ShardLife>{{77, 0}});
  const auto text = captured([&] { CHECK(inspect({run.path(), false, false}) == 0); });
  CHECK(contains(text, "journal     shard 1: timeline 2, 5 updates up to number 5 in "));
  const auto json = nlohmann::json::parse(captured([&] { CHECK(inspect({run.path(), false, true}) == 0); }));
  CHECK(json["journals"][0]["lives"][0]["incarnation"] == 77);
}

TEST_CASE("what it prints") {
  const SampleRun run;
  run.write_ledger(true);
  const auto text = captured([&] { CHECK(inspect({run.path(), true, false}) == 0); });
  for (const auto* const part :
       {"job         sample", "timeline    2, begun at step 4 of timeline 1",
        "rollbacks   1 (a shard could not go on: 1), 3 steps", "steps 6 to 6", "finished    timeline 2, step 9",
        "timeline 1, step 4: complete, the best by accuracy", "timeline 2, step 9: complete, the job's end",
        "timeline 0, step 0: the initial weights", "evaluation  step 4, test: accuracy 12.50 %, loss 2.5000",
        "disk        shard 1:", " 0 problems"}) {
    CAPTURE(text);
    CHECK_MESSAGE(contains(text, part), part);
  }
  const auto json = nlohmann::json::parse(captured([&] { CHECK(inspect({run.path(), false, true}) == 0); }));
  CHECK(json["ledger"]["finished"]["step"] == 9);
  CHECK(json["best_by"] == "accuracy");
  CHECK(json["ledger"]["rollbacks"] == 1);
  CHECK(json["ledger"]["rollbacks_by_cause"]["shard"] == 1);
  CHECK(json["ledger"]["skipped"] == nlohmann::json::parse("[[6,7]]"));
  CHECK(json["snapshots"][2]["complete"] == true);
  CHECK(json["problems"].empty());
}

TEST_CASE("a snapshot that is being written is no problem, one that lacks a chunk is") {
  const SampleRun run;
  run.write_ledger(false);
  auto state = inspect_run(run.path(), false);
  CHECK(state.problems.empty());
  REQUIRE(state.snapshots.size() == 3);
  CHECK((!state.snapshots[2].complete && state.snapshots[2].whole));

  const Placement placement(run.job.arena, kShards, 1);
  REQUIRE(placement[0].shard < kShards);
  const auto shard = placement[0].shard;
  for (const auto& snapshot : {kEarly, kEnd}) {
    WriteBatch batch;
    batch.erase(tensor_key({snapshot, TensorKind::weights, 0}));
    REQUIRE(run.open(shard)->store().write(batch, Sync::yes).ok());
  }
  state = inspect_run(run.path(), false);
  CHECK_FALSE(state.snapshots[1].whole);
  CHECK_FALSE(state.snapshots[2].whole);
  REQUIRE(state.problems.size() == 1);  // of kEarly: kEnd is not complete
  CHECK(contains(state.problems[0], "shard-" + std::to_string(shard)));
  CHECK(contains(state.problems[0], "timeline 1, step 4"));
  CHECK(contains(state.problems[0], "ballast restore"));
}

TEST_CASE("a snapshot that is no longer kept is told as such, as long as the databases still hold it") {
  const SampleRun run;
  const auto printed = [&] { return captured([&] { CHECK(inspect({run.path(), false, false}) == 0); }); };
  run.write_ledger(false);
  CHECK(contains(printed(), "timeline 2, step 9: not complete, "));
  Ledger ledger;
  ledger.timeline = 2;
  ledger.incarnations = {5, 6};
  ledger.complete = {{0, 0}, kEnd};
  REQUIRE(run.open(0)->write_ledger({ledger, {}, {}, {}}).ok());
  CHECK(contains(printed(), "timeline 1, step 4: superseded by a newer one, "));
}

TEST_CASE("verifying names every damaged record by database, key and remedy") {
  const SampleRun run;
  run.write_ledger(true);
  const Placement placement(run.job.arena, kShards, 1);
  std::vector<std::string> keys;
  for (const std::uint32_t chunk : {0U, 1U}) {
    const auto store = run.open(placement[chunk].shard);
    keys.push_back(tensor_key({kEnd, TensorKind::weights, chunk}));
    auto record = store->store().get(keys.back()).value().value();
    record[record.size() / 2] = static_cast<char>(record[record.size() / 2] ^ 1);
    WriteBatch batch;
    batch.put(keys.back(), record);
    REQUIRE(store->store().write(batch, Sync::yes).ok());
  }
  CHECK(inspect_run(run.path(), false).problems.empty());
  const auto state = inspect_run(run.path(), true);
  REQUIRE(state.problems.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& problem = state.problems[placement[0].shard <= placement[1].shard ? i : 1 - i];
    CAPTURE(problem);
    CHECK(contains(problem, run.path() + "/shard-" + std::to_string(placement[i].shard)));
    CHECK(contains(problem, keys[i]));
    CHECK(contains(problem, "ballast restore"));
  }
  captured([&] { CHECK(inspect({run.path(), true, false}) == 1); });
}

TEST_CASE("a shard that is missing or belongs elsewhere is named") {
  const SampleRun run;
  run.write_ledger(true);
  std::filesystem::remove_all(shard_database(run.path(), 1));
  const auto state = inspect_run(run.path(), true);
  REQUIRE_FALSE(state.problems.empty());
  CHECK(contains(state.problems.front(), "there is no database of shard 1, the job has 2"));
  CHECK_THROWS_WITH(inspect_run(run.file("nowhere"), false), doctest::Contains("nowhere"));
}

}  // namespace
}  // namespace ballast

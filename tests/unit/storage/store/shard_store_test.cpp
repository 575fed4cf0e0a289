#include "storage/store/shard_store.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

const Identity kIdentity{
    kDatabaseFormat, "mnist", "spec-1", "layout-1", 0, 2, "job: mnist\nmodel:\n  name: mlp\ntraining:\n  batch: 128\n"};

// A shard's store over memory that the test can crash.
struct Fixture {
  Fixture() {
    auto owned = std::make_unique<MemoryStore>("runs/x/shard-0");
    memory = owned.get();
    shard = std::make_unique<ShardStore>(std::move(owned));
  }
  MemoryStore* memory = nullptr;
  std::unique_ptr<ShardStore> shard;
};

std::vector<float> values_of(float first, std::size_t count = 4) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = first + static_cast<float>(at);
  }
  return values;
}

StoreStatus write_chunk(ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk, std::size_t states = 0) {
  const auto weights = values_of(static_cast<float>(chunk));
  const std::vector<std::span<const float>> views(states, weights);
  return shard.write_chunk(snapshot, chunk, weights, views);
}

using Snapshots = std::vector<SnapshotId>;

TEST_CASE("a fresh database takes the identity durably, and the same shard may come back") {
  Fixture at;
  CHECK(at.shard->identity().value() == std::nullopt);
  REQUIRE(at.shard->claim(kIdentity).ok());
  at.memory->crash();
  CHECK(at.shard->identity().value() == kIdentity);
  CHECK(at.shard->claim(kIdentity).ok());
}

TEST_CASE("a database of something else is refused by what differs, and stays as it is") {
  struct Case {
    std::function<void(Identity&)> change;
    const char* named;
  };
  const std::vector<Case> cases = {
      {[](Identity& identity) { identity.job = "other"; }, "job: \"mnist\" there, \"other\" here"},
      {[](Identity& identity) { identity.shard = 1; }, "shard index: 0 there, 1 here"},
      {[](Identity& identity) { identity.shards = 3; }, "shard count: 2 there, 3 here"},
      {[](Identity& identity) {
         identity.layout_digest = "layout-2";
         identity.effective_job = "job: mnist\nmodel:\n  name: lenet5\n";
       },
       "layout of the model: \"layout-1\" there"},
      {[](Identity& identity) {
         identity.spec_digest = "spec-2";
         identity.effective_job = "job: mnist\ntraining:\n  batch: 256\n";
       },
       "training.batch: 128 there, 256 here"},
  };
  for (const auto& [change, named] : cases) {
    const auto& expected = named;
    CAPTURE(expected);
    Fixture at;
    REQUIRE(at.shard->claim(kIdentity).ok());
    auto other = kIdentity;
    change(other);
    const auto status = at.shard->claim(other);
    CHECK(status.code() == StoreCode::mismatch);
    CHECK(status.text().find(named) != std::string::npos);
    CHECK(status.text().find("runs/x/shard-0: ") == 0);
    CHECK(status.text().find("use another run folder") != std::string::npos);
    CHECK(at.shard->identity().value() == kIdentity);
  }
}

TEST_CASE("a database of another version's layout is refused as such, and stays as it is") {
  Fixture at;
  REQUIRE(at.shard->claim(kIdentity).ok());
  auto newer = kIdentity;
  newer.layout_digest = "layout-2";
  newer.spec_digest = "spec-2";
  newer.effective_job = "job: mnist\nmodel:\n  name: mlp\n  of_a_later_version: 1\ntraining:\n  batch: 64\n";
  const auto status = at.shard->claim(newer);
  CHECK(status.code() == StoreCode::mismatch);
  CHECK(status.text().find("runs/x/shard-0: this database was made by another version of Ballast") == 0);
  CHECK(status.text().find("(layout layout-1 there, layout-2 here)") != std::string::npos);
  CHECK(status.text().find("`ballast export`") != std::string::npos);
  CHECK(at.shard->identity().value() == kIdentity);
}

TEST_CASE("a job that differs only where its digest does not see it may come back") {
  Fixture at;
  REQUIRE(at.shard->claim(kIdentity).ok());
  auto other = kIdentity;
  other.effective_job += "cluster:\n  workers: 5\n";
  CHECK(at.shard->claim(other).ok());
}

TEST_CASE("a database without an identity is not taken over") {
  Fixture at;
  REQUIRE(at.memory->write(WriteBatch{}.put("someone's", "data"), Sync::yes).ok());
  const auto status = at.shard->claim(kIdentity);
  CHECK(status.code() == StoreCode::mismatch);
  CHECK(at.memory->get("someone's").value() == "data");
  CHECK(at.shard->identity().value() == std::nullopt);
}

TEST_CASE("a damaged identity is refused with path and key") {
  Fixture at;
  REQUIRE(at.memory->write(WriteBatch{}.put("identity", "nonsense"), Sync::yes).ok());
  const auto status = at.shard->claim(kIdentity);
  CHECK(status.code() == StoreCode::corrupt);
  CHECK(status.text().find("runs/x/shard-0: key identity: ") == 0);
  CHECK(at.memory->get("identity").value() == "nonsense");
}

TEST_CASE("each process that opens a database is counted, durably, and the database keeps its id") {
  Fixture at;
  REQUIRE(at.shard->claim(kIdentity).ok());
  CHECK(at.shard->begin_life(77).value() == DatabaseLife{77, 1});
  at.memory->crash();
  CHECK(at.shard->begin_life(88).value() == DatabaseLife{77, 2});
  at.memory->fail_writes({StoreCode::no_space, "no space"});
  CHECK(at.shard->begin_life(99).status().code() == StoreCode::no_space);
  at.memory->fail_writes({});
  at.memory->crash();
  CHECK(at.shard->begin_life(99).value() == DatabaseLife{77, 3});
}

TEST_CASE("a snapshot that is sealed is durable with all that was written before, until it is deleted") {
  Fixture at;
  REQUIRE(at.shard->claim(kIdentity).ok());
  REQUIRE(write_chunk(*at.shard, {1, 10}, 3).ok());
  CHECK(at.shard->sealed().value().empty());
  REQUIRE(at.shard->seal({1, 10}).ok());
  REQUIRE(write_chunk(*at.shard, {1, 20}, 3).ok());
  at.memory->crash();
  CHECK(at.shard->sealed().value() == Snapshots{{1, 10}});
  CHECK(at.shard->read_chunk({1, 10}, 3, 4, 0).ok());
  CHECK(at.shard->snapshots().value() == Snapshots{{1, 10}});
  REQUIRE(write_chunk(*at.shard, {2, 5}, 3).ok());
  REQUIRE(at.shard->seal({2, 5}).ok());
  CHECK(at.shard->sealed().value() == Snapshots{{1, 10}, {2, 5}});
  REQUIRE(at.shard->retain(Snapshots{{2, 5}}).ok());
  CHECK(at.shard->sealed().value() == Snapshots{{2, 5}});
}

TEST_CASE("a shard without chunks keeps no words of snapshots that are superseded") {
  Fixture at;
  for (const SnapshotId id : {SnapshotId{1, 10}, SnapshotId{1, 20}, SnapshotId{2, 5}, SnapshotId{2, 15}}) {
    REQUIRE(at.shard->seal(id).ok());
  }
  REQUIRE(at.shard->retain(Snapshots{{1, 20}, {2, 5}}).ok());
  CHECK(at.shard->sealed().value() == Snapshots{{1, 20}, {2, 5}, {2, 15}});
}

TEST_CASE("timeline and end are durable at once") {
  Fixture at;
  CHECK(at.shard->timeline().value() == std::nullopt);
  CHECK(at.shard->finished().value() == std::nullopt);
  REQUIRE(at.shard->write_timeline({3, {2, 600}, 7}).ok());
  REQUIRE(at.shard->write_finished({3, 1000}).ok());
  at.memory->crash();
  CHECK(at.shard->timeline().value() == TimelineRecord{3, {2, 600}, 7});
  CHECK(at.shard->finished().value() == SnapshotId{3, 1000});
}

TEST_CASE("a snapshot's chunks come back as they were, and are durable once synced") {
  Fixture at;
  const SnapshotId id{1, 10};
  const auto weights = values_of(1, 5);
  const auto first = values_of(100, 5);
  const auto second = values_of(200, 5);
  REQUIRE(at.shard->write_chunk(id, 3, weights, std::vector<std::span<const float>>{first, second}).ok());
  REQUIRE(write_chunk(*at.shard, id, 4).ok());
  at.memory->crash();
  CHECK(at.shard->snapshots().value().empty());

  REQUIRE(at.shard->write_chunk(id, 3, weights, std::vector<std::span<const float>>{first, second}).ok());
  REQUIRE(at.shard->sync().ok());
  REQUIRE(write_chunk(*at.shard, id, 4).ok());
  at.memory->crash();
  const auto chunk = at.shard->read_chunk(id, 3, 5, 2);
  REQUIRE(chunk.ok());
  CHECK(chunk.value().weights == weights);
  CHECK(chunk.value().states == std::vector<std::vector<float>>{first, second});
  CHECK(at.shard->states(id).value() == 2);
  CHECK(at.shard->read_chunk(id, 3, 5, 0).value().states.empty());
  CHECK_FALSE(at.shard->read_chunk(id, 4, 5, 0).ok());
}

TEST_CASE("a chunk that is missing, damaged or of another size says database, key and remedy") {
  Fixture at;
  const SnapshotId id{1, 10};
  REQUIRE(write_chunk(*at.shard, id, 3).ok());
  const auto expect = [&](const TensorKey& key, const StoreStatus& status, const char* what) {
    CAPTURE(what);
    CHECK(status.code() == StoreCode::corrupt);
    CHECK(status.text().find("runs/x/shard-0: key " + tensor_key(key)) == 0);
    CHECK(status.text().find(what) != std::string::npos);
    CHECK(status.text().find("ballast restore") != std::string::npos);
  };
  const TensorKey weights{id, TensorKind::weights, 3};
  expect({id, TensorKind::weights, 9}, at.shard->read_chunk(id, 9, 4, 0).status(), "is missing");
  expect({id, TensorKind::state_0, 3}, at.shard->read_chunk(id, 3, 4, 1).status(), "is missing");
  expect(weights, at.shard->read_chunk(id, 3, 5, 0).status(), "16 bytes, expected 20");
  auto record = *at.memory->get(tensor_key(weights)).value();
  record.back() ^= 1;
  REQUIRE(at.memory->write(WriteBatch{}.put(tensor_key(weights), record), Sync::no).ok());
  expect(weights, at.shard->read_chunk(id, 3, 4, 0).status(), "checksum");
  expect(weights, at.shard->verify(), "checksum");
}

TEST_CASE("more states than the format has are refused") {
  Fixture at;
  CHECK(write_chunk(*at.shard, {1, 10}, 3, kMaxStates).ok());
  CHECK(write_chunk(*at.shard, {1, 11}, 3, kMaxStates + 1).code() == StoreCode::mismatch);
  CHECK(at.shard->snapshots().value() == Snapshots{{1, 10}});
}

TEST_CASE("snapshots are listed in the order of the job's history") {
  Fixture at;
  REQUIRE(at.shard->claim(kIdentity).ok());
  for (const auto& id : Snapshots{{2, 5}, {1, 300}, {1, 20}}) {
    REQUIRE(write_chunk(*at.shard, id, 3, 2).ok());
    REQUIRE(write_chunk(*at.shard, id, 12).ok());
  }
  CHECK(at.shard->snapshots().value() == Snapshots{{1, 20}, {1, 300}, {2, 5}});
  const auto listed = at.shard->list_snapshots().value();
  REQUIRE(listed.size() == 3);
  CHECK(listed[2].id == SnapshotId{2, 5});
  CHECK(listed[2].chunks == 2);
  CHECK(listed[2].bytes > 4 * 4 * sizeof(float));
  CHECK(listed[2].bytes < 400);
}

// Against the definition, over all subsets of a few snapshots.
TEST_CASE("retain deletes what is older than the newest kept and not kept, and nothing else") {
  const Snapshots all = {{1, 0}, {1, 10}, {1, 20}, {2, 10}, {2, 15}};
  for (unsigned subset = 0; subset < 1U << all.size(); ++subset) {
    CAPTURE(subset);
    Fixture at;
    REQUIRE(at.shard->claim(kIdentity).ok());
    REQUIRE(at.shard->write_timeline({2, {1, 10}, 7}).ok());
    Snapshots keep;
    for (std::size_t index = 0; index < all.size(); ++index) {
      REQUIRE(write_chunk(*at.shard, all[index], 0, 1).ok());
      if ((subset >> index & 1U) != 0) {
        keep.push_back(all[index]);
      }
    }
    Snapshots expected;
    for (const auto& id : all) {
      const bool kept = std::find(keep.begin(), keep.end(), id) != keep.end();
      if (keep.empty() || kept || id > keep.back()) {
        expected.push_back(id);
      }
    }
    REQUIRE(at.shard->retain(keep).ok());
    CHECK(at.shard->snapshots().value() == expected);
    CHECK(at.shard->timeline().value().has_value());
    for (const auto& id : expected) {
      CHECK(at.shard->read_chunk(id, 0, 4, 1).ok());
    }
  }
}

TEST_CASE("keeping a snapshot that is not there deletes older ones all the same") {
  Fixture at;
  REQUIRE(write_chunk(*at.shard, {1, 10}, 0).ok());
  REQUIRE(at.shard->retain(Snapshots{{1, 20}}).ok());
  CHECK(at.shard->snapshots().value().empty());
}

Ledger some_ledger(Timeline timeline) {
  Ledger ledger;
  ledger.timeline = timeline;
  ledger.base = {timeline, 10};
  ledger.incarnations = {4, 5};
  ledger.complete = {{timeline, 10}};
  return ledger;
}

TEST_CASE("a ledger's change is durable at once, and comes back whole") {
  Fixture at;
  CHECK(at.shard->read_ledger().value().ledger == Ledger{});
  const std::vector<StepStatistics> statistics = {{0, 1.5F, 1, 8}, {1, 1.25F, 2, 8}, {2, 1, 3, 8}};
  const std::vector<EvaluationRecord> evaluations = {
      {2, Split::test, 0.5, 0.75, 8}, {2, Split::validation, 0.25, 0.5, 4}, {1, Split::test, 1, 0, 8}};
  REQUIRE(at.shard->write_ledger({some_ledger(1), {}, statistics, evaluations}).ok());
  at.memory->crash();
  const auto content = at.shard->read_ledger().value();
  CHECK(content.ledger == some_ledger(1));
  CHECK(content.evaluations == std::vector<EvaluationRecord>{evaluations[2], evaluations[0], evaluations[1]});
  CHECK(at.shard->read_statistics(0, 3).value() == statistics);
  CHECK(at.shard->read_statistics(1, 2).value() == std::vector<StepStatistics>{statistics[1]});
  CHECK(at.shard->read_statistics(3, 99).value().empty());
  CHECK(at.shard->verify().ok());
}

TEST_CASE("trimming comes before the additions: statistics from the step on, evaluations of later versions") {
  Fixture at;
  std::vector<StepStatistics> statistics;
  std::vector<EvaluationRecord> evaluations;
  for (Step step = 0; step < 20; ++step) {
    statistics.push_back({step, 1, 1, 8});
    evaluations.push_back({step, Split::test, 1, 0, 8});
  }
  REQUIRE(at.shard->write_ledger({some_ledger(1), {}, statistics, evaluations}).ok());
  const StepStatistics again{12, 7, 1, 8};
  const EvaluationRecord anew{13, Split::test, 7, 1, 8};
  REQUIRE(at.shard->write_ledger({some_ledger(2), Step{10}, {again}, {anew}}).ok());
  at.memory->crash();
  auto expected = std::vector(statistics.begin(), statistics.begin() + 10);
  expected.push_back(again);
  CHECK(at.shard->read_statistics(0, 99).value() == expected);
  auto left = std::vector(evaluations.begin(), evaluations.begin() + 11);
  left.push_back(anew);
  CHECK(at.shard->read_ledger().value().evaluations == left);
  CHECK(at.shard->read_ledger().value().ledger == some_ledger(2));

  REQUIRE(at.shard->write_ledger({some_ledger(2), ~Step{0}, {}, {}}).ok());
  CHECK(at.shard->read_statistics(0, 99).value() == expected);
  CHECK(at.shard->read_ledger().value().evaluations == left);
}

// Of kind 7, whose bytes 6 and 7 are its version: programs of protocol version 13 read at most 5.
void check_read_by_older_programs(Fixture& at, Ledger ledger) {
  const auto record = *at.memory->get(std::string(kLedgerKey)).value();
  CHECK(record.substr(6, 2) == std::string("\5\0", 2));
  ledger.held = false;
  CHECK(decode_ledger(record).value() == ledger);
}

TEST_CASE("that all hold for a server comes back, and ends with the timeline, whichever release began the next one") {
  Fixture at;
  auto ledger = some_ledger(3);
  ledger.held = true;
  REQUIRE(at.shard->write_ledger({ledger, {}, {}, {}}).ok());
  CHECK(at.shard->read_ledger().value().ledger == ledger);
  CHECK(at.shard->verify().ok());
  check_read_by_older_programs(at, ledger);
  ledger.snapshots_missed = 1;
  REQUIRE(at.shard->write_ledger({ledger, {}, {}, {}}).ok());
  CHECK(at.shard->read_ledger().value().ledger.held);

  // An older program writes its ledger and leaves the rest as it is.
  REQUIRE(at.memory->write(WriteBatch{}.put(std::string(kLedgerKey), encode(some_ledger(4))), Sync::yes).ok());
  CHECK(at.shard->read_ledger().value().ledger == some_ledger(4));

  REQUIRE(at.shard->write_ledger({some_ledger(5), Step{10}, {}, {}}).ok());
  CHECK(at.shard->read_ledger().value().ledger == some_ledger(5));
  CHECK_FALSE(at.memory->get(std::string(kHeldKey)).value().has_value());
}

TEST_CASE("a ledger's change that cannot be written did not happen") {
  Fixture at;
  REQUIRE(at.shard->write_ledger({some_ledger(1), {}, {{1, 1, 1, 8}}, {}}).ok());
  at.memory->fail_writes({StoreCode::no_space, "no space left on device"});
  CHECK(at.shard->write_ledger({some_ledger(2), Step{0}, {{2, 1, 1, 8}}, {}}).code() == StoreCode::no_space);
  at.memory->fail_writes({});
  CHECK(at.shard->read_ledger().value().ledger == some_ledger(1));
  CHECK(at.shard->read_statistics(0, 99).value().size() == 1);
}

TEST_CASE("a damaged record of the ledger is an error with its key") {
  for (const auto& key :
       {std::string(kLedgerKey), std::string(kHeldKey), evaluation_key(5, Split::test), statistics_key(5)}) {
    CAPTURE(key);
    Fixture at;
    auto ledger = some_ledger(1);
    ledger.held = true;
    REQUIRE(at.shard->write_ledger({ledger, {}, {{5, 1, 1, 8}}, {{5, Split::test, 1, 0, 8}}}).ok());
    auto record = *at.memory->get(key).value();
    record.back() ^= 1;
    REQUIRE(at.memory->write(WriteBatch{}.put(key, record), Sync::no).ok());
    const auto status =
        key == statistics_key(5) ? at.shard->read_statistics(0, 9).status() : at.shard->read_ledger().status();
    CHECK(status.code() == StoreCode::corrupt);
    CHECK(status.text().find("runs/x/shard-0: key " + key + ": ") == 0);
    CHECK(at.shard->verify().text() == status.text());
  }
}

TEST_CASE("a failing disk is an error value of every write") {
  Fixture at;
  REQUIRE(write_chunk(*at.shard, {1, 1}, 0).ok());
  at.memory->fail_writes({StoreCode::no_space, "no space left on device"});
  CHECK_FALSE(write_chunk(*at.shard, {1, 2}, 0).ok());
  for (const auto& status : {at.shard->write_timeline({}), at.shard->write_finished({}), at.shard->sync(),
                             at.shard->write_ledger({}), at.shard->retain(Snapshots{{1, 2}})}) {
    CHECK(status.code() == StoreCode::no_space);
    CHECK(status.text() == "runs/x/shard-0: no space left on device");
  }
}

TEST_CASE("the databases of a run are found by index") {
  const TemporaryFolder folder;
  CHECK(find_shard_databases(folder.path()).status().code() == StoreCode::missing);
  std::filesystem::create_directory(folder.path() / "shard-0");
  std::filesystem::create_directory(folder.path() / "shard-1");
  std::filesystem::create_directory(folder.path() / "shard-3");
  CHECK(find_shard_databases(folder.path()).value() ==
        std::vector<std::filesystem::path>{folder.path() / "shard-0", folder.path() / "shard-1"});
}

}  // namespace
}  // namespace ballast

// A run of two shards, copied while it goes on and built anew from the copies.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "common/copies/restore.h"
#include "common/copies/snapshot_copier.h"
#include "tests/unit/copies/s3_server.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::size_t kChunks = 3;  // of each shard

class Run {
 public:
  explicit Run(CopyTarget target, const std::string& digest = "0123456789") : target_(std::move(target)) {
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      auto memory = std::make_unique<MemoryStore>("shard-" + std::to_string(shard));
      stores_.push_back(memory.get());
      shards_.push_back(std::make_unique<ShardStore>(std::move(memory)));
      REQUIRE(shards_.back()->claim({kDatabaseFormat, "job", digest, "layout", shard, 2, "job: job\n"}).ok());
    }
  }

  // One that has reached the step on the timeline, with all that belongs to it.
  void reach(const SnapshotId& id) {
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
        const std::vector<float> weights(300, static_cast<float>(id.step + 10 * shard + chunk));
        const std::vector<float> state(300, 0.5F);
        REQUIRE(shards_[shard]
                    ->write_chunk(id, 2 * chunk + shard, weights, std::vector<std::span<const float>>{state})
                    .ok());
      }
    }
    LedgerChange change;
    ledger_.timeline = id.timeline;
    ledger_.incarnations = {7, 8};
    ledger_.databases = {{17, 1}, {18, 1}};
    ledger_.pause = Pause::held;
    ledger_.complete.push_back(id);
    change.ledger = ledger_;
    change.evaluations = {{id.step, Split::test, 0.5, 0.75, 100}};
    for (Step step = id.step < 10 ? 0 : id.step - 10; step < id.step; ++step) {
      change.statistics.push_back({step, 1.5F, 3, 8});
    }
    REQUIRE(shards_[0]->write_ledger(change).ok());
  }

  std::unique_ptr<SnapshotCopier> copier(std::uint32_t shard, std::uint32_t keep = 2) {
    auto place = open_copy_place(target_);
    REQUIRE(place.ok());
    return std::make_unique<SnapshotCopier>(*shards_[shard], std::move(place.value()), CopierSettings{keep, kChunks},
                                            CopySeries(nullptr));
  }

  void copy(const SnapshotId& id, std::uint32_t keep = 2) {
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      const auto one = copier(shard, keep);
      one->copy(id);
      REQUIRE(one->drain(seconds(60)));
    }
  }

  [[nodiscard]] ShardStore& shard(std::uint32_t index) { return *shards_[index]; }
  [[nodiscard]] MemoryStore& memory(std::uint32_t index) { return *stores_[index]; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::unique_ptr<CopyPlace> place() const { return std::move(open_copy_place(target_).value()); }

 private:
  CopyTarget target_;
  std::vector<MemoryStore*> stores_;
  std::vector<std::unique_ptr<ShardStore>> shards_;
  Ledger ledger_;
};

// In each test the folder or the storage goes away with the fixture.
struct Places {
  TemporaryFolder folder;
  [[nodiscard]] CopyTarget copies() const { return {(folder.path() / "copies").string(), ""}; }
  [[nodiscard]] RestoreOptions options(std::optional<Step> step = {}) const { return {folder.path() / "run", step}; }
};

std::unique_ptr<ShardStore> open(const fs::path& path) {
  auto store = open_rocksdb(path, OpenMode::existing);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
  return std::make_unique<ShardStore>(std::move(store.value()));
}

void is_at(const std::vector<fs::path>& databases, Run& run, const SnapshotId& id) {
  REQUIRE(databases.size() == 2);
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const auto restored = open(databases[shard]);
    CHECK(restored->identity().value() == run.shard(shard).identity().value());
    CHECK(restored->snapshots().value() == std::vector<SnapshotId>{id});
    CHECK(restored->sealed().value() == std::vector<SnapshotId>{id});
    CHECK(restored->begin_life(99 + shard).value() == DatabaseLife{99 + shard, 1});  // no life of the one copied
    CHECK(restored->timeline().value() == std::nullopt);  // the run that goes on begins a new one
    for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
      const auto right = run.shard(shard).read_chunk(id, 2 * chunk + shard, 300, 1);
      const auto found = restored->read_chunk(id, 2 * chunk + shard, 300, 1);
      REQUIRE(found.ok());
      CHECK(found.value().weights == right.value().weights);
      CHECK(found.value().states == right.value().states);
    }
    CHECK(restored->verify().ok());
  }
  const auto lead = open(databases[0]);
  const auto content = lead->read_ledger().value();
  CHECK(content.ledger.timeline >= id.timeline);
  CHECK(content.ledger.base == id);
  CHECK(content.ledger.incarnations.empty());
  CHECK(content.ledger.databases.empty());
  CHECK(content.ledger.pause == Pause::none);
  CHECK(content.ledger.complete == std::vector<SnapshotId>{id});
  REQUIRE_FALSE(content.evaluations.empty());
  CHECK(content.evaluations.back().step == id.step);
  const auto statistics = lead->read_statistics(0, ~Step{0}).value();
  REQUIRE_FALSE(statistics.empty());
  CHECK(statistics.back().step == id.step - 1);
}

StoreResult<Restored> restore_from(Run& run, const RestoreOptions& options, const RestoreCheck& check = {}) {
  const auto place = run.place();
  return restore(*place, options, check);
}

Restored restored_from(Run& run, const RestoreOptions& options) {
  auto restored = restore_from(run, options);
  REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.status().text()));
  return std::move(restored.value());
}

TEST_CASE("what was copied into a folder is restored as it was") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  run.reach({2, 40});  // the ledger goes on; a copy of the older snapshot would not see it
  run.copy({2, 40});
  const auto restored = restored_from(run, places.options());
  CHECK(restored.job == "job-01234567");
  CHECK(restored.snapshot == SnapshotId{2, 40});
  CHECK(restored.passed_over.empty());
  is_at(restored.databases, run, {2, 40});
  is_at(restored_from(run, {places.folder.path() / "older", 20}).databases, run, {1, 20});
}

TEST_CASE("what was copied to S3 is restored as it was") {
  const Places places;
  const testing::S3Server server;
  Run run(server.target());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto restored = restored_from(run, places.options());
  is_at(restored.databases, run, {1, 20});
}

TEST_CASE("a ledger that went on is copied as it is at the snapshot") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.reach({1, 40});
  auto ledger = run.ledger();
  ledger.best = SnapshotId{1, 40};
  ledger.finished = SnapshotId{1, 40};
  ledger.skipped = {{25, 26}};
  REQUIRE(run.shard(0).write_ledger({ledger, {}, {}, {}}).ok());
  run.copy({1, 20});
  const auto databases = restored_from(run, places.options()).databases;
  is_at(databases, run, {1, 20});
  const auto found = open(databases[0])->read_ledger().value().ledger;
  CHECK_FALSE(found.best);
  CHECK_FALSE(found.finished);
  CHECK(found.skipped == ledger.skipped);

  run.copy({1, 40});
  const auto last = open(restored_from(run, {places.folder.path() / "last", {}}).databases[0]);
  CHECK(last->read_ledger().value().ledger.finished == SnapshotId{1, 40});
  CHECK(last->read_ledger().value().ledger.best == SnapshotId{1, 40});
}

TEST_CASE("the newest complete sets are kept, and what is not whole does not count") {
  const Places places;
  Run run(places.copies());
  for (Step step = 10; step <= 50; step += 10) {
    run.reach({1, step});
  }
  run.copy({1, 10});
  run.copy({1, 20});
  const auto only_one = run.copier(1);
  only_one->copy({1, 30});
  REQUIRE(only_one->drain(seconds(60)));
  run.copy({1, 40});
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
  CHECK(steps() == std::vector<Step>{20, 30, 40});
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
  const auto only_one = run.copier(1);  // the folder of shard 0 was lost before it was copied
  only_one->copy({4, 20});
  REQUIRE(only_one->drain(seconds(60)));
  const auto restored = restored_from(run, places.options());
  REQUIRE(restored.snapshot == SnapshotId{1, 10});
  const auto ledger = open(restored.databases[0])->read_ledger().value().ledger;
  CHECK(ledger.timeline == 4);
  CHECK(ledger.base == SnapshotId{1, 10});
}

TEST_CASE("a set that lacks a shard, or is damaged anywhere, is passed over with the reason") {
  const Places places;
  Run run(places.copies());
  for (const Step step : {20U, 40U, 60U}) {
    run.reach({1, step});
    run.copy({1, step}, 9);
  }
  std::string job;
  const auto place = run.place();
  const auto sets = list_copies(*place, job).value();
  REQUIRE(place->remove(sets[2].objects[1]).ok());
  const auto file = places.folder.path() / "copies" / sets[1].objects[0];
  {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(2000);
    damaged.put('?');
  }
  const auto restored = restored_from(run, places.options());
  is_at(restored.databases, run, {1, 20});
  REQUIRE(restored.passed_over.size() == 2);
  CHECK(restored.passed_over[0] == "timeline 1, step 60: copies of some shards are missing");
  CHECK(restored.passed_over[1].find(file.string()) != std::string::npos);
  CHECK(restored.passed_over[1].find("damaged") != std::string::npos);

  const auto none = restore_from(run, {places.folder.path() / "none", 40});
  REQUIRE_FALSE(none.ok());
  CHECK(none.status().code() == StoreCode::missing);
  CHECK(none.status().text().find("of step 40") != std::string::npos);
  CHECK(none.status().text().find("20, 40, 60 (incomplete)") != std::string::npos);
  CHECK(fs::is_empty(places.folder.path() / "none"));
}

TEST_CASE("nothing is restored over a run, from nothing, or from a mixture") {
  const Places places;
  Run run(places.copies());
  const auto empty = restore_from(run, places.options());
  CHECK(empty.status().code() == StoreCode::missing);
  CHECK(empty.status().text().find("no copies of snapshots here") != std::string::npos);
  run.reach({1, 20});
  run.copy({1, 20});
  restored_from(run, places.options());
  const auto again = restore_from(run, places.options());
  CHECK(again.status().code() == StoreCode::mismatch);
  CHECK(again.status().text().find("new folder") != std::string::npos);
  Run other(places.copies(), "abcdefghij");
  other.reach({1, 20});
  other.copy({1, 20});
  const auto mixture = restore_from(run, {places.folder.path() / "x", {}});
  CHECK(mixture.status().code() == StoreCode::mismatch);
  CHECK(mixture.status().text().find("job-01234567, job-abcdefgh") != std::string::npos);
  // Each job's own folder is a place as well.
  Run below({(places.folder.path() / "copies" / "job-abcdefgh").string(), ""});
  CHECK(restored_from(below, {places.folder.path() / "y", {}}).snapshot == SnapshotId{1, 20});
}

TEST_CASE("a check that fails undoes the restoring") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  std::size_t asked = 0;
  const auto refused = restore_from(run, places.options(), [&](const std::vector<fs::path>& databases, SnapshotId id) {
    asked = databases.size();
    CHECK(id == SnapshotId{1, 20});
    CHECK(open(databases[1])->verify().ok());
    return StoreStatus{StoreCode::corrupt, "not what it should be"};
  });
  CHECK(asked == 2);
  CHECK(refused.status().text().find("not what it should be") != std::string::npos);
  CHECK(fs::is_empty(places.folder.path() / "run"));
}

TEST_CASE("a snapshot that is gone, incomplete or damaged is not copied") {
  const Places places;
  Run run(places.copies());
  run.copy({1, 20});
  run.reach({1, 40});
  REQUIRE(run.memory(0).write(WriteBatch{}.erase(tensor_key({{1, 40}, TensorKind::weights, 0})), Sync::no).ok());
  const TensorKey damaged{{1, 40}, TensorKind::state_0, 1};
  auto record = *run.memory(1).get(tensor_key(damaged)).value();
  record.back() ^= 1;
  REQUIRE(run.memory(1).write(WriteBatch{}.put(tensor_key(damaged), record), Sync::no).ok());
  run.copy({1, 40});
  CHECK(run.place()->list().value().empty());
}

TEST_CASE("a place that fails stops nothing, and is tried again with the next snapshot") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.reach({1, 40});
  std::ofstream(places.folder.path() / "copies") << "in the way";
  CopySeries series(nullptr);
  SnapshotCopier copier(run.shard(1), run.place(), {2, kChunks}, series);
  copier.copy({1, 20});
  REQUIRE(copier.drain(seconds(60)));
  CHECK(series.failed->value() == 1);
  fs::remove(places.folder.path() / "copies");
  copier.copy({1, 40});
  copier.copy({1, 40});
  copier.copy({1, 20});  // older than what was copied: nothing to do
  REQUIRE(copier.drain(seconds(60)));
  CHECK(series.done->value() == 1);
  CHECK(series.step->value() == 40);
  CHECK(run.place()->list().value().size() == 1);
}

}  // namespace
}  // namespace ballast

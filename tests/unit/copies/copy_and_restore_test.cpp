// A run of two shards, copied while it goes on and built anew from the copies.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "common/copies/restore.h"
#include "common/copies/snapshot_copier.h"
#include "tests/unit/copies/s3_server.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::size_t kChunks = 3;  // of each shard

// Of the attempt at hand, when it is over.
CopyProgress outcome(const SnapshotCopier& copier) {
  for (int tries = 0; tries < 6'000; ++tries) {
    const auto progress = copier.progress();
    if (progress.done || progress.failures > 0) {
      return progress;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("nothing comes of the copy");
  return {};
}

class Run {
 public:
  explicit Run(CopyTarget target, const std::string& digest = "0123456789", RunId run = 0xabc)
      : target_(std::move(target)), run_(run) {
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

  // One shard's part: whether it was copied, or has failed.
  bool copy_part(const SnapshotId& id, std::uint32_t shard, std::uint32_t keep = 2) {
    const auto one = copier(shard, keep);
    one->follow({run_, id, {}});
    const auto progress = outcome(*one);
    REQUIRE(one->drain(seconds(60)));
    return progress.done;
  }

  // As the lead has all shards do it, which then says that the copy is complete.
  void copy(const SnapshotId& id, std::uint32_t keep = 2) {
    if (copy_part(id, 0, keep) && copy_part(id, 1, keep)) {
      const auto one = copier(0, keep);
      one->follow({run_, {}, id});
      REQUIRE(one->drain(seconds(60)));
    }
  }
  [[nodiscard]] RunId run() const { return run_; }

  [[nodiscard]] ShardStore& shard(std::uint32_t index) { return *shards_[index]; }
  [[nodiscard]] MemoryStore& memory(std::uint32_t index) { return *stores_[index]; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::unique_ptr<CopyPlace> place() const { return std::move(open_copy_place(target_).value()); }

 private:
  CopyTarget target_;
  RunId run_;
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
  SnapshotCopier copier(run.shard(1), run.place(), {2, kChunks, std::chrono::milliseconds(20)}, series);
  copier.follow({run.run(), {1, 20}, {}});
  CHECK(outcome(copier).failures > 0);
  CHECK(series.failed->value() >= 1);
  CHECK(copier.trouble().find("was not copied (it is tried again)") != std::string::npos);
  fs::remove(places.folder.path() / "copies");
  while (!copier.progress().done) {  // it is tried again by itself
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(copier.trouble().empty());
  CHECK(series.done->value() == 1);
  CHECK(series.step->value() == 20);
  CHECK(run.place()->list().value().size() == 1);
}

// ---- runs

std::vector<std::string> names(Run& run) {
  auto all = run.place()->list().value();
  std::sort(all.begin(), all.end());
  return all;
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

TEST_CASE("copies of older programs, without a run, are listed, restored and left alone") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  for (std::uint32_t shard = 0; shard < 2; ++shard) {  // all of them in one object, as they had it
    const CopyName name{"job-01234567", {1, 10}, shard, 2};
    auto writer = run.place()->write(to_string(name));
    REQUIRE(writer.ok());
    CopyEncoder encoder(*writer.value(), name);
    REQUIRE(
        run.memory(shard)
            .scan("", [&](std::string_view key, std::string_view record) { return encoder.entry(key, record).ok(); })
            .ok());
    REQUIRE(encoder.finish().ok());
  }
  auto options = places.options();
  CHECK(restored_from(run, options).snapshot == SnapshotId{1, 10});
  run.reach({1, 20});
  run.copy({1, 20}, 1);
  CHECK(names(run).size() == 4);
  options = {places.folder.path() / "older", {}, RunId{0}};
  CHECK(restored_from(run, options).snapshot == SnapshotId{1, 10});
  CHECK(
      restore_from(run, {places.folder.path() / "x", {}}).status().text().find("none (newest: timeline 1, step 10)") !=
      std::string::npos);
}

// ---- losses

TEST_CASE("losses are copied once, in blocks, and all of them are restored") {
  const Places places;
  Run run(places.copies());
  const Step last = 2 * kLossesInBlock + 5;
  const auto reach = [&run](Step from, Step until) {
    run.reach({1, until});
    LedgerChange change;
    change.ledger = run.ledger();
    for (Step step = from; step < until; ++step) {
      change.statistics.push_back({step, static_cast<float>(step), 3, 8});
    }
    REQUIRE(run.shard(0).write_ledger(change).ok());
  };
  reach(0, kLossesInBlock + 3);
  run.copy({1, kLossesInBlock + 3});
  const auto block = places.folder.path() / "copies" / to_string(LossesName{"job-01234567", run.run(), 0});
  REQUIRE(fs::exists(block));
  const auto written = fs::last_write_time(block);
  reach(kLossesInBlock + 3, last);
  run.copy({1, last});
  CHECK(fs::last_write_time(block) == written);
  CHECK(names(run).size() == 6);
  const auto object = places.folder.path() / "copies" / to_string(CopyName{"job-01234567", {1, last}, 0, 2, run.run()});
  CHECK(fs::file_size(object) < 20'000);  // five losses, not sixteen thousand

  const auto databases = restored_from(run, places.options()).databases;
  is_at(databases, run, {1, last});
  const auto statistics = open(databases[0])->read_statistics(0, ~Step{0}).value();
  REQUIRE(statistics.size() == last);
  CHECK(statistics.at(kLossesInBlock).loss == static_cast<float>(kLossesInBlock));

  // One that is gone is told, and made again with the next copy.
  fs::remove(block);
  const auto refused = restore_from(run, {places.folder.path() / "again", {}});
  CHECK(refused.status().text().find("losses of earlier steps are missing") != std::string::npos);
  reach(last, last + 1);
  run.copy({1, last + 1});
  CHECK(restored_from(run, {places.folder.path() / "again", {}}).snapshot == SnapshotId{1, last + 1});
}

// ---- killed uploads, and one that is given up

TEST_CASE("what a killed upload has left of a shard's own objects is removed by its next life") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  run.reach({1, 20});
  const auto folder =
      places.folder.path() / "copies" / run_prefix("job-01234567", run.run()) / "t0000000000000001-s000000000000000a";
  fs::create_directories(folder);
  std::ofstream(folder / "shard-1-of-2.4711.part") << "half a copy";
  std::ofstream(folder / "shard-0-of-2.4712.part") << "of another shard, which may be at work";
  REQUIRE(run.copy_part({1, 20}, 1));
  CHECK_FALSE(fs::exists(folder / "shard-1-of-2.4711.part"));
  CHECK(fs::exists(folder / "shard-0-of-2.4712.part"));
  run.copy({1, 20});
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("an upload in several parts that was killed is given up at the storage") {
  const testing::S3Server server;
  Run run(server.target());
  run.reach({1, 10});
  auto other = run.place();
  const auto begin = [&](std::uint32_t shard) {
    auto writer = other->write(to_string(CopyName{"job-01234567", {1, 5}, shard, 2, run.run()}));
    REQUIRE(writer.ok());
    REQUIRE(writer.value()->append(std::string((16U << 20U) + 1, 'x')).ok());
    static auto& killed = *new std::vector<ObjectWriter*>;  // they never give up by themselves
    killed.push_back(writer.value().release());
  };
  begin(0);
  begin(1);
  std::vector<std::string> left;
  const auto look = [&](const std::string& name) {
    left.push_back(name);
    return false;
  };
  REQUIRE(other->remove_unfinished("job-01234567/", look).ok());
  CHECK(left.size() == 2);
  left.clear();
  REQUIRE(run.copy_part({1, 10}, 1));
  REQUIRE(other->remove_unfinished("job-01234567/", look).ok());
  CHECK(left == std::vector<std::string>{to_string(CopyName{"job-01234567", {1, 5}, 0, 2, run.run()})});
}

// A place in which the first object waits until it is let go on.
class SlowPlace final : public CopyPlace {
 public:
  explicit SlowPlace(std::unique_ptr<CopyPlace> place) : place_(std::move(place)) {}
  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    writing = true;
    while (waits) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return place_->write(name);
  }
  StoreStatus read(const std::string& name, const Sink& sink) override { return place_->read(name, sink); }
  StoreResult<std::vector<std::string>> list(const std::string& prefix) override { return place_->list(prefix); }
  StoreStatus remove_unfinished(const std::string& prefix, const Ours& is_ours) override {
    return place_->remove_unfinished(prefix, is_ours);
  }
  StoreStatus remove(const std::string& name) override { return place_->remove(name); }
  [[nodiscard]] std::string describe(const std::string& name) const override { return place_->describe(name); }

  std::atomic<bool> waits = true;
  std::atomic<bool> writing = false;

 private:
  std::unique_ptr<CopyPlace> place_;
};

TEST_CASE("a copy that another one is named in place of is given up, and leaves nothing") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  run.reach({1, 20});
  auto slow = std::make_unique<SlowPlace>(run.place());
  auto* place = slow.get();
  SnapshotCopier copier(run.shard(1), std::move(slow), {2, kChunks}, CopySeries(nullptr));
  copier.follow({run.run(), {1, 10}, {}});
  while (!place->writing) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  copier.follow({run.run(), {1, 20}, {}});
  place->waits = false;
  const auto progress = outcome(copier);
  CHECK(progress.snapshot == SnapshotId{1, 20});
  CHECK(progress.done);
  CHECK(progress.failures == 0);
  CHECK(copier.trouble() == "");
  CHECK(copier.progress().bytes > 0);
  CHECK(names(run) == std::vector<std::string>{to_string(CopyName{"job-01234567", {1, 20}, 1, 2, run.run()})});
}

}  // namespace
}  // namespace ballast

#include "storage/reshard/build.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/arena/arena.h"
#include "storage/reshard/journal_end.h"
#include "storage/store/shard_store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr SnapshotId kBest{1, 4};
constexpr SnapshotId kNewest{2, 9};
constexpr std::size_t kStates = 2;

// Ten chunks that are descended, of several sizes, and two of state.
Arena several_chunks() {
  std::vector<Parameter> parameters;
  for (std::uint32_t index = 0; index < 4; ++index) {
    parameters.push_back({"weight" + std::to_string(index), {200, 300 + 40 * index}, Group::decay, {}});
    parameters.push_back({"bias" + std::to_string(index), {7 + index}, Group::no_decay, {}});
  }
  parameters.push_back({"mean", {30}, Group::state, {}});
  return lay_out(std::move(parameters));
}

// Another float for each element, tensor and snapshot.
std::vector<float> content(const Chunk& chunk, TensorKind kind, const SnapshotId& snapshot) {
  std::vector<float> values(chunk.elements);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = static_cast<float>(chunk.offset + at) + 0.125F * static_cast<float>(kind) +
                 0.5F * static_cast<float>(snapshot.step);
  }
  return values;
}

Ledger job_ledger() {
  Ledger ledger;
  ledger.timeline = 2;
  ledger.base = kBest;
  ledger.incarnations = {11, 12};
  ledger.databases = {{21, 3}, {22, 4}};
  ledger.complete = {{0, 0}, kBest, kNewest};
  ledger.best = kBest;
  ledger.skipped = {{2, 3}};
  ledger.rollbacks.shard = 1;
  ledger.pause = Pause::held;
  ledger.copies = {0xABC, kNewest, kBest, 5, 6};
  ledger.copies_in = 77;
  ledger.copy_lives = {1, 2};
  ledger.named_before = kBest;
  ledger.cut = 12;
  ledger.kept = {10};
  return ledger;
}

using Stores = std::vector<std::unique_ptr<ShardStore>>;

Stores databases(const Arena& arena, std::uint32_t shards, const Ledger& ledger) {
  Stores made;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    auto store = std::make_unique<ShardStore>(std::make_unique<MemoryStore>("shard-" + std::to_string(shard)));
    REQUIRE(store->claim({kDatabaseFormat, "job", "spec", "layout", shard, shards, "shards: 2"}).ok());
    for (const auto& snapshot : {kBest, kNewest}) {
      for (const auto& chunk : Placement(arena, shards, 1).of_model(shard)) {
        std::vector<std::vector<float>> states;
        for (std::size_t index = 0; index < kStates && chunk.group != Group::state; ++index) {
          states.push_back(content(chunk, state_kind(index), snapshot));
        }
        const std::vector<std::span<const float>> views(states.begin(), states.end());
        REQUIRE(store->write_chunk(snapshot, chunk.id, content(chunk, TensorKind::weights, snapshot), views).ok());
      }
      REQUIRE(store->seal(snapshot).ok());
    }
    made.push_back(std::move(store));
  }
  std::vector<StepStatistics> statistics(11);
  for (Step step = 0; step < statistics.size(); ++step) {
    statistics[step].step = step;
    statistics[step].loss = 1.0F / static_cast<float>(1 + step);
  }
  const std::vector<EvaluationRecord> evaluations = {{4, Split::validation, 0.5, 0.25, 100}};
  REQUIRE(made.front()->write_ledger({ledger, {}, statistics, evaluations}).ok());
  return made;
}

RunReader reader_of(Stores stores, const Arena& arena) {
  auto run = RunReader::open(std::move(stores), arena, "layout");
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.status().text()));
  return std::move(run.value());
}

ReshardTarget target_in(const fs::path& folder, std::uint32_t shards, CopiesOf copies = CopiesOf::same_run) {
  ReshardTarget target{{}, "shards: " + std::to_string(shards), copies};
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    target.databases.push_back(shard_database(folder, shard));
  }
  return target;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  }
  return bytes;
}

TEST_CASE("a run has the same snapshots and the same ledger with any number of shards") {
  const auto arena = several_chunks();
  REQUIRE(arena.chunks.size() > 8);
  for (const std::uint32_t shards : {1U, 3U, 20U}) {  // 20: more than there are chunks
    const TemporaryFolder folder;
    const auto before = reader_of(databases(arena, 2, job_ledger()), arena);
    const auto snapshots = kept_snapshots(before.ledger(), true);
    CHECK(snapshots == std::vector<SnapshotId>{kBest, kNewest});
    const auto target = target_in(folder.path(), shards);
    const auto built = build_databases(before, snapshots, target);
    REQUIRE_MESSAGE(built.ok(), built.text());
    CHECK(bytes_below(folder.path()) <= bytes_to_build(before, snapshots, shards).value());

    auto opened = RunReader::open(target.databases, arena, "layout");
    REQUIRE(opened.ok());
    const auto& after = opened.value();
    for (const auto& snapshot : snapshots) {
      const auto digest = compare_snapshot(before, after, snapshot);
      REQUIRE_MESSAGE(digest.ok(), digest.status().text());
      CHECK(digest.value().weights.size() == 64);
      CHECK(digest.value().optimizer.size() == 64);
      CHECK(after.states(snapshot).value() == kStates);
    }
    CHECK(after.ledger() == resharded(before.ledger(), CopiesOf::same_run));
    CHECK(after.evaluations() == before.evaluations());
    CHECK(after.statistics(0, 100).value() == before.statistics(0, 100).value());
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      const auto& store = after.shard(shard);
      CHECK(store.identity().value() ==
            Identity{kDatabaseFormat, "job", "spec", "layout", shard, shards, target.effective_job});
      CHECK(store.sealed().value() == snapshots);
      CHECK_FALSE(store.timeline().value());  // it has served none
      CHECK_FALSE(store.finished().value());
      CHECK(store.verify().ok());
    }
  }
}

TEST_CASE("a finished run's databases all have the end") {
  const auto arena = several_chunks();
  const TemporaryFolder folder;
  auto ledger = job_ledger();
  ledger.finished = kNewest;
  const auto before = reader_of(databases(arena, 2, ledger), arena);
  const auto target = target_in(folder.path(), 3);
  REQUIRE(build_databases(before, {kBest, kNewest}, target).ok());
  const auto after = RunReader::open(target.databases, arena, "layout");
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    CHECK(after.value().shard(shard).finished().value() == kNewest);
  }
}

TEST_CASE("the ledger keeps the job's history, and forgets the lives of shards") {
  const auto before = job_ledger();
  auto expected = before;
  expected.incarnations.clear();
  expected.databases.clear();
  expected.kept.clear();
  expected.cut = 9;  // of the newest snapshot: what came after it is in no database
  CHECK(resharded(before, CopiesOf::same_run) == expected);
  // Two runs go on from one ledger: they must not copy under one name.
  expected.copies = {};
  expected.copies_in = 0;
  expected.copy_lives.clear();
  expected.named_before = {};
  CHECK(resharded(before, CopiesOf::new_run) == expected);
}

TEST_CASE("initial weights are kept only where a file gave them") {
  const auto ledger = job_ledger();
  CHECK(kept_snapshots(ledger, false) == ledger.complete);
  CHECK(kept_snapshots(ledger, true).size() + 1 == ledger.complete.size());
}

TEST_CASE("a tensor that is missing, damaged or of another size is told, and nothing is taken for whole") {
  const auto arena = several_chunks();
  const Chunk& chunk = arena.chunks.front();
  const auto shard = Placement(arena, 2, 1)[chunk.id].shard;
  const auto key = tensor_key({kNewest, TensorKind::weights, chunk.id});
  const auto state = tensor_key({kNewest, TensorKind::state_1, chunk.id});
  const auto refused = [&](const WriteBatch& damage, const std::string& name, const std::string& why) {
    const TemporaryFolder folder;
    auto stores = databases(arena, 2, job_ledger());
    REQUIRE(stores[shard]->store().write(damage, Sync::yes).ok());
    const auto before = reader_of(std::move(stores), arena);
    const auto status = build_databases(before, {kBest, kNewest}, target_in(folder.path(), 3));
    CHECK(status.code() == StoreCode::corrupt);
    CHECK_MESSAGE(status.text().find(name) != std::string::npos, status.text());
    CHECK_MESSAGE(status.text().find(why) != std::string::npos, status.text());
    CHECK(status.text().find("shard-" + std::to_string(shard)) != std::string::npos);
  };
  const TensorKey weights{kNewest, TensorKind::weights, chunk.id};
  const auto values = content(chunk, TensorKind::weights, kNewest);
  auto record = encode_tensor(weights, std::as_bytes(std::span(values)));
  refused(WriteBatch{}.erase(key), "snapshot/", "has 2 tensors of the chunk, expected 3");
  refused(WriteBatch{}.erase(state), "snapshot/", "has 2 tensors of the chunk, expected 3");
  const std::vector<float> few(3);
  refused(WriteBatch{}.put(key, encode_tensor(weights, std::as_bytes(std::span(few)))), key, "12 bytes, expected");
  record.back() = static_cast<char>(record.back() ^ 1);
  refused(WriteBatch{}.put(key, record), key, "damaged");
}

TEST_CASE("weights that are read back with another digest are told") {
  const auto arena = several_chunks();
  const auto before = reader_of(databases(arena, 2, job_ledger()), arena);
  auto stores = databases(arena, 3, job_ledger());
  auto other = content(arena.chunks.front(), TensorKind::weights, kNewest);
  other.front() += 1;
  const TensorKey key{kNewest, TensorKind::weights, arena.chunks.front().id};
  const auto shard = Placement(arena, 3, 1)[key.chunk].shard;
  REQUIRE(stores[shard]
              ->store()
              .write(WriteBatch{}.put(tensor_key(key), encode_tensor(key, std::as_bytes(std::span(other)))), Sync::yes)
              .ok());
  const auto after = reader_of(std::move(stores), arena);
  CHECK(compare_snapshot(before, after, kBest).ok());
  CHECK(compare_snapshot(before, after, kNewest).status().code() == StoreCode::corrupt);
}

}  // namespace
}  // namespace ballast

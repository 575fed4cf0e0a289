#include "storage/store/run_reader.h"
#include "common/arena/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "common/numeric/sha256.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr float kPadding = -777;
constexpr SnapshotId kEnd{1, 10};

// Three parameters, laid out by hand: the first crosses a chunk's border, padding stands between, the second is state
// and lies behind the third.
//   floats   0..19 "a" | 20..31 padding | 32..36 "b" | 37..47 padding | 48..51 "s" | 52..63 padding | statistics
Arena make_arena() {
  Arena arena;
  arena.parameters = {{"a", {4, 5}, Group::decay, {}}, {"s", {4}, Group::state, {}}, {"b", {5}, Group::decay, {}}};
  arena.extents = {{0, 20}, {48, 4}, {32, 5}};
  arena.by_offset = {0, 2, 1};
  arena.chunks = {{0, 0, 16, Group::decay},
                  {1, 16, 32, Group::decay},
                  {2, 48, 16, Group::state},
                  {3, 64, kStatisticsFloats, Group::statistics}};
  arena.elements = 80;
  return arena;
}

float value_at(std::uint64_t element, TensorKind kind) {
  return static_cast<float>(element) + 1000.0F * static_cast<float>(kind);
}

std::vector<float> content_of(const Arena& arena, const Chunk& chunk, TensorKind kind, float padding = kPadding) {
  std::vector<float> content(chunk.elements, padding);
  for (const auto& extent : arena.extents) {
    for (auto at = extent.offset; at < extent.offset + extent.elements; ++at) {
      if (at >= chunk.offset && at < chunk.offset + chunk.elements) {
        content[at - chunk.offset] = value_at(at, kind);
      }
    }
  }
  return content;
}

Identity identity_of(std::uint32_t shard, std::uint32_t shards) {
  return {kDatabaseFormat, "job", "spec", "layout", shard, shards, ""};
}

Ledger finished_ledger() {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = {5, 6, 7};
  ledger.complete = {{1, 5}, kEnd};
  ledger.finished = kEnd;
  return ledger;
}

void write_snapshot(ShardStore& store, const SnapshotId& snapshot, std::uint32_t shard, std::uint32_t shards,
                    std::size_t states, float padding = kPadding) {
  const auto arena = make_arena();
  for (const auto& chunk : Placement(arena, shards, 1).of_model(shard)) {
    const auto weights = content_of(arena, chunk, TensorKind::weights, padding);
    std::vector<std::vector<float>> contents;
    for (std::size_t index = 0; index < states && chunk.group != Group::state; ++index) {
      contents.push_back(content_of(arena, chunk, state_kind(index), padding));
    }
    const std::vector<std::span<const float>> views(contents.begin(), contents.end());
    REQUIRE(store.write_chunk(snapshot, chunk.id, weights, views).ok());
  }
}

// What a finished shard leaves behind.
void finish(ShardStore& store, std::uint32_t shard, std::uint32_t shards, std::size_t states,
            float padding = kPadding) {
  REQUIRE(store.claim(identity_of(shard, shards)).ok());
  write_snapshot(store, kEnd, shard, shards, states, padding);
  if (shard == 0) {
    REQUIRE(store.write_ledger({finished_ledger(), {}, {}, {}}).ok());
  }
  REQUIRE(store.write_finished(kEnd).ok());
}

using Shards = std::vector<std::unique_ptr<ShardStore>>;

Shards finished_shards(std::uint32_t shards, std::size_t states, float padding = kPadding) {
  Shards made;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    made.push_back(std::make_unique<ShardStore>(std::make_unique<MemoryStore>("shard-" + std::to_string(shard))));
    finish(*made.back(), shard, shards, states, padding);
  }
  return made;
}

// The same digest by hand: every parameter's values, one after the other, of one kind after the other.
std::string digest_by_hand(const std::vector<TensorKind>& kinds) {
  std::vector<float> values;
  const auto arena = make_arena();
  for (const auto kind : kinds) {
    for (std::size_t parameter = 0; parameter < arena.extents.size(); ++parameter) {
      if (kind != TensorKind::weights && arena.parameters[parameter].group == Group::state) {
        continue;
      }
      for (std::uint64_t element = 0; element < arena.extents[parameter].elements; ++element) {
        values.push_back(value_at(arena.extents[parameter].offset + element, kind));
      }
    }
  }
  return sha256_hex(std::as_bytes(std::span(values)));
}

RunReader opened(Shards shards) {
  auto run = RunReader::open(std::move(shards), make_arena(), "layout");
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.status().text()));
  return std::move(run.value());
}

WeightsDigest digest_of(Shards shards) {
  const auto digest = opened(std::move(shards)).digest(kEnd);
  REQUIRE_MESSAGE(digest.ok(), (digest.ok() ? "" : digest.status().text()));
  return digest.value();
}

std::string refusal_of(Shards shards, const std::string& layout = "layout") {
  const auto run = RunReader::open(std::move(shards), make_arena(), layout);
  REQUIRE_FALSE(run.ok());
  return run.status().text();
}

TEST_CASE("the digest is that of the parameters' content, for any number of shards in any order") {
  for (const std::uint32_t shards : {1U, 2U, 3U}) {
    CAPTURE(shards);
    auto made = finished_shards(shards, 1);
    std::reverse(made.begin(), made.end());
    const auto digest = digest_of(std::move(made));
    CHECK(digest.snapshot == kEnd);
    CHECK(digest.weights == digest_by_hand({TensorKind::weights}));
    CHECK(digest.optimizer == digest_by_hand({TensorKind::state_0}));
  }
}

TEST_CASE("padding does not count, every value does") {
  CHECK(digest_of(finished_shards(2, 1, 5.0F)).weights == digest_by_hand({TensorKind::weights}));
  auto shards = finished_shards(1, 0);
  auto changed = content_of(make_arena(), make_arena().chunks[1], TensorKind::weights);
  changed[3] += 1;  // element 19, the last of "a"
  REQUIRE(shards[0]->write_chunk(kEnd, 1, changed, {}).ok());
  CHECK(digest_of(std::move(shards)).weights != digest_by_hand({TensorKind::weights}));
}

TEST_CASE("a job without momentum has no digest of it") { CHECK(digest_of(finished_shards(2, 0)).optimizer.empty()); }

TEST_CASE("databases that do not belong together are refused") {
  CHECK(refusal_of({}) == "no shard databases were given");
  CHECK(refusal_of(finished_shards(2, 1), "other").find("made by another version of Ballast") != std::string::npos);
  CHECK(refusal_of(finished_shards(2, 1), "other").find("layout layout there, other here") != std::string::npos);

  auto missing = finished_shards(2, 1);
  missing.pop_back();
  CHECK(refusal_of(std::move(missing)).find("a job of 2 shards; 1 were given") != std::string::npos);

  auto twice = finished_shards(2, 1);
  twice[1] = std::move(finished_shards(2, 1)[0]);
  CHECK(refusal_of(std::move(twice)).find("shard 0 was given twice") != std::string::npos);

  auto stranger = finished_shards(2, 1);
  stranger[1] = std::make_unique<ShardStore>(std::make_unique<MemoryStore>("empty"));
  CHECK(refusal_of(std::move(stranger)).find("no identity") != std::string::npos);
}

TEST_CASE("snapshots are chosen by what the ledger calls complete") {
  auto shards = finished_shards(2, 1);
  auto ledger = finished_ledger();
  ledger.best = SnapshotId{1, 5};
  ledger.complete = {{1, 5}, {1, 8}, {2, 8}, {2, 10}};
  ledger.finished.reset();
  REQUIRE(shards[0]->write_ledger({ledger, {}, {{3, 0.5F, 1, 2}}, {{5, Split::validation, 0.1, 0.9, 100}}}).ok());
  const auto run = opened(std::move(shards));
  CHECK(run.ledger() == ledger);
  CHECK(run.evaluations() == std::vector<EvaluationRecord>{{5, Split::validation, 0.1, 0.9, 100}});
  CHECK(run.statistics(0, 10).value() == std::vector<StepStatistics>{{3, 0.5F, 1, 2}});
  CHECK(run.newest().value() == SnapshotId{2, 10});
  CHECK(run.best().value() == SnapshotId{1, 5});
  CHECK(run.at_step(8).value() == SnapshotId{2, 8});
  CHECK(run.finished().status().text() ==
        "shard-0: the job has not finished: there are no final weights yet; complete snapshots: of steps 5, 8, 8, 10");
  CHECK(run.at_step(7).status().code() == StoreCode::missing);
  CHECK(run.at_step(7).status().text().find("no complete snapshot of step 7") != std::string::npos);
}

TEST_CASE("a young run says that nothing is complete yet") {
  Shards young;
  young.push_back(std::make_unique<ShardStore>(std::make_unique<MemoryStore>("young")));
  REQUIRE(young[0]->claim(identity_of(0, 1)).ok());
  const auto run = opened(std::move(young));
  CHECK(run.ledger() == Ledger{});
  CHECK(run.finished().status().text() ==
        "young: the job has not finished: there are no final weights yet; complete snapshots: none yet");
  for (const auto& which : {run.newest(), run.best(), run.at_step(0)}) {
    CHECK(which.status().code() == StoreCode::missing);
  }
}

TEST_CASE("all states of the optimizer count, in their order") {
  const auto run = opened(finished_shards(3, 2));
  CHECK(run.states(kEnd).value() == 2);
  const auto digest = run.digest(kEnd).value();
  CHECK(digest.weights == digest_by_hand({TensorKind::weights}));
  CHECK(digest.optimizer == digest_by_hand({TensorKind::state_0, TensorKind::state_1}));
}

TEST_CASE("a chunk that is missing or has another size is an error with its key") {
  for (const bool present : {false, true}) {
    Shards shards;
    auto memory = std::make_unique<MemoryStore>("shard-0");
    auto* raw = memory.get();
    shards.push_back(std::make_unique<ShardStore>(std::move(memory)));
    finish(*shards[0], 0, 1, 0);
    const TensorKey key{kEnd, TensorKind::weights, 1};
    if (present) {
      const std::vector<float> half(5);
      REQUIRE(shards[0]->write_chunk(kEnd, 1, half, {}).ok());
    } else {
      REQUIRE(raw->write(WriteBatch{}.erase(tensor_key(key)), Sync::no).ok());
    }
    const auto digest = opened(std::move(shards)).digest(kEnd);
    REQUIRE_FALSE(digest.ok());
    CHECK(digest.status().code() == StoreCode::corrupt);
    CHECK(digest.status().text().find("shard-0: key " + tensor_key(key)) == 0);
    CHECK(digest.status().text().find(kDamageRemedy) != std::string::npos);
  }
}

TEST_CASE("pieces of a parameter come in order and add up to it") {
  const auto run = opened(finished_shards(2, 1));
  std::map<std::size_t, std::vector<float>> found;
  REQUIRE(run.visit(kEnd, TensorKind::weights,
                    [&found](std::size_t parameter, std::span<const std::byte> piece) {
                      auto& values = found[parameter];
                      const auto before = values.size();
                      values.resize(before + piece.size() / sizeof(float));
                      std::memcpy(values.data() + before, piece.data(), piece.size());
                    })
              .ok());
  REQUIRE(found.size() == 3);
  CHECK(found[0].size() == 20);
  CHECK(found[0][19] == value_at(19, TensorKind::weights));
  CHECK(found[1].front() == value_at(48, TensorKind::weights));
  CHECK(found[2].size() == 5);
}

TEST_CASE("a layout made by the arena is read back from databases on disk") {
  const TemporaryFolder folder;
  const auto arena = lay_out({{"weight", {600, 700}, Group::decay, {}}, {"bias", {700}, Group::no_decay, {}}});
  REQUIRE(arena.chunks.size() > 3);  // the weight needs two chunks
  const auto layout = layout_digest(arena);
  std::vector<float> whole(arena.elements);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    whole[at] = static_cast<float>(at);
  }
  const Placement placement(arena, 2, 1);
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    ShardStore store(std::move(open_rocksdb(shard_database(folder.path(), shard), OpenMode::create).value()));
    REQUIRE(store.claim({kDatabaseFormat, "job", "spec", layout, shard, 2, ""}).ok());
    for (const auto& chunk : placement.of_shard(shard)) {
      REQUIRE(store.write_chunk(kEnd, chunk.id, std::span(whole).subspan(chunk.offset, chunk.elements), {}).ok());
    }
    if (shard == 0) {
      REQUIRE(store.write_ledger({finished_ledger(), {}, {}, {}}).ok());
    }
  }
  Sha256 expected;
  for (const auto& extent : arena.extents) {
    expected.update(std::as_bytes(std::span(whole).subspan(extent.offset, extent.elements)));
  }
  const auto databases = find_shard_databases(folder.path());
  REQUIRE(databases.ok());
  const auto digest = digest_final(databases.value(), arena, layout);
  REQUIRE(digest.ok());
  CHECK(digest.value().weights == expected.hex());
  CHECK(digest.value().optimizer.empty());
}

}  // namespace
}  // namespace ballast

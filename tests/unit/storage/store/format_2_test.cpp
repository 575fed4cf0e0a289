// Databases that programs of format 2 wrote: the kind came before the chunk in a tensor's key. Real ones are in
// tests/formats.
#include <doctest/doctest.h>

#include <numeric>

#include "storage/store/shard_store.h"

namespace ballast {
namespace {

constexpr SnapshotId kOldSnapshot{1, 10};
constexpr std::size_t kElements = 4;

Identity identity_of(std::uint32_t format) { return {format, "mnist", "spec", "layout", 0, 2, "job: mnist\n"}; }

std::vector<float> values_of(ChunkId chunk, TensorKind kind) {
  std::vector<float> values(kElements);
  std::iota(values.begin(), values.end(), static_cast<float>(100 * chunk + static_cast<unsigned>(kind)));
  return values;
}

struct OldDatabase {
  // Chunks 0 and 2 with two states, chunk 1 with none.
  explicit OldDatabase(const SnapshotId& snapshot = kOldSnapshot) {
    auto owned = std::make_unique<MemoryStore>("runs/x/shard-0");
    memory = owned.get();
    WriteBatch batch;
    batch.put(std::string(kIdentityKey), encode(identity_of(2)));
    for (ChunkId chunk = 0; chunk < 3; ++chunk) {
      for (const auto kind : {TensorKind::weights, TensorKind::state_0, TensorKind::state_1}) {
        const TensorKey key{snapshot, kind, chunk};
        const auto values = values_of(chunk, kind);
        if (kind == TensorKind::weights || chunk != 1) {
          batch.put(tensor_key_of_format_2(key), encode_tensor(key, std::as_bytes(std::span(values))));
        }
      }
    }
    REQUIRE(memory->write(batch, Sync::yes).ok());
    shard = std::make_unique<ShardStore>(std::move(owned));
  }
  [[nodiscard]] std::size_t keys(std::string_view prefix) const {
    std::size_t count = 0;
    REQUIRE(memory->scan(prefix, [&](std::string_view, std::string_view) { return ++count != 0; }).ok());
    return count;
  }
  MemoryStore* memory = nullptr;
  std::unique_ptr<ShardStore> shard;
};

void expect_snapshot(const ShardStore& shard, const SnapshotId& id) {
  CHECK(shard.states(id).value() == 2);
  for (const ChunkId chunk : {0U, 2U}) {
    const auto found = shard.read_chunk(id, chunk, kElements, 2);
    REQUIRE(found.ok());
    CHECK(found.value().weights == values_of(chunk, TensorKind::weights));
    CHECK(found.value().states ==
          std::vector{values_of(chunk, TensorKind::state_0), values_of(chunk, TensorKind::state_1)});
  }
  CHECK(shard.read_chunk(id, 1, kElements, 0).value().weights == values_of(1, TensorKind::weights));
}

TEST_CASE("a database of format 2 is read as it is, and nothing in it changes") {
  const OldDatabase old;
  CHECK(old.shard->identity().value()->format == 2);
  expect_snapshot(*old.shard, kOldSnapshot);
  CHECK(old.shard->snapshots().value() == std::vector{kOldSnapshot});
  const auto listed = old.shard->list_snapshots().value();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].chunks == 3);
  CHECK(old.shard->verify().ok());
  CHECK(old.keys(snapshot_prefix(kOldSnapshot)) == 7);
}

TEST_CASE("the shard that claims a database of format 2 makes it today's, durably, and keeps its snapshots") {
  const OldDatabase old;
  REQUIRE(old.shard->claim(identity_of(kDatabaseFormat)).ok());
  old.memory->crash();
  CHECK(old.shard->identity().value() == identity_of(kDatabaseFormat));
  expect_snapshot(*old.shard, kOldSnapshot);
  CHECK(old.shard->sealed().value() == std::vector{kOldSnapshot});  // or the job could not go on from it
  CHECK(old.shard->claim(identity_of(kDatabaseFormat)).ok());
}

TEST_CASE("a database of format 2 and of another job is refused, and stays of format 2") {
  const OldDatabase old;
  auto other = identity_of(kDatabaseFormat);
  other.spec_digest = "other";
  CHECK(old.shard->claim(other).code() == StoreCode::mismatch);
  CHECK(old.shard->identity().value() == identity_of(2));
}

TEST_CASE("a snapshot of format 2 goes when a newer one has taken its place") {
  const OldDatabase old;
  const SnapshotId newer{2, 20};
  REQUIRE(old.shard->claim(identity_of(kDatabaseFormat)).ok());
  REQUIRE(old.shard->write_chunk(newer, 0, values_of(0, TensorKind::weights), {}).ok());
  CHECK(old.shard->snapshots().value() == std::vector{kOldSnapshot, newer});
  REQUIRE(old.shard->retain(std::vector{newer}).ok());
  CHECK(old.shard->snapshots().value() == std::vector{newer});
  CHECK(old.keys(snapshot_prefix(kOldSnapshot)) == 0);
}

// A journaled job goes on in its timeline and comes to the snapshot that the older program was writing when it died.
TEST_CASE("nothing of a snapshot that format 2 had begun is left when it is written again") {
  const OldDatabase old;
  REQUIRE(old.shard->claim(identity_of(kDatabaseFormat)).ok());
  const auto renewed = values_of(7, TensorKind::weights);
  for (ChunkId chunk = 0; chunk < 3; ++chunk) {
    REQUIRE(old.shard->write_chunk(kOldSnapshot, chunk, renewed, {}).ok());
  }
  CHECK(old.keys(snapshot_prefix(kOldSnapshot)) == 3);
  CHECK(old.shard->states(kOldSnapshot).value() == 0);
  CHECK(old.shard->list_snapshots().value()[0].chunks == 3);
  CHECK(old.shard->read_chunk(kOldSnapshot, 2, kElements, 0).value().weights == renewed);
}

TEST_CASE("what a snapshot of format 2 lacks is told by today's key, and damage by its own") {
  const OldDatabase old;
  const TensorKey key{kOldSnapshot, TensorKind::weights, 2};
  CHECK(old.shard->read_tensor({kOldSnapshot, TensorKind::weights, 9}, kElements)
            .status()
            .text()
            .find(tensor_key({kOldSnapshot, TensorKind::weights, 9})) != std::string::npos);
  auto record = *old.memory->get(tensor_key_of_format_2(key)).value();
  record.back() = static_cast<char>(record.back() ^ 1);
  REQUIRE(old.memory->write(WriteBatch{}.put(tensor_key_of_format_2(key), record), Sync::no).ok());
  const auto damaged = old.shard->read_tensor(key, kElements).status();
  CHECK(damaged.code() == StoreCode::corrupt);
  CHECK(damaged.text().find(tensor_key_of_format_2(key)) != std::string::npos);
}

}  // namespace
}  // namespace ballast

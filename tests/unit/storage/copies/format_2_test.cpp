// Copies that programs of format 2 made, restored into today's databases. Real ones are in tests/formats.
#include <doctest/doctest.h>

#include <map>

#include "storage/copies/restore.h"
#include "storage/store/shard_store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr SnapshotId kNewer{1, 40};
constexpr SnapshotId kOlder{1, 20};

struct Copies {
  TemporaryFolder folder;
  std::unique_ptr<CopyPlace> place = make_folder_place((folder.path() / "copies").string());
  [[nodiscard]] RestoreOptions options() const { return {folder.path() / "run", {}}; }

  // One chunk with one state for each shard of two; `format` is that of the database that was copied.
  void make(const SnapshotId& snapshot, std::uint32_t shard, std::uint32_t format) const {
    const CopyName name{"job-01234567", snapshot, shard, 2};
    auto writer = place->write(to_string(name));
    REQUIRE(writer.ok());
    CopyEncoder encoder(*writer.value(), name);
    REQUIRE(encoder.entry(kIdentityKey, encode(Identity{format, "job", "0123456789", "layout", shard, 2, "job: job\n"}))
                .ok());
    for (const auto kind : {TensorKind::state_0, TensorKind::weights}) {
      const TensorKey key{snapshot, kind, shard};
      const std::vector<float> values(3, static_cast<float>(snapshot.step) + static_cast<float>(kind));
      REQUIRE(encoder
                  .entry(format == 2 ? tensor_key_of_format_2(key) : tensor_key(key),
                         encode_tensor(key, std::as_bytes(std::span(values))))
                  .ok());
    }
    if (shard == 0) {
      Ledger ledger;
      ledger.timeline = snapshot.timeline;
      ledger.base = snapshot;
      ledger.complete = {snapshot};
      REQUIRE(encoder.entry(kLedgerKey, encode(ledger)).ok());
    }
    REQUIRE(encoder.finish().ok());
  }
};

void expect_restored(const std::filesystem::path& path, const SnapshotId& snapshot, std::uint32_t shard) {
  auto opened = open_rocksdb(path, OpenMode::existing);
  REQUIRE(opened.ok());
  const ShardStore store(std::move(opened.value()));
  CHECK(store.identity().value()->format == kDatabaseFormat);
  CHECK(store.store().get(tensor_key({snapshot, TensorKind::weights, shard})).value());
  CHECK_FALSE(store.store().get(tensor_key_of_format_2({snapshot, TensorKind::weights, shard})).value());
  CHECK(store.states(snapshot).value() == 1);
  const auto chunk = store.read_chunk(snapshot, shard, 3, 1);
  REQUIRE(chunk.ok());
  CHECK(chunk.value().weights == std::vector<float>(3, static_cast<float>(snapshot.step + 1)));
  CHECK(chunk.value().states[0] == std::vector<float>(3, static_cast<float>(snapshot.step + 2)));
  CHECK(store.verify().ok());
}

TEST_CASE("copies of format 2 are restored into databases of today's") {
  const Copies copies;
  for (const std::uint32_t shard : {0U, 1U}) {
    copies.make(kNewer, shard, 2);
  }
  const auto restored = restore(*copies.place, copies.options());
  REQUIRE(restored.ok());
  CHECK(restored.value().snapshot == kNewer);
  for (const std::uint32_t shard : {0U, 1U}) {
    expect_restored(restored.value().databases.at(shard), kNewer, shard);
  }
}

TEST_CASE("a set with shards of two formats is refused by name, and an older whole one is taken") {
  for (const std::uint32_t older_shard : {0U, 1U}) {
    const Copies copies;
    for (const std::uint32_t shard : {0U, 1U}) {
      copies.make(kOlder, shard, 2);
      copies.make(kNewer, shard, shard == older_shard ? 2 : 3);
    }
    const auto restored = restore(*copies.place, copies.options());
    REQUIRE(restored.ok());
    CHECK(restored.value().snapshot == kOlder);
    REQUIRE(restored.value().passed_over.size() == 1);
    const auto& reason = restored.value().passed_over.front();
    CAPTURE(reason);
    CHECK(reason.find("timeline 1, step 40") != std::string::npos);
    CHECK(reason.find(to_string(CopyName{"job-01234567", kNewer, 1, 2})) != std::string::npos);
    CHECK(reason.find("a database of format " + std::to_string(older_shard == 1 ? 2 : 3)) != std::string::npos);
    CHECK(reason.find("that of shard 0 in the same set of format " + std::to_string(older_shard == 0 ? 2 : 3)) !=
          std::string::npos);
  }
}

TEST_CASE("a set of two formats alone cannot be restored, and nothing is left of it") {
  const Copies copies;
  copies.make(kNewer, 0, 3);
  copies.make(kNewer, 1, 2);
  const auto refused = restore(*copies.place, copies.options());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().text().find("a database of format 2") != std::string::npos);
  CHECK(std::filesystem::is_empty(copies.folder.path() / "run"));
}

}  // namespace
}  // namespace ballast

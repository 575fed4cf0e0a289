#include "common/store/shard_store.h"

#include <doctest/doctest.h>

#include <functional>

#include "tests/unit/store/temporary_folder.h"

namespace ballast {
namespace {

const Identity kIdentity{kDatabaseFormat, "mnist", "spec-1", "layout-1", 0, 2, "job: mnist\ntraining:\n  batch: 128\n"};

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

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

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
      {[](Identity& identity) { identity.layout_digest = "layout-2"; }, "layout of the model: \"layout-1\" there"},
      {[](Identity& identity) {
         identity.spec_digest = "spec-2";
         identity.effective_job = "job: mnist\ntraining:\n  batch: 256\n";
       },
       "training.batch: 128 there, 256 here"},
  };
  for (const auto& [change, named] : cases) {
    CAPTURE(named);
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

TEST_CASE("timeline and ledger are durable at once and do not mix") {
  Fixture at;
  CHECK(at.shard->timeline().value() == std::nullopt);
  CHECK(at.shard->ledger_timeline().value() == std::nullopt);
  REQUIRE(at.shard->write_timeline({1, 0, {7}}).ok());
  REQUIRE(at.shard->write_ledger_timeline({1, 0, {7, 8}}).ok());
  REQUIRE(at.shard->write_ledger_finished({1, 99}).ok());
  REQUIRE(at.shard->write_ledger_failure({1, "why"}).ok());
  at.memory->crash();
  CHECK(at.shard->timeline().value() == TimelineRecord{1, 0, {7}});
  CHECK(at.shard->ledger_timeline().value() == TimelineRecord{1, 0, {7, 8}});
  CHECK(at.shard->ledger_finished().value() == FinishedRecord{1, 99});
  CHECK(at.shard->ledger_failure().value() == FailureRecord{1, "why"});
  CHECK(at.shard->finished().value() == std::nullopt);
}

TEST_CASE("the end is all or nothing") {
  Fixture at;
  const TensorKey first{1, 10, TensorKind::weights, 3};
  const TensorKey second{1, 10, TensorKind::momentum, 3};
  REQUIRE(at.shard->write_tensor(first, bytes_of("weights")).ok());
  at.memory->crash();
  CHECK(at.shard->read_tensor(first).value() == std::nullopt);
  CHECK(at.shard->finished().value() == std::nullopt);

  REQUIRE(at.shard->write_tensor(first, bytes_of("weights")).ok());
  REQUIRE(at.shard->write_tensor(second, bytes_of("")).ok());
  REQUIRE(at.shard->write_finished({1, 10}).ok());
  at.memory->crash();
  CHECK(at.shard->read_tensor(first).value() == "weights");
  CHECK(at.shard->read_tensor(second).value() == "");
  CHECK(at.shard->finished().value() == FinishedRecord{1, 10});
}

TEST_CASE("chunks are listed by number, of one timeline, step and kind") {
  Fixture at;
  for (const ChunkId chunk : {12U, 3U, 700U}) {
    REQUIRE(at.shard->write_tensor({2, 10, TensorKind::weights, chunk}, bytes_of("new")).ok());
  }
  REQUIRE(at.shard->write_tensor({1, 10, TensorKind::weights, 4}, bytes_of("old")).ok());
  REQUIRE(at.shard->write_tensor({2, 10, TensorKind::momentum, 5}, bytes_of("other")).ok());
  CHECK(at.shard->list_chunks(2, 10, TensorKind::weights).value() == std::vector<ChunkId>{3, 12, 700});
}

TEST_CASE("a tensor under another key is noticed") {
  Fixture at;
  const TensorKey key{1, 10, TensorKind::weights, 3};
  const TensorKey other{1, 10, TensorKind::weights, 4};
  REQUIRE(at.shard->write_tensor(key, bytes_of("weights")).ok());
  REQUIRE(
      at.memory->write(WriteBatch{}.put(tensor_key(other), *at.memory->get(tensor_key(key)).value()), Sync::no).ok());
  const auto read = at.shard->read_tensor(other);
  REQUIRE_FALSE(read.ok());
  CHECK(read.status().code() == StoreCode::corrupt);
  CHECK(read.status().text().find(tensor_key(other)) != std::string::npos);
}

TEST_CASE("a failing disk is an error value of every write") {
  Fixture at;
  at.memory->fail_writes("no space left on device");
  for (const auto& status : {at.shard->claim(kIdentity), at.shard->write_timeline({}), at.shard->write_finished({}),
                             at.shard->write_tensor({}, bytes_of("w")), at.shard->write_ledger_failure({})}) {
    CHECK(status.code() == StoreCode::io);
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

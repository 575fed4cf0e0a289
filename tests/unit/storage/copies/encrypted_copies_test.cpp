// Copies of a run that are encrypted: restored as they were by who has the key, and never a mixture.
#include <algorithm>

#include "storage/copies/run_copies.h"
#include "storage/store/record_keys.h"
#include "tests/unit/storage/copies/copied_run.h"
#include "tests/unit/storage/copies/key_files.h"
#include "tests/unit/storage/copies/s3_server.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using namespace copied;
using testing::write_copy_keys;

struct Encrypted : Places {
  Encrypted() { write_copy_keys(file, {key}); }
  [[nodiscard]] CopyTarget with_key() const {
    auto target = copies();
    target.copy_key_file = file;
    return target;
  }
  [[nodiscard]] std::unique_ptr<CopyPlace> place_with(const std::vector<CopyKey>& keys) const {
    const auto other = folder.path() / "other.key";
    auto target = copies();
    if (!keys.empty()) {
      write_copy_keys(other, keys);
      target.copy_key_file = other;
    }
    return std::move(open_copy_place(target).value());
  }
  CopyKey key = make_copy_key();
  fs::path file = folder.path() / "copies.key";
};

// With the losses of all steps before.
void fill_to(Run& run, const SnapshotId& id) {
  for (Step step = 10; step < id.step; step += 10) {
    LedgerChange change;
    change.ledger = run.ledger();
    for (Step each = step - 10; each < step; ++each) {
      change.statistics.push_back({each, 1.5F, 3, 8});
    }
    REQUIRE(run.shard(0).write_ledger(change).ok());
  }
  run.reach(id);
}

TEST_CASE("encrypted copies are restored as they were, from a folder and from S3") {
  const Encrypted places;
  const testing::S3Server server;
  auto in_bucket = server.target();
  in_bucket.copy_key_file = places.file;
  int number = 0;
  for (const auto& target : {places.with_key(), in_bucket}) {
    Run run(target);
    run.reach({1, 20});
    run.copy({1, 20});
    run.reach({2, 40});
    run.copy({2, 40});
    const auto folder = places.folder.path() / std::to_string(++number);
    is_at(restored_from(run, {folder, {}}).databases, run, {2, 40});
    is_at(restored_from(run, {folder / "older", 20}).databases, run, {1, 20});
  }
}

TEST_CASE("who has no key, or another one, restores nothing, and an older set is no way out") {
  const Encrypted places;
  Run run(places.with_key());
  run.reach({1, 20});
  run.copy({1, 20});
  run.reach({1, 40});
  run.copy({1, 40});
  for (const auto& keys : {std::vector<CopyKey>{}, {make_copy_key()}}) {
    const auto place = places.place_with(keys);
    std::string job;
    CHECK(list_copies(*place, job).value().size() == 2);  // names are for all
    const auto refused = restore(*place, places.options());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::no_key);
    CHECK(refused.status().text().find("encrypted by the key " + places.key.id) != std::string::npos);
    CHECK(refused.status().text().find("s0000000000000028/shard-0-of-2") != std::string::npos);
    CHECK(fs::is_empty(places.folder.path() / "run"));
  }
  is_at(restore(*places.place_with({make_copy_key(), places.key}), places.options()).value().databases, run, {1, 40});
}

TEST_CASE("a plain copy is not restored by who means encrypted ones") {
  const Encrypted places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto refused = restore(*places.place_with({places.key}), places.options());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::no_key);
  CHECK(refused.status().text().find("is not encrypted") != std::string::npos);
  CHECK(fs::is_empty(places.folder.path() / "run"));
}

TEST_CASE("an encrypted set that is damaged is passed over as any other") {
  const Encrypted places;
  Run run(places.with_key());
  run.reach({1, 20});
  run.copy({1, 20});
  run.reach({1, 40});
  run.copy({1, 40});
  const auto object = to_string(CopyName{"job-01234567", {1, 40}, 1, 2, run.run()});
  std::fstream file(places.folder.path() / "copies" / object, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2000);
  file.put('?');
  file.close();
  const auto restored = restored_from(run, places.options());
  is_at(restored.databases, run, {1, 20});
  REQUIRE(restored.passed_over.size() == 1);
  CHECK(restored.passed_over[0].find("is not as it was written") != std::string::npos);
}

// As a run that is resumed with a key, or with another one: what an earlier life has copied of the snapshot at hand,
// and losses that all later sets share.
TEST_CASE("objects that are there by another key, or by none, are written anew") {
  const Encrypted places;
  const auto id = SnapshotId{1, 2 * kLossesInBlock + 4};
  Run before(places.copies());
  fill_to(before, id);
  REQUIRE(before.copy_part(id, 0));
  const auto names_before = names(before);
  REQUIRE(names_before.size() == 3);  // two blocks, and shard 0's part
  auto keys = std::vector<CopyKey>{places.key};
  std::vector<LeadLife> lives = {kLife};
  for (int times = 0; times < 2; ++times) {
    Run after(places.with_key());
    fill_to(after, id);
    static_cast<void>(after.naming(id));  // by the life before
    after.live(kLife + 1 + times, lives);
    lives.push_back(kLife + 1 + times);
    after.copy(id);
    CHECK(names(after).size() == 4);
    const auto place = places.place_with(keys);
    for (const auto& name : names(after)) {
      CHECK(place->look(name).text() == "");
    }
    is_at(restore(*place, {places.folder.path() / ("run" + std::to_string(times)), {}}).value().databases, after, id);
    keys = {make_copy_key()};
    write_copy_keys(places.file, keys);
  }
}

TEST_CASE("a set of before the key, with losses of after it, is restored by who accepts both") {
  const Encrypted places;
  const auto id = SnapshotId{1, kLossesInBlock + 4};
  Run before(places.copies());
  fill_to(before, id);
  before.copy(id);
  Run after(places.with_key());
  fill_to(after, id);
  static_cast<void>(after.naming(id));
  after.live(kLife + 1, {kLife});
  after.reach({1, id.step + 10});
  REQUIRE(after.copy_part({1, id.step + 10}, 0));  // shard 1 has not yet
  auto target = places.with_key();
  for (const bool is_accepted : {false, true}) {
    target.accept_plain = is_accepted;
    const auto place = std::move(open_copy_place(target).value());
    const auto restored = restore(*place, places.options());
    CHECK(restored.ok() == is_accepted);
    if (is_accepted) {
      is_at(restored.value().databases, before, id);
    }
  }
}

// Each later set needs them all, and the old key goes once.
TEST_CASE("losses that were copied by a key that is gone are written anew by the next life, the older ones too") {
  const Encrypted places;
  const auto second = make_copy_key();
  Run run(places.with_key());
  const auto copy_at = [&](Step step) {
    fill_to(run, {1, step});
    run.copy({1, step});  // each time by copiers of their own, as after a restart
  };
  copy_at(kLossesInBlock + 4);
  write_copy_keys(places.file, {second, places.key});
  copy_at(2 * kLossesInBlock + 4);
  write_copy_keys(places.file, {second});
  copy_at(2 * kLossesInBlock + 14);
  const auto options = RestoreOptions{places.folder.path() / "run", 2 * kLossesInBlock + 14};
  const auto restored = restore(*places.place_with({second}), options);
  REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.status().text()));
  is_at(restored.value().databases, run, {1, 2 * kLossesInBlock + 14});
}

TEST_CASE("a shard whose key is another than shard 0's copies nothing, and says so") {
  const Encrypted places;
  Run run(places.with_key());
  run.reach({1, 20});
  REQUIRE(run.copy_part({1, 20}, 0));
  for (const auto& keys : {std::vector<CopyKey>{}, {make_copy_key()}}) {
    SnapshotCopier copier(run.shard(1), places.place_with(keys), {2, kChunks, std::chrono::milliseconds(20)},
                          CopySeries(nullptr));
    copier.follow(run.naming({1, 20}));
    CHECK(outcome(copier).failures > 0);
    CHECK(copier.trouble().find("holds/") != std::string::npos);
    CHECK(copier.trouble().find("encrypted by the key " + places.key.id) != std::string::npos);
  }
  CHECK(names(run).size() == 1);
}

TEST_CASE("a shard that lost its disk waits for the key, and goes on when it is there") {
  const Encrypted places;
  Run run(places.with_key());
  run.reach({1, 20});
  run.copy({1, 20});
  for (const std::uint32_t shard : {0U, 1U}) {
    const auto identity = run.shard(shard).identity().value().value();
    ShardStore blank(std::make_unique<MemoryStore>("blank"));
    REQUIRE(blank.claim(identity).ok());
    const OwnCopies own{identity, run.run(), kChunks};
    const auto always = [] { return true; };
    const auto place = places.place_with({make_copy_key()});
    const auto part = fetch_part(*place, own, {1, 20}, blank, always);
    CHECK(part.outcome == FetchedPart::Outcome::unreachable);
    CHECK(part.status.code() == StoreCode::no_key);
    CHECK(blank.sealed().value().empty());
    if (shard == 0) {
      const auto ledger = restore_ledger(*place, own, 5, 1, blank, always);
      REQUIRE_FALSE(ledger.ok());
      CHECK(ledger.status().code() == StoreCode::no_key);
      CHECK(blank.read_ledger().value().ledger == Ledger{});
    }
    write_copy_keys(places.folder.path() / "other.key", {places.key});
    CHECK(fetch_part(*place, own, {1, 20}, blank, always).outcome == FetchedPart::Outcome::stored);
  }
}

}  // namespace
}  // namespace ballast

// What a run's own servers get from its copies when their disks are lost.
#include "storage/copies/run_copies.h"

#include <fstream>

#include "tests/unit/storage/copies/copied_run.h"

namespace ballast {
namespace {

using namespace copied;

constexpr std::uint64_t kPlaceNumber = 5;
const std::function<bool()> kAlways = [] { return true; };

// A server's new database.
struct Blank {
  explicit Blank(Run& run, std::uint32_t shard) {
    const auto identity = run.shard(shard).identity().value().value();
    REQUIRE(store.claim(identity).ok());
    own = {identity, run.run(), kChunks};
  }

  MemoryStore* memory = new MemoryStore("blank");
  ShardStore store{std::unique_ptr<Store>(memory)};
  OwnCopies own;
};

void damage(const Places& places, const std::string& object) {
  std::fstream file(places.folder.path() / "copies" / object, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2000);
  file.put('?');
}

std::string object_of(Run& run, const SnapshotId& id, std::uint32_t shard) {
  return to_string(CopyName{"job-01234567", id, shard, 2, run.run()});
}

void has_part(const Blank& blank, Run& run, const SnapshotId& id, std::uint32_t shard) {
  CHECK(blank.store.sealed().value() == std::vector<SnapshotId>{id});
  for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
    const auto found = blank.store.read_chunk(id, 2 * chunk + shard, 300, 1);
    REQUIRE(found.ok());
    CHECK(found.value().weights == run.shard(shard).read_chunk(id, 2 * chunk + shard, 300, 1).value().weights);
  }
}

TEST_CASE("a shard gets its part of a snapshot, and says that it holds it when all of it is there") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  Blank blank(run, 1);
  int left = 3;  // records, and then it is ended
  const auto cut = fetch_part(*place, blank.own, {1, 20}, blank.store, [&] { return left-- > 0; });
  CHECK(cut.outcome == FetchedPart::Outcome::unwanted);
  CHECK(blank.store.sealed().value().empty());
  CHECK(fetch_part(*place, blank.own, {1, 20}, blank.store, kAlways).outcome == FetchedPart::Outcome::stored);
  has_part(blank, run, {1, 20}, 1);
  CHECK(blank.store.read_ledger().value().ledger == Ledger{});
  CHECK(blank.store.timeline().value() == std::nullopt);
}

TEST_CASE("a part that is damaged or not there is of no use; a database that refuses is no fault of the copy") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  Blank blank(run, 1);
  const auto none = fetch_part(*place, blank.own, {1, 40}, blank.store, kAlways);
  CHECK(none.outcome == FetchedPart::Outcome::useless);
  blank.memory->fail_writes({StoreCode::no_space, "full"});
  const auto full = fetch_part(*place, blank.own, {1, 20}, blank.store, kAlways);
  CHECK(full.outcome == FetchedPart::Outcome::refused);
  CHECK(full.status.code() == StoreCode::no_space);
  blank.memory->fail_writes({});
  damage(places, object_of(run, {1, 20}, 1));
  const auto damaged = fetch_part(*place, blank.own, {1, 20}, blank.store, kAlways);
  CHECK(damaged.outcome == FetchedPart::Outcome::useless);
  CHECK(damaged.status.text().find("shard-1-of-2") != std::string::npos);
  CHECK(blank.store.sealed().value().empty());
}

TEST_CASE("a part is not lost because the place is away, not there or not mounted") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  const auto copies = places.folder.path() / "copies";
  const auto away = places.folder.path() / "away";
  std::filesystem::rename(copies, away);
  Blank blank(run, 1);
  const auto outcome = [&] { return fetch_part(*place, blank.own, {1, 20}, blank.store, kAlways).outcome; };
  CHECK(outcome() == FetchedPart::Outcome::unreachable);
  std::filesystem::create_directory(copies);
  CHECK(outcome() == FetchedPart::Outcome::unreachable);
  std::filesystem::remove(copies);
  std::filesystem::rename(away, copies);
  CHECK(outcome() == FetchedPart::Outcome::stored);
  has_part(blank, run, {1, 20}, 1);
}

TEST_CASE("a part of fewer chunks, or of another job, is of no use") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  Blank blank(run, 1);
  auto own = blank.own;
  own.chunks = kChunks + 1;
  CHECK(fetch_part(*place, own, {1, 20}, blank.store, kAlways).status.text().find("has 3 chunks, expected 4") !=
        std::string::npos);
  own = blank.own;
  own.identity.layout_digest = "another";
  CHECK(fetch_part(*place, own, {1, 20}, blank.store, kAlways).status.text().find("another layout") !=
        std::string::npos);
  CHECK(blank.store.sealed().value().empty());
}

TEST_CASE("whole sets are those of this run, of as many shards") {
  const Places places;
  Run run(places.copies());
  Run stranger(places.copies(), "0123456789", 0xdef);
  run.reach({1, 20});
  run.copy({1, 20});
  run.reach({1, 40});
  run.copy_part({1, 40}, 0);
  stranger.reach({1, 30});
  stranger.copy({1, 30});
  const auto place = run.place();
  Blank blank(run, 1);
  const auto sets = whole_sets(*place, blank.own).value();
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].snapshot == SnapshotId{1, 20});
  blank.own.identity.shards = 3;
  CHECK(whole_sets(*place, blank.own).value().empty());
}

TEST_CASE("a run that has left nothing in the place has not begun; another's copies are none of it") {
  const Places places;
  Run run(places.copies());
  Run stranger(places.copies(), "0123456789", 0xdef);
  stranger.reach({1, 30});
  stranger.copy({1, 30});
  const auto place = run.place();
  Blank blank(run, 0);
  const auto restored = restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, kAlways);
  REQUIRE(restored.ok());
  CHECK_FALSE(restored.value());
  CHECK(blank.store.read_ledger().value().ledger == Ledger{});
  CHECK(names(run).size() == 2);
}

TEST_CASE("shard 0 gets the ledger of the newest whole set, as one that goes on far ahead of all timelines") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  run.reach({2, 40});
  run.copy({2, 40});
  const auto place = run.place();
  Blank blank(run, 0);
  const auto restored = restore_ledger(*place, blank.own, kPlaceNumber, 7, blank.store, kAlways);
  REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.status().text()));
  REQUIRE(restored.value());
  CHECK(restored.value()->snapshot == SnapshotId{2, 40});
  has_part(blank, run, {2, 40}, 0);
  const auto content = blank.store.read_ledger().value();
  CHECK(content.ledger.timeline == 1'000'000'009);
  CHECK(content.ledger.placement == 1'000'000'007);  // as much further
  CHECK(content.ledger.complete == std::vector<SnapshotId>{{2, 40}});
  CHECK(content.ledger.incarnations.empty());
  CHECK(content.ledger.databases.empty());
  CHECK(content.ledger.pause == Pause::none);
  CHECK(content.ledger.copies == CopyState{run.run(), {}, {2, 40}, 0, 1});
  CHECK(content.ledger.copies_in == kPlaceNumber);
  CHECK(content.evaluations.back().step == 40);
  CHECK(blank.store.read_statistics(0, 99).value().back().step == 39);

  Blank again(run, 0);  // which is lost as well, before anything is copied
  const auto second = restore_ledger(*place, again.own, kPlaceNumber, 7, again.store, kAlways);
  CHECK(second.value()->timeline > 2 * restored.value()->timeline - 10);
}

TEST_CASE("a mark that no run makes is told by its name") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  const auto name = run_prefix("job-01234567", run.run()) + "restored/ffffffffffffffff";
  auto mark = place->write(name);
  REQUIRE(mark.ok());
  REQUIRE(mark.value()->finish().ok());
  Blank blank(run, 0);
  const auto restored = restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, kAlways);
  CHECK(restored.status().code() == StoreCode::corrupt);
  CHECK(restored.status().text().find(name) != std::string::npos);
}

TEST_CASE("a run that was restored by hand goes on under its name, as from a restored ledger") {
  const Places places;
  Run run(places.copies());
  for (const Step step : {20U, 40U}) {
    run.reach({2, step});
    run.copy({2, step});
  }
  const auto databases = restored_from(run, places.options()).databases;
  const auto place = run.place();
  const auto restored = open(databases[0]);
  Blank blank(run, 0);
  auto ledger = restored->read_ledger().value().ledger;
  REQUIRE(ledger.copies.run == 0);
  REQUIRE(blank.store.write_ledger({ledger, {}, {}, {}}).ok());
  REQUIRE(take_name(*place, blank.own, kPlaceNumber, 7, blank.store).ok());
  const auto taken = blank.store.read_ledger().value().ledger;
  CHECK(taken.timeline == 1'000'000'009);
  CHECK(taken.placement == ledger.placement + 1'000'000'007);
  CHECK(taken.complete == ledger.complete);
  CHECK(taken.copies == CopyState{run.run(), {}, {2, 40}, 0, 1});
  CHECK(taken.copies_in == kPlaceNumber);
  CHECK(taken.named_before == SnapshotId{2, 40});
  // It has the name, and whoever had it before has not.
  const auto prefix = run_prefix("job-01234567", run.run());
  CHECK(claim(*place, prefix, {99, {}, taken.named_before, taken.named_before, taken.timeline}).value() ==
        Claimed::held);
  CHECK(claim(*place, prefix, {98, {}, {2, 40}, {2, 40}, 2}).value() == Claimed::taken);

  // In a place that has nothing of the run there is nothing to take.
  const auto copies = places.folder.path() / "copies";
  std::filesystem::rename(copies, places.folder.path() / "away");
  std::filesystem::create_directory(copies);
  Blank elsewhere(run, 0);
  REQUIRE(elsewhere.store.write_ledger({ledger, {}, {}, {}}).ok());
  REQUIRE(take_name(*place, elsewhere.own, kPlaceNumber, 7, elsewhere.store).ok());
  CHECK(elsewhere.store.read_ledger().value().ledger == ledger);
}

TEST_CASE("a ledger is restored whole or not at all, whenever the restoring is cut short") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  for (int records = 0; records < 9; ++records) {
    Blank blank(run, 0);
    int left = records;
    const auto cut = restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, [&] { return left-- > 0; });
    CHECK_FALSE(cut.ok());
    CHECK(blank.store.read_ledger().value().ledger == Ledger{});
    CHECK(restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, kAlways).value()->snapshot ==
          SnapshotId{1, 20});
  }
}

TEST_CASE("a damaged set is passed over for the next older one; a run of which none is of use does not begin anew") {
  const Places places;
  Run run(places.copies());
  for (const Step step : {20U, 40U}) {
    run.reach({1, step});
    run.copy({1, step}, 9);
  }
  const auto place = run.place();
  damage(places, object_of(run, {1, 40}, 0));
  Blank blank(run, 0);
  const auto older = restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, kAlways);
  REQUIRE(older.value());
  CHECK(older.value()->snapshot == SnapshotId{1, 20});
  REQUIRE(older.value()->passed_over.size() == 1);
  CHECK(older.value()->passed_over[0].find("step 40") != std::string::npos);
  CHECK(blank.store.read_ledger().value().ledger.named_before == SnapshotId{1, 40});  // that is its own all the same

  damage(places, object_of(run, {1, 20}, 0));
  Blank none(run, 0);
  const auto lost = restore_ledger(*place, none.own, kPlaceNumber, 0, none.store, kAlways);
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.status().code() == StoreCode::missing);
  CHECK(lost.status().text().find("this run has begun") != std::string::npos);
  CHECK(lost.status().text().find("durability.run") != std::string::npos);
  CHECK(none.store.read_ledger().value().ledger == Ledger{});
}

TEST_CASE("who restores the ledger has the run's name, and who still goes on under it leaves it") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.copy({1, 20});
  const auto place = run.place();
  const auto prefix = run_prefix("job-01234567", run.run());
  Blank blank(run, 0);
  const auto restored = restore_ledger(*place, blank.own, kPlaceNumber, 0, blank.store, kAlways).value().value();
  const auto ledger = blank.store.read_ledger().value().ledger;
  const auto claimant = [](const Ledger& of, LeadLife life) {
    return Claimant{life, of.copy_lives, of.named_before, newest_named(of.copies), of.timeline};
  };
  CHECK(claim(*place, prefix, claimant(run.ledger(), kLife)).value() == Claimed::taken);  // the one that was lost
  CHECK(claim(*place, prefix, claimant(ledger, 0x77)).value() == Claimed::held);
  auto later = ledger;
  later.timeline = restored.timeline + 3;
  later.copy_lives = {0x77};
  CHECK(claim(*place, prefix, claimant(later, 0x78)).value() == Claimed::held);
}

}  // namespace
}  // namespace ballast

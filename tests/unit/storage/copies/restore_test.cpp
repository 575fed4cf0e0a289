// What was copied is restored as it was, or refused with the reason.
#include <fstream>

#include "tests/unit/storage/copies/copied_run.h"
#include "tests/unit/storage/copies/s3_server.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using namespace copied;

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

TEST_CASE("of many sets that cannot be used the newest are named, and the others counted") {
  const Places places;
  Run run(places.copies());
  for (Step step = 10; step <= 120; step += 10) {
    run.reach({1, step});
    run.copy({1, step}, 99);
  }
  std::string job;
  const auto place = run.place();
  const auto sets = list_copies(*place, job).value();
  REQUIRE(sets.size() == 12);
  for (const auto& set : sets) {
    REQUIRE(place->remove(set.objects[1]).ok());
  }
  const auto none = restore_from(run, places.options());
  REQUIRE_FALSE(none.ok());
  const auto text = none.status().text();
  CHECK(text.find("of steps 7 older ones, 80 (incomplete), 90 (incomplete), 100 (incomplete)") != std::string::npos);
  CHECK(text.find("; timeline 1, step 120: copies of some shards are missing; ") != std::string::npos);
  CHECK(text.find("step 70") == std::string::npos);
  CHECK(text.ends_with("; and 7 older ones"));
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

TEST_CASE("copies of a database of another format are refused by its number, and nothing is left of them") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const CopyName name{"job-01234567", {1, 10}, shard, 2};
    auto writer = run.place()->write(to_string(name));
    REQUIRE(writer.ok());
    CopyEncoder encoder(*writer.value(), name);
    auto identity = run.shard(shard).identity().value().value();
    identity.format = 2;
    REQUIRE(encoder.entry(kIdentityKey, encode(identity)).ok());
    REQUIRE(encoder.finish().ok());
  }
  const auto refused = restore_from(run, places.options()).status();
  CAPTURE(refused.text());
  CHECK(refused.text().find("made by another version of Ballast: it has format 2") != std::string::npos);
  CHECK(refused.text().find("training.init_from") != std::string::npos);
  CHECK(fs::is_empty(places.folder.path() / "run"));
}

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

}  // namespace
TEST_CASE("losses of steps that were done anew take the place of what was copied of them before") {
  const Places places;
  Run run(places.copies());
  const Step last = 2 * kLossesInBlock + 5;
  const auto reach = [&run](const SnapshotId& id, Step from, float other) {
    run.reach(id);
    LedgerChange change;
    change.ledger = run.ledger();
    for (Step step = from; step < id.step; ++step) {
      change.statistics.push_back({step, static_cast<float>(step) + other, 3, 8});
    }
    REQUIRE(run.shard(0).write_ledger(change).ok());
  };
  const auto time_of_block = [&](Step block) {
    const LossesName losses{"job-01234567", run.run(), block * kLossesInBlock};
    return fs::last_write_time(places.folder.path() / "copies" / to_string(losses));
  };
  reach({1, last}, 0, 0);
  run.copy({1, last});
  const auto before = std::pair(time_of_block(0), time_of_block(1));

  // The job has gone back to a copy of step kLossesInBlock + 1, and does otherwise.
  reach({2, last + 1}, kLossesInBlock + 1, 0.5F);
  run.copy({2, last + 1});
  CHECK(time_of_block(0) == before.first);
  const auto again = time_of_block(1);
  CHECK(again != before.second);
  const auto databases = restored_from(run, places.options()).databases;
  const auto statistics = open(databases[0])->read_statistics(0, ~Step{0}).value();
  REQUIRE(statistics.size() == last + 1);
  CHECK(statistics.at(kLossesInBlock).loss == static_cast<float>(kLossesInBlock));
  CHECK(statistics.at(kLossesInBlock + 1).loss == static_cast<float>(kLossesInBlock + 1) + 0.5F);

  // What was done to the same losses is not written again.
  reach({3, last + 2}, kLossesInBlock + 1, 0.5F);
  run.copy({3, last + 2});
  CHECK(time_of_block(1) == again);
}

}  // namespace ballast

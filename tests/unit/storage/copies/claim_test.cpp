// Whose the copies of a run are, and where they are one place's.
#include "storage/copies/claim.h"

#include "tests/unit/storage/copies/copied_run.h"

namespace ballast {
namespace {

using namespace copied;
using std::chrono::seconds;

void wait_until_taken(const SnapshotCopier& copier) {
  for (int tries = 0; tries < 6'000 && !copier.progress().taken; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Of shard 0 of a run whose folder was copied.
void finds_taken(Run& run, const CopyState& word) {
  const auto one = run.copier(0);
  one->follow(word);
  wait_until_taken(*one);
  CHECK(one->progress() == CopyProgress{word.run, word.named, 0, 0, false, true});
  CHECK(one->drain(seconds(60)));
}

// What a shard says that has waited long enough for shard 0.
std::string trouble_of(Run& run, const SnapshotId& id) {
  SnapshotCopier copier(
      run.shard(1), run.place(),
      {2, kChunks, std::chrono::milliseconds(10), std::chrono::milliseconds(0), std::chrono::milliseconds(0)},
      CopySeries(nullptr));
  copier.follow(run.naming(id));
  CHECK_FALSE(outcome(copier).done);
  return copier.trouble();
}

TEST_CASE("a copied run takes no copy of the other for its own, and removes none") {
  const Places places;
  Run run(places.copies());
  Run copied(places.copies());
  for (auto* each : {&run, &copied}) {
    each->reach({1, 10});
  }
  run.copy({1, 10});
  run.live(0xa, {kLife});
  copied.live(0xb, {kLife});
  run.reach({2, 20});
  run.copy({2, 20});
  copied.reach({2, 20});
  copied.reach({2, 30});
  const auto before = run.place()->list().value();
  finds_taken(copied, copied.naming({2, 20}));
  finds_taken(copied, {copied.run(), {}, {2, 30}, 0xb, 2});
  CHECK(trouble_of(copied, {2, 20}).find("shard 0 has left no mark here") != std::string::npos);
  CHECK(run.place()->list().value() == before);

  run.live(0xc, {0xa});  // the one that has held it goes on
  run.reach({3, 30});
  run.copy({3, 30});
  CHECK(restored_from(run, places.options()).snapshot == SnapshotId{3, 30});
}

TEST_CASE("a run brought back from an earlier state of its life leaves what has been copied since") {
  const Places places;
  Run run(places.copies());
  Run brought_back(places.copies());
  for (auto* each : {&run, &brought_back}) {
    each->reach({1, 10});
    each->copy({1, 10});
  }
  run.reach({1, 20});
  REQUIRE(run.copy_part({1, 20}, 0));
  const auto before = run.place()->list().value();
  brought_back.live(0xb, {kLife});
  brought_back.reach({1, 20}, 7);  // in the same timeline, from a journal, to weights of its own
  SUBCASE("before it names anything") { finds_taken(brought_back, {brought_back.run(), {}, {1, 10}, 0xb, 2}); }
  SUBCASE("late, when it has named the same") { finds_taken(brought_back, brought_back.naming({1, 20})); }
  CHECK(run.place()->list().value() == before);
  REQUIRE(run.copy_part({1, 20}, 1));
  CHECK(restored_from(run, places.options()).snapshot == SnapshotId{1, 20});
}

TEST_CASE("a shard 0 that has copied its part finds out that another job has taken the name") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 10});
  const auto one = run.copier(0);
  one->follow(run.naming({1, 10}));
  REQUIRE(outcome(*one).done);
  REQUIRE(claim(*run.place(), run_prefix("job-01234567", run.run()), {0xb, {kLife}, {1, 10}, {1, 10}}).value() ==
          Claimed::held);
  wait_until_taken(*one);
  CHECK(one->progress() == CopyProgress{run.run(), {1, 10}, 0, 0, false, true});
}

TEST_CASE("a place that does not list what was written to it says nothing about whose the name is") {
  struct Forgetful : CopyPlace {
    StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& /*name*/) override {
      struct Nowhere : ObjectWriter {
        StoreStatus append(std::string_view /*bytes*/) override { return {}; }
        StoreStatus finish() override { return {}; }
      };
      return std::unique_ptr<ObjectWriter>(std::make_unique<Nowhere>());
    }
    StoreStatus read(const std::string& /*name*/, const Sink& /*sink*/) override { return {}; }
    StoreResult<std::vector<std::string>> list(const std::string& /*prefix*/) override {
      return std::vector<std::string>{};
    }
    StoreStatus remove_unfinished(const std::string& /*prefix*/, const Ours& /*is_ours*/) override { return {}; }
    StoreStatus remove(const std::string& /*name*/) override { return {}; }
    [[nodiscard]] std::string describe(const std::string& name) const override { return name; }
  };
  Forgetful place;
  CHECK(claim(place, "job/run-a/", {1, {}, {}, {}}).status().text() ==
        "job/run-a/claims/0000000000000001 was written, and the place does not list it");
}

TEST_CASE("shards that copy to places of their own copy nothing, and say what is wrong") {
  const Places places;
  const Places others;
  Run run(places.copies());
  Run elsewhere(others.copies());
  run.reach({1, 10});
  elsewhere.reach({1, 10});
  REQUIRE(run.copy_part({1, 10}, 0));
  const auto text = trouble_of(elsewhere, {1, 10});
  CHECK(text.find(others.copies().place) != std::string::npos);
  CHECK(text.find("durability.copy_to must be one place that the machines of all shards share") != std::string::npos);
  CHECK(names(elsewhere).empty());
}

TEST_CASE("of two lives that know nothing of each other one holds a run at most") {
  const Places places;
  const auto place = make_folder_place(places.copies().place);
  const auto outcome_of = [&](LeadLife life, const std::vector<LeadLife>& before) {
    const auto claimed = claim(*place, "job/run-a/", {life, before, {}, {}});
    REQUIRE(claimed.ok());
    CHECK(is_held(*place, "job/run-a/", life).value() == (claimed.value() == Claimed::held));
    return claimed.value();
  };
  CHECK(outcome_of(1, {}) == Claimed::held);
  CHECK(outcome_of(1, {}) == Claimed::held);  // again
  CHECK(outcome_of(2, {1}) == Claimed::held);
  CHECK_FALSE(is_held(*place, "job/run-a/", 1).value());
  CHECK(outcome_of(3, {1}) == Claimed::taken);
  CHECK(outcome_of(4, {1, 2, 3}) == Claimed::held);
  CHECK(outcome_of(2, {1}) == Claimed::taken);  // its folder was brought back from an older copy
  CHECK(claim(*place, "job/run-b/", {3, {1}, {}, {}}).value() == Claimed::held);
}

}  // namespace
}  // namespace ballast

// Copying that fails, is killed or is given up.
#include <atomic>
#include <fstream>

#include "tests/unit/storage/copies/copied_run.h"
#include "tests/unit/storage/copies/s3_server.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using namespace copied;

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
  CHECK(names(run).empty());
}

TEST_CASE("a place that fails stops nothing, and is tried again with the next snapshot") {
  const Places places;
  Run run(places.copies());
  run.reach({1, 20});
  run.reach({1, 40});
  std::ofstream(places.folder.path() / "copies") << "in the way";
  CopySeries series(nullptr);
  SnapshotCopier copier(run.shard(0), run.place(), {2, kChunks, std::chrono::milliseconds(20)}, series);
  copier.follow(run.naming({1, 20}));
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
  CHECK(names(run).size() == 1);
}

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
  run.hold();
  copier.follow(run.naming({1, 10}));
  while (!place->writing) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  copier.follow(run.naming({1, 20}));
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

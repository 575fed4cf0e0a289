#include "server/shard_storage.h"

#include <doctest/doctest.h>

#include <future>

#include "common/job/load.h"
#include "common/store/store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

Job journaled() {
  return make_job(parse_job(R"(
job: journaled
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {mode: async, slots: 4, batch: 16, max_steps: 9}
cluster: {lanes: 2}
)",
                            "test"));
}

TEST_CASE("a lane that is behind another of its shard neither fails it nor goes on with an older timeline") {
  const TemporaryFolder folder;
  const auto job = journaled();
  ShardJournal journal(job, folder.path().string(), 0, 11, nullptr);
  ShardStore store(std::make_unique<MemoryStore>("shard-0"));
  ShardStorage storage(store, &journal, 11);
  int older = 0;
  std::promise<StoreStatus> newer;
  const auto begin = [&](Timeline timeline, ShardStorage::Done done) {
    storage.begin(
        timeline, {}, {}, [](const auto&) {}, std::move(done));
  };
  begin(2, [](const StoreStatus&) {});
  begin(1, [&](const StoreStatus&) { ++older; });
  storage.resume(
      1, {}, {}, [](const auto&) {}, [](const auto&) { return true; }, [&](const StoreStatus&) { ++older; });
  begin(3, [&](const StoreStatus& status) { newer.set_value(status); });
  CHECK(newer.get_future().get().ok());
  CHECK(older == 0);
  CHECK(store.timeline().value()->number == 3);
}

}  // namespace
}  // namespace ballast

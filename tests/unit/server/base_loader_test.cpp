#include "server/base_loader.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "common/job/load.h"

namespace ballast {
namespace {

Job job_to_load(const std::string& mode) {
  return make_job(parse_job(R"(
job: loaded
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {mode: )" + mode + R"(, slots: 4, batch: 16, max_steps: 9}
)",
                            "test"));
}

// A lane that has every chunk, and what the storage thread would pass on to it.
struct BaseLoaderFixture {
  explicit BaseLoaderFixture(const std::string& mode = "async", bool has_initial_snapshot = false)
      : job(job_to_load(mode)), weights(job, ids(job)), loader(job, ids(job), has_initial_snapshot) {
    turn.begin(monotonic_micros());
  }
  static std::vector<ChunkId> ids(const Job& job) {
    std::vector<ChunkId> ids;
    for (const auto& chunk : job.arena.chunks) {
      ids.push_back(chunk.id);
    }
    return ids;
  }
  [[nodiscard]] std::size_t elements(ChunkId chunk) const { return job.arena.chunks[chunk].elements; }
  bool pass_chunk(Timeline timeline, ChunkId chunk, float value) {
    ShardStorage::LoadedChunk loaded{chunk, {}};
    loaded.tensors.weights.assign(elements(chunk), value);
    loaded.tensors.states.assign(weights.state_count(chunk), std::vector<float>(elements(chunk)));
    return loader.pass_on(timeline, std::move(loaded));
  }
  bool pass_update(Timeline timeline, Version version, ChunkId chunk = 0) {
    const std::vector<float> root(elements(chunk), 1);
    JournalRecord record;
    record.chunk = chunk;
    record.item = version;
    record.version = version;
    record.factors.learning_rate = 0.5F;
    record.marks = {{0, 70, version}};
    record.payload = std::as_bytes(std::span(root));
    return loader.pass_on(timeline, record);
  }
  // As many turns as it takes: what is missing, if anything is.
  std::optional<std::string> load() {
    do {
      if (auto missing = loader.load(weights, turn)) {
        return missing;
      }
      turn.begin(monotonic_micros());
    } while (loader.has_more(weights));
    return std::nullopt;
  }

  Job job;
  LaneWeights weights;
  BaseLoader loader;
  Turn turn;
};

TEST_CASE("weights of before step 0 are drawn, and nothing is to be loaded") {
  BaseLoaderFixture at;
  CHECK(at.loader.begin(1, {}, at.weights).empty());
  CHECK(at.loader.has_more(at.weights));
  CHECK_FALSE(at.load());
  CHECK_FALSE(at.loader.has_more(at.weights));
  CHECK(at.weights.version(0) == 0);
}

TEST_CASE("weights of before step 0 that are in the database are loaded from it") {
  BaseLoaderFixture at("async", true);
  CHECK(at.loader.begin(1, {}, at.weights).size() == at.job.arena.chunks.size() - 1);  // the statistics start at zero
}

TEST_CASE("a snapshot of a step is put in place at the version that the mode has there") {
  for (const auto& [mode, version] : {std::pair("sync", 2), std::pair("async", 8)}) {
    CAPTURE(mode);
    BaseLoaderFixture at(mode);
    REQUIRE_FALSE(at.loader.begin(3, {1, 2}, at.weights).empty());
    REQUIRE(at.pass_chunk(3, 0, 0.25F));
    CHECK_FALSE(at.load());
    CHECK(at.weights.version(0) == static_cast<Version>(version));
    CHECK(at.weights.newest(0)[0] == 0.25F);
    CHECK(at.loader.beginning() == SnapshotId{3, 2});
  }
}

TEST_CASE("what was read for an older timeline is dropped") {
  BaseLoaderFixture at;
  at.loader.begin(3, {1, 2}, at.weights);
  REQUIRE(at.pass_chunk(3, 0, 0.25F));
  REQUIRE(at.pass_chunk(2, 0, 0.75F));
  CHECK_FALSE(at.load());
  CHECK(at.weights.newest(0)[0] == 0.25F);
  CHECK_FALSE(at.loader.replayed(2));
}

TEST_CASE("updates of the journal are applied on top of the snapshot, and told of once") {
  BaseLoaderFixture at;
  at.loader.begin(3, {1, 2}, at.weights);
  at.pass_chunk(3, 0, 0.25F);
  at.pass_update(3, 7);  // the snapshot has it
  at.pass_update(3, 8);
  at.pass_update(3, 9);
  CHECK_FALSE(at.load());
  CHECK(at.weights.version(0) == 10);
  CHECK(at.weights.newest(0)[0] != 0.25F);
  const auto resumed = at.loader.replayed(3);
  REQUIRE(resumed);
  CHECK(resumed->timeline == 3);
  CHECK(resumed->from == 2);
  REQUIRE(resumed->updates.size() == 2);
  CHECK(resumed->updates[1].item == 9);
  CHECK(resumed->marks == std::vector<JournalMark>{{0, 70, 9}});
}

TEST_CASE("updates that are read before the weights of before step 0 are drawn wait for these") {
  BaseLoaderFixture at;
  at.loader.begin(1, {}, at.weights);
  REQUIRE(at.pass_update(1, 0));
  CHECK_FALSE(at.load());
  CHECK(at.weights.version(0) == 1);

  BaseLoaderFixture drawn_before;
  drawn_before.loader.begin(1, {}, drawn_before.weights);
  CHECK_FALSE(drawn_before.load());
  REQUIRE(drawn_before.pass_update(1, 0));
  CHECK_FALSE(drawn_before.load());
  CHECK(std::ranges::equal(at.weights.newest(0), drawn_before.weights.newest(0)));
}

TEST_CASE("a journal that lacks an update is not gone on with") {
  BaseLoaderFixture at;
  at.loader.begin(3, {1, 2}, at.weights);
  at.pass_chunk(3, 0, 0.25F);
  at.pass_update(3, 9);
  const auto missing = at.load();
  REQUIRE(missing);
  CHECK(missing->find("an update of version 9 of chunk 0 where that of version 8 is due") != std::string::npos);
  at.pass_update(3, 10);
  CHECK_FALSE(at.load());  // told once
  CHECK_FALSE(at.loader.has_more(at.weights));
  CHECK(at.loader.waiting_bytes() == 0);
  CHECK_FALSE(at.loader.replayed(3));
  at.loader.begin(4, {1, 2}, at.weights);
  at.pass_chunk(4, 0, 0.25F);
  CHECK_FALSE(at.load());
  CHECK(at.loader.replayed(4));
}

TEST_CASE("what waits to be put in place is counted, also where it has no payload") {
  BaseLoaderFixture at;
  at.loader.begin(3, {1, 2}, at.weights);
  JournalRecord skipped;
  REQUIRE(at.loader.pass_on(3, skipped));
  CHECK(at.loader.waiting_bytes() >= sizeof(JournalRecord));
}

TEST_CASE("updates of other lanes' chunks are passed over, and nothing is taken after the end") {
  BaseLoaderFixture at;
  BaseLoader other(at.job, {0}, false);
  other.begin(3, {1, 2}, at.weights);
  JournalRecord record;
  record.chunk = 1;
  CHECK(other.pass_on(3, record));
  CHECK_FALSE(other.has_more(at.weights));
  at.loader.close();
  CHECK_FALSE(at.pass_chunk(3, 0, 0.25F));
}

}  // namespace
}  // namespace ballast

// A run's folder as servers leave it behind: two shards, two snapshots, a ledger.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/arena/initial.h"
#include "common/arena/placement.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "storage/store/shard_store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {

inline constexpr std::uint32_t kShards = 2;
inline constexpr SnapshotId kEarly{1, 4};
inline constexpr SnapshotId kEnd{2, 9};

inline const std::string kSampleJob =
    "job: sample\n"
    "model: {name: mlp, hidden: [12]}\n"
    "data: {name: glyphs, train_examples: 120, test_examples: 230, validation_examples: 20}\n"
    "training: {batch: 16, slots: 4, max_steps: 9, optimizer: {name: sgd, learning_rate: 0.1, momentum: 0.9}}\n"
    "cluster: {shards: 2}\n";

class SampleRun {
 public:
  // `averages`: the snapshots have a second tensor of state, the averages.
  explicit SampleRun(const std::string& text = kSampleJob, bool averages = false)
      : job(make_job(parse_job(text, "sample"))), has_averages_(averages) {
    std::ofstream(job_file()) << text;
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      const auto store = open(shard);
      REQUIRE(
          store->claim({kDatabaseFormat, job.spec.job, job.spec_digest, job.layout_digest, shard, kShards, job.yaml})
              .ok());
      write_snapshot(*store, shard, kEarly);
      write_snapshot(*store, shard, kEnd);
    }
  }

  [[nodiscard]] std::string path() const { return folder.path().string() + "/run"; }
  [[nodiscard]] std::string job_file() const { return (folder.path() / "job.yaml").string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder.path() / name).string(); }

  [[nodiscard]] std::unique_ptr<ShardStore> open(std::uint32_t shard) const {
    auto store = open_rocksdb(shard_database(path(), shard), OpenMode::create);
    REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
    return std::make_unique<ShardStore>(std::move(store.value()));
  }

  // The weights of a snapshot: drawn, another seed for each step. Padding and statistics zero.
  [[nodiscard]] std::vector<float> weights(const SnapshotId& snapshot) const {
    std::vector<float> values(job.arena.elements);
    for (std::uint32_t i = 0; i < job.arena.parameters.size(); ++i) {
      const auto& extent = job.arena.extents[i];
      fill_initial(std::span(values).subspan(extent.offset, extent.elements), {Initial::Kind::uniform, 0.3F},
                   snapshot.step, i, 0);
    }
    return values;
  }

  // Of a job without parameters of the group `state`.
  [[nodiscard]] std::vector<float> averages(const SnapshotId& snapshot) const {
    auto values = weights(snapshot);
    std::ranges::for_each(values, [](float& value) { value *= 0.5F; });
    return values;
  }

  // A ledger of a run that goes on, with kEarly as its only snapshot, or of one that finished at kEnd.
  void write_ledger(bool finished) const {
    Ledger ledger;
    ledger.timeline = finished ? 2 : 1;
    ledger.base = finished ? kEarly : SnapshotId{};
    ledger.incarnations = {5, 6};
    ledger.complete = {{0, 0}, kEarly};
    if (finished) {
      ledger.complete.push_back(kEnd);
      ledger.finished = kEnd;
      ledger.best = kEarly;
      ledger.rollbacks.shard = 1;
      ledger.rolled_back_steps = 3;
      ledger.skipped = {{6, 7}};
    }
    REQUIRE(open(0)->write_ledger({ledger, {}, {}, {{4, Split::test, 2.5, 0.125, 230}}}).ok());
  }

  TemporaryFolder folder;
  Job job;

 private:
  void write_snapshot(ShardStore& store, std::uint32_t shard, const SnapshotId& snapshot) const {
    const auto values = weights(snapshot);
    const auto averaged = averages(snapshot);
    for (const auto& chunk : Placement(job.arena, kShards, 1).of_model(shard)) {
      const auto content = std::span(values).subspan(chunk.offset, chunk.elements);
      std::vector<std::span<const float>> states = {content};
      if (has_averages_) {
        states.push_back(std::span(averaged).subspan(chunk.offset, chunk.elements));
      }
      REQUIRE(store.write_chunk(snapshot, chunk.id, content, states).ok());
    }
    REQUIRE(store.seal(snapshot).ok());
  }

  bool has_averages_;
};

}  // namespace ballast

// A run of two shards, copied while it goes on and built anew from the copies.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/copies/restore.h"
#include "storage/copies/snapshot_copier.h"
#include "tests/unit/temporary_folder.h"

namespace ballast::copied {

inline constexpr std::size_t kChunks = 3;  // of each shard
inline constexpr LeadLife kLife = 0x11fe;

// Of the attempt at hand, when it is over.
inline CopyProgress outcome(const SnapshotCopier& copier) {
  for (int tries = 0; tries < 6'000; ++tries) {
    const auto progress = copier.progress();
    if (progress.done || progress.failures > 0) {
      return progress;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("nothing comes of the copy");
  return {};
}

class Run {
 public:
  explicit Run(CopyTarget target, const std::string& digest = "0123456789", RunId run = 0xabc)
      : target_(std::move(target)), run_(run) {
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      auto memory = std::make_unique<MemoryStore>("shard-" + std::to_string(shard));
      stores_.push_back(memory.get());
      shards_.push_back(std::make_unique<ShardStore>(std::move(memory)));
      REQUIRE(shards_.back()->claim({kDatabaseFormat, "job", digest, "layout", shard, 2, "job: job\n"}).ok());
    }
  }

  // One that has reached the step on the timeline, with all that belongs to it.
  void reach(const SnapshotId& id, float other = 0) {
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
        const std::vector<float> weights(300, static_cast<float>(id.step + 10 * shard + chunk) + other);
        const std::vector<float> state(300, 0.5F);
        REQUIRE(shards_[shard]
                    ->write_chunk(id, 2 * chunk + shard, weights, std::vector<std::span<const float>>{state})
                    .ok());
      }
    }
    LedgerChange change;
    ledger_.timeline = id.timeline;
    ledger_.incarnations = {7, 8};
    ledger_.databases = {{17, 1}, {18, 1}};
    ledger_.pause = Pause::held;
    ledger_.complete.push_back(id);
    change.ledger = ledger_;
    change.evaluations = {{id.step, Split::test, 0.5, 0.75, 100}};
    for (Step step = id.step < 10 ? 0 : id.step - 10; step < id.step; ++step) {
      change.statistics.push_back({step, 1.5F, 3, 8});
    }
    REQUIRE(shards_[0]->write_ledger(change).ok());
  }

  std::unique_ptr<SnapshotCopier> copier(std::uint32_t shard, std::uint32_t keep = 2) {
    auto place = open_copy_place(target_);
    REQUIRE(place.ok());
    CopierSettings settings{keep, kChunks};
    settings.look = std::chrono::milliseconds(10);
    settings.hold_fails = std::chrono::milliseconds(0);  // whoever copies here has seen to it
    return std::make_unique<SnapshotCopier>(*shards_[shard], std::move(place.value()), settings, CopySeries(nullptr));
  }

  // As shard 0 does before the others copy.
  void hold() {
    const auto held = claim(*place(), run_prefix("job-01234567", run_),
                            {life_, ledger_.copy_lives, ledger_.named_before, newest_named(ledger_.copies)});
    REQUIRE(held.ok());
    REQUIRE(held.value() == Claimed::held);
  }
  // Another life of the lead, which knows of those before it.
  void live(LeadLife life, const std::vector<LeadLife>& before) {
    life_ = life;
    ledger_.copy_lives = before;
    ledger_.named_before = newest_named(ledger_.copies);
    REQUIRE(shards_[0]->write_ledger({ledger_, {}, {}, {}}).ok());
  }
  // As the lead does, durably, before the shards hear of it.
  [[nodiscard]] CopyState naming(const SnapshotId& id) {
    auto ledger = shards_[0]->read_ledger().value().ledger;  // as the test may have written it
    ledger.copies = ledger_.copies = {run_, id, {}, life_, 1};
    REQUIRE(shards_[0]->write_ledger({std::move(ledger), {}, {}, {}}).ok());
    return ledger_.copies;
  }

  // One shard's part: whether it was copied, or has failed.
  bool copy_part(const SnapshotId& id, std::uint32_t shard, std::uint32_t keep = 2) {
    if (shard != 0) {
      hold();
    }
    const auto one = copier(shard, keep);
    one->follow(naming(id));
    const auto progress = outcome(*one);
    REQUIRE(one->drain(std::chrono::seconds(60)));
    return progress.done;
  }

  // As the lead has all shards do it, which then says that the copy is complete.
  void copy(const SnapshotId& id, std::uint32_t keep = 2) {
    if (copy_part(id, 0, keep) && copy_part(id, 1, keep)) {
      const auto one = copier(0, keep);
      one->follow({run_, {}, id, life_, 1});
      REQUIRE(one->drain(std::chrono::seconds(60)));
    }
  }
  [[nodiscard]] RunId run() const { return run_; }

  [[nodiscard]] ShardStore& shard(std::uint32_t index) { return *shards_[index]; }
  [[nodiscard]] MemoryStore& memory(std::uint32_t index) { return *stores_[index]; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::unique_ptr<CopyPlace> place() const { return std::move(open_copy_place(target_).value()); }

 private:
  CopyTarget target_;
  RunId run_;
  LeadLife life_ = kLife;
  std::vector<MemoryStore*> stores_;
  std::vector<std::unique_ptr<ShardStore>> shards_;
  Ledger ledger_;
};

// In each test the folder or the storage goes away with the fixture.
struct Places {
  TemporaryFolder folder;
  [[nodiscard]] CopyTarget copies() const { return {(folder.path() / "copies").string(), ""}; }
  [[nodiscard]] RestoreOptions options(std::optional<Step> step = {}) const { return {folder.path() / "run", step}; }
};

inline std::unique_ptr<ShardStore> open(const std::filesystem::path& path) {
  auto store = open_rocksdb(path, OpenMode::existing);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
  return std::make_unique<ShardStore>(std::move(store.value()));
}

inline void is_at(const std::vector<std::filesystem::path>& databases, Run& run, const SnapshotId& id) {
  REQUIRE(databases.size() == 2);
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const auto restored = open(databases[shard]);
    CHECK(restored->identity().value() == run.shard(shard).identity().value());
    CHECK(restored->snapshots().value() == std::vector<SnapshotId>{id});
    CHECK(restored->sealed().value() == std::vector<SnapshotId>{id});
    CHECK(restored->begin_life(99 + shard).value() == DatabaseLife{99 + shard, 1});  // no life of the one copied
    CHECK(restored->timeline().value() == std::nullopt);  // the run that goes on begins a new one
    for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
      const auto right = run.shard(shard).read_chunk(id, 2 * chunk + shard, 300, 1);
      const auto found = restored->read_chunk(id, 2 * chunk + shard, 300, 1);
      REQUIRE(found.ok());
      CHECK(found.value().weights == right.value().weights);
      CHECK(found.value().states == right.value().states);
    }
    CHECK(restored->verify().ok());
  }
  const auto lead = open(databases[0]);
  const auto content = lead->read_ledger().value();
  CHECK(content.ledger.timeline >= id.timeline);
  CHECK(content.ledger.base == id);
  CHECK(content.ledger.incarnations.empty());
  CHECK(content.ledger.databases.empty());
  CHECK(content.ledger.pause == Pause::none);
  CHECK(content.ledger.complete == std::vector<SnapshotId>{id});
  REQUIRE_FALSE(content.evaluations.empty());
  CHECK(content.evaluations.back().step == id.step);
  const auto statistics = lead->read_statistics(0, ~Step{0}).value();
  REQUIRE_FALSE(statistics.empty());
  CHECK(statistics.back().step == id.step - 1);
}

inline StoreResult<Restored> restore_from(Run& run, const RestoreOptions& options, const RestoreCheck& check = {}) {
  const auto place = run.place();
  return restore(*place, options, check);
}

inline Restored restored_from(Run& run, const RestoreOptions& options) {
  auto restored = restore_from(run, options);
  REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.status().text()));
  return std::move(restored.value());
}

// Of all copies in the place, without claims and holds.
inline std::vector<std::string> names(const Run& run) {
  auto all = run.place()->list().value();
  std::erase_if(all, [](const std::string& name) { return !parse_copy_name(name) && !parse_losses_name(name); });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace ballast::copied

// A shard's snapshots written, and its base read by a new life, against the same records under keys that have the
// kind before the chunk, so that every table spans the whole snapshot.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/temporary_folder.h"
#include "storage/store/shard_store.h"

namespace ballast::bench {

namespace {

constexpr ChunkId kChunks = 2048;
constexpr std::size_t kRestartElements = (1U << 20U) / sizeof(float);  // of a chunk; as many of momentum
constexpr std::array<SnapshotId, 2> kSnapshots = {{{1, 100}, {1, 200}}};
constexpr ChunkId kRead = 64;  // chunks in a row that are read, from each of four places

void require(const StoreStatus& status) {
  if (!status.ok()) {
    throw std::runtime_error("restart: " + status.text());
  }
}

std::vector<float> values_of(std::uint64_t seed) {
  std::vector<float> values(kRestartElements);
  for (auto& value : values) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(seed >> 40U);
  }
  return values;
}

// Keys under which a chunk is written and read.
struct Layout {
  const char* name;
  StoreStatus (*write)(ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk);
  StoreStatus (*read)(const ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk);
};

StoreStatus write_today(ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk) {
  static const auto kWeights = values_of(1);
  static const auto kState = values_of(2);
  return shard.write_chunk(snapshot, chunk, kWeights, std::vector<std::span<const float>>{kState});
}

StoreStatus read_today(const ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk) {
  const auto read = shard.read_chunk(snapshot, chunk, kRestartElements, 1);
  return read.ok() ? StoreStatus{} : read.status();
}

std::string kind_first_key(const TensorKey& key) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "%08x", key.chunk);
  return snapshot_prefix(key.snapshot).append(to_string(key.kind)).append("/").append(number.data());
}

StoreStatus write_kind_first(ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk) {
  static const auto kWeights = values_of(1);
  static const auto kState = values_of(2);
  WriteBatch batch;
  const auto put = [&](TensorKind kind, const std::vector<float>& values) {
    const TensorKey key{snapshot, kind, chunk};
    batch.put(kind_first_key(key), encode_tensor(key, std::as_bytes(std::span(values))));
  };
  put(TensorKind::weights, kWeights);
  put(TensorKind::state_0, kState);
  return shard.store().write(batch, Sync::no);
}

StoreStatus read_kind_first(const ShardStore& shard, const SnapshotId& snapshot, ChunkId chunk) {
  for (const auto kind : {TensorKind::weights, TensorKind::state_0}) {
    const TensorKey key{snapshot, kind, chunk};
    const auto record = shard.store().get(kind_first_key(key));
    if (!record.ok()) {
      return record.status();
    }
    const auto bytes = decode_tensor(key, record.value().value_or(std::string()));
    if (!bytes.ok()) {
      return bytes.status();
    }
    std::vector<float> values(kRestartElements);
    std::memcpy(values.data(), bytes.value().data(), bytes.value().size());
  }
  return {};
}

// Nothing of the files is in memory any more.
void forget(const std::filesystem::path& folder) {
  ::sync();
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
      ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
      ::close(descriptor);
    }
  }
}

ShardStore open(const std::filesystem::path& folder) {
  auto opened = open_rocksdb(folder, OpenMode::create);
  require(opened.ok() ? StoreStatus{} : opened.status());
  return ShardStore(std::move(opened.value()));
}

struct Times {
  double bytes_per_second = 0;
  double write_cpu = 0;  // seconds for a GB
  double chunk_seconds = 0;
  double chunk_cpu = 0;
};

Times run_once(const Layout& layout) {
  const TemporaryFolder folder;
  Times times;
  constexpr double kBytes = 2.0 * kSnapshots.size() * kChunks * kRestartElements * sizeof(float);
  {
    auto shard = open(folder.path());
    const auto cpu = own_cpu_seconds();
    const auto begin = Clock::now();
    for (const auto& snapshot : kSnapshots) {
      for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
        require(layout.write(shard, snapshot, chunk));
      }
      require(shard.sync());
    }
    times.bytes_per_second = kBytes / seconds_since(begin);
    times.write_cpu = (own_cpu_seconds() - cpu) / (kBytes / 1e9);
  }
  forget(folder.path());
  const auto shard = open(folder.path());
  const auto cpu = own_cpu_seconds();
  const auto begin = Clock::now();
  constexpr ChunkId kPlaces = 4;
  for (ChunkId place = 0; place < kPlaces; ++place) {
    for (ChunkId chunk = 0; chunk < kRead; ++chunk) {
      require(layout.read(shard, kSnapshots.back(), place * (kChunks / kPlaces) + chunk));
    }
  }
  times.chunk_seconds = seconds_since(begin) / (kPlaces * kRead);
  times.chunk_cpu = (own_cpu_seconds() - cpu) / (kPlaces * kRead);
  return times;
}

struct RestartMeasured {
  std::vector<double> rates;
  std::vector<double> write_cpu;
  std::vector<double> reads;
  std::vector<double> read_cpu;
};

Row row_of(const std::string& keys, const RestartMeasured& measured) {
  const auto rate = spread_of(measured.rates);
  const auto read = spread_of(measured.reads);
  return {{"keys", keys},
          {"write_mb_s", rate.median},
          {"write_min", rate.least},
          {"write_max", rate.most},
          {"write_cpu_s_gb", spread_of(measured.write_cpu).median},
          {"read_ms_chunk", read.median},
          {"read_min", read.least},
          {"read_max", read.most},
          {"read_cpu_ms_chunk", spread_of(measured.read_cpu).median}};
}

}  // namespace

Result restart(const Options& options) {
  Result result;
  result.how =
      "Two snapshots of 2,048 chunks of 1 MiB with as much momentum (8.6 GB) written to a shard's database as the "
      "storage "
      "thread does, each synced, on the disk of temporary files ($TMPDIR); then the database is opened again, with "
      "nothing of it in memory, and 256 chunks of the newer one are read in order, as a restart reads its base. In "
      "turns "
      "with the same records under keys that have the kind before the chunk; medians of all repetitions, with least "
      "and most.";
  constexpr std::array<Layout, 2> kLayouts = {
      {{"chunk, kind", write_today, read_today}, {"kind, chunk", write_kind_first, read_kind_first}}};
  std::array<RestartMeasured, 2> measured;
  for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
    for (std::size_t turn = 0; turn < kLayouts.size(); ++turn) {
      const auto which = (turn + repetition) % kLayouts.size();
      const auto times = run_once(kLayouts[which]);
      measured[which].rates.push_back(times.bytes_per_second / 1e6);
      measured[which].write_cpu.push_back(times.write_cpu);
      measured[which].reads.push_back(times.chunk_seconds * 1e3);
      measured[which].read_cpu.push_back(times.chunk_cpu * 1e3);
    }
  }
  for (std::size_t which = 0; which < kLayouts.size(); ++which) {
    result.rows.push_back(row_of(kLayouts[which].name, measured[which]));
  }
  return result;
}

}  // namespace ballast::bench

// A shard's journal against the disk's limit, and against what RocksDB would make of the same records.
#include <fcntl.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/temporary_folder.h"
#include "storage/journal/journal.h"

namespace ballast::bench {

namespace {

constexpr double kJournalSeconds = 3;
constexpr std::array<std::size_t, 3> kRecordBytes = {1U << 20U, 64U << 10U, 4U << 10U};
constexpr std::size_t kGroup = 16;               // records that make a group
constexpr std::uint64_t kKept = 512U << 20U;     // bytes, then the oldest are given up
constexpr std::uint64_t kSegment = 128U << 20U;  // bytes of a file
constexpr std::size_t kMemtable = 64U << 20U;
constexpr auto kInterval = std::chrono::milliseconds(200);

void require(bool ok, const std::string& text) {
  if (!ok) {
    throw std::runtime_error("journal: " + text);
  }
}

// What records are made of: bytes that do not compress, in more of them than a cache holds.
class Payloads {
 public:
  explicit Payloads(std::size_t record_bytes) : record_bytes_(record_bytes), bytes_(64U << 20U) {
    std::uint64_t state = 1;
    for (auto& byte : bytes_) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      byte = static_cast<std::byte>(state >> 56U);
    }
  }
  [[nodiscard]] std::size_t record_bytes() const { return record_bytes_; }
  [[nodiscard]] std::span<const std::byte> record(std::uint64_t n) const {
    return std::span(bytes_).subspan(n % (bytes_.size() / record_bytes_) * record_bytes_, record_bytes_);
  }

 private:
  std::size_t record_bytes_;
  std::vector<std::byte> bytes_;
};

struct Rate {
  double bytes_per_second = 0;
  double cpu_seconds_per_gigabyte = 0;
};

using Candidate = std::function<Rate(const Payloads&, JournalSync, double seconds)>;

// ---- the limit: the same bytes by write and fdatasync, nothing else

class RawFile {
 public:
  explicit RawFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~RawFile() { close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  void write_group(const Payloads& payloads, std::uint64_t first) {
    if (descriptor_ < 0 || size_ >= kSegment) {
      next();
    }
    std::array<iovec, kGroup> parts{};
    for (std::size_t i = 0; i < kGroup; ++i) {
      const auto record = payloads.record(first + i);
      parts[i] = {const_cast<std::byte*>(record.data()), record.size()};  // NOLINT: only read
    }
    const auto written = ::pwritev(descriptor_, parts.data(), kGroup, static_cast<off_t>(size_));
    require(written == static_cast<ssize_t>(kGroup * payloads.record_bytes()), "the disk takes no more");
    size_ += static_cast<std::uint64_t>(written);
  }
  void sync() { require(::fdatasync(descriptor_) == 0, "the disk cannot sync"); }

 private:
  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  void next() {
    if (descriptor_ >= 0) {
      sync();
    }
    close();
    if (number_ >= kKept / kSegment) {
      std::filesystem::remove(folder_ / std::to_string(number_ - kKept / kSegment));
    }
    descriptor_ = ::open((folder_ / std::to_string(number_++)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    require(descriptor_ >= 0, "cannot make a file");
    size_ = 0;
  }

  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t number_ = 0;
};

// Calls `write_group(first)` until the time is over.
template <typename WriteGroup>
Rate time_groups(const Payloads& payloads, double seconds, WriteGroup write_group) {
  const double cpu = own_cpu_seconds();
  const auto begin = Clock::now();
  std::uint64_t records = 0;
  for (; seconds_since(begin) < seconds; records += kGroup) {
    write_group(records);
  }
  const double bytes = static_cast<double>(records * payloads.record_bytes());
  return {bytes / seconds_since(begin), (own_cpu_seconds() - cpu) / (bytes / 1e9)};
}

Rate raw(const Payloads& payloads, JournalSync sync, double seconds) {
  const TemporaryFolder folder;
  RawFile file(folder.path());
  auto synced = Clock::now();
  return time_groups(payloads, seconds, [&](std::uint64_t first) {
    file.write_group(payloads, first);
    if (sync == JournalSync::always || Clock::now() - synced >= kInterval) {
      file.sync();
      synced = Clock::now();
    }
  });
}

// ---- RocksDB: a column family of its own, whose oldest records go by ranges

class RocksJournal {
 public:
  explicit RocksJournal(const std::filesystem::path& folder) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.write_buffer_size = kMemtable;
    options.max_write_buffer_number = 4;
    options.max_total_wal_size = 4 * kMemtable;
    options.max_background_jobs = 2;
    options.level0_file_num_compaction_trigger = std::numeric_limits<int>::max();  // they go before it would pay
    options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
    options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
    options.soft_pending_compaction_bytes_limit = 0;
    options.hard_pending_compaction_bytes_limit = 0;
    options.compression = rocksdb::kNoCompression;
    options.allow_fallocate = false;
    rocksdb::BlockBasedTableOptions table;
    table.checksum = rocksdb::kXXH3;
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions(options)},
        {"journal", rocksdb::ColumnFamilyOptions(options)}};
    rocksdb::DB* opened = nullptr;
    require(rocksdb::DB::Open(options, folder.string(), families, &families_, &opened).ok(), "RocksDB does not open");
    database_.reset(opened);
  }
  ~RocksJournal() {
    for (auto* family : families_) {
      database_->DestroyColumnFamilyHandle(family);
    }
  }
  RocksJournal(const RocksJournal&) = delete;
  RocksJournal& operator=(const RocksJournal&) = delete;

  void write_group(const Payloads& payloads, std::uint64_t first, bool sync) {
    rocksdb::WriteBatch batch;
    for (auto n = first; n < first + kGroup; ++n) {
      const auto record = payloads.record(n);
      batch.Put(families_[1], key(n), rocksdb::Slice(reinterpret_cast<const char*>(record.data()), record.size()));
    }
    rocksdb::WriteOptions options;
    options.sync = sync;
    require(database_->Write(options, &batch).ok(), "RocksDB does not write");
    const auto kept = kKept / payloads.record_bytes();
    if (first >= given_up_ + 2 * kept) {
      give_up(first - kept);
    }
  }

 private:
  static std::string key(std::uint64_t n) {
    std::string text(8, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) {
      text[i] = static_cast<char>(n >> (8 * (text.size() - 1 - i)));
    }
    return text;
  }
  void give_up(std::uint64_t before) {
    const auto begin = key(given_up_);
    const auto end = key(before);
    require(database_->DeleteRange({}, families_[1], begin, end).ok(), "RocksDB does not delete");
    const rocksdb::Slice first(begin);
    const rocksdb::Slice last(end);
    rocksdb::DeleteFilesInRange(database_.get(), families_[1], &first, &last, false);
    given_up_ = before;
  }

  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::uint64_t given_up_ = 0;
};

Rate rocks(const Payloads& payloads, JournalSync sync, double seconds) {
  const TemporaryFolder folder;
  RocksJournal journal(folder.path() / "database");
  auto synced = Clock::now();
  return time_groups(payloads, seconds, [&](std::uint64_t first) {
    const bool due = sync == JournalSync::always || Clock::now() - synced >= kInterval;
    journal.write_group(payloads, first, due);
    synced = due ? Clock::now() : synced;
  });
}

// ---- the journal: while one group is being written, the next one waits

class Window {
 public:
  void committed(JournalSequence through) {
    {
      const std::scoped_lock lock(mutex_);
      committed_ = through;
    }
    changed_.notify_one();
  }
  void wait_for(JournalSequence through) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return committed_ >= through; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  JournalSequence committed_ = 0;
};

JournalRecord record_of(const Payloads& payloads, std::uint64_t n) {
  JournalRecord record;
  record.timeline = 1;
  record.chunk = static_cast<ChunkId>(n % kGroup);
  record.item = n / kGroup;
  record.version = n / kGroup;
  record.payload = payloads.record(n);
  return record;
}

Rate log_of_our_own(const Payloads& payloads, JournalSync sync, double seconds) {
  const TemporaryFolder folder;
  Window window;
  JournalOptions options;
  options.sync = sync;
  options.interval = kInterval;
  options.segment_bytes = kSegment;
  auto opened = Journal::open(folder.path() / "journal", {"bench", "bench", 0}, options,
                              {[&window](Timeline, JournalSequence through) { window.committed(through); },
                               [](const std::string& text) { require(text.empty(), text); }});
  require(opened.ok() && opened.value()->begin(1).ok(), "the journal does not open");
  auto& log = *opened.value();
  const auto kept = kKept / payloads.record_bytes();
  return time_groups(payloads, seconds, [&](std::uint64_t first) {
    for (auto n = first; n < first + kGroup; ++n) {
      log.append(record_of(payloads, n));
    }
    window.wait_for(first);
    log.release_before(first > kept ? (first - kept) / kGroup : 0);
  });
}

// ----

struct JournalMeasured {
  std::vector<double> rates;
  std::vector<double> ratios;  // to the limit's of the same repetition
  std::vector<double> cpu;
};

Row row_of(JournalSync sync, std::size_t record_bytes, const JournalMeasured& log, const JournalMeasured& limit,
           const JournalMeasured& database) {
  const auto ratio = spread_of(log.ratios);
  return {{"sync", std::string(sync == JournalSync::always ? "always" : "interval")},
          {"record_bytes", std::uint64_t(record_bytes)},
          {"mb_s", spread_of(log.rates).median},
          {"raw_mb_s", spread_of(limit.rates).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"rocksdb_ratio", spread_of(database.ratios).median},
          {"cpu_s_gb", spread_of(log.cpu).median},
          {"raw_cpu_s_gb", spread_of(limit.cpu).median},
          {"rocksdb_cpu_s_gb", spread_of(database.cpu).median}};
}

Row measure(JournalSync sync, std::size_t record_bytes, const Options& options) {
  const Payloads payloads(record_bytes);
  const std::array<Candidate, 3> candidates = {log_of_our_own, raw, rocks};
  std::array<JournalMeasured, 3> measured;
  for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
    std::array<double, 3> rates{};
    for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
      const auto which = (turn + repetition) % candidates.size();  // none is always behind the same one
      const auto rate = candidates[which](payloads, sync, options.seconds.value_or(kJournalSeconds));
      rates[which] = rate.bytes_per_second;
      measured[which].rates.push_back(rate.bytes_per_second / 1e6);
      measured[which].cpu.push_back(rate.cpu_seconds_per_gigabyte);
    }
    for (std::size_t which = 0; which < candidates.size(); ++which) {
      measured[which].ratios.push_back(rates[which] / rates[1]);
    }
  }
  return row_of(sync, record_bytes, measured[0], measured[1], measured[2]);
}

}  // namespace

Result journal(const Options& options) {
  Result result;
  result.how =
      "Records appended to a shard's journal, groups of about 16, on the disk of temporary files ($TMPDIR). raw: the "
      "same "
      "bytes by pwritev and fdatasync, 16 records each; rocksdb: the same in a column family, a batch of 16, old "
      "records "
      "deleted by range. sync always: every group; interval: every 200 ms. The last 512 MiB are kept. ratio: to raw; "
      "cpu_s_gb: processor time for a GB. In turns; medians of all repetitions, the journal's ratio with its least and "
      "most.";
  for (const auto sync : {JournalSync::always, JournalSync::interval}) {
    for (const auto bytes : kRecordBytes) {
      result.rows.push_back(measure(sync, bytes, options));
    }
  }
  return result;
}

}  // namespace ballast::bench

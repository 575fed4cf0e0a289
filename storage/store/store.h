// The storage seam: an ordered map of bytes to bytes that survives a crash. Two implementations: RocksDB, and memory,
// which forgets what was not synced when it is told to crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/files/status.h"

namespace ballast {

// Puts and deletes that happen together or not at all, in order.
class WriteBatch {
 public:
  enum class Kind : std::uint8_t { put, erase, erase_range };
  struct Operation {
    Kind kind = Kind::put;
    std::string key;    // of a range: its first
    std::string value;  // of a range: the first key after it
  };

  WriteBatch& put(std::string key, std::string value) {
    operations_.push_back({Kind::put, std::move(key), std::move(value)});
    return *this;
  }
  WriteBatch& erase(std::string key) {
    operations_.push_back({Kind::erase, std::move(key), {}});
    return *this;
  }
  // All keys in [begin, end), however many, at the cost of one. Nothing if end <= begin.
  WriteBatch& erase_range(std::string begin, std::string end) {
    operations_.push_back({Kind::erase_range, std::move(begin), std::move(end)});
    return *this;
  }
  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

// Bytes that a store has in memory.
struct StoreMemory {
  std::uint64_t written = 0;  // by writes that are in no file yet, beside the log
  std::uint64_t read = 0;     // of files, kept for who reads them again
  [[nodiscard]] std::uint64_t total() const { return written + read; }
};

// What a store does besides what it is asked to: whether it keeps up.
struct StoreWork {
  std::uint64_t compaction_bytes = 0;  // an estimate of what is still to be rewritten
  std::uint64_t level0_files = 0;      // that no compaction has taken yet
  double slowed_seconds = 0;           // for which writes were held up so far, in each way
  double stopped_seconds = 0;
  std::uint64_t errors = 0;  // of its own threads, so far
};

enum class Sync : bool {
  no,   // survives a crash of the process, not of the machine
  yes,  // this write and every earlier one survive a power cut once the call returns
};

// Thread-safe: any thread may call anything.
class Store {
 public:
  // Returns false to end the scan. The views are valid during the call only.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~Store() = default;

  // A write that fails has changed nothing, but one whose sync has failed may show once the database is opened anew.
  // After a failure (a full disk, say) later ones are tried anew: they work again once the reason is gone.
  virtual StoreStatus write(const WriteBatch& batch, Sync sync) = 0;
  // Every write that returned before the call survives a power cut once this returns.
  virtual StoreStatus sync() = 0;
  [[nodiscard]] virtual StoreResult<std::optional<std::string>> get(std::string_view key) const = 0;
  // Visits the keys that begin with `prefix`, in byte order, as they stand when the scan begins: writes and deletes
  // meanwhile do not show.
  [[nodiscard]] virtual StoreStatus scan(std::string_view prefix, const Visitor& visit) const = 0;
  // The first key that is `from` or comes after it.
  [[nodiscard]] virtual StoreResult<std::optional<std::string>> first_key(std::string_view from) const = 0;
  // Asks that the space of keys deleted from [begin, end) be given back soon. Returns at once.
  virtual void reclaim(std::string_view begin, std::string_view end) = 0;
  // Reads every file and checks every checksum, of deleted keys as well: `corrupt`, naming the file, if one fails.
  [[nodiscard]] virtual StoreStatus verify() const = 0;
  // Waits for nobody.
  [[nodiscard]] virtual StoreMemory memory() const = 0;
  // May wait for who opens the database again, and for the database's own lock: not for loops. Keeps no other call
  // waiting but the one that is to open a failed database again, and those that wait for that.
  [[nodiscard]] virtual StoreWork work() const = 0;
  // For messages: the folder of the database.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

enum class OpenMode : std::uint8_t {
  create,     // open, or make a new one, with the folders above it
  existing,   // open; `missing` if there is none
  read_only,  // look without taking the lock: what the owner wrote until now; every write is refused
};

// A database in the folder `path`. One process at a time may have it open for writing: a second is told `in_use`, with
// the owner's process id where the system tells it. A database that lacks what was once synced is `corrupt`.
StoreResult<std::unique_ptr<Store>> open_rocksdb(const std::filesystem::path& path, OpenMode mode);

// A store in memory, for simulations and tests.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::string path = "memory") : path_(std::move(path)) {}

  StoreStatus write(const WriteBatch& batch, Sync sync) override;
  StoreStatus sync() override;
  [[nodiscard]] StoreResult<std::optional<std::string>> get(std::string_view key) const override;
  [[nodiscard]] StoreStatus scan(std::string_view prefix, const Visitor& visit) const override;
  [[nodiscard]] StoreResult<std::optional<std::string>> first_key(std::string_view from) const override;
  void reclaim(std::string_view /*begin*/, std::string_view /*end*/) override {}
  [[nodiscard]] StoreStatus verify() const override { return {}; }
  [[nodiscard]] StoreMemory memory() const override { return {}; }
  [[nodiscard]] StoreWork work() const override { return {}; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  // Power cut: what no synced write and no sync has covered is gone.
  void crash();
  // Every write and sync from now on fails with this and changes nothing; ok: writes work again.
  void fail_writes(StoreStatus status);
  // The same of what reads.
  void fail_reads(StoreStatus status);

 private:
  using Content = std::map<std::string, std::string, std::less<>>;
  static void apply(const WriteBatch& batch, Content& content);
  [[nodiscard]] StoreStatus refusal(const StoreStatus& failure) const;
  void make_durable();

  std::string path_;
  mutable std::mutex mutex_;
  Content current_;
  Content durable_;
  std::vector<WriteBatch> unsynced_;  // applied to current_ but not to durable_
  StoreStatus write_failure_;
  StoreStatus read_failure_;
};

}  // namespace ballast

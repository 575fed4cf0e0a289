// How far a database was synced, in a small file beside it. RocksDB takes a log or a MANIFEST that was cut short for
// one whose end was never synced, and goes on from an earlier state; against this mark, that shows.
//
//   SYNCED    := slot padding slot padding    two of 512 bytes, written in turn: a torn write spoils one at most
//   slot      := "BLSY" u32 version (1), u64 order, u64 sequence, manifest, u32 CRC-32C of what is before it
//   manifest  := u64 number, u64 bytes, u32 CRC-32C of its first so many bytes
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "common/files/status.h"

namespace ballast {

inline constexpr const char* kSyncedMarkFile = "SYNCED";

// What was synced. Of the MANIFEST, which lists the database's files, the beginning is known by a checksum.
struct SyncedState {
  std::uint64_t order = 0;     // increases from one slot to the next
  std::uint64_t sequence = 0;  // all operations up to this one
  std::uint64_t manifest = 0;  // its number; 0: none yet
  std::uint64_t manifest_bytes = 0;
  std::uint32_t manifest_checksum = 0;
};

// Thread-safe.
class SyncedMark {
 public:
  // Opens the mark of the database in `folder` for raising it, and makes an empty one where there is none.
  static StoreResult<std::unique_ptr<SyncedMark>> open(const std::filesystem::path& folder);
  // What the mark says; nothing was synced if there is no mark. `corrupt` if neither slot can be read;
  // `mismatch`, as of open(), if another release's version wrote one.
  static StoreResult<SyncedState> read(const std::filesystem::path& folder);
  // Whether the MANIFEST is the one that the mark knows, or a later one: before the database is opened.
  static StoreStatus check_manifest(const std::filesystem::path& folder, const SyncedState& synced);

  ~SyncedMark();
  SyncedMark(const SyncedMark&) = delete;
  SyncedMark& operator=(const SyncedMark&) = delete;

  // All operations up to `sequence` are synced. Durable when it returns, unless the disk refuses: then the mark stays
  // behind, which only makes the check weaker. So does cover_manifest(), which takes the MANIFEST as it is now.
  void raise(std::uint64_t sequence);
  void cover_manifest();

 private:
  SyncedMark(std::filesystem::path folder, int descriptor, const SyncedState& state, std::size_t slot)
      : folder_(std::move(folder)), descriptor_(descriptor), state_(state), slot_(slot) {}
  void write(SyncedState state);

  std::filesystem::path folder_;
  std::mutex mutex_;
  int descriptor_;
  SyncedState state_;
  std::size_t slot_;  // that holds it
};

}  // namespace ballast

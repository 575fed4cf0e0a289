// The seam between the journal and the file system, so that tests can let it fail and cut the power.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/files/status.h"

namespace ballast {

// What a call came to: 0, or the system's error number.
using FileError = int;

// A file of the journal. One thread.
class JournalFile {
 public:
  virtual ~JournalFile() = default;
  // All of `parts`, one after the other, from `offset` on. After a failure any of it may be there.
  virtual FileError write(std::uint64_t offset, std::span<const iovec> parts) = 0;
  // Fills `into` as far as the file goes; `count` becomes the number of bytes read.
  virtual FileError read(std::uint64_t offset, std::span<std::byte> into, std::size_t& count) = 0;
  virtual FileError size(std::uint64_t& bytes) = 0;
  virtual FileError sync() = 0;
  virtual FileError cut(std::uint64_t size) = 0;
  // Asks that what was written in this range goes to the disk soon; waits for nothing.
  virtual void push_out(std::uint64_t offset, std::uint64_t bytes) = 0;
};

// Somebody has the journal open.
class JournalLock {
 public:
  virtual ~JournalLock() = default;
};

// Thread-safe.
class JournalFiles {
 public:
  virtual ~JournalFiles() = default;
  // An empty file for reading and writing, in place of what was there.
  virtual FileError create(const std::filesystem::path& path, std::unique_ptr<JournalFile>& file) = 0;
  // One that is there.
  virtual FileError open(const std::filesystem::path& path, bool writable, std::unique_ptr<JournalFile>& file) = 0;
  virtual FileError rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual FileError remove(const std::filesystem::path& path) = 0;
  // Names of what is in the folder, in order.
  virtual FileError list(const std::filesystem::path& folder, std::vector<std::string>& names) = 0;
  virtual FileError make_folder(const std::filesystem::path& folder) = 0;
  // Keeps others from opening the journal in the folder as long as `lock` lives; EWOULDBLOCK if somebody has it open.
  virtual FileError lock(const std::filesystem::path& folder, std::unique_ptr<JournalLock>& lock) = 0;
  // What may still be written to the folder's disk, in bytes.
  virtual std::uint64_t free_bytes(const std::filesystem::path& folder) = 0;
  // Makes creations, renames and removals in the folder durable.
  virtual FileError sync_folder(const std::filesystem::path& folder) = 0;
};

JournalFiles& system_journal_files();

// "FILE: cannot WHAT: REASON; REMEDY"; ok where there is no error.
StoreStatus file_status(const std::filesystem::path& path, const std::string& what, FileError error);

}  // namespace ballast

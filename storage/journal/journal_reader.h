// Reads a segment's records one after the other, with a part of it in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "common/files/status.h"
#include "storage/journal/journal_files.h"
#include "storage/journal/journal_records.h"

namespace ballast {

// Part of a file that moves forward. One thread.
class JournalWindow {
 public:
  explicit JournalWindow(JournalFile& file);

  // `size` bytes from `offset` on, or fewer where the file ends; valid until the next call. Sets the error, and returns
  // nothing, if the file cannot be read.
  std::string_view bytes(std::uint64_t offset, std::size_t size);
  [[nodiscard]] FileError error() const { return error_; }

 private:
  void make_room(std::size_t size, std::size_t from, std::size_t kept);

  JournalFile& file_;
  FileError error_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t begin_ = 0;  // offset of the first byte held
  std::size_t held_ = 0;
  std::size_t room_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
};

// The error texts follow on "FILE: ".
class JournalReader {
 public:
  JournalReader(JournalFile& file, std::uint64_t offset) : window_(file), offset_(offset) {}

  // The next record, whose payload is valid until the next call; nothing at the file's end. `corrupt` if what is there
  // is no whole and undamaged record, `io` if it cannot be read: then the reader stays where it is.
  StoreResult<std::optional<DecodedJournalRecord>> next();
  // Where the next record begins.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  // Whether, behind the next byte, there is the head of a record of this timeline that says that `sequence` was synced.
  StoreResult<bool> synced_later(Timeline timeline, JournalSequence sequence);

 private:
  [[nodiscard]] StoreStatus unreadable(std::uint64_t offset) const;

  JournalWindow window_;
  std::uint64_t offset_;
};

}  // namespace ballast

// Which segments a journal has, and how far each counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "storage/journal/journal_scan.h"

namespace ballast {

// The one that is written to, if there is one, and the older ones. Touches no file: paths that are returned belong to
// nobody here any more, and are to be removed. Its owner guards it.
class JournalSegments {
 public:
  // What a scan has found, oldest first; none of it is written to.
  explicit JournalSegments(std::vector<JournalSegment> closed) : closed_(std::move(closed)) {}

  [[nodiscard]] std::vector<JournalSegment> all() const;
  [[nodiscard]] std::size_t count() const { return closed_.size() + (open_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t disk_bytes() const;

  // This one is written to from now on, in place of the one before, which close() or drop_all() had.
  void open(const JournalSegment& segment) { open_ = segment; }
  // As far as `written`, the open segment, counts now. How many bytes came to it.
  std::uint64_t extend(const JournalSegment& written);
  // Nothing more is written to it.
  void close(const JournalSegment& segment) { closed_.push_back(segment); }

  // The oldest, as far as they have no item from this one on. The timeline and its lives are in every header: one
  // segment always stays.
  std::vector<std::filesystem::path> release_before(std::uint64_t item);
  // All; the open one stays open() until another takes its place.
  std::vector<std::filesystem::path> drop_all();

 private:
  std::vector<JournalSegment> closed_;  // oldest first
  std::optional<JournalSegment> open_;
};

}  // namespace ballast

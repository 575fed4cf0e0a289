// The segment at a journal's end, to which records are added, and how one takes the place of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "common/files/status.h"
#include "storage/journal/journal_files.h"
#include "storage/journal/journal_records.h"
#include "storage/journal/journal_scan.h"

namespace ballast {

// A record on its way to the disk.
struct JournalEntry {
  JournalSequence sequence = 0;
  JournalRecord record;
  std::uint64_t bytes = 0;  // that it takes in the segment
};

// Records between two offsets of a segment that could not be synced. What was read back and found whole is trusted,
// never that a page is on the disk.
struct JournalCarry {
  JournalFile* file = nullptr;
  std::filesystem::path path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// One thread.
class JournalTail {
 public:
  // Makes the segment, with the records of `carry`, durable under its name. If that fails, what is left of it is
  // removed as far as the disk lets it be, and the text names the folder: each try has another name.
  static StoreResult<std::unique_ptr<JournalTail>> make(JournalFiles& files, const std::filesystem::path& folder,
                                                        std::uint64_t number, const JournalHeader& header,
                                                        const JournalCarry& carry);

  // Writes the records behind the last that was kept. They count once keep() is called; until then they can be written
  // again. `synced` is the newest sequence that is.
  StoreStatus write(const std::deque<JournalEntry>& group, JournalSequence synced);
  StoreStatus sync();
  // The records of the last write() count from now on.
  void keep();

  // Whether nothing more may be written here: a sync has failed, or a write for another reason than want of space.
  [[nodiscard]] bool suspect() const { return suspect_; }
  void distrust() { suspect_ = true; }
  // Everything that is kept survives a power cut.
  [[nodiscard]] bool is_synced() const { return synced_end_ == segment_.end; }
  // The newest sequence that does.
  [[nodiscard]] JournalSequence synced_through() const { return synced_next_ - 1; }
  // What is kept and was never synced.
  [[nodiscard]] JournalCarry unsynced() const { return {file_.get(), segment_.path, synced_end_, segment_.end}; }
  // Gives up what was never synced; another segment has it.
  void give_up_unsynced();
  [[nodiscard]] const JournalSegment& segment() const { return segment_; }

 private:
  JournalTail(std::unique_ptr<JournalFile> file, JournalSegment segment)
      : file_(std::move(file)),
        segment_(std::move(segment)),
        written_(segment_),
        synced_end_(segment_.end),
        synced_next_(segment_.next) {}

  std::unique_ptr<JournalFile> file_;
  JournalSegment segment_;  // with what is kept
  JournalSegment written_;  // with what was written behind it as well
  std::uint64_t synced_end_;
  JournalSequence synced_next_;
  std::uint64_t pushed_ = 0;  // up to where the system was asked to write
  bool suspect_ = false;
};

}  // namespace ballast

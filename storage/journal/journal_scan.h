// What a journal's folder holds: which segments count, whether they are whole, and where the last one's end is torn.
// Reads only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/files/status.h"
#include "storage/journal/journal_files.h"
#include "storage/journal/journal_records.h"

namespace ballast {

// A segment and which of its bytes count. Where a later segment begins at or below a sequence, the later one's record
// is it: a segment that could not be synced is written again into a new one.
struct JournalSegment {
  std::uint64_t number = 0;
  std::filesystem::path path;
  JournalHeader header;
  std::uint64_t begin = 0;        // offset of the first record
  std::uint64_t end = 0;          // offset behind the last record that counts
  JournalSequence next = 1;       // the sequence after the last that counts
  std::uint64_t newest_item = 0;  // the highest item of its records; 0 if there are none

  [[nodiscard]] bool empty() const { return next == header.first; }
};

struct JournalCut {
  std::filesystem::path path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // behind it
  std::string text;         // what is wrong there
};

struct JournalScan {
  std::vector<JournalSegment> segments;          // of the newest timeline, in order
  std::vector<std::filesystem::path> leftovers;  // files that no longer count
  std::optional<JournalCut> cut;                 // the last segment's torn end
  std::uint64_t synced_end = 0;                  // of the last segment: its records say themselves that all before is
  std::uint64_t newest_number = 0;               // of all segments
};

inline constexpr std::string_view kJournalUnfinished = ".new";  // ends the name of a segment that is being made

// `wanted`, if there is one, is asked before each segment; `io` where it says no.
StoreResult<JournalScan> scan_journal(JournalFiles& files, const std::filesystem::path& folder,
                                      const JournalOwner& owner, const std::function<bool()>& wanted = {});

}  // namespace ballast

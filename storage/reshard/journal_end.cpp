#include "storage/reshard/journal_end.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "storage/journal/journal.h"
#include "storage/journal/journal_scan.h"

namespace ballast {

StoreResult<std::optional<std::uint64_t>> newest_journaled_item(const std::vector<std::filesystem::path>& databases,
                                                                JournalOwner owner, Timeline timeline) {
  std::optional<std::uint64_t> newest;
  for (std::uint32_t shard = 0; shard < databases.size(); ++shard) {
    const auto folder = Journal::folder_in(databases[shard]);
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none)) {
      return std::optional<std::uint64_t>{};
    }
    owner.shard = shard;
    const auto scan = scan_journal(system_journal_files(), folder, owner);
    if (!scan.ok()) {
      return scan.status();
    }
    if (scan.value().segments.empty()) {
      return std::optional<std::uint64_t>{};
    }
    for (const auto& segment : scan.value().segments) {
      if (segment.header.timeline == timeline && !segment.empty()) {
        newest = std::max(newest.value_or(0), segment.newest_item);
      }
    }
  }
  return newest;
}

}  // namespace ballast

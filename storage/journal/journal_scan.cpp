#include "storage/journal/journal_scan.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <utility>

#include "storage/journal/journal_reader.h"

namespace ballast {
namespace {

constexpr auto kNoLimit = std::numeric_limits<JournalSequence>::max();

StoreStatus in_file(const std::filesystem::path& path, const StoreStatus& status) {
  auto text = path.string() + ": " + status.text();
  if (status.code() == StoreCode::corrupt) {
    text.append("; ").append(kDamageRemedy);
  }
  return {status.code(), std::move(text)};
}

StoreStatus damage_at(const std::filesystem::path& path, std::uint64_t offset, const std::string& text) {
  return in_file(path, {StoreCode::corrupt, "offset " + std::to_string(offset) + ": " + text});
}

StoreStatus check_owner(const JournalOwner& there, const JournalOwner& here) {
  const auto differ = [](const std::string& what, const std::string& in_journal, const std::string& wanted) {
    return StoreStatus{StoreCode::mismatch, "this is the journal of " + what + " " + in_journal + ", not of " + wanted +
                                                "; use another run folder"};
  };
  if (there.job != here.job) {
    return differ("job", there.job, here.job);
  }
  if (there.spec_digest != here.spec_digest) {
    return differ("a job of the same name with digest", there.spec_digest, here.spec_digest);
  }
  return there.shard == here.shard ? StoreStatus{}
                                   : differ("shard", std::to_string(there.shard), std::to_string(here.shard));
}

StoreResult<JournalSegment> read_header(JournalFiles& files, const std::filesystem::path& path,
                                        const JournalOwner& owner) {
  std::unique_ptr<JournalFile> file;
  if (const auto error = files.open(path, false, file); error != 0) {
    return file_status(path, "open the journal", error);
  }
  JournalWindow window(*file);
  const auto bytes = window.bytes(0, kMaxJournalHeader);
  if (window.error() != 0) {
    return file_status(path, "read the journal", window.error());
  }
  std::size_t size = 0;
  auto header = decode_journal_header(bytes, size);
  if (!header.ok()) {
    return in_file(path, header.status());
  }
  if (auto owned = check_owner(header.value().owner, owner); !owned.ok()) {
    return in_file(path, owned);
  }
  const auto first = header.value().first;
  return JournalSegment{
      parse_journal_segment_name(path.filename().string()), path, std::move(header.value()), size, size, first, 0};
}

// Of all segments, in the order of their numbers, those that count, as far as their headers tell; the paths of the
// others go to `leftovers`.
std::vector<JournalSegment> choose(std::vector<JournalSegment> all, std::vector<std::filesystem::path>& leftovers) {
  std::vector<JournalSegment> chosen;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    const bool counts = chosen.empty() || (at->header.timeline == chosen.back().header.timeline &&
                                           at->header.first < chosen.back().header.first);
    // A segment without records stands beside the next one, which begins at the same sequence.
    if (counts) {
      chosen.push_back(std::move(*at));
    } else {
      leftovers.push_back(at->path);
    }
  }
  std::reverse(chosen.begin(), chosen.end());
  std::reverse(leftovers.begin(), leftovers.end());
  return chosen;
}

// Up to where a segment was synced, as its own records tell.
class SyncedEnd {
 public:
  explicit SyncedEnd(std::uint64_t begin) : end_(begin) {}
  void add(const DecodedJournalRecord& record, std::uint64_t end) {
    for (; !unsynced_.empty() && unsynced_.front().first <= record.synced; unsynced_.pop_front()) {
      end_ = unsynced_.front().second;
    }
    unsynced_.emplace_back(record.sequence, end);
  }
  [[nodiscard]] std::uint64_t offset() const { return end_; }

 private:
  std::uint64_t end_;
  std::deque<std::pair<JournalSequence, std::uint64_t>> unsynced_;  // records and their ends
};

// Reads and checks the records below `limit`. What stopped it before, if anything did: nothing at the file's end.
StoreResult<std::optional<StoreStatus>> read_records(JournalReader& reader, JournalSegment& segment,
                                                     JournalSequence limit, SyncedEnd& synced) {
  while (segment.next < limit) {
    auto read = reader.next();
    if (!read.ok() && read.status().code() != StoreCode::corrupt) {
      return in_file(segment.path, read.status());
    }
    if (!read.ok()) {
      return std::optional(read.status());
    }
    if (!read.value()) {
      break;
    }
    const auto& found = *read.value();
    if (found.sequence != segment.next || found.record.timeline != segment.header.timeline) {
      return std::optional(StoreStatus{StoreCode::corrupt, "record " + std::to_string(found.sequence) +
                                                               " of timeline " + std::to_string(found.record.timeline) +
                                                               " stands where record " + std::to_string(segment.next) +
                                                               " of timeline " +
                                                               std::to_string(segment.header.timeline) + " belongs"});
    }
    segment.newest_item = std::max(segment.newest_item, found.record.item);
    segment.end = reader.offset();
    synced.add(found, segment.end);
    ++segment.next;
  }
  return std::optional<StoreStatus>{};
}

// All but the last were synced before the next one was begun.
StoreStatus read_inner(JournalFile& file, JournalSegment& segment, const JournalSegment& following) {
  JournalReader reader(file, segment.begin);
  SyncedEnd unused(segment.begin);
  const auto stopped = read_records(reader, segment, following.header.first, unused);
  if (!stopped.ok()) {
    return stopped.status();
  }
  if (stopped.value()) {
    return damage_at(segment.path, segment.end, stopped.value()->text());
  }
  return segment.next == following.header.first
             ? StoreStatus{}
             : damage_at(segment.path, segment.end,
                         "the segment ends here, and records " + std::to_string(segment.next) + " to " +
                             std::to_string(following.header.first - 1) + " before " +
                             following.path.filename().string() + " are missing");
}

StoreStatus read_last(JournalFile& file, JournalSegment& segment, JournalScan& scan) {
  JournalReader reader(file, segment.begin);
  SyncedEnd synced_end(segment.begin);
  const auto stopped = read_records(reader, segment, kNoLimit, synced_end);
  scan.synced_end = synced_end.offset();
  if (!stopped.ok()) {
    return stopped.status();
  }
  if (!stopped.value()) {
    return {};
  }
  const auto& text = stopped.value()->text();
  JournalReader rest(file, segment.end);
  const auto synced = rest.synced_later(segment.header.timeline, segment.next);
  if (!synced.ok()) {
    return in_file(segment.path, synced.status());
  }
  if (synced.value()) {
    return damage_at(segment.path, segment.end, text + ", though it was durable");
  }
  std::uint64_t size = 0;
  if (const auto error = file.size(size); error != 0) {
    return file_status(segment.path, "read the journal", error);
  }
  scan.cut = JournalCut{segment.path, segment.end, size - segment.end, text};
  return {};
}

StoreStatus read_segment(JournalFiles& files, JournalScan& scan, std::size_t index) {
  auto& segment = scan.segments[index];
  std::unique_ptr<JournalFile> file;
  if (const auto error = files.open(segment.path, false, file); error != 0) {
    return file_status(segment.path, "open the journal", error);
  }
  return index + 1 < scan.segments.size() ? read_inner(*file, segment, scan.segments[index + 1])
                                          : read_last(*file, segment, scan);
}

}  // namespace

StoreResult<JournalScan> scan_journal(JournalFiles& files, const std::filesystem::path& folder,
                                      const JournalOwner& owner, const std::function<bool()>& wanted) {
  JournalScan scan;
  std::vector<std::string> names;
  if (const auto error = files.list(folder, names); error != 0) {
    return file_status(folder, "list the journal", error);
  }
  std::vector<JournalSegment> all;
  for (const auto& name : names) {
    if (name.ends_with(kJournalUnfinished)) {
      scan.leftovers.push_back(folder / name);
    }
    if (parse_journal_segment_name(name) == 0) {
      continue;
    }
    auto segment = read_header(files, folder / name, owner);
    if (!segment.ok()) {
      return segment.status();
    }
    all.push_back(std::move(segment.value()));
  }
  scan.newest_number = all.empty() ? 0 : all.back().number;
  scan.segments = choose(std::move(all), scan.leftovers);
  for (std::size_t index = 0; index < scan.segments.size(); ++index) {
    if (wanted && !wanted()) {
      return StoreStatus{StoreCode::io, folder.string() + ": the journal was not read to its end: the process ends"};
    }
    if (auto read = read_segment(files, scan, index); !read.ok()) {
      return read;
    }
  }
  return scan;
}

}  // namespace ballast

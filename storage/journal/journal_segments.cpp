#include "storage/journal/journal_segments.h"

#include <utility>

namespace ballast {

std::vector<JournalSegment> JournalSegments::all() const {
  auto segments = closed_;
  if (open_) {
    segments.push_back(*open_);
  }
  return segments;
}

std::uint64_t JournalSegments::disk_bytes() const {
  std::uint64_t bytes = open_ ? open_->end : 0;
  for (const auto& segment : closed_) {
    bytes += segment.end;
  }
  return bytes;
}

std::uint64_t JournalSegments::extend(const JournalSegment& written) {
  const auto bytes = written.end - open_->end;
  open_->end = written.end;
  open_->next = written.next;
  open_->newest_item = written.newest_item;
  return bytes;
}

std::vector<std::filesystem::path> JournalSegments::release_before(std::uint64_t item) {
  std::vector<std::filesystem::path> released;
  const auto most = closed_.size() - (open_ || closed_.empty() ? 0 : 1);
  while (released.size() < most && closed_[released.size()].newest_item < item) {
    released.push_back(closed_[released.size()].path);
  }
  closed_.erase(closed_.begin(), closed_.begin() + static_cast<std::ptrdiff_t>(released.size()));
  return released;
}

std::vector<std::filesystem::path> JournalSegments::drop_all() {
  std::vector<std::filesystem::path> dropped;
  for (const auto& segment : all()) {
    dropped.push_back(segment.path);
  }
  closed_.clear();
  return dropped;
}

}  // namespace ballast

#include "storage/journal/journal_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace ballast {
namespace {

constexpr std::size_t kWindow = 4U << 20U;  // some whole records of any size
static_assert(kWindow > 2 * (kMaxJournalHead + kMaxJournalPayload));

}  // namespace

JournalWindow::JournalWindow(JournalFile& file) : file_(file) { error_ = file.size(file_bytes_); }

// Moves the `kept` bytes behind `from` to the beginning of a buffer for at least `size`.
void JournalWindow::make_room(std::size_t size, std::size_t from, std::size_t kept) {
  if (size <= room_) {
    std::memmove(buffer_.get(), buffer_.get() + from, kept);
    return;
  }
  room_ = std::max<std::size_t>(size, std::min<std::uint64_t>(kWindow, file_bytes_));
  auto larger = std::make_unique_for_overwrite<std::byte[]>(room_);
  if (kept > 0) {
    std::memcpy(larger.get(), buffer_.get() + from, kept);
  }
  buffer_ = std::move(larger);
}

std::string_view JournalWindow::bytes(std::uint64_t offset, std::size_t size) {
  if (offset < begin_ || offset + size > begin_ + held_) {
    const bool overlaps = offset >= begin_ && offset < begin_ + held_;
    const auto from = overlaps ? static_cast<std::size_t>(offset - begin_) : 0;
    const auto kept = overlaps ? held_ - from : 0;
    make_room(size, from, kept);
    begin_ = offset;
    std::size_t count = 0;
    error_ = file_.read(offset + kept, std::span(buffer_.get() + kept, room_ - kept), count);
    held_ = error_ == 0 ? kept + count : 0;
  }
  const auto at = static_cast<std::size_t>(offset - begin_);
  return {reinterpret_cast<const char*>(buffer_.get()) + at, std::min(size, held_ - std::min(at, held_))};
}

StoreStatus JournalReader::unreadable(std::uint64_t offset) const {
  return {StoreCode::io, "cannot read at offset " + std::to_string(offset) + ": " + std::strerror(window_.error()) +
                             "; see that the disk is well, then start again"};
}

StoreResult<std::optional<DecodedJournalRecord>> JournalReader::next() {
  const auto begin = window_.bytes(offset_, kMaxJournalHead);
  if (window_.error() != 0) {
    return unreadable(offset_);
  }
  if (begin.empty()) {
    return std::optional<DecodedJournalRecord>{};
  }
  const auto head = decode_journal_head(begin);
  if (!head.ok()) {
    return head.status();
  }
  const auto bytes = window_.bytes(offset_, std::size_t{head.value().head_bytes} + head.value().payload_bytes);
  if (window_.error() != 0) {
    return unreadable(offset_);
  }
  auto record = decode_journal_record(bytes);
  if (!record.ok()) {
    return record.status();
  }
  offset_ += bytes.size();
  return std::optional(std::move(record.value()));
}

StoreResult<bool> JournalReader::synced_later(Timeline timeline, JournalSequence sequence) {
  // Windows overlap by a head, so that none is missed between two.
  for (auto from = offset_ + 1;; from += kWindow / 2) {
    const auto bytes = window_.bytes(from, kWindow / 2 + kMaxJournalHead);
    if (window_.error() != 0) {
      return unreadable(from);
    }
    for (auto at = bytes.find(kJournalRecordMagic); at != std::string_view::npos && at < kWindow / 2;
         at = bytes.find(kJournalRecordMagic, at + 1)) {
      const auto head = decode_journal_head(bytes.substr(at));
      if (head.ok() && head.value().record.timeline == timeline && head.value().synced >= sequence) {
        return true;
      }
    }
    if (bytes.size() <= kWindow / 2) {
      return false;
    }
  }
}

}  // namespace ballast

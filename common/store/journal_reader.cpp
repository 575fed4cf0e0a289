#include "common/store/journal_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace ballast {
namespace {

constexpr std::size_t kWindow = 4U << 20U;
static_assert(kWindow > 2 * (kMaxJournalHead + kMaxJournalPayload));

}  // namespace

std::string_view JournalWindow::bytes(std::uint64_t offset, std::size_t size) {
  if (offset < begin_ || offset + size > begin_ + held_) {
    buffer_.resize(std::max(kWindow, size));
    const auto from = offset - begin_;
    const bool overlaps = offset >= begin_ && from < held_;
    const auto kept = overlaps ? held_ - static_cast<std::size_t>(from) : 0;
    if (kept > 0) {
      std::memmove(buffer_.data(), buffer_.data() + from, kept);
    }
    begin_ = offset;
    std::size_t count = 0;
    error_ = file_.read(offset + kept, std::span(buffer_).subspan(kept), count);
    held_ = error_ == 0 ? kept + count : 0;
  }
  const auto at = static_cast<std::size_t>(offset - begin_);
  return {reinterpret_cast<const char*>(buffer_.data()) + at, std::min(size, held_ - std::min(at, held_))};
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

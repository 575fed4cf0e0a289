#include "storage/journal/journal_tail.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "storage/journal/journal_reader.h"

namespace ballast {
namespace {

constexpr const char* kMake = "make a file of the journal";

iovec part_of(std::span<const std::byte> bytes) {
  // writev's interface knows no const; it only reads.
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

iovec part_of(const std::string& bytes) { return part_of(std::as_bytes(std::span(bytes))); }

StoreStatus lost(const JournalCarry& carry, JournalSequence sequence, const StoreStatus& why) {
  return {StoreCode::corrupt, carry.path.string() + ": record " + std::to_string(sequence) +
                                  " could not be synced, and cannot be read back to be written elsewhere (" +
                                  why.text() + "); restart this server, and it goes on from what is durable"};
}

// Copies what is to be carried behind the end of `segment`, record by record, each checked.
StoreStatus copy_carried(const JournalCarry& carry, JournalFile& file, JournalSegment& segment) {
  if (carry.begin == carry.end) {
    return {};
  }
  JournalReader reader(*carry.file, carry.begin);
  while (reader.offset() < carry.end) {
    const auto read = reader.next();
    if (!read.ok()) {
      return lost(carry, segment.next, read.status());
    }
    if (!read.value() || read.value()->sequence != segment.next) {
      return lost(carry, segment.next, {StoreCode::corrupt, "it is not there"});
    }
    const auto& found = *read.value();
    const auto head = encode_journal_head(found.record, found.sequence, found.synced);
    const iovec parts[] = {part_of(head), part_of(found.record.payload)};
    const auto folder = segment.path.parent_path();
    if (auto written = file_status(folder, kMake, file.write(segment.end, parts)); !written.ok()) {
      return written;
    }
    segment.end += head.size() + found.record.payload.size();
    segment.newest_item = std::max(segment.newest_item, found.record.item);
    ++segment.next;
  }
  return {};
}

// Writes all of the new segment and syncs it, under a name that does not count yet.
StoreStatus fill(const JournalHeader& header, const JournalCarry& carry, JournalFile& file, JournalSegment& segment) {
  const auto folder = segment.path.parent_path();
  const auto bytes = encode_journal_header(header);
  const iovec parts[] = {part_of(bytes)};
  if (auto written = file_status(folder, kMake, file.write(0, parts)); !written.ok()) {
    return written;
  }
  segment.begin = segment.end = bytes.size();
  if (auto copied = copy_carried(carry, file, segment); !copied.ok()) {
    return copied;
  }
  return file_status(folder, kMake, file.sync());
}

}  // namespace

StoreResult<std::unique_ptr<JournalTail>> JournalTail::make(JournalFiles& files, const std::filesystem::path& folder,
                                                            std::uint64_t number, const JournalHeader& header,
                                                            const JournalCarry& carry) {
  JournalSegment segment;
  segment.number = number;
  segment.path = folder / journal_segment_name(number);
  segment.header = header;
  segment.next = header.first;
  const auto unfinished = std::filesystem::path(segment.path.string().append(kJournalUnfinished));
  std::unique_ptr<JournalFile> file;
  auto status = file_status(folder, kMake, files.create(unfinished, file));
  if (status.ok()) {
    status = fill(header, carry, *file, segment);
  }
  if (status.ok()) {
    status = file_status(folder, kMake, files.rename(unfinished, segment.path));
  }
  if (status.ok()) {
    status = file_status(folder, kMake, files.sync_folder(folder));
  }
  if (!status.ok()) {
    files.remove(unfinished);
    files.remove(segment.path);
    return status;
  }
  return std::unique_ptr<JournalTail>(new JournalTail(std::move(file), std::move(segment)));
}

StoreStatus JournalTail::write(const std::deque<JournalEntry>& group, JournalSequence synced) {
  std::vector<std::string> heads;
  std::vector<iovec> parts;
  heads.reserve(group.size());
  parts.reserve(2 * group.size());
  written_ = segment_;
  for (const auto& entry : group) {
    heads.push_back(encode_journal_head(entry.record, entry.sequence, synced));
    parts.push_back(part_of(heads.back()));
    parts.push_back(part_of(entry.record.payload));
    written_.end += entry.bytes;
    written_.next = entry.sequence + 1;
    written_.newest_item = std::max(written_.newest_item, entry.record.item);
  }
  const auto error = file_->write(segment_.end, parts);
  if (error == 0) {
    return {};
  }
  written_ = segment_;
  suspect_ = suspect_ || code_of(error) != StoreCode::no_space;
  file_->cut(segment_.end);  // gives the space back to whoever needs it; if it fails, the next write overwrites
  return file_status(segment_.path, "write the journal", error);
}

StoreStatus JournalTail::sync() {
  const auto error = file_->sync();
  if (error != 0) {
    suspect_ = true;
    return file_status(segment_.path, "sync the journal", error);
  }
  synced_end_ = written_.end;
  synced_next_ = written_.next;
  return {};
}

void JournalTail::keep() {
  segment_.end = written_.end;
  segment_.next = written_.next;
  segment_.newest_item = written_.newest_item;
  constexpr std::uint64_t kPush = 4U << 20U;
  if (!is_synced() && segment_.end - std::max(pushed_, synced_end_) >= kPush) {
    const auto from = std::max(pushed_, synced_end_);
    file_->push_out(from, segment_.end - from);
    pushed_ = segment_.end;
  }
}

void JournalTail::give_up_unsynced() {
  segment_.end = synced_end_;
  segment_.next = synced_next_;
  written_ = segment_;
  file_->cut(synced_end_);
}

}  // namespace ballast

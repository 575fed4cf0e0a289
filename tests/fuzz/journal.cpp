// Feeds arbitrary bytes to the readers of a shard's journal.
//
// The first byte says what the rest is: a record, a header, or the records of a segment whose header is well. A record
// and a header are tried as they stand and once more with their checksums made to fit, because nothing that is drawn at
// random gets past those; a segment, which takes long, with checksums that fit as far as its sizes lead. Beyond not
// crashing: what decodes is, byte for byte, what the encoder writes; of a segment, exactly the records up to where its
// scan says that it ends can be read, one after the other. What is refused must say why.
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "storage/journal/journal_reader.h"
#include "storage/journal/journal_records.h"
#include "storage/journal/journal_scan.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {
namespace {

constexpr std::size_t kChecksum = 4;
constexpr std::size_t kSizesAt = 4;  // of a record, behind its magic
const JournalOwner kOwner{"job", "digest", 1};

void put_checksum(std::string& bytes, std::size_t at, std::string_view checked) {
  ByteWriter sum;
  sum.number(crc32c(checked));
  bytes.replace(at, kChecksum, sum.take());
}

// Each record with checksums that hold, as far as the sizes in their heads lead to the next one.
std::string mended_records(std::string_view bytes) {
  std::string mended(bytes);
  for (std::size_t at = 0; at + kMinJournalHead <= mended.size();) {
    ByteReader sizes(std::string_view(mended).substr(at + kSizesAt));
    const std::size_t head = sizes.number<std::uint32_t>();
    const std::size_t payload = sizes.number<std::uint32_t>();
    const auto left = mended.size() - at;
    if (head < kMinJournalHead || head > left) {
      break;
    }
    const auto content = mended.substr(at + head, std::min(payload, left - head));
    put_checksum(mended, at + head - 2 * kChecksum, content);
    put_checksum(mended, at + head - kChecksum, mended.substr(at, head - kChecksum));
    at += head + content.size();
  }
  return mended;
}

std::string mended_header(std::string_view bytes) {
  std::string mended(bytes);
  ByteReader reader(bytes);
  reader.raw(kJournalHeaderMagic.size() + 4);
  const std::size_t size = reader.number<std::uint32_t>();
  if (size >= kMinJournalHeader && size <= mended.size()) {
    put_checksum(mended, size - kChecksum, mended.substr(0, size - kChecksum));
  }
  return mended;
}

void try_record(std::string_view bytes) {
  const auto decoded = decode_journal_record(bytes);
  if (!decoded.ok()) {
    return expect_line(decoded.status().text());
  }
  const auto& [sequence, synced, record] = decoded.value();
  const std::string payload(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  expect(encode_journal_head(record, sequence, synced) + payload == bytes, "what decodes is what the encoder writes");
}

void try_header(std::string_view bytes) {
  std::size_t size = 0;
  const auto decoded = decode_journal_header(bytes, size);
  if (!decoded.ok()) {
    return expect_line(decoded.status().text());
  }
  expect(encode_journal_header(decoded.value()) == bytes.substr(0, size), "what decodes is what the encoder writes");
}

// A file in memory, which nobody writes.
class OneFile final : public JournalFile {
 public:
  explicit OneFile(std::string_view content) : content_(content) {}

  FileError read(std::uint64_t offset, std::span<std::byte> into, std::size_t& count) override {
    const auto from = std::min<std::uint64_t>(offset, content_.size());
    count = std::min<std::size_t>(into.size(), content_.size() - from);
    if (count > 0) {
      std::memcpy(into.data(), content_.data() + from, count);
    }
    return 0;
  }
  FileError size(std::uint64_t& bytes) override {
    bytes = content_.size();
    return 0;
  }
  FileError write(std::uint64_t /*offset*/, std::span<const iovec> /*parts*/) override { return EROFS; }
  FileError sync() override { return EROFS; }
  FileError cut(std::uint64_t /*size*/) override { return EROFS; }
  void push_out(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {}

 private:
  std::string_view content_;
};

// A folder in memory that holds one segment.
class OneSegment final : public JournalFiles {
 public:
  explicit OneSegment(std::string_view content) : content_(content) {}

  FileError open(const std::filesystem::path& /*path*/, bool /*writable*/,
                 std::unique_ptr<JournalFile>& file) override {
    file = std::make_unique<OneFile>(content_);
    return 0;
  }
  FileError list(const std::filesystem::path& /*folder*/, std::vector<std::string>& names) override {
    names = {journal_segment_name(1)};
    return 0;
  }
  FileError create(const std::filesystem::path& /*path*/, std::unique_ptr<JournalFile>& /*file*/) override {
    return EROFS;
  }
  FileError rename(const std::filesystem::path& /*from*/, const std::filesystem::path& /*to*/) override {
    return EROFS;
  }
  FileError remove(const std::filesystem::path& /*path*/) override { return EROFS; }
  FileError make_folder(const std::filesystem::path& /*folder*/) override { return EROFS; }
  FileError lock(const std::filesystem::path& /*folder*/, std::unique_ptr<JournalLock>& /*lock*/) override {
    return EROFS;
  }
  std::uint64_t free_bytes(const std::filesystem::path& /*folder*/) override { return 0; }
  FileError sync_folder(const std::filesystem::path& /*folder*/) override { return EROFS; }

 private:
  std::string_view content_;
};

void expect_readable(const JournalScan& scan, std::string_view content) {
  expect(scan.segments.size() == 1, "a folder with one segment has one");
  const auto& segment = scan.segments.front();
  expect(segment.begin <= segment.end && segment.end <= content.size(), "a segment ends within its file");
  expect(scan.cut.has_value() == (segment.end < content.size()), "what is behind the last record is cut off");
  OneFile file(content);
  JournalReader reader(file, segment.begin);
  for (auto sequence = segment.header.first; sequence != segment.next; ++sequence) {
    const auto record = reader.next();
    expect(record.ok() && record.value() && record.value()->sequence == sequence &&
               record.value()->record.timeline == segment.header.timeline,
           "every record that counts can be read, in order");
  }
  expect(reader.offset() == segment.end, "the records that count lead to the segment's end");
}

void try_segment(std::string_view records) {
  const auto content = encode_journal_header({kOwner, 2, 5, {{11, 0}, {12, 4}}}).append(records);
  OneSegment files(content);
  const auto scan = scan_journal(files, "journal", kOwner);
  if (scan.ok()) {
    expect_readable(scan.value(), content);
  } else {
    expect_line(scan.status().text());
  }
}

void try_input(std::uint8_t kind, std::string_view bytes) {
  switch (kind % 3) {
    case 0:
      try_record(bytes);
      return try_record(mended_records(bytes));
    case 1:
      try_header(bytes);
      return try_header(mended_header(bytes));
    default:
      return try_segment(mended_records(bytes));
  }
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    ballast::fuzz::try_input(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  }
  return 0;
}

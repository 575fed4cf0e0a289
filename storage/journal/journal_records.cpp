#include "storage/journal/journal_records.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstdio>
#include <utility>

#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {
namespace {

constexpr std::size_t kNameDigits = 16;
constexpr std::size_t kChecksum = sizeof(std::uint32_t);

StoreStatus damaged(std::string text) { return {StoreCode::corrupt, std::move(text)}; }

std::string_view view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteWriter& write_float(ByteWriter& out, float value) { return out.number(std::bit_cast<std::uint32_t>(value)); }
float read_float(ByteReader& in) { return std::bit_cast<float>(in.number<std::uint32_t>()); }

std::string seal(ByteWriter& content) {
  auto bytes = content.take();
  ByteWriter sum;
  sum.number(crc32c(bytes));
  return bytes + sum.take();
}

// The first `size` bytes, if they end with the checksum of what is before it.
bool sealed(std::string_view bytes, std::size_t size) {
  ByteReader sum(bytes.substr(size - kChecksum, kChecksum));
  return crc32c(bytes.substr(0, size - kChecksum)) == sum.number<std::uint32_t>();
}

// How many entries follow; none if there are more than `most`, or than the bytes can hold.
std::size_t read_count(ByteReader& in, std::size_t most, std::size_t entry_bytes) {
  const auto count = in.number<std::uint32_t>();
  if (count > most || count * entry_bytes > in.left()) {
    in.raw(in.left() + 1);  // fails the reader
    return 0;
  }
  return count;
}

JournalHeader read_header(ByteReader& in) {
  JournalHeader header;
  header.owner.job = in.text();
  header.owner.spec_digest = in.text();
  header.owner.shard = in.number<std::uint32_t>();
  header.timeline = in.number<std::uint64_t>();
  header.first = in.number<std::uint64_t>();
  const auto lives = read_count(in, kMaxJournalLives, 8 + 8);
  header.lives.reserve(lives);
  for (std::size_t i = 0; i < lives; ++i) {
    const auto incarnation = in.number<std::uint64_t>();
    header.lives.push_back({incarnation, in.number<std::uint64_t>()});
  }
  return header;
}

// `in` stands behind the sizes. Whether skip is a truth value is left to `skip`.
JournalHead read_head(ByteReader& in, std::uint8_t& skip) {
  JournalHead head;
  auto& record = head.record;
  head.sequence = in.number<std::uint64_t>();
  head.synced = in.number<std::uint64_t>();
  record.timeline = in.number<std::uint64_t>();
  record.chunk = in.number<std::uint32_t>();
  record.item = in.number<std::uint64_t>();
  record.version = in.number<std::uint64_t>();
  record.factors.learning_rate = read_float(in);
  record.factors.step_size = read_float(in);
  record.factors.second_moment_root = read_float(in);
  skip = in.number<std::uint8_t>();
  record.factors.skip = skip != 0;
  record.staleness = in.number<std::uint64_t>();
  record.session = in.number<std::uint64_t>();
  const auto marks = read_count(in, kMaxJournalMarks, kJournalMarkBytes);
  record.marks.reserve(marks);
  for (std::size_t i = 0; i < marks; ++i) {
    JournalMark mark;
    mark.shard = in.number<std::uint32_t>();
    mark.incarnation = in.number<std::uint64_t>();
    mark.sequence = in.number<std::uint64_t>();
    record.marks.push_back(mark);
  }
  head.payload_checksum = in.number<std::uint32_t>();
  return head;
}

}  // namespace

std::string journal_segment_name(std::uint64_t number) {
  std::array<char, kNameDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

std::uint64_t parse_journal_segment_name(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (name.size() != kNameDigits) {
    return 0;
  }
  std::uint64_t number = 0;
  for (const char digit : name) {
    const auto value = kDigits.find(digit);
    if (value == std::string_view::npos) {
      return 0;
    }
    number = number << 4U | value;
  }
  return number;
}

std::string encode_journal_header(const JournalHeader& header) {
  assert(header.lives.size() <= kMaxJournalLives);
  const auto texts = header.owner.job.size() + header.owner.spec_digest.size();
  const auto size = kMinJournalHeader + texts + header.lives.size() * (8 + 8);
  ByteWriter out;
  out.raw(kJournalHeaderMagic).number(kJournalFormat).number(static_cast<std::uint32_t>(size));
  out.text(header.owner.job).text(header.owner.spec_digest).number(header.owner.shard);
  out.number(header.timeline).number(header.first).number(static_cast<std::uint32_t>(header.lives.size()));
  for (const auto& life : header.lives) {
    out.number(life.incarnation).number(life.begun);
  }
  auto bytes = seal(out);
  assert(bytes.size() == size);
  return bytes;
}

StoreResult<JournalHeader> decode_journal_header(std::string_view bytes, std::size_t& size) {
  ByteReader in(bytes);
  if (in.raw(kJournalHeaderMagic.size()) != kJournalHeaderMagic) {
    return damaged("this is not a segment of a journal (wrong magic)");
  }
  const auto format = in.number<std::uint32_t>();
  size = in.number<std::uint32_t>();
  if (size < kMinJournalHeader || size > kMaxJournalHeader || size > bytes.size() || !sealed(bytes, size)) {
    // A format that changes more than the payload of a header would still begin in this way.
    return damaged("the header is damaged: its checksum does not match");
  }
  if (format != kJournalFormat) {
    return StoreStatus{StoreCode::mismatch, "the journal has format " + std::to_string(format) +
                                                "; this program reads format " + std::to_string(kJournalFormat)};
  }
  in = ByteReader(bytes.substr(0, size - kChecksum));
  in.raw(kJournalHeaderMagic.size() + 4 + 4);
  auto header = read_header(in);
  const bool bounded =
      header.owner.job.size() <= kMaxJournalHeaderText && header.owner.spec_digest.size() <= kMaxJournalHeaderText;
  if (!in.done() || !bounded || header.first == 0) {
    return damaged("the header is damaged: its fields do not fit together");
  }
  return header;
}

std::string encode_journal_head(const JournalRecord& record, JournalSequence sequence, JournalSequence synced) {
  assert(record.marks.size() <= kMaxJournalMarks);
  assert(record.payload.size() <= kMaxJournalPayload);
  assert(record.factors.scales.empty() && (record.factors.skip || !record.payload.empty()));
  const auto size = kMinJournalHead + record.marks.size() * kJournalMarkBytes;
  ByteWriter out;
  out.reserve(size);
  out.raw(kJournalRecordMagic).number(static_cast<std::uint32_t>(size));
  out.number(static_cast<std::uint32_t>(record.payload.size())).number(sequence).number(synced);
  out.number(record.timeline).number(record.chunk).number(record.item).number(record.version);
  write_float(out, record.factors.learning_rate);
  write_float(out, record.factors.step_size);
  write_float(out, record.factors.second_moment_root);
  out.number(static_cast<std::uint8_t>(record.factors.skip ? 1 : 0)).number(record.staleness).number(record.session);
  out.number(static_cast<std::uint32_t>(record.marks.size()));
  for (const auto& mark : record.marks) {
    out.number(mark.shard).number(mark.incarnation).number(mark.sequence);
  }
  out.number(crc32c(view(record.payload)));
  auto bytes = seal(out);
  assert(bytes.size() == size);
  return bytes;
}

StoreResult<JournalHead> decode_journal_head(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.raw(kJournalRecordMagic.size()) != kJournalRecordMagic) {
    return damaged("no record begins here (wrong magic)");
  }
  const auto head_bytes = in.number<std::uint32_t>();
  const auto payload_bytes = in.number<std::uint32_t>();
  if (head_bytes < kMinJournalHead || head_bytes > kMaxJournalHead || head_bytes > bytes.size() ||
      !sealed(bytes, head_bytes)) {
    return damaged("the record's head is cut short or damaged: its checksum does not match");
  }
  in = ByteReader(bytes.substr(0, head_bytes - kChecksum));
  in.raw(kJournalRecordMagic.size() + 4 + 4);
  std::uint8_t skip = 0;
  auto head = read_head(in, skip);
  head.head_bytes = head_bytes;
  head.payload_bytes = payload_bytes;
  const bool fits = head.sequence > 0 && head.synced < head.sequence && payload_bytes <= kMaxJournalPayload &&
                    skip <= 1 && (payload_bytes > 0 || skip == 1);
  if (!in.done() || !fits) {
    return damaged("the record's head is damaged: its fields do not fit together");
  }
  return head;
}

bool matches(const JournalHead& head, std::span<const std::byte> payload) {
  return payload.size() == head.payload_bytes && crc32c(view(payload)) == head.payload_checksum;
}

StoreResult<DecodedJournalRecord> decode_journal_record(std::string_view bytes) {
  auto head = decode_journal_head(bytes);
  if (!head.ok()) {
    return head.status();
  }
  const auto payload = std::as_bytes(std::span(bytes)).subspan(head.value().head_bytes);
  if (payload.size() != head.value().payload_bytes) {
    return damaged("the record says " + std::to_string(head.value().payload_bytes) + " bytes of payload and has " +
                   std::to_string(payload.size()));
  }
  if (!matches(head.value(), payload)) {
    return damaged("the record's payload is damaged: its checksum does not match");
  }
  DecodedJournalRecord decoded{head.value().sequence, head.value().synced, std::move(head.value().record)};
  decoded.record.payload = payload;
  return decoded;
}

}  // namespace ballast

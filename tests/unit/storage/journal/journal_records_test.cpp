// The bytes of the journal: what is encoded is decoded, and nothing else is.
#include <doctest/doctest.h>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "tests/unit/storage/journal/journal_testing.h"

namespace ballast {
namespace {

std::string encode_record(const JournalRecord& record, JournalSequence sequence, JournalSequence synced) {
  auto bytes = encode_journal_head(record, sequence, synced);
  bytes.append(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  return bytes;
}

JournalHeader some_header() { return {kOwner, 3, 17, {{7, 0}, {8, 16}}}; }

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

// A head whose checksum is right, with one byte of it changed before it was computed.
std::string reseal(std::string bytes, std::size_t size, std::size_t at, char value) {
  bytes[at] = value;
  ByteWriter sum;
  sum.number(crc32c(std::string_view(bytes).substr(0, size - 4)));
  return bytes.replace(size - 4, 4, sum.take());
}

TEST_CASE("a journal's record is read as it was written") {
  RecordMaker maker;
  for (std::uint64_t n = 1; n < 40; ++n) {
    const auto bytes = encode_record(maker.make(n, 5), n, n - 1);
    const auto decoded = decode_journal_record(bytes);
    REQUIRE(decoded.ok());
    CHECK(decoded.value().sequence == n);
    CHECK(decoded.value().synced == n - 1);
    maker.check(decoded.value().record, n, 5);
  }
}

TEST_CASE("the bytes of a journal's record and header are fixed") {
  RecordMaker maker(4);
  CHECK(hexadecimal(encode_record(maker.make(1, 2), 9, 8)) ==
        "424c4a52750000000400000009000000000000000800000000000000020000000000000001000000000000000000000001000000"
        "000000000000c03f0000803e0000403f000300000000000000e90300000000000001000000000000006500000000000000020000"
        "000000000097fce9c54059900062626262");
  CHECK(hexadecimal(encode_journal_header(some_header())) ==
        "424c4a480100000059000000030000006a6f620600000064696765737401000000030000000000000011000000000000000200000"
        "00700000000000000000000000000000008000000000000001000000000000000e61608df");
}

TEST_CASE("a journal's record cut anywhere, or longer, is refused") {
  RecordMaker maker;
  for (const std::uint64_t n : {3U, 4U}) {
    const auto bytes = encode_record(maker.make(n, 5), n, 0);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK_FALSE(decode_journal_record(std::string_view(bytes).substr(0, size)).ok());
    }
    CHECK_FALSE(decode_journal_record(bytes + "x").ok());
  }
}

TEST_CASE("every flipped bit of a journal's record and header is noticed") {
  RecordMaker maker;
  const auto record = encode_record(maker.make(3, 5), 3, 1);
  const auto header = encode_journal_header(some_header());
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    auto flipped = record;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    CHECK_FALSE(decode_journal_record(flipped).ok());
  }
  for (std::size_t bit = 0; bit < 8 * header.size(); ++bit) {
    auto flipped = header;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    std::size_t size = 0;
    CHECK_FALSE(decode_journal_header(flipped, size).ok());
  }
}

TEST_CASE("a journal's header is read as it was written, whatever follows it") {
  const auto bytes = encode_journal_header(some_header());
  std::size_t size = 0;
  const auto decoded = decode_journal_header(bytes + "more", size);
  REQUIRE(decoded.ok());
  CHECK(decoded.value() == some_header());
  CHECK(size == bytes.size());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CHECK_FALSE(decode_journal_header(std::string_view(bytes).substr(0, cut), size).ok());
  }
}

TEST_CASE("a journal of another format is refused by name") {
  const auto bytes = encode_journal_header(some_header());
  std::size_t size = 0;
  for (const char format : {'\0', '\2', '\11'}) {
    const auto refused = decode_journal_header(reseal(bytes, bytes.size(), 4, format), size);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::mismatch);
    CHECK(refused.status().text().find("has format " + std::to_string(format) + "; this program reads format 1") !=
          std::string::npos);
  }
}

TEST_CASE("heads whose checksum is right but whose fields cannot be are refused") {
  RecordMaker maker;
  const auto record = maker.make(1, 5);
  const auto head = encode_journal_head(record, 1, 0);
  CHECK(decode_journal_head(head).ok());
  const std::size_t skip = 4 + 4 + 4 + 8 + 8 + 8 + 4 + 8 + 8 + 4 + 4 + 4;
  const std::size_t count = skip + 1 + 8 + 8;
  CHECK(decode_journal_head(reseal(head, head.size(), skip, 1)).ok());
  for (const auto& [at, value] : {std::pair<std::size_t, char>{skip, 2},
                                  {8, 0},      // no payload, and no skip
                                  {8 + 3, 1},  // 16 MiB of payload
                                  {12, 0},     // sequence 0
                                  {20, 1},     // synced, and not yet written
                                  {count, 0},  // bytes left over
                                  {count, 2},  // more than there are
                                  {count + 3, 127}}) {
    const auto place = at;
    CAPTURE(place);
    CHECK_FALSE(decode_journal_head(reseal(head, head.size(), at, value)).ok());
  }
}

TEST_CASE("names of segments are their numbers") {
  CHECK(journal_segment_name(0x1f2) == "00000000000001f2");
  CHECK(parse_journal_segment_name("00000000000001f2") == 0x1f2);
  for (const auto* name : {"", "1f2", "00000000000001F2", "00000000000001f2.new", "00000000000001f"}) {
    CHECK(parse_journal_segment_name(name) == 0);
  }
}

}  // namespace
}  // namespace ballast

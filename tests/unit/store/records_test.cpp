#include "common/store/records.h"

#include <doctest/doctest.h>

#include <limits>

#include "common/store/bytes.h"
#include "common/store/checksum.h"

namespace ballast {
namespace {

const Identity kIdentity{kDatabaseFormat, "mnist", "spec", "layout", 1, 3, "job: mnist\ntraining:\n  batch: 128\n"};
const TimelineRecord kTimeline{2, 600, {11, 22, 33}};
const FinishedRecord kFinished{2, 4680};
const FailureRecord kFailure{2, "the disk is full"};
const TensorKey kKey{1, 600, TensorKind::momentum, 7};
const std::string kContent("sixteen bytes!\0\xFF", 16);

std::string tensor_record() { return encode_tensor(kKey, std::as_bytes(std::span(kContent))); }

// A record whose head says what it likes, with a checksum that holds.
std::string forge(std::string_view magic, std::uint16_t kind, std::uint16_t version, std::string_view payload) {
  ByteWriter head;
  head.raw(magic).number(kind).number(version).number(std::uint64_t{payload.size()});
  auto record = head.take();
  ByteWriter tail;
  tail.number(crc32c(payload, crc32c(record))).raw(payload);
  return record + tail.take();
}

// Whether any decoder accepts the bytes.
bool anyone_accepts(std::string_view record) {
  return decode_identity(record).ok() || decode_timeline(record).ok() || decode_finished(record).ok() ||
         decode_failure(record).ok() || decode_tensor(kKey, record).ok();
}

TEST_CASE("every record comes back as it was") {
  CHECK(decode_identity(encode(kIdentity)).value() == kIdentity);
  CHECK(decode_timeline(encode(kTimeline)).value() == kTimeline);
  CHECK(decode_timeline(encode(TimelineRecord{})).value() == TimelineRecord{});
  CHECK(decode_finished(encode(kFinished)).value() == kFinished);
  CHECK(decode_failure(encode(kFailure)).value() == kFailure);
  const auto record = tensor_record();
  const auto bytes = decode_tensor(kKey, record);
  REQUIRE(bytes.ok());
  CHECK(std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()) == kContent);
}

TEST_CASE("the bytes of a record are fixed: databases outlive programs") {
  ByteWriter expected;
  expected.raw("BLST").number(std::uint16_t{4}).number(std::uint16_t{1}).number(std::uint64_t{16});
  auto record = expected.take();
  const std::string payload("\x02\0\0\0\0\0\0\0\x48\x12\0\0\0\0\0\0", 16);
  ByteWriter sum;
  sum.number(crc32c(record + payload));
  CHECK(encode(kFinished) == record + sum.take() + payload);
}

TEST_CASE("a record cut at any byte is refused") {
  for (const auto& record :
       {encode(kIdentity), encode(kTimeline), encode(kFinished), encode(kFailure), tensor_record()}) {
    for (std::size_t size = 0; size < record.size(); ++size) {
      REQUIRE_FALSE(anyone_accepts(std::string_view(record).substr(0, size)));
    }
    REQUIRE_FALSE(anyone_accepts(record + "x"));
    REQUIRE(anyone_accepts(record));
  }
}

TEST_CASE("a record with any bit flipped is refused") {
  for (const auto& record :
       {encode(kIdentity), encode(kTimeline), encode(kFinished), encode(kFailure), tensor_record()}) {
    for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
      auto damaged = record;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      REQUIRE_FALSE(anyone_accepts(damaged));
    }
  }
}

TEST_CASE("a record of another kind, version, magic or key is refused by name") {
  CHECK(decode_timeline(encode(kFinished)).status().text() == "the record is of kind 4, expected 2");
  const auto newer = decode_finished(forge("BLST", 4, 2, std::string(16, '\0')));
  CHECK(newer.status().code() == StoreCode::mismatch);
  CHECK(newer.status().text() == "the record has version 2; this program reads version 1");
  CHECK(decode_finished(forge("TSLB", 4, 1, std::string(16, '\0'))).status().text() ==
        "the record is not one of this program's (wrong magic)");
  for (const auto& key : {TensorKey{2, 600, TensorKind::momentum, 7}, TensorKey{1, 601, TensorKind::momentum, 7},
                          TensorKey{1, 600, TensorKind::weights, 7}, TensorKey{1, 600, TensorKind::momentum, 8}}) {
    CHECK(decode_tensor(key, tensor_record()).status().text() == "the record belongs to another key");
  }
}

TEST_CASE("lengths that lie inside an intact record are refused") {
  constexpr auto kMany = std::numeric_limits<std::uint32_t>::max();
  ByteWriter timeline;
  timeline.number(std::uint64_t{1}).number(std::uint64_t{0}).number(kMany).number(std::uint64_t{5});
  CHECK(decode_timeline(forge("BLST", 2, 1, timeline.take())).status().text() == "the record ends too early");
  ByteWriter failure;
  failure.number(std::uint64_t{1}).number(kMany).raw("short");
  CHECK(decode_failure(forge("BLST", 5, 1, failure.take())).status().text() == "the record ends too early");
  CHECK(decode_finished(forge("BLST", 4, 1, std::string(17, '\0'))).status().text() ==
        "the record has bytes left over");
  CHECK(decode_tensor(kKey, forge("BLST", 3, 1, "tiny")).status().text() == "the record ends too early");
  CHECK_FALSE(decode_identity(forge("BLST", 1, 1, "")).ok());
}

TEST_CASE("an identity of another database format says which, whatever follows") {
  const auto found = decode_identity(forge("BLST", 1, 1, std::string("\x07\0\0\0anything", 12)));
  CHECK(found.status().code() == StoreCode::mismatch);
  CHECK(found.status().text().find("format 7; this program reads format 1") != std::string::npos);
}

TEST_CASE("tensor keys say where they belong and sort by number") {
  CHECK(tensor_key(kKey) == "momentum/0000000000000001/0000000000000258/00000007");
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  for (const auto& key : {kKey, TensorKey{}, TensorKey{kMost, kMost, TensorKind::weights, 0xFFFFFFFFU}}) {
    CHECK(parse_tensor_key(tensor_key(key)) == key);
  }
  CHECK(tensor_key({1, 9, TensorKind::weights, 2}) < tensor_key({1, 9, TensorKind::weights, 10}));
  CHECK(tensor_key({1, 9, TensorKind::weights, 99}) < tensor_key({1, 10, TensorKind::weights, 0}));
  CHECK(tensor_key(kKey).starts_with(tensor_prefix(1, 600, TensorKind::momentum)));
}

TEST_CASE("what is not a tensor's key is not taken for one") {
  for (const char* key :
       {"", "weights", "identity", "ledger/finished", "weights/1/2/3",
        "weights/0000000000000001/0000000000000258/0000000g", "weights/0000000000000001/0000000000000258/0000000A",
        "weights/0000000000000001/0000000000000258/000000007", "weights/0000000000000001x0000000000000258/00000007"}) {
    CAPTURE(key);
    CHECK_FALSE(parse_tensor_key(key));
  }
}

}  // namespace
}  // namespace ballast

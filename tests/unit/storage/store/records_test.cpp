#include "storage/store/records.h"

#include <doctest/doctest.h>

#include <limits>

#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {
namespace {

const Identity kRecordIdentity{
    kDatabaseFormat, "mnist", "spec", "layout", 1, 3, "job: mnist\ntraining:\n  batch: 128\n"};
const TimelineRecord kTimeline{2, {1, 600}, 33};
const SnapshotId kFinished{2, 4680};
const DatabaseLife kLife{0x0123456789abcdef, 7};
const SnapshotId kSealed{1, 600};
const Timeline kHeld = 7;
const Ledger kLedger{
    2,
    {1, 600},
    {11, 22, 33},
    {{1001, 4}, {1002, 1}, {1003, 2}},
    {{1, 600}, {2, 800}},
    SnapshotId{1, 600},
    {{7, 8}, {20, 40}},
    {4, 5, 6, 7, 8, 1},
    52,
    3,
    SnapshotId{2, 800},
    Pause::held,
    5,
    4,
    {{"0f", "worker a"}, {{"cpu-float32-1", "worker a"}, {"cpu-float32-2", "worker b"}}, {"1e", "shard 1"}},
    {0x5b1f0c2a9d3e4f60, {2, 800}, {1, 600}, 0x1234, 3},
    9,
    {0x1233, 0x1232},
    {2, 700},
    800,
    {700, 800}};
const EvaluationRecord kEvaluation{800,      Split::test, 0.0625,
                                   0.984375, 10000,       {{MetricKind::top5, 0.5}, {MetricKind::perplexity, 12.25}}};
const StepStatistics kStatistics{799, 0.25F, 120, 128};
const TensorKey kKey{{1, 600}, TensorKind::state_1, 7};
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

std::vector<std::string> all_records() {
  return {encode(kRecordIdentity), encode(kTimeline),   encode_finished(kFinished),
          encode(kLedger),         encode(kEvaluation), encode(kStatistics),
          tensor_record(),         encode(kLife),       encode_sealed(kSealed),
          encode_held(kHeld)};
}

// Whether any decoder accepts the bytes.
bool anyone_accepts(std::string_view record) {
  return decode_identity(record).ok() || decode_timeline(record).ok() || decode_finished(record).ok() ||
         decode_ledger(record).ok() || decode_evaluation(record).ok() || decode_statistics(record).ok() ||
         decode_tensor(kKey, record).ok() || decode_life(record).ok() || decode_sealed(record).ok() ||
         decode_held(record).ok();
}

TEST_CASE("every record comes back as it was") {
  CHECK(decode_identity(encode(kRecordIdentity)).value() == kRecordIdentity);
  CHECK(decode_timeline(encode(kTimeline)).value() == kTimeline);
  CHECK(decode_timeline(encode(TimelineRecord{})).value() == TimelineRecord{});
  CHECK(decode_finished(encode_finished(kFinished)).value() == kFinished);
  CHECK(decode_ledger(encode(kLedger)).value() == kLedger);
  CHECK(decode_ledger(encode(Ledger{})).value() == Ledger{});
  for (const auto pause : {Pause::none, Pause::wanted, Pause::held}) {
    Ledger ledger;
    ledger.pause = pause;
    CHECK(decode_ledger(encode(ledger)).value() == ledger);
  }
  CHECK(decode_life(encode(kLife)).value() == kLife);
  CHECK(decode_sealed(encode_sealed(kSealed)).value() == kSealed);
  CHECK(decode_held(encode_held(kHeld)).value() == kHeld);
  CHECK(decode_evaluation(encode(kEvaluation)).value() == kEvaluation);
  CHECK(decode_statistics(encode(kStatistics)).value() == kStatistics);
  const auto record = tensor_record();
  const auto bytes = decode_tensor(kKey, record);
  REQUIRE(bytes.ok());
  CHECK(std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()) == kContent);
}

TEST_CASE("the bytes of a record are fixed: databases outlive programs") {
  ByteWriter expected;
  expected.raw("BLST").number(std::uint16_t{6}).number(std::uint16_t{1}).number(std::uint64_t{16});
  auto record = expected.take();
  const std::string payload("\x02\0\0\0\0\0\0\0\x48\x12\0\0\0\0\0\0", 16);
  ByteWriter sum;
  sum.number(crc32c(record + payload));
  CHECK(encode_finished(kFinished) == record + sum.take() + payload);
}

TEST_CASE("a record cut at any byte is refused") {
  for (const auto& record : all_records()) {
    for (std::size_t size = 0; size < record.size(); ++size) {
      REQUIRE_FALSE(anyone_accepts(std::string_view(record).substr(0, size)));
    }
    REQUIRE_FALSE(anyone_accepts(record + "x"));
    REQUIRE(anyone_accepts(record));
  }
}

TEST_CASE("a record with any bit flipped is refused") {
  for (const auto& record : all_records()) {
    for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
      auto damaged = record;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      REQUIRE_FALSE(anyone_accepts(damaged));
    }
  }
}

TEST_CASE("a record of another kind, version, magic or key is refused by name") {
  CHECK(decode_timeline(encode_finished(kFinished)).status().text() == "the record is of kind 6, expected 2");
  const auto newer = decode_finished(forge("BLST", 6, 2, std::string(16, '\0')));
  CHECK(newer.status().code() == StoreCode::mismatch);
  CHECK(newer.status().text() == "the record has version 2; this program reads version 1");
  CHECK(decode_finished(forge("TSLB", 6, 1, std::string(16, '\0'))).status().text() ==
        "the record is not one of this program's (wrong magic)");
  for (const auto& key : {TensorKey{{2, 600}, TensorKind::state_1, 7}, TensorKey{{1, 601}, TensorKind::state_1, 7},
                          TensorKey{{1, 600}, TensorKind::weights, 7}, TensorKey{{1, 600}, TensorKind::state_1, 8}}) {
    CHECK(decode_tensor(key, tensor_record()).status().text() == "the record belongs to another key");
  }
}

// The record has no place for them that a release before could read.
TEST_CASE("rollbacks for torn versions are read as such of unknown cause") {
  auto ledger = kLedger;
  ledger.rollbacks.torn = 2;
  auto expected = kLedger;
  expected.rollbacks.unknown += 2;
  CHECK(decode_ledger(encode(ledger)).value() == expected);
}

TEST_CASE("a ledger of an earlier program is read, without what later ones have added") {
  const auto newest = encode(kLedger).substr(20);
  const auto fourth = newest.substr(0, newest.size() - 69);
  const auto third = fourth.substr(0, fourth.size() - 52);
  auto expected = kLedger;
  expected.rollbacks = {.unknown = 1};
  expected.cut.reset();
  expected.kept.clear();
  CHECK(decode_ledger(forge("BLST", 7, 4, fourth)).value() == expected);
  expected.copies.life = 0;
  expected.copies.turn = 0;
  expected.copy_lives.clear();
  expected.named_before = {};
  CHECK(decode_ledger(forge("BLST", 7, 3, third)).value() == expected);
  CHECK_FALSE(decode_ledger(forge("BLST", 7, 3, fourth)).ok());
  CHECK_FALSE(decode_ledger(forge("BLST", 7, 4, third)).ok());
  CHECK_FALSE(decode_ledger(forge("BLST", 7, 5, fourth)).ok());
  for (const std::uint16_t version : {std::uint16_t{0}, std::uint16_t{2}, std::uint16_t{6}}) {
    const auto refused = decode_ledger(forge("BLST", 7, version, third)).status();
    CHECK(refused.code() == StoreCode::mismatch);
    CHECK(refused.text() ==
          "the record has version " + std::to_string(version) + "; this program reads version 3 to 5");
  }
}

TEST_CASE("an evaluation of an earlier program is read, without metrics") {
  const auto newest = encode(kEvaluation).substr(20);
  const auto first = newest.substr(0, newest.size() - (1 + 2 * 9));
  auto expected = kEvaluation;
  expected.metrics.clear();
  CHECK(decode_evaluation(forge("BLST", 8, 1, first)).value() == expected);
  CHECK_FALSE(decode_evaluation(forge("BLST", 8, 1, newest)).ok());
  CHECK_FALSE(decode_evaluation(forge("BLST", 8, 2, first)).ok());
}

TEST_CASE("metrics that nobody knows, or more than there are, are refused") {
  const auto newest = encode(kEvaluation).substr(20);
  const auto count = newest.size() - (1 + 2 * 9);
  for (const auto place : {count, count + 1}) {
    auto payload = newest;
    payload[place] = static_cast<char>(kMetricKinds + (place == count ? 1 : 0));
    CHECK(decode_evaluation(forge("BLST", 8, 2, payload)).status().text() ==
          "the record has a number beyond what it may be");
  }
}

TEST_CASE("lengths that lie inside an intact record are refused") {
  constexpr auto kMany = std::numeric_limits<std::uint32_t>::max();
  ByteWriter ledger;
  ledger.number(std::uint64_t{1})
      .number(std::uint64_t{0})
      .number(std::uint64_t{0})
      .number(kMany)
      .number(std::uint64_t{5});
  CHECK(decode_ledger(forge("BLST", 7, 5, ledger.take())).status().text() == "the record ends too early");
  ByteWriter identity;
  identity.number(kDatabaseFormat).number(kMany).raw("short");
  CHECK(decode_identity(forge("BLST", 1, 1, identity.take())).status().text() == "the record ends too early");
  CHECK(decode_finished(forge("BLST", 6, 1, std::string(17, '\0'))).status().text() ==
        "the record has bytes left over");
  CHECK(decode_tensor(kKey, forge("BLST", 3, 1, "tiny")).status().text() == "the record ends too early");
  CHECK_FALSE(decode_identity(forge("BLST", 1, 1, "")).ok());
}

TEST_CASE("a flag that is neither 0 nor 1 is refused") {
  const auto mended = [](std::uint16_t kind, std::string record, std::size_t flag) {
    auto payload = record.substr(20);
    REQUIRE(payload[flag] == 1);
    payload[flag] = 2;
    return forge("BLST", kind, kind == 7 ? 5 : 1, payload);
  };
  const std::string expected = "the record has a flag that is neither 0 nor 1";
  CHECK(decode_ledger(mended(7, encode(kLedger), 8 + 16 + (4 + 24) + (4 + 32))).status().text() == expected);
  CHECK(decode_evaluation(mended(8, encode(kEvaluation), 8)).status().text() == expected);
}

TEST_CASE("an identity of another database format says which, whatever follows") {
  for (const auto& format : {std::string("2"), std::string("4")}) {
    std::string payload(1, static_cast<char>(std::stoi(format)));
    payload += std::string("\0\0\0anything", 11);
    const auto found = decode_identity(forge("BLST", 1, 1, payload));
    CHECK(found.status().code() == StoreCode::mismatch);
    CHECK(found.status().text().find("it has format " + format + ", and this version reads format 3") !=
          std::string::npos);
  }
}

TEST_CASE("tensor keys say where they belong and sort by number") {
  CHECK(tensor_key(kKey) == "snapshot/0000000000000001/0000000000000258/00000007/state-1");
  constexpr auto kGreatest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& key : {kKey, TensorKey{}, TensorKey{{kGreatest, kGreatest}, TensorKind::weights, 0xFFFFFFFFU}}) {
    CHECK(parse_tensor_key(tensor_key(key)) == key);
  }
  CHECK(tensor_key({{1, 9}, TensorKind::weights, 2}) < tensor_key({{1, 9}, TensorKind::weights, 10}));
  CHECK(tensor_key({{1, 9}, TensorKind::weights, 99}) < tensor_key({{1, 10}, TensorKind::state_0, 0}));
  CHECK(tensor_key({{1, 9}, TensorKind::weights, 2}) < tensor_key({{1, 9}, TensorKind::state_0, 3}));
  CHECK(tensor_key(kKey).starts_with(chunk_prefix(kKey.snapshot, kKey.chunk)));
  CHECK(tensor_key(kKey).starts_with(snapshot_prefix(kKey.snapshot)));
  CHECK(tensor_key(kKey) < after_prefix(snapshot_prefix(kKey.snapshot)));
  CHECK(after_prefix(snapshot_prefix(kKey.snapshot)) < snapshot_prefix({1, 601}));
}

TEST_CASE("what is not a tensor's key is not taken for one") {
  for (const char* key : {"", "weights", "identity", "ledger/finished", "snapshot/1/2/weights/3",
                          "snapshot/0000000000000001/0000000000000258/weights/00000007",
                          "snapshot/0000000000000001x0000000000000258/00000007/weights",
                          "snapshot/0000000000000001/0000000000000258/0000000g/weights",
                          "snapshot/0000000000000001/0000000000000258/0000000A/weights",
                          "snapshot/0000000000000001/0000000000000258/00000007/state-3",
                          "snapshot/0000000000000001/0000000000000258/00000007xweights",
                          "snapshot/0000000000000001/0000000000000258/00000007/weight/"}) {
    CAPTURE(key);
    CHECK_FALSE(parse_tensor_key(key));
  }
}

TEST_CASE("a record is checked without being used, and against its key") {
  CHECK(check_record("identity", encode(kRecordIdentity)).ok());
  CHECK(check_record("life", encode(kLife)).ok());
  CHECK(check_record(sealed_key(kSealed), encode_sealed(kSealed)).ok());
  CHECK(check_record("timeline", encode(kTimeline)).ok());
  CHECK(check_record("finished", encode_finished(kFinished)).ok());
  CHECK(check_record("ledger", encode(kLedger)).ok());
  CHECK(check_record("ledger/held", encode_held(kHeld)).ok());
  CHECK(check_record(evaluation_key(800, Split::test), encode(kEvaluation)).ok());
  CHECK(check_record(statistics_key(799), encode(kStatistics)).ok());
  CHECK(check_record(tensor_key(kKey), tensor_record()).ok());
  for (const auto& [key, record] : std::vector<std::pair<std::string, std::string>>{
           {"ledger", encode(kTimeline)},
           {"life", encode(kTimeline)},
           {"ledger/held", encode(kLedger)},
           {sealed_key({1, 601}), encode_sealed(kSealed)},
           {evaluation_key(800, Split::validation), encode(kEvaluation)},
           {evaluation_key(801, Split::test), encode(kEvaluation)},
           {statistics_key(800), encode(kStatistics)},
           {tensor_key({{1, 600}, TensorKind::state_0, 7}), tensor_record()},
           {"unknown", encode(kLedger)}}) {
    const auto& name = key;
    CAPTURE(name);
    CHECK(check_record(key, record).code() == StoreCode::corrupt);
  }
}

}  // namespace
}  // namespace ballast

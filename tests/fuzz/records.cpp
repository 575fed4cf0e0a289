// Feeds arbitrary records to the decoders of a shard's database.
//
// The input is the record's key up to the first newline, then the record. It is tried as it stands and once more with
// its size and checksum made to fit, because nothing that is drawn at random gets past those. Beyond not crashing: what
// decodes is, byte for byte, what the encoder writes; check_record accepts under a key what the key's decoder accepts
// and nothing else; what is refused says why.
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "storage/store/records.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {
namespace {

constexpr std::size_t kSizeAt = 4 + 2 + 2;  // behind magic, kind and version
constexpr std::size_t kChecksumAt = kSizeAt + 8;
constexpr std::size_t kHead = kChecksumAt + 4;

// The same record with a size and a checksum that hold.
std::string mended(std::string_view record) {
  if (record.size() < kHead) {
    return std::string(record);
  }
  const auto payload = record.substr(kHead);
  ByteWriter checked;
  checked.raw(record.substr(0, kSizeAt)).number(std::uint64_t{payload.size()});
  auto head = checked.take();
  ByteWriter rest;
  rest.number(crc32c(payload, crc32c(head))).raw(payload);
  return head + rest.take();
}

std::string_view version(std::string_view record) { return record.substr(6, 2); }

// A record of an older version is written anew as one of the newest.
template <typename T>
void expect_same(const StoreResult<T>& decoded, std::string_view record, std::string (*written)(const T&)) {
  if (decoded.ok()) {
    const auto again = written(decoded.value());
    expect(again == record || version(again) != version(record), "what decodes is what the encoder writes");
  } else {
    expect_line(decoded.status().text());
  }
}

void expect_tensor(const TensorKey& key, std::string_view record) {
  const auto bytes = decode_tensor(key, record);
  if (bytes.ok()) {
    expect(encode_tensor(key, bytes.value()) == record, "what decodes is what the encoder writes");
  } else {
    expect_line(bytes.status().text());
  }
}

void expect_checked(std::string_view key, std::string_view record) {
  const auto status = check_record(key, record);
  if (!status.ok()) {
    expect_line(status.text());
    return;
  }
  const auto tensor = parse_tensor_key(key);
  const auto sealed = decode_sealed(record);
  const auto evaluation = decode_evaluation(record);
  const auto statistics = decode_statistics(record);
  expect((key == kIdentityKey && decode_identity(record).ok()) || (key == kLifeKey && decode_life(record).ok()) ||
             (key == kTimelineKey && decode_timeline(record).ok()) ||
             (key == kFinishedKey && decode_finished(record).ok()) ||
             (key == kLedgerKey && decode_ledger(record).ok()) || (key == kHeldKey && decode_held(record).ok()) ||
             (tensor && decode_tensor(*tensor, record).ok()) || (sealed.ok() && sealed_key(sealed.value()) == key) ||
             (evaluation.ok() && evaluation_key(evaluation.value().step, evaluation.value().split) == key) ||
             (statistics.ok() && statistics_key(statistics.value().step) == key),
         "check_record accepts only the record that belongs under its key");
}

void try_record(std::string_view key, std::string_view record) {
  expect_same<Identity>(decode_identity(record), record, encode);
  expect_same<DatabaseLife>(decode_life(record), record, encode);
  expect_same<SnapshotId>(decode_sealed(record), record, encode_sealed);
  expect_same<TimelineRecord>(decode_timeline(record), record, encode);
  expect_same<Ledger>(decode_ledger(record), record, encode);
  expect_same<Timeline>(decode_held(record), record, [](const Timeline& timeline) { return encode_held(timeline); });
  expect_same<EvaluationRecord>(decode_evaluation(record), record, encode);
  expect_same<StepStatistics>(decode_statistics(record), record, encode);
  expect_same<SnapshotId>(decode_finished(record), record, encode_finished);
  if (const auto tensor = parse_tensor_key(key)) {
    expect(tensor_key(*tensor) == key, "a key that is read is the key that is written");
    expect_tensor(*tensor, record);
  }
  expect_checked(key, record);
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto newline = input.find('\n');
  if (newline == std::string_view::npos) {
    return 0;
  }
  const auto key = input.substr(0, newline);
  const auto record = input.substr(newline + 1);
  ballast::fuzz::try_record(key, record);
  ballast::fuzz::try_record(key, ballast::fuzz::mended(record));
  return 0;
}

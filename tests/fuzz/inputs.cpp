// Writes the binary inputs that the fuzz targets start from: fuzz-inputs tests/fuzz/corpus
//
// Run it after a change of the wire or of the database's records, so that fuzzing starts from what is sent and stored
// now. Inputs that stand beside these, found by fuzzing or written by hand, stay.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/wire/wire.h"
#include "storage/journal/journal_records.h"
#include "storage/store/records.h"
#include "tests/unit/common/wire/each_number.h"
#include "tests/unit/common/wire/random_message.h"

namespace ballast::fuzz {
namespace {

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    throw std::runtime_error(path.string() + ": can't be written");
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A message of each kind whose whole numbers all are the last that they may be, and one more.
void write_messages_at_the_end(const std::filesystem::path& folder) {
  RandomMessages random(2);
  for (const std::uint64_t beyond : {0U, 1U}) {
    for (std::size_t kind = 0; kind < std::variant_size_v<Message>; ++kind) {
      auto message = random.of_kind(kind);
      wire::each_number(message, [&](const std::string& /*path*/, auto& number, const auto& rule) {
        if constexpr (requires { rule.last(); }) {
          number = static_cast<std::remove_cvref_t<decltype(number)>>(rule.last() + beyond);
        }
      });
      Encoder encoder;
      const std::string payload(1, carries_payload(message) ? '\x11' : '\0');
      write(folder / (std::string(message_name(message)) + (beyond == 0 ? "-last" : "-beyond")),
            payload + std::string(text_of(encoder.encode(message))));
    }
  }
}

// One message of each kind, in each version that is spoken.
void write_messages(const std::filesystem::path& folder) {
  RandomMessages random(1);
  for (std::size_t kind = 0; kind < std::variant_size_v<Message>; ++kind) {
    const auto message = random.of_kind(kind);
    Encoder encoder;
    const std::string payload(1, carries_payload(message) ? '\x11' : '\0');
    for (auto version = std::max(kOldestProtocolVersion, known_since(message)); version <= kProtocolVersion;
         ++version) {
      const auto name =
          std::string(message_name(message)) + (version < kProtocolVersion ? "-" + std::to_string(version) : "");
      write(folder / name, payload + std::string(text_of(encoder.encode(message, version))));
    }
  }
}

void write_records(const std::filesystem::path& folder) {
  const Identity identity{kDatabaseFormat, "mnist", "spec", "layout", 1, 3, "job: mnist\n"};
  Ledger ledger;
  ledger.timeline = 2;
  ledger.base = {1, 600};
  ledger.incarnations = {11, 22, 33};
  ledger.databases = {{1001, 4}, {1002, 1}, {1003, 2}};
  ledger.complete = {{1, 600}, {2, 800}};
  ledger.best = SnapshotId{1, 600};
  ledger.skipped = {{7, 8}, {20, 40}};
  ledger.rollbacks.shard = 1;
  ledger.rolled_back_steps = 52;
  ledger.snapshots_missed = 3;
  ledger.finished = SnapshotId{2, 800};
  ledger.pause = Pause::held;
  const EvaluationRecord test{800, Split::test, 0.0625, 0.984375, 10000, {{MetricKind::f1, 0.5}, {MetricKind::auc, 1}}};
  const EvaluationRecord validation{800, Split::validation, 0.0625, 0.984375, 10000};
  const StepStatistics statistics{799, 0.25F, 120, 128};
  const TensorKey tensor{{1, 600}, TensorKind::state_1, 7};
  const std::string content = "sixteen numbers.";
  const auto put = [&](const std::string& name, std::string_view key, std::string_view record) {
    write(folder / name, std::string(key) + "\n" + std::string(record));
  };
  put("identity", kIdentityKey, encode(identity));
  put("life", kLifeKey, encode(DatabaseLife{1001, 4}));
  put("sealed", sealed_key({1, 600}), encode_sealed({1, 600}));
  put("timeline", kTimelineKey, encode(TimelineRecord{2, {1, 600}, 33}));
  put("finished", kFinishedKey, encode_finished({2, 4680}));
  put("ledger", kLedgerKey, encode(ledger));
  put("ledger-empty", kLedgerKey, encode(Ledger{}));
  put("held", kHeldKey, encode_held(2));
  put("evaluation-test", evaluation_key(test.step, test.split), encode(test));
  put("evaluation-validation", evaluation_key(validation.step, validation.split), encode(validation));
  put("statistics", statistics_key(statistics.step), encode(statistics));
  put("tensor", tensor_key(tensor), encode_tensor(tensor, std::as_bytes(std::span(content))));
  put("tensor-empty", tensor_key(tensor), encode_tensor(tensor, {}));
}

// A record whose every field is something; without a payload if it is skipped.
std::string journal_record(JournalSequence sequence, bool skip) {
  static const std::string kPayload = "four numbers....";
  JournalRecord record{2, 3, 40, 50, {0.5F, 0.25F, 0.75F, skip, {}}, {{1, 100, 7}, {2, 101, 8}}, 6, 1000, {}};
  if (!skip) {
    record.payload = std::as_bytes(std::span(kPayload));
  }
  return encode_journal_head(record, sequence, sequence - 1) + std::string(text_of(record.payload));
}

// The first byte is what journal.cpp takes it for.
void write_journal(const std::filesystem::path& folder) {
  const auto record = journal_record(5, false);
  const auto skipped = journal_record(6, true);
  const auto later = journal_record(7, false);
  JournalHeader header;
  header.owner.job = "job";
  header.owner.spec_digest = "digest";
  header.owner.shard = 1;
  header.timeline = 2;
  header.first = 5;
  header.lives = {{11, 0}, {12, 4}};
  write(folder / "record", std::string(1, '\0') + record);
  write(folder / "record-skipped", std::string(1, '\0') + skipped);
  write(folder / "header", '\x01' + encode_journal_header(header));
  write(folder / "header-empty", '\x01' + encode_journal_header({}));
  write(folder / "segment", '\x02' + record + skipped + later);
  write(folder / "segment-torn", '\x02' + record + skipped.substr(0, 50));
  write(folder / "segment-damaged", '\x02' + record + skipped.substr(0, 50) + later);
  write(folder / "segment-empty", "\x02");
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<char>((value >> shift) & 0xFFU));
  }
  return bytes;
}

std::string idx(const std::vector<std::uint32_t>& dimensions) {
  std::string file("\0\0\x08", 3);
  file.push_back(static_cast<char>(dimensions.size()));
  std::size_t values = 1;
  for (const auto extent : dimensions) {
    file += big_endian(extent);
    values *= extent;
  }
  for (std::size_t i = 0; i < values; ++i) {
    file.push_back(static_cast<char>(i % 10));
  }
  return file;
}

// The first byte is what idx.cpp takes it for.
void write_idx_files(const std::filesystem::path& folder) {
  const std::string images = idx({1, 28, 28});
  write(folder / "labels", std::string(1, '\0') + idx({5}));
  write(folder / "labels-none", std::string(1, '\0') + idx({0}));
  write(folder / "labels-claimed", std::string(1, '\0') + idx({5}).replace(4, 4, big_endian(0x40000000)));
  write(folder / "images", '\x01' + images);
  write(folder / "table", '\x02' + idx({2, 3}));
  write(folder / "examples", std::string("\x03\x00\x09", 3) + idx({1}) + images);
  write(folder / "examples-none", std::string("\x03\x00\x08", 3) + idx({0}) + idx({0, 28, 28}));
}

}  // namespace
}  // namespace ballast::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz-inputs CORPUS_FOLDER\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = arguments[1];
    ballast::fuzz::write_messages(folder / "wire");
    ballast::fuzz::write_messages_at_the_end(folder / "wire");
    ballast::fuzz::write_records(folder / "records");
    ballast::fuzz::write_journal(folder / "journal");
    ballast::fuzz::write_idx_files(folder / "idx");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz-inputs: %s\n", error.what());
    return 1;
  }
  return 0;
}

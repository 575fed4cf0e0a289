// What encrypting costs copies: a shard's part written to a place and read back, with a key and without.
#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/temporary_folder.h"
#include "storage/copies/copy_keys.h"
#include "storage/copies/format.h"
#include "storage/copies/place.h"
#include "storage/copies/seal.h"

namespace ballast::bench {

namespace {

constexpr std::size_t kCopiedChunk = 1U << 20U;
constexpr std::size_t kCopiedChunks = 256;
constexpr double kCopiedBytes = static_cast<double>(kCopiedChunk * kCopiedChunks);
const CopyName kCopiedName{"bench-01234567", {1, 1}, 0, 1, 1};

// Bytes that no two pieces share.
std::string copied_bytes() {
  std::string bytes(kCopiedChunk, '\0');
  std::uint32_t state = 1;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

struct CopyPaces {
  std::vector<double> cpu;     // MB for a second of processor time
  std::vector<double> passed;  // MB for a second on the clock
};

template <typename Work>
void measure_copying(CopyPaces& paces, Work work) {
  const auto begin = Clock::now();
  const double cpu = own_cpu_seconds();
  work();
  paces.cpu.push_back(kCopiedBytes / 1e6 / (own_cpu_seconds() - cpu));
  paces.passed.push_back(kCopiedBytes / 1e6 / seconds_since(begin));
}

void write_copied_part(CopyPlace& place, const std::string& values) {
  const auto writer = value_or_throw(place.write(to_string(kCopiedName)));
  CopyEncoder encoder(*writer, kCopiedName);
  for (std::uint32_t chunk = 0; chunk < kCopiedChunks; ++chunk) {
    const TensorKey key{{1, 1}, TensorKind::weights, chunk};
    throw_unless_ok(encoder.entry(tensor_key(key), encode_tensor(key, std::as_bytes(std::span(values)))));
  }
  throw_unless_ok(encoder.finish());
}

void read_copied_part(CopyPlace& place) {
  throw_unless_ok(read_object(place, to_string(kCopiedName), kCopiedName,
                              [](std::string_view, std::string_view) { return StoreStatus{}; }));
}

void seal_and_open(const CopyKey& key, const std::string& values, CopyPaces& sealed, CopyPaces& opened) {
  constexpr std::size_t kPieces = kCopiedChunk / kSealedPiece;
  const auto head = make_seal_head(key, to_string(kCopiedName));
  std::string pieces;
  PieceCipher seals(PieceCipher::Way::seal, key, head);
  measure_copying(sealed, [&] {
    for (std::size_t piece = 0; piece < kCopiedChunks * kPieces; ++piece) {
      const auto made =
          seals.seal(std::string_view(values).substr(piece % kPieces * kSealedPiece, kSealedPiece), false);
      if (piece < kPieces) {
        pieces += made;
      }
    }
  });
  measure_copying(opened, [&] {
    for (std::size_t chunk = 0; chunk < kCopiedChunks; ++chunk) {
      PieceCipher opens(PieceCipher::Way::open, key, head);
      for (std::size_t piece = 0; piece < kPieces; ++piece) {
        constexpr auto kWhole = kSealedPiece + kSealTag;
        value_or_throw(opens.open(std::string_view(pieces).substr(piece * kWhole, kWhole), false));
      }
    }
  });
}

Row copying_row(const std::string& what, const CopyPaces& with, const CopyPaces& without) {
  Row row = {
      {"what", what}, {"cpu_mb_s_with", spread_of(with.cpu).median}, {"mb_s_with", spread_of(with.passed).median}};
  if (!without.cpu.empty()) {
    row.insert(row.end(), {{"cpu_mb_s_without", spread_of(without.cpu).median},
                           {"mb_s_without", spread_of(without.passed).median},
                           {"cpu_ratio", spread_of(with.cpu).median / spread_of(without.cpu).median}});
  } else {
    row.insert(
        row.end(),
        {{"cpu_mb_s_without", std::string("-")}, {"mb_s_without", std::string("-")}, {"cpu_ratio", std::string("-")}});
  }
  return row;
}

}  // namespace

Result copying(const Options& options) {
  Result result;
  result.how =
      "A shard's part of 256 chunks of 1 MiB, encoded as copies are (checksums of records, SHA-256 of the object) into "
      "a "
      "folder of temporary files, synced, and read back with all checks; with a key (AES-256-GCM) and without, in "
      "turns. cipher: encrypting and decrypting alone, in memory. cpu_mb_s: MB for a second of processor time, mb_s: "
      "on "
      "the clock, the disk included.";
  const TemporaryFolder folder;
  const auto key = make_copy_key();
  const auto key_file = folder.path() / "copies.key";
  std::ofstream(key_file) << format_copy_key(key);
  std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
  const auto values = copied_bytes();
  CopyPaces seals;
  CopyPaces opens;
  std::array<CopyPaces, 2> writes;
  std::array<CopyPaces, 2> reads;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    seal_and_open(key, values, seals, opens);
    for (const std::size_t turn : {i % 2, (i + 1) % 2}) {
      const auto place = value_or_throw(open_copy_place({.place = (folder.path() / std::to_string(turn)).string(),
                                                         .copy_key_file = turn == 1 ? key_file.string() : ""}));
      measure_copying(writes[turn], [&] { write_copied_part(*place, values); });
      measure_copying(reads[turn], [&] { read_copied_part(*place); });
    }
  }
  result.rows = {copying_row("cipher: encrypt", seals, {}), copying_row("cipher: decrypt", opens, {}),
                 copying_row("copy", writes[1], writes[0]), copying_row("restore: read", reads[1], reads[0])};
  return result;
}

}  // namespace ballast::bench

// The keys of a shard's database: their grammar. Pure functions.
//
//   key        := "identity" | "life" | "timeline" | "finished" | tensor | sealed | ledger
//   tensor     := snapshot hex8(chunk) "/" kind
//   snapshot   := "snapshot/" hex16(timeline) "/" hex16(step) "/"
//   kind       := "state-0" | "state-1" | "state-2" | "weights"
//   sealed     := "sealed/" hex16(timeline) "/" hex16(step)
//   ledger     := "ledger"                                                   (the lead's; shard 0's database only)
//               | "ledger/held"
//               | "ledger/evaluation/" hex16(step) "/" ("test" | "validation")
//               | "ledger/loss/" hex16(step)
//   hexN(n)    := n in N lower-case hexadecimal digits, so that byte order is numeric order
//
// A snapshot is written chunk by chunk, and its keys sort as it is written: each of the database's tables holds a range
// of chunks of its own, and a chunk is read from one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/ids.h"
#include "protocol/messages.h"

namespace ballast {

// Of optimizer state tensors a snapshot may hold, beside the weights.
inline constexpr std::size_t kMaxStates = 3;

// The numbers are part of the format.
enum class TensorKind : std::uint8_t { weights = 1, state_0 = 2, state_1 = 3, state_2 = 4 };

// Of the optimizer's state tensor `index`, below kMaxStates.
constexpr TensorKind state_kind(std::size_t index) { return static_cast<TensorKind>(2 + index); }

struct TensorKey {
  SnapshotId snapshot;
  TensorKind kind = TensorKind::weights;
  ChunkId chunk = 0;
  bool operator==(const TensorKey&) const = default;
};

inline constexpr std::string_view kIdentityKey = "identity";
inline constexpr std::string_view kLifeKey = "life";
inline constexpr std::string_view kTimelineKey = "timeline";
inline constexpr std::string_view kFinishedKey = "finished";
inline constexpr std::string_view kLedgerKey = "ledger";
inline constexpr std::string_view kHeldKey = "ledger/held";
inline constexpr std::string_view kSnapshotPrefix = "snapshot/";
inline constexpr std::string_view kSealedPrefix = "sealed/";
inline constexpr std::string_view kEvaluationPrefix = "ledger/evaluation/";
inline constexpr std::string_view kStatisticsPrefix = "ledger/loss/";

std::string_view to_string(TensorKind kind);
std::string_view to_string(Split split);
// "timeline T, step S", for messages.
std::string describe(const SnapshotId& snapshot);

std::string tensor_key(const TensorKey& key);
// What the keys of all of a snapshot's tensors begin with, and those of one chunk's.
std::string snapshot_prefix(const SnapshotId& snapshot);
std::string chunk_prefix(const SnapshotId& snapshot, ChunkId chunk);
std::optional<TensorKey> parse_tensor_key(std::string_view key);
std::string sealed_key(const SnapshotId& snapshot);
std::string evaluation_key(Step step, Split split);
std::string statistics_key(Step step);
// What comes right after all keys that begin with `prefix`.
std::string after_prefix(std::string_view prefix);

}  // namespace ballast

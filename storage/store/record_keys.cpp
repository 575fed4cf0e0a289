#include "storage/store/record_keys.h"

#include <array>
#include <cstdio>

namespace ballast {
namespace {

constexpr std::size_t kHexStep = 16;  // digits of a timeline or step in a key
constexpr std::size_t kHexChunk = 8;
constexpr std::array kTensorKinds = {TensorKind::weights, TensorKind::state_0, TensorKind::state_1,
                                     TensorKind::state_2};

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (digit >= '0' && digit <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(digit - 'a') + 10;
    } else {
      return std::nullopt;
    }
  }
  return value;
}

std::string hex(std::uint64_t value, std::size_t digits) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%0*llx", static_cast<int>(digits), static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

std::string_view to_string(TensorKind kind) {
  switch (kind) {
    case TensorKind::weights:
      return "weights";
    case TensorKind::state_0:
      return "state-0";
    case TensorKind::state_1:
      return "state-1";
    case TensorKind::state_2:
      return "state-2";
  }
  return "unknown";
}

std::string_view to_string(Split split) { return split == Split::test ? "test" : "validation"; }

std::string describe(const SnapshotId& snapshot) {
  return "timeline " + std::to_string(snapshot.timeline) + ", step " + std::to_string(snapshot.step);
}

std::string snapshot_prefix(const SnapshotId& snapshot) {
  return std::string(kSnapshotPrefix)
      .append(hex(snapshot.timeline, kHexStep))
      .append("/")
      .append(hex(snapshot.step, kHexStep))
      .append("/");
}

std::string chunk_prefix(const SnapshotId& snapshot, ChunkId chunk) {
  return snapshot_prefix(snapshot).append(hex(chunk, kHexChunk)).append("/");
}

std::string tensor_key(const TensorKey& key) {
  return chunk_prefix(key.snapshot, key.chunk).append(to_string(key.kind));
}

std::optional<TensorKey> parse_tensor_key(std::string_view key) {
  constexpr auto kTimelineAt = kSnapshotPrefix.size();
  constexpr auto kStepAt = kTimelineAt + kHexStep + 1;
  constexpr auto kRestAt = kStepAt + kHexStep + 1;
  constexpr auto kKindSize = std::string_view("weights").size();  // all kinds are as long
  if (!key.starts_with(kSnapshotPrefix) || key.size() != kRestAt + kHexChunk + 1 + kKindSize) {
    return std::nullopt;
  }
  const auto timeline = parse_hex(key.substr(kTimelineAt, kHexStep));
  const auto step = parse_hex(key.substr(kStepAt, kHexStep));
  const auto chunk = parse_hex(key.substr(kRestAt, kHexChunk));
  if (!timeline || !step || !chunk) {
    return std::nullopt;
  }
  for (const auto kind : kTensorKinds) {
    const TensorKey parsed{{*timeline, *step}, kind, static_cast<ChunkId>(*chunk)};
    if (tensor_key(parsed) == key) {
      return parsed;
    }
  }
  return std::nullopt;
}

std::string sealed_key(const SnapshotId& snapshot) {
  return std::string(kSealedPrefix)
      .append(hex(snapshot.timeline, kHexStep))
      .append("/")
      .append(hex(snapshot.step, kHexStep));
}

std::string evaluation_key(Step step, Split split) {
  return std::string(kEvaluationPrefix).append(hex(step, kHexStep)).append("/").append(to_string(split));
}

std::string statistics_key(Step step) { return std::string(kStatisticsPrefix).append(hex(step, kHexStep)); }

std::string after_prefix(std::string_view prefix) {
  std::string after(prefix);
  ++after.back();  // prefixes end in "/"
  return after;
}

}  // namespace ballast

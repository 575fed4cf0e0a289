#include "protocol/lane/lane_budget.h"

#include <algorithm>
#include <bit>

#include "protocol/lane/round.h"

namespace ballast {

std::uint64_t reserve_of(Slot slots, const std::vector<LaneChunk>& chunks, bool needs_whole_gradient,
                         bool is_of_items) {
  std::uint64_t largest = 0;
  std::uint64_t all = 0;
  for (const auto& chunk : chunks) {
    largest = std::max(largest, chunk.bytes);
    all += chunk.bytes;
  }
  if (is_of_items) {
    return largest;
  }
  const auto levels = static_cast<std::uint64_t>(std::bit_width(slots) - 1);
  return levels * largest + (needs_whole_gradient ? all : largest);
}

std::uint64_t statistics_room_of(Slot slots, const std::vector<LaneChunk>& chunks) {
  std::uint64_t bytes = 0;
  for (const auto& chunk : chunks) {
    bytes += chunk.statistics ? (Round::most_payloads(slots) + 1) * chunk.bytes : 0;
  }
  return bytes;
}

std::uint64_t kept_of(const std::vector<LaneChunk>& chunks, bool averages, std::uint64_t workers) {
  constexpr std::uint64_t kMostForEach = 16U << 20U;
  const std::uint64_t kinds = averages ? 2 : 1;
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;
  for (const auto& chunk : chunks) {
    bytes += kinds * chunk.bytes;
    largest = std::max(largest, kinds * chunk.bytes);
  }
  return std::max(bytes, std::min(workers * largest, kMostForEach));
}

}  // namespace ballast

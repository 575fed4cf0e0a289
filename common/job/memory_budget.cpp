#include "common/job/memory_budget.h"

#include <algorithm>
#include <numeric>

#include "common/arena/placement.h"
#include "common/job/clip_norms.h"
#include "common/job/optimizer_settings.h"
#include "common/job/schema.h"
#include "common/job/shard_bytes.h"
#include "protocol/lane/lane_budget.h"
#include "protocol/lead/slot_division.h"
#include "protocol/tree.h"
#include "storage/store/rocksdb_limits.h"

namespace ballast {

namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;
// Memory is divided among lanes in pieces, so that a product of two amounts of bytes stays below 2^63.
constexpr std::uint64_t kPiece = 1U << 16U;

std::uint64_t largest_chunk(const std::vector<Chunk>& chunks) {
  std::uint64_t largest = 0;
  for (const auto& chunk : chunks) {
    largest = std::max(largest, chunk.bytes());
  }
  return largest;
}

// Each session may have two connections, while one takes the other's place.
std::uint64_t unread_answers(const ClusterSpec& cluster, bool has_lead) {
  const std::uint64_t workers = 2 * std::uint64_t{std::max(cluster.workers, cluster.start_workers)};
  const auto of_lanes = cluster.lanes * (workers * kUnreadOfEach + kUnreadShared);
  const auto peers = workers + 2 * std::uint64_t{cluster.shards} * cluster.lanes;
  return of_lanes + (has_lead ? peers * kUnreadOfEach + kUnreadShared : 0);
}

std::vector<LaneChunk> lane_chunks(const std::vector<Chunk>& chunks) {
  std::vector<LaneChunk> own;
  for (const auto& chunk : chunks) {
    own.push_back({chunk.id, chunk.bytes(), chunk.group == Group::statistics});
  }
  return own;
}

std::uint64_t kept_of_lanes(const Job& job, const Placement& placement, std::uint32_t shard) {
  const auto& cluster = job.spec.cluster;
  std::uint64_t bytes = 0;
  for (std::uint32_t lane = 0; lane < cluster.lanes; ++lane) {
    bytes += kept_of(lane_chunks(placement.of_lane(shard, lane)), averages_weights(job.spec.training), cluster.workers);
  }
  return bytes;
}

std::vector<MemoryPart> taken_by(const Job& job, const std::vector<Chunk>& chunks, const ShardBytes& bytes,
                                 std::uint64_t kept, bool has_lead) {
  const auto& training = job.spec.training;
  std::vector<MemoryPart> parts = {
      {"the process itself", kServerBytes, true},
      {"what is measured of the last steps", kTraceBytes, true},
      {"answers that nobody has read", unread_answers(job.spec.cluster, has_lead), true},
      {"weights, two versions", 2 * bytes.weights},
      {"versions that slow readers keep", kept},
      {averages_weights(training) ? "optimizer state and average" : "optimizer state", bytes.state},
      {"a snapshot being written", bytes.weights + bytes.state},
      {"a spare buffer", largest_chunk(chunks)},
      {"the database", kDatabaseBytes, true}};
  if (is_journaled(job.spec)) {
    parts.push_back({"the journal", kJournalBytes, true});
  }
  return parts;
}

// Bytes are given ahead to each session that has been given at most its part of half of what lies beyond the reserve:
// so twice what all of them push at a time lets none wait a round trip; and of small chunks one more for each, for less
// than a chunk is never given.
LaneMemory lane_memory(const Job& job, const std::vector<Chunk>& chunks, std::uint64_t at_once) {
  const auto own = lane_chunks(chunks);
  LaneMemory lane;
  for (const auto& chunk : chunks) {
    lane.owned += chunk.bytes();
  }
  const auto& training = job.spec.training;
  const bool is_of_items = is_item_mode(training.mode);
  lane.reserve = reserve_of(training.slots, own, needs_whole_gradient(training), is_of_items);
  lane.statistics = is_of_items ? 0 : statistics_room_of(training.slots, own);
  lane.wanted = lane.least() + 2 * at_once * (lane.owned + std::min(largest_chunk(chunks), kMebibyte)) + 2 * kPiece;
  return lane;
}

std::string parts_text(const ShardMemory& shard) {
  std::string text;
  for (const auto& part : shard.taken) {
    text += (text.empty() ? "" : ", ") + part.what + " " + std::to_string(in_mib(part.bytes));
  }
  return text;
}

// More servers divide the weights; what each of them has besides is not less then.
bool would_shards_help(const ShardMemory& shard) {
  std::uint64_t of_each = 0;
  for (const auto& part : shard.taken) {
    of_each += part.of_each ? part.bytes : 0;
  }
  return 2 * of_each < shard.least();
}

// Of a shard whose server has `bytes`.
std::optional<std::string> why_too_little(const Job& job, std::size_t number, const ShardMemory& shard,
                                          std::uint64_t machine) {
  const auto bytes = server_bytes(job, shard, machine);
  if (bytes >= shard.least()) {
    return std::nullopt;
  }
  const auto least = std::to_string(in_mib(shard.least()));
  const auto given = job.spec.cluster.memory_mib;
  const auto has = given > 0 ? std::to_string(given) + " is too little"
                             : "not given, and half of the memory here, " + std::to_string(bytes / kMebibyte) +
                                   " MiB, is too little";
  return has + ": shard " + std::to_string(number) + " needs " + least + " MiB (" + parts_text(shard) +
         ", contributions " + std::to_string(in_mib(shard.least() - shard.taken_bytes())) +
         " at the least); set it to " + least + " or more" +
         (would_shards_help(shard) ? ", or raise cluster.shards" : "");
}

}  // namespace

std::uint64_t ShardMemory::taken_bytes() const {
  return std::accumulate(taken.begin(), taken.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const MemoryPart& part) { return sum + part.bytes; });
}

std::uint64_t ShardMemory::least() const {
  return std::accumulate(lanes.begin(), lanes.end(), taken_bytes(),
                         [](std::uint64_t sum, const LaneMemory& lane) { return sum + lane.least(); });
}

std::uint64_t ShardMemory::wanted() const {
  return std::accumulate(lanes.begin(), lanes.end(), taken_bytes(),
                         [](std::uint64_t sum, const LaneMemory& lane) { return sum + lane.wanted; });
}

std::optional<std::vector<std::uint64_t>> ShardMemory::divide(std::uint64_t bytes) const {
  if (bytes < least()) {
    return std::nullopt;
  }
  static_assert((kMaxMemoryMib << 20U) / kPiece <= 1U << 28U && 16 * kMaxLaneFloats * sizeof(float) <= 1ULL << 39U);
  std::vector<std::uint64_t> shares(lanes.size());
  std::vector<bool> settled(lanes.size());
  auto rest = std::min(bytes, kMaxMemoryMib * kMebibyte) - taken_bytes();
  // Whose share is below its least has the least, and the others share what is left: which may bring another one below
  // its own. After each round one more is settled, or all are.
  for (bool changed = true; changed;) {
    changed = false;
    std::uint64_t owned = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      owned += settled[i] ? 0 : lanes[i].owned;
    }
    for (std::size_t i = 0; i < lanes.size() && !changed; ++i) {
      if (!settled[i]) {
        shares[i] =
            owned == 0 ? 0 : rest / kPiece * (lanes[i].owned / sizeof(float)) / (owned / sizeof(float)) * kPiece;
        changed = shares[i] < lanes[i].least();
        if (changed) {
          settled[i] = true;
          shares[i] = lanes[i].least();
          rest -= shares[i];
        }
      }
    }
  }
  return shares;
}

std::vector<ShardMemory> memory_of_shards(const Job& job) {
  const auto& cluster = job.spec.cluster;
  const Placement placement(job.arena, cluster.shards, cluster.lanes);
  const auto bytes = bytes_of_shards(job);
  const auto at_once = is_item_mode(job.spec.training.mode) ? cluster.workers : pushed_per_step(job);
  std::vector<ShardMemory> shards;
  for (std::uint32_t number = 0; number < cluster.shards; ++number) {
    ShardMemory shard;
    shard.taken =
        taken_by(job, placement.of_shard(number), bytes[number], kept_of_lanes(job, placement, number), number == 0);
    for (std::uint32_t lane = 0; lane < cluster.lanes; ++lane) {
      shard.lanes.push_back(lane_memory(job, placement.of_lane(number, lane), at_once));
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

std::uint64_t server_bytes(const Job& job, const ShardMemory& shard, std::uint64_t machine) {
  if (job.spec.cluster.memory_mib > 0) {
    return job.spec.cluster.memory_mib * kMebibyte;
  }
  const auto wanted = std::min(shard.wanted(), kMaxMemoryMib * kMebibyte);
  return machine == 0 ? wanted : std::min(wanted, machine / 2);
}

std::uint64_t wanted_mib(const Job& job) {
  const auto shards = memory_of_shards(job);
  return std::min(in_mib(std::ranges::max(shards, {}, &ShardMemory::wanted).wanted()), kMaxMemoryMib);
}

std::optional<std::string> why_too_little_memory(const Job& job, std::uint64_t machine) {
  const auto shards = memory_of_shards(job);
  const auto largest = std::ranges::max_element(shards, {}, &ShardMemory::least);
  return why_too_little(job, static_cast<std::size_t>(largest - shards.begin()), *largest, machine);
}

std::optional<std::string> why_too_little_memory(const Job& job, std::uint32_t shard, std::uint64_t machine) {
  return why_too_little(job, shard, memory_of_shards(job).at(shard), machine);
}

bool needs_whole_gradient(const TrainingSpec& training) {
  const auto clip = clip_of_updates(training);
  return !is_item_mode(training.mode) &&
         (clip.tensor_norm || clip.global_norm || has_trust_ratios(training.optimizer) ||
          training.non_finite != NonFinite::halt);
}

std::uint64_t pushed_per_step(const Job& job) {
  const auto slots = job.spec.training.slots;
  if (is_item_mode(job.spec.training.mode)) {
    return slots;
  }
  std::uint64_t sums = 0;
  for (const auto& range : divide_slots({slots}, std::vector(job.spec.cluster.workers, SessionPace{0, 1, 0}))) {
    sums += range.empty() ? 0 : tree::cover(range, slots).size();
  }
  return sums;
}

}  // namespace ballast

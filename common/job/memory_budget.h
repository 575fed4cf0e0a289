// What a server process does with its memory (cluster.memory_mib): what its shard needs whatever happens, and what is
// left for contributions, by lane. Pure functions of the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/job/job.h"

namespace ballast {

// Of a process without its model, measured: the program, its libraries, its threads' stacks and the transport. Servers
// took 22 to 30 MB, the most with the lead.
inline constexpr std::uint64_t kServerBytes = 27'000'000;
// Of what a process measures of its last steps (common/trace/trace_ring.h): its lanes', and a lead's few.
inline constexpr std::uint64_t kTraceBytes = (8U << 20U) + (256U << 10U);
// Of each ROUTER (a lane's, the lead's), what it has said and nobody has read: as common/net/unsent_replies.h has it.
inline constexpr std::uint64_t kUnreadOfEach = 16U << 10U;
inline constexpr std::uint64_t kUnreadShared = 32U << 20U;
// Of a journal: the window that it is read by, and the heads of records that are not committed. Their payloads are
// contributions still.
inline constexpr std::uint64_t kJournalBytes = 8U << 20U;

// What strangers may send without an end, and what no part of a server accounts for, before all connections are cut:
// beside all of its parts (server/memory_account.h).
inline constexpr std::uint64_t kUnendedBytes = 256U << 20U;

struct MemoryPart {
  std::string what;
  std::uint64_t bytes = 0;
  bool of_each = false;  // however many servers share the model
};

// Of contributions to one lane, held or on their way.
struct LaneMemory {
  std::uint64_t owned = 0;    // bytes of its chunks
  std::uint64_t reserve = 0;  // with less there is a step that cannot end
  std::uint64_t wanted = 0;   // with more the declared workers would be no faster; at least the least
  // Beside the reserve, for what each slot's statistics cost: by them a newcomer shows that it can bring a slot, also
  // where nothing else of it finds room.
  std::uint64_t statistics = 0;

  [[nodiscard]] std::uint64_t least() const { return reserve + statistics; }
};

struct ShardMemory {
  std::vector<MemoryPart> taken;  // beside contributions
  std::vector<LaneMemory> lanes;

  // Bytes of the process.
  [[nodiscard]] std::uint64_t taken_bytes() const;
  [[nodiscard]] std::uint64_t least() const;   // that will do
  [[nodiscard]] std::uint64_t wanted() const;  // that the declared workers can make use of

  // By lane, what it may have of contributions where the process has `bytes`: by the bytes of its chunks, but no less
  // than its least. All of them and what is taken are together at most `bytes`. None: it is less than the least.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> divide(std::uint64_t bytes) const;
};

// Whole mebibytes that so many bytes fit into.
constexpr std::uint64_t in_mib(std::uint64_t bytes) { return (bytes + (1U << 20U) - 1) >> 20U; }

// By shard.
std::vector<ShardMemory> memory_of_shards(const Job& job);

// Of a server process with that shard: cluster.memory_mib, or without it what is wanted, at most half of `machine`, the
// bytes that its machine or control group has; 0: that is not known.
std::uint64_t server_bytes(const Job& job, const ShardMemory& shard, std::uint64_t machine);

// The most that is wanted of a server of the job, whichever its shard, in whole MiB.
std::uint64_t wanted_mib(const Job& job);

// Why some shard's server has too little, and the least that would do: the text follows "cluster.memory_mib: ". Nothing
// where all have enough.
std::optional<std::string> why_too_little_memory(const Job& job, std::uint64_t machine);
// The same of one shard, whose server looks at its own machine.
std::optional<std::string> why_too_little_memory(const Job& job, std::uint32_t shard, std::uint64_t machine);

// Whether no chunk is applied before the whole step's gradient is there: it is clipped by norm, has trust ratios, or is
// acted on where it is not finite. Of rounds.
bool needs_whole_gradient(const TrainingSpec& training);

// Sums that all workers together push for each chunk of a step, while all live and are equally fast; in item mode whole
// models: one for each slot.
std::uint64_t pushed_per_step(const Job& job);

}  // namespace ballast

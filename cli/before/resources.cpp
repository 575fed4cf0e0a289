#include "cli/before/resources.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/job/memory_budget.h"
#include "common/job/optimizer_settings.h"
#include "common/job/shard_bytes.h"
#include "protocol/lane/lane.h"
#include "protocol/lane/round.h"
#include "protocol/lead/slot_division.h"
#include "protocol/tree.h"
#include "storage/store/rocksdb_limits.h"
#include "worker/training/gradient_sums.h"

namespace ballast {

namespace {

// Snapshots on the disk that are being written at once: a periodic one, and one that the job's end, a pause or the best
// weights ask for.
constexpr std::uint64_t kSnapshotsWritten = 2;
// Of a database whose snapshot fits into a memtable, beside that: measured.
constexpr std::uint64_t kSmallDatabaseBytes = 4U << 20U;

std::uint64_t arena_bytes(const Job& job) { return job.arena.elements * sizeof(float); }

// The slots of each worker as the lead divides them while all live and are equally fast.
std::vector<SlotRange> division(const Job& job) {
  return divide_slots({job.spec.training.slots}, std::vector(job.spec.cluster.workers, SessionPace{0, 1, 0}));
}

// What is usual of a part that has so much at most.
std::uint64_t usual_of(const std::string& part, std::uint64_t most, const ShardBytes& bytes) {
  constexpr std::array kFilledWhenNeeded = {"answers that nobody has read", "versions that slow readers keep",
                                            "a spare buffer", "the journal"};
  if (std::ranges::find(kFilledWhenNeeded, part) != kFilledWhenNeeded.end()) {
    return 0;
  }
  return part == "the database" ? std::min(most, bytes.snapshot + kSmallDatabaseBytes) : most;
}

// Held, and on their way: in item mode each is applied when it comes, or when the journal has it; of rounds a lane
// holds what has no sibling yet.
std::uint64_t usual_contributions(const Job& job, const ShardBytes& bytes) {
  const auto at_once =
      is_item_mode(job.spec.training.mode)
          ? job.spec.cluster.workers
          : std::min<std::uint64_t>(pushed_per_step(job), Round::most_payloads(job.spec.training.slots));
  return at_once * bytes.weights;
}

std::vector<Resource> shard_memory(const Job& job, const ShardBytes& bytes, const ShardMemory& budget,
                                   std::uint64_t machine) {
  std::vector<Resource> resources;
  for (const auto& part : budget.taken) {
    resources.push_back({part.what, usual_of(part.what, part.bytes, bytes), part.bytes});
  }
  // Whatever a server has beyond what is taken; it does not start with less than the reserves.
  const auto most = std::max(server_bytes(job, budget, machine), budget.least()) - budget.taken_bytes();
  resources.push_back({"contributions, held or on their way", std::min(usual_contributions(job, bytes), most), most});
  return resources;
}

// Linux begins with the former of each connection and direction, and goes up to the latter, unless it is told a size:
// of which it takes twice. Each worker may have two connections to a lane, while one takes the other's place.
Resource kernel_buffers(const ClusterSpec& cluster) {
  constexpr std::uint64_t kBegins = (16U << 10U) + (128U << 10U);
  constexpr std::uint64_t kMost = (4U << 20U) + (6U << 20U);
  const auto given = 4 * std::uint64_t{cluster.socket_buffer_bytes};
  const auto connections = std::uint64_t{cluster.workers} * cluster.lanes;
  return {"the kernel's buffers of connections, beside it", connections * (given > 0 ? given : kBegins),
          2 * connections * (given > 0 ? given : kMost)};
}

// Snapshots that are kept at the same time as the one being written: of the job's keep, and the best; and where they
// are copied, slowly perhaps, the one that is being copied and the newest that is.
std::uint64_t snapshots_kept(const JobSpec& spec) {
  const bool periodic = spec.durability.mode != "final";
  return (periodic ? std::max<std::uint64_t>(spec.durability.keep, 1) : 0) + (spec.training.keep_best ? 1 : 0) +
         (spec.durability.copy_to.empty() ? 0 : 2);
}

// Every update of every work item since a snapshot that all shards hold: of the steps between two snapshots, and of as
// many more until the next one is durable.
Resource journal(const Job& job, const ShardBytes& bytes) {
  const auto steps = std::min<std::uint64_t>(steps_between_snapshots(job), job.steps.steps);
  const auto between = steps * job.spec.training.slots * bytes.updates;
  return {"the journal", between, 2 * between};
}

std::vector<Resource> shard_disk(const Job& job, const ShardBytes& bytes) {
  const auto kept = snapshots_kept(job.spec);
  std::vector<Resource> resources = {
      {"snapshots kept", kept * bytes.snapshot, kept * bytes.snapshot},
      {"a snapshot being written", bytes.snapshot, kSnapshotsWritten * bytes.snapshot},
      {"deleted, space not yet returned", 0, bytes.snapshot},
      {"the database's log", std::min(kLogBytes, bytes.snapshot), kLogBytes + kMemtables * kMemtableBytes}};
  if (job.spec.durability.mode == "journal") {
    resources.push_back(journal(job, bytes));
  }
  return resources;
}

std::uint64_t data_bytes(const Job& job) {
  const auto& sizes = job.sizes;
  return (std::uint64_t{sizes.train} + sizes.validation + sizes.test) * job.shape.features();  // 8-bit pixels
}

std::vector<Resource> worker_memory(const Job& job) {
  const auto& training = job.spec.training;
  const auto arena = arena_bytes(job);
  const auto arenas = gradient_arenas(training.slots) * arena;
  // Only what is written takes memory: a worker sums whole nodes of the tree, the largest within its share of the
  // slots.
  const auto share =
      is_item_mode(training.mode) ? 1U : (training.slots + job.spec.cluster.workers - 1) / job.spec.cluster.workers;
  const auto written = std::min(arenas, gradient_arenas(std::bit_floor(share)) * arena);
  // The hints of two steps are read ahead.
  const auto ahead = 2 * std::uint64_t{training.batch} * (job.shape.features() * sizeof(float) + sizeof(std::int32_t));
  const bool is_timed = job.spec.model.name == "emulated";
  const LaneConfig lane;
  const auto lanes = std::uint64_t{job.spec.cluster.shards} * job.spec.cluster.lanes;
  std::vector<Resource> resources = {
      {"the process itself", is_timed ? kTimedWorkerBytes : kWorkerBytes, kWorkerBytes},
      {"what is measured of the last steps", kTraceBytes, kTraceBytes},
      {"weights", arena, arena},
      {"gradients", written, arenas},
      // They are stored as they come; those that come during a computation wait for its end.
      {"weights that arrive", std::min(arena, lanes * kMaxChunkBytes),
       arena + std::min(arena, lanes * lane.reply_window_bytes)},
      {"the data set", data_bytes(job), data_bytes(job)},
      {"examples read ahead", ahead, ahead}};
  if (training.micro_batch > 0) {  // the sum so far, and the next one's gradient
    resources.push_back({"micro-batches", 2 * arena, 2 * arena});
  }
  if (training.mode == Mode::local) {  // a gradient, and two copies of the weights, one of which becomes the next
    const auto state = state_tensors(local_optimizer_settings(training, Group::decay)).size();
    resources.push_back({"local steps", (3 + state) * arena, (3 + state) * arena});
  }
  return resources;
}

// Of a worker that brings these slots of each step, summed, and takes the weights once.
WorkerResources worker_of_rounds(const Job& job, SlotRange slots) {
  WorkerResources worker;
  worker.slots = slots.size();
  if (!slots.empty()) {
    worker.nodes = static_cast<std::uint32_t>(tree::cover(slots, job.spec.training.slots).size());
    worker.out_per_step = worker.nodes * arena_bytes(job);
    worker.in_per_step = arena_bytes(job);
  }
  worker.memory = worker_memory(job);
  return worker;
}

// Of one that takes the weights and pushes a gradient for each item that it is granted.
WorkerResources worker_of_items(const Job& job) {
  WorkerResources worker;
  const auto bytes = job.spec.training.slots * arena_bytes(job) / job.spec.cluster.workers;
  worker.slots = static_cast<double>(job.spec.training.slots) / job.spec.cluster.workers;
  worker.out_per_step = bytes;
  worker.in_per_step = bytes;
  worker.memory = worker_memory(job);
  return worker;
}

std::vector<WorkerResources> resources_of_workers(const Job& job) {
  if (is_item_mode(job.spec.training.mode)) {
    return std::vector<WorkerResources>(job.spec.cluster.workers, worker_of_items(job));
  }
  std::vector<WorkerResources> workers;
  for (const auto range : division(job)) {
    workers.push_back(worker_of_rounds(job, range));
  }
  return workers;
}

// Whole models that all workers together push and pull in a step.
struct Traffic {
  std::uint64_t pushed = 0;
  std::uint64_t pulled = 0;
};

Traffic traffic_of(const Job& job, const std::vector<WorkerResources>& workers) {
  if (is_item_mode(job.spec.training.mode)) {
    return {job.spec.training.slots, job.spec.training.slots};
  }
  Traffic traffic;
  for (const auto& worker : workers) {
    traffic.pushed += worker.nodes;
    traffic.pulled += worker.nodes > 0 ? 1 : 0;
  }
  return traffic;
}

void add(Resource& sum, const Resource& resource) {
  sum.usual += resource.usual;
  sum.most += resource.most;
}

}  // namespace

JobResources resources_of(const Job& job, std::uint64_t machine) {
  JobResources resources;
  resources.workers = resources_of_workers(job);
  const auto traffic = traffic_of(job, resources.workers);
  const auto budgets = memory_of_shards(job);
  for (const auto& bytes : bytes_of_shards(job)) {
    ShardResources shard;
    shard.chunks = bytes.chunks;
    const auto& budget = budgets[resources.shards.size()];
    shard.memory = shard_memory(job, bytes, budget, machine);
    shard.least_mib = in_mib(budget.least());
    shard.wanted_mib = in_mib(budget.wanted());
    shard.disk = shard_disk(job, bytes);
    shard.kernel = kernel_buffers(job.spec.cluster);
    shard.unended = {"messages that never end, beside it", 0, kUnendedBytes};
    shard.in_per_step = traffic.pushed * bytes.weights;
    shard.out_per_step = traffic.pulled * bytes.weights;
    resources.shards.push_back(std::move(shard));
    resources.snapshot += bytes.snapshot;
  }
  resources.copies = job.spec.durability.copy_to.empty() ? 0 : (job.spec.durability.keep + 1) * resources.snapshot;
  return resources;
}

Resource total(const std::vector<Resource>& resources) {
  Resource sum{"in all"};
  for (const auto& resource : resources) {
    add(sum, resource);
  }
  return sum;
}

Resource total_memory(const JobResources& resources) {
  Resource sum{"in all"};
  for (const auto& shard : resources.shards) {
    add(sum, total(shard.memory));
  }
  for (const auto& worker : resources.workers) {
    add(sum, total(worker.memory));
  }
  return sum;
}

Resource total_disk(const JobResources& resources) {
  Resource sum{"in all"};
  for (const auto& shard : resources.shards) {
    add(sum, total(shard.disk));
  }
  return sum;
}

}  // namespace ballast

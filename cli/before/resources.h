// What a job will take, from its file alone: memory, disk, and bytes on the wire. Pure functions; the bounds are those
// that the processes keep (cluster.memory_mib, reply windows, gradient arenas, the database's limits).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "protocol/ids.h"

namespace ballast {

// Of a worker without its model, as kServerBytes of a server: 17 MB (emulated) to 30 MB.
inline constexpr std::uint64_t kWorkerBytes = 30'000'000;
inline constexpr std::uint64_t kTimedWorkerBytes =
    17'000'000;  // of an emulated model, which wakes no library of kernels

// Bytes.
struct Resource {
  std::string what;
  std::uint64_t usual = 0;  // every worker brings its own slots, readers keep up
  std::uint64_t most = 0;   // whatever workers and readers do
};

// Of one shard. Bytes of payloads: headers are a few hundred bytes a message.
struct ShardResources {
  std::size_t chunks = 0;
  std::vector<Resource> memory;
  std::vector<Resource> disk;
  Resource kernel;                 // buffers of its connections, beside the process's memory
  Resource unended;                // what never becomes a whole message, until its connections are cut: beside it, too
  std::uint64_t least_mib = 0;     // of cluster.memory_mib, with which its server would start
  std::uint64_t wanted_mib = 0;    // with more the declared workers would be no faster
  std::uint64_t in_per_step = 0;   // contributions
  std::uint64_t out_per_step = 0;  // weights
};

// Of one worker. While all workers live: the slots of one that is lost go to the others.
struct WorkerResources {
  double slots = 0;         // of a step; in item mode on average, with workers alike
  std::uint32_t nodes = 0;  // sums that it pushes for each chunk in a step; 0 where it pushes each slot by itself
  std::vector<Resource> memory;
  std::uint64_t out_per_step = 0;  // gradients
  std::uint64_t in_per_step = 0;   // weights
};

struct JobResources {
  std::vector<ShardResources> shards;
  std::vector<WorkerResources> workers;
  std::uint64_t snapshot = 0;  // bytes of one, over all shards
  std::uint64_t copies = 0;    // bytes that copies of snapshots take in durability.copy_to; 0: none are made
};

// `machine`: bytes that each server's machine or control group has, of which one without cluster.memory_mib takes half
// at most; 0: as many as it likes.
JobResources resources_of(const Job& job, std::uint64_t machine = 0);

// The sum over the list, and over all processes.
Resource total(const std::vector<Resource>& resources);
Resource total_memory(const JobResources& resources);
Resource total_disk(const JobResources& resources);  // of databases

}  // namespace ballast

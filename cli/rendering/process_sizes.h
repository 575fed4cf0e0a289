// What a container of a job is granted, by the figures of `ballast plan`.
#pragma once

#include <cstdint>
#include <string>

#include "cli/before/resources.h"
#include "cli/rendering/render_options.h"
#include "common/job/job.h"

namespace ballast {

// What a network's activations and its library of kernels may take of a worker's memory, which no plan foretells.
inline constexpr std::uint64_t kActivationBytes = 1ULL << 30;

// Bytes.
struct GrantedMemory {
  std::uint64_t request = 0;  // what is usual
  std::uint64_t limit = 0;    // who takes more is killed
};

struct ProcessSizes {
  GrantedMemory server;  // of the largest shard: all are alike to the scheduler
  std::uint64_t disk = 0;
  GrantedMemory worker;
};

// A quarter more than the plan says, for the allocator and what the disk's cache counts; memory in whole MiB, disk in
// whole GiB.
ProcessSizes process_sizes(const Job& job, const RenderOptions& options);

// "134Mi", "2Gi": of a whole number of MiB.
std::string quantity_text(std::uint64_t bytes);

}  // namespace ballast

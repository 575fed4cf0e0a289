#include "cli/rendering/process_sizes.h"

#include <algorithm>

namespace ballast {

namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20;
constexpr std::uint64_t kGibibyte = 1ULL << 30;

std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::uint64_t with_reserve(std::uint64_t bytes) { return bytes + bytes / 4; }

GrantedMemory granted(const Resource& planned) {
  return {whole(with_reserve(planned.usual), kMebibyte), whole(with_reserve(planned.most), kMebibyte)};
}

}  // namespace

ProcessSizes process_sizes(const Job& job, const RenderOptions& options) {
  const auto resources = resources_of(job);
  ProcessSizes sizes;
  for (const auto& shard : resources.shards) {
    auto planned = total(shard.memory);
    planned.most += shard.unended.most;  // else it is killed before it cuts who sends that
    const auto memory = granted(planned);
    sizes.server.request = std::max(sizes.server.request, memory.request);
    sizes.server.limit = std::max(sizes.server.limit, memory.limit);
    sizes.disk = std::max(sizes.disk, whole(with_reserve(total(shard.disk).most), kGibibyte));
  }
  for (const auto& worker : resources.workers) {
    const auto memory = granted(total(worker.memory));
    sizes.worker.request = std::max(sizes.worker.request, memory.request);
    sizes.worker.limit = std::max(sizes.worker.limit, memory.limit);
  }
  if (options.worker_memory) {
    sizes.worker.limit = whole(*options.worker_memory, kMebibyte);
    sizes.worker.request = std::min(sizes.worker.request, sizes.worker.limit);
  } else if (job.spec.model.name != "emulated") {
    sizes.worker.limit += kActivationBytes;
  }
  return sizes;
}

std::string quantity_text(std::uint64_t bytes) {
  return bytes % kGibibyte == 0 ? std::to_string(bytes / kGibibyte) + "Gi" : std::to_string(bytes / kMebibyte) + "Mi";
}

}  // namespace ballast

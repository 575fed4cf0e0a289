#include "cli/before/plan.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/before/check.h"
#include "cli/before/gpus.h"
#include "common/job/load.h"
#include "common/job/memory_budget.h"
#include "common/job/mode_text.h"
#include "common/job/shard_bytes.h"
#include "common/machine/memory.h"
#include "common/telling/amounts.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRows = 8;  // of shards and of workers; those after them are alike

// ---- for people

void print_resources(const std::string& title, const std::vector<Resource>& resources) {
  std::printf("%-38s %12s %12s\n", title.c_str(), "usual", "at most");
  for (const auto& resource : resources) {
    std::printf("  %-36s %12s %12s\n", resource.what.c_str(), bytes_text(resource.usual).c_str(),
                bytes_text(resource.most).c_str());
  }
  const auto sum = total(resources);
  std::printf("  %-36s %12s %12s\n", sum.what.c_str(), bytes_text(sum.usual).c_str(), bytes_text(sum.most).c_str());
}

std::string slots_text(const WorkerResources& worker) {
  std::array<char, 64> text{};
  if (worker.nodes > 0 || worker.slots == 0) {
    std::snprintf(text.data(), text.size(), "%.0f slots as %u %s", worker.slots, worker.nodes,
                  worker.nodes == 1 ? "sum" : "sums");
  } else {
    std::snprintf(text.data(), text.size(), "%.1f slots, each by itself", worker.slots);
  }
  return text.data();
}

void print_wire(const JobResources& resources) {
  std::printf("on the wire, a step%33s %12s\n", "gradients", "weights");
  for (std::size_t i = 0; i < std::min(resources.shards.size(), kMostRows); ++i) {
    const auto& shard = resources.shards[i];
    const auto title = "shard " + std::to_string(i) + " (" + count_text(shard.chunks, "chunk") + ")";
    std::printf("  %-36s %12s %12s\n", title.c_str(), bytes_text(shard.in_per_step).c_str(),
                bytes_text(shard.out_per_step).c_str());
  }
  for (std::size_t i = 0; i < std::min(resources.workers.size(), kMostRows); ++i) {
    const auto& worker = resources.workers[i];
    const auto title = "worker " + std::to_string(i) + " (" + slots_text(worker) + ")";
    std::printf("  %-36s %12s %12s\n", title.c_str(), bytes_text(worker.out_per_step).c_str(),
                bytes_text(worker.in_per_step).c_str());
  }
}

// What a server of it may be given, beside what it has.
void print_memory_mib(const Job& job, const ShardResources& shard) {
  const auto given = job.spec.cluster.memory_mib;
  std::printf("  cluster.memory_mib: %s; its server starts with %s MiB, and can make use of %s MiB\n",
              given > 0 ? std::to_string(given).c_str() : "not given", std::to_string(shard.least_mib).c_str(),
              std::to_string(shard.wanted_mib).c_str());
}

// `gpus`: of this machine, where it is asked about.
void print(const Job& job, const JobResources& resources, std::uint32_t gpus) {
  std::printf("job %s: %s, %s, %s\n", job.spec.job.c_str(), count_text(job.spec.cluster.shards, "shard").c_str(),
              count_text(job.spec.cluster.workers, "worker").c_str(), count_text(job.steps.steps, "step").c_str());
  std::printf("mode %s; durability: %s\n", mode_text(job.spec.training).c_str(),
              durability_text(job.spec.durability).c_str());
  if (const auto text = journal_cuts_text(job); !text.empty()) {
    std::printf("note: %s\n", text.c_str());
  }
  for (std::size_t i = 0; i < std::min(resources.shards.size(), kMostRows); ++i) {
    print_resources("memory of shard " + std::to_string(i), resources.shards[i].memory);
    print_memory_mib(job, resources.shards[i]);
    for (const auto* beside : {&resources.shards[i].kernel, &resources.shards[i].unended}) {
      std::printf("  %-36s %12s %12s\n", beside->what.c_str(), bytes_text(beside->usual).c_str(),
                  bytes_text(beside->most).c_str());
    }
    print_resources("disk of shard " + std::to_string(i), resources.shards[i].disk);
  }
  print_resources("memory of each worker, activations aside", resources.workers.front().memory);
  print_wire(resources);
  std::printf("one snapshot %s", bytes_text(resources.snapshot).c_str());
  if (resources.copies > 0) {
    std::printf("; copies of snapshots take %s in %s", bytes_text(resources.copies).c_str(),
                job.spec.durability.copy_to.c_str());
  }
  const auto memory = total_memory(resources);
  const auto disk = total_disk(resources);
  std::printf("\nall processes together: memory %s, at most %s; disk %s, at most %s\n",
              bytes_text(memory.usual).c_str(), bytes_text(memory.most).c_str(), bytes_text(disk.usual).c_str(),
              bytes_text(disk.most).c_str());
  if (gpus > 0) {
    std::printf("%s\n", gpus_text(gpus).c_str());
  }
}

// ---- for programs

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<Resource>& resources) {
  Json list = Json::array();
  for (const auto& resource : resources) {
    list.push_back({{"what", resource.what}, {"usual", resource.usual}, {"most", resource.most}});
  }
  const auto sum = total(resources);
  return {{"usual", sum.usual}, {"most", sum.most}, {"parts", list}};
}

Json json_of(const Resource& resource) { return {{"usual", resource.usual}, {"most", resource.most}}; }

// A whole number where it is one.
Json json_of_slots(double slots) {
  const auto whole = static_cast<std::uint32_t>(slots);
  return whole == slots ? Json(whole) : Json(slots);
}

void print_json(const Job& job, const JobResources& resources, std::optional<std::uint32_t> gpus) {
  Json json;
  json["job"] = job.spec.job;
  json["mode"] = name_of(job.spec.training.mode);
  json["steps"] = job.steps.steps;
  json["shards"] = Json::array();
  for (const auto& shard : resources.shards) {
    json["shards"].push_back({{"chunks", shard.chunks},
                              {"memory", json_of(shard.memory)},
                              {"least_mib", shard.least_mib},
                              {"wanted_mib", shard.wanted_mib},
                              {"kernel_buffers", json_of(shard.kernel)},
                              {"unended_messages", json_of(shard.unended)},
                              {"disk", json_of(shard.disk)},
                              {"in_per_step", shard.in_per_step},
                              {"out_per_step", shard.out_per_step}});
  }
  json["workers"] = Json::array();
  for (const auto& worker : resources.workers) {
    json["workers"].push_back({{"slots", json_of_slots(worker.slots)},
                               {"nodes", worker.nodes},
                               {"memory", json_of(worker.memory)},
                               {"out_per_step", worker.out_per_step},
                               {"in_per_step", worker.in_per_step}});
  }
  json["snapshot"] = resources.snapshot;
  json["copies"] = resources.copies;
  json["memory"] = json_of(total_memory(resources));
  json["disk"] = json_of(total_disk(resources));
  if (gpus) {
    json["gpus"] = *gpus;
  }
  std::puts(json.dump(2).c_str());
}

// ---- this machine

std::uint64_t available_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && facts >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

void judge_one(const std::string& what, const Resource& resource, std::uint64_t room, Verdict& verdict) {
  if (room == 0) {
    verdict.warnings.push_back("how much " + what + " is free, the system does not tell");
  } else if (resource.usual > room) {
    verdict.lacking.push_back("the job needs " + bytes_text(resource.usual) + " of " + what + ", " + bytes_text(room) +
                              " are free");
  } else if (resource.most > room) {
    verdict.warnings.push_back("slow readers or many lost workers could take " + bytes_text(resource.most) + " of " +
                               what + ", " + bytes_text(room) + " are free");
  }
}

}  // namespace

Room room_here(const std::string& folder) {
  Room room;
  room.memory = available_memory();
  auto place = fs::absolute(folder);
  std::error_code error;
  while (!fs::exists(place, error) && place.has_relative_path()) {
    place = place.parent_path();
  }
  struct statvfs facts {};
  if (::statvfs(place.c_str(), &facts) == 0) {
    room.disk = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  }
  return room;
}

Verdict judge(const JobResources& resources, const Room& room) {
  Verdict verdict;
  judge_one("memory", total_memory(resources), room.memory, verdict);
  judge_one("disk", total_disk(resources), room.disk, verdict);
  return verdict;
}

int plan(const PlanOptions& options) {
  try {
    const auto job = make_job(load_job(options.job, options.overrides, Fit::judged));
    const auto resources = resources_of(job, options.here ? memory_here() : 0);
    const auto gpus = options.here ? std::optional(count_gpus()) : std::nullopt;
    options.json ? print_json(job, resources, gpus) : print(job, resources, gpus.value_or(0));
    if (!options.here) {
      return 0;
    }
    if (!fs::exists(fs::absolute(options.folder).lexically_normal().parent_path())) {
      throw std::runtime_error("--run-dir " + options.folder + ": neither it nor the folder above it exists");
    }
    auto verdict = judge(resources, room_here(options.folder));
    if (const auto why = why_too_little_memory(job, memory_here())) {
      verdict.lacking.push_back(options.job + ": cluster.memory_mib: " + *why);
    }
    for (const auto& sentences : {verdict.warnings, verdict.lacking}) {
      for (const auto& sentence : sentences) {
        std::fprintf(stderr, "ballast: %s\n", sentence.c_str());
      }
    }
    return verdict.lacking.empty() ? 0 : 1;
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace ballast

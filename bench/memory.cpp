// What a server's memory costs: the parameter server's own work in the least that a job can have, in twice that, and by
// default.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/metrics_page.h"
#include "bench/spread.h"
#include "bench/traffic.h"
#include "common/job/memory_budget.h"

namespace ballast::bench {

namespace {

constexpr double kMemorySeconds = 4;
constexpr std::uint64_t kBytesOfMib = 1U << 20U;

struct MemorySetting {
  const char* transport;
  std::uint32_t workers;
};

constexpr MemorySetting kMemorySettings[] = {{"tcp", 1}, {"tcp", 2}, {"tcp", 4}, {"ipc", 4}};

// How much it has, in MiB, and what runs with it have shown.
struct Room {
  const char* what;
  std::uint64_t mib = 0;  // 0: the default
  std::vector<double> goodputs = {};
  std::vector<double> ratios = {};  // to the default beside
  std::vector<double> waits = {};   // turns of the lane a step
  std::vector<double> calls = {};
  std::vector<double> server_cpu = {};
};

std::uint64_t least_mib(const std::string& job) {
  const auto shards = memory_of_shards(make_job(parse_job(job, "the benchmark's job")));
  return (shards.front().least() + kBytesOfMib - 1) / kBytesOfMib;
}

std::string with_memory(std::string job, std::uint64_t mib) {
  const std::string cluster = "cluster: {";
  return mib == 0
             ? job
             : job.replace(job.find(cluster), cluster.size(), cluster + "memory_mib: " + std::to_string(mib) + ", ");
}

void run_in(Room& room, const std::string& job, std::uint32_t workers, const Options& options) {
  LocalCluster cluster(with_memory(job, room.mib), workers, true, options);
  cluster.warm_up();
  const auto count = [&](const char* metric) {
    return largest_on(metrics_page(cluster.server().addresses.at("metrics")), metric, "");
  };
  const auto waits = count("ballast_shard_waited_for_room_total");
  const auto calls = count("ballast_shard_calls_total");
  const auto progressed = cluster.measure(options.seconds.value_or(kMemorySeconds));
  const auto steps = static_cast<double>(progressed.steps);
  room.goodputs.push_back(static_cast<double>(kTrafficBytes) * steps / progressed.seconds / 1e9);
  room.waits.push_back((count("ballast_shard_waited_for_room_total") - waits) / steps);
  room.calls.push_back((count("ballast_shard_calls_total") - calls) / steps);
  room.server_cpu.push_back(1e3 * progressed.server_cpu_seconds / steps);
}

Row row_of(const MemorySetting& setting, const Room& room) {
  const auto ratio = spread_of(room.ratios);
  return {{"transport", setting.transport},
          {"workers", std::uint64_t{setting.workers}},
          {"memory", room.what},
          {"mib", room.mib},
          {"goodput_gb_s", spread_of(room.goodputs).median},
          {"ratio_to_default", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"waits_a_step", spread_of(room.waits).median},
          {"calls_a_step", spread_of(room.calls).median},
          {"server_cpu_ms", spread_of(room.server_cpu).median}};
}

}  // namespace

Result memory(const Options& options) {
  Result result;
  result.how =
      "As pushpull: 1 ballast-server (1 lane) and its workers, ResNet-50's traffic, no compute time, a slot for each "
      "worker; cluster.memory_mib the least that the job can have, twice that, and not given, in turns. goodput: "
      "102,228,128 bytes x steps / seconds for each worker, one way counted. waits: turns of the lane in which "
      "something offered found no room. calls: contributions called by name; all others came within bytes given ahead. "
      "cpu_ms: of the server for a "
      "step.";
  for (const auto& setting : kMemorySettings) {
    const auto job = job_of(Traffic{setting.transport, setting.workers});
    const auto least = least_mib(job);
    std::array<Room, 3> rooms = {{{"default"}, {"twice the least", 2 * least}, {"least", least}}};
    for (unsigned i = 0; i < options.repetitions; ++i) {
      for (auto& room : rooms) {
        run_in(room, job, setting.workers, options);
        room.ratios.push_back(room.goodputs.back() / rooms.front().goodputs.back());
      }
    }
    for (const auto& room : rooms) {
      result.rows.push_back(row_of(setting, room));
    }
  }
  return result;
}

}  // namespace ballast::bench

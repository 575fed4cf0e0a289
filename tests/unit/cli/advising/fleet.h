// Machines whose probes say what a test wants.
#pragma once

#include <string>

#include "cli/advising/foretold_job.h"
#include "common/job/load.h"

namespace ballast::testing {

inline constexpr double kSlotMicros = 50'000;

// `megabytes` of weights in tensors of a megabyte, 16 slots, one shard, lane and worker.
inline Job job_of(int megabytes, const std::string& cluster = "{}") {
  std::string tensors;
  for (int i = 0; i < megabytes; ++i) {
    tensors += (i > 0 ? ", {name: t" : "{name: t") + std::to_string(i) + ", shape: [512, 512]}";
  }
  return make_job(
      parse_job("job: foretold\nmodel: {name: emulated, parameters: [" + tensors +
                    "]}\ndata: {name: none}\n"
                    "training: {slots: 16, batch: 64, max_steps: 10, optimizer: {name: sgd, learning_rate: 0.1}}\n"
                    "cluster: " +
                    cluster + "\n",
                "test"));
}

// Four processors; a slot takes kSlotMicros and no processor, a lane next to nothing, and no link was measured.
inline MachineProbe machine() {
  MachineProbe probe;
  probe.job = "foretold";
  probe.machine = "m";
  probe.processors = 4;
  probe.memory = std::uint64_t{8} << 30U;
  SlotProbe slot;
  slot.alone = {kSlotMicros};
  slot.joined = {kSlotMicros};
  slot.ready = {1};
  slot.fetch = 0;
  slot.backend = "a clock";
  probe.slot = slot;
  probe.lane = LaneProbe{.message = 5, .reply = 5, .sum = 1e-5, .apply = 1e-5, .wire = 1e-5, .wire_message = 5};
  return probe;
}

inline MachineProbe machine_with_link(double bytes_a_micro) {
  auto probe = machine();
  probe.links = {{.to = "s:1",
                  .up = bytes_a_micro,
                  .down = bytes_a_micro,
                  .up_of_one = bytes_a_micro,
                  .down_of_one = bytes_a_micro,
                  .round_trip = 100}};
  return probe;
}

inline Fleet fleet_of(const MachineProbe& probe, std::size_t servers, std::size_t workers) {
  return {.servers = {probe}, .workers = {probe}, .server_machines = servers, .worker_machines = workers};
}

}  // namespace ballast::testing

// What each piece of work of a job that has not run yet will take, by what its machines have shown: the job as a replay
// takes it (insight/job_times.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/advising/probe.h"
#include "common/job/job.h"
#include "insight/job_times.h"

namespace ballast {

// The machines that there are. Of each kind machine n is as probe n, counted round.
struct Fleet {
  std::vector<MachineProbe> servers;  // with a lane; not empty
  std::vector<MachineProbe> workers;  // with a slot; not empty
  std::size_t server_machines = 1;
  std::size_t worker_machines = 1;
  bool is_one_machine = false;  // all processes are on that of the first probe
  // What the link of a server's machine carries, bytes a microsecond each way; 0: as much as was seen of any link.
  double server_link = 0;
};

struct Candidate {
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  std::uint32_t workers = 1;
  bool operator==(const Candidate&) const = default;
};

// Of the machine of one server; 0: nothing is known of it, and it is taken to be in nobody's way.
struct ServerRates {
  double in = 0;
  double out = 0;
};
ServerRates server_rates(const Fleet& fleet);

struct ForetoldJob {
  insight::JobTimes times;
  // Microseconds of processors in a step, of all processes together.
  double processing = 0;
  bool is_in_items = false;  // no replay of rounds stands for it: cli/advising/item_bound.h
};

// `waits`: updates wait for the lead. Slots take what they took in the probe, drawn from there. A model of many chunks
// is taken to have fewer and larger ones, 256 or as many as there are lanes: what a replay takes does not grow with the
// model. Of a large job few steps are replayed, and none (`times.steps` 0, and no workers) where even two would be too
// much. The candidate has a shard and a lane at least, and no more workers than slots.
ForetoldJob foretold_job(const Job& job, const Fleet& fleet, const Candidate& candidate, bool waits);

}  // namespace ballast

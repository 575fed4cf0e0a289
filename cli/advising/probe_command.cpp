#include "cli/advising/probe_command.h"

#include <unistd.h>

#include <array>
#include <cstdio>

#include "cli/advising/lane_probe.h"
#include "cli/advising/link_probe.h"
#include "cli/advising/link_server.h"
#include "cli/advising/slot_probe.h"
#include "cli/advising/with_job.h"
#include "cli/before/plan.h"
#include "cli/before/resources.h"
#include "cli/processes/signals.h"
#include "common/command/usage_error.h"
#include "common/files/new_file.h"
#include "common/machine/memory.h"
#include "common/machine/processors.h"
#include "common/telling/amounts.h"

namespace ballast {
namespace {

constexpr double kListens = 3600;  // seconds

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int serve(const ProbeOptions& options) {
  const Signals signals;
  LinkServer server(options.listen);
  std::fprintf(stderr, "listens on %s for an hour, until Ctrl-C: on another machine\n  ballast probe JOB --to %s\n",
               server.address().c_str(), server.address().c_str());
  server.serve(signals.fd(), kListens);
  return 0;
}

// A worker that takes more than there is would be ended by the system, or others would.
void require_memory(const Job& job) {
  const auto needs = total(resources_of(job).workers[0].memory).usual;
  const auto has = room_here(".").memory;
  if (has > 0 && needs > has) {
    throw std::runtime_error("a worker of job " + job.spec.job + " takes " + bytes_text(needs) + " of memory, and " +
                             bytes_text(has) + " are free here; probe a larger machine, or --as server");
  }
}

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  NewFile file;
  auto error = file.create(path, {.through_special = true});
  error = error ? error : file.append(text);
  error = error ? error : file.finish();
  if (error) {
    throw std::runtime_error(path + ": cannot be written: " + error.message());
  }
}

}  // namespace

MachineProbe probe_machine(const Job& job, const ProbeOptions& options) {
  MachineProbe found;
  found.job = job.spec.job;
  found.job_digest = job.spec_digest;
  found.machine = host_name();
  found.processors = processors_here();
  found.memory = memory_here();
  if (options.role != "server") {
    require_memory(job);
    const auto& training = job.spec.training;
    found.slot = probe_slots(
        job, {options.data_path,
              {options.backend, options.device, training.threads_per_slot, precision_named(training.precision)},
              options.seconds});
  }
  if (options.role != "worker") {
    found.lane = probe_lane(job);
  }
  for (const auto& address : options.to) {
    found.links.push_back(probe_link(address));
  }
  return found;
}

int probe(const ProbeOptions& options) {
  if (!options.listen.empty()) {
    return serve(options);
  }
  return with_job(options.job, options.overrides, [&](const Job& job) {
    const auto found = probe_machine(job, options);
    if (found.slot && !found.slot->fetch) {
      std::fprintf(stderr, "ballast: what reading examples takes is not measured: %s\n",
                   found.slot->data_trouble.c_str());
    }
    write(options.output, probe_text(found));
    return 0;
  });
}

}  // namespace ballast

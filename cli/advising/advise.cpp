#include "cli/advising/advise.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/advising/advise_text.h"
#include "cli/advising/foretelling.h"
#include "cli/advising/lane_probe.h"
#include "cli/advising/probe_command.h"
#include "cli/advising/with_job.h"
#include "cli/before/resources.h"
#include "common/command/usage_error.h"
#include "common/telling/amounts.h"

namespace ballast {
namespace {

constexpr double kBytesPerMicroOfMbit = 1e6 / 8 / 1e6;

using Clock = std::chrono::steady_clock;

std::vector<MachineProbe> load_all(const std::vector<std::string>& paths, const Job& job, bool of_servers) {
  std::vector<MachineProbe> probes;
  for (const auto& path : paths) {
    auto probe = load_probe(path);
    if (probe.job_digest != job.spec_digest) {
      throw UsageError(path + ": is of " +
                       (probe.job == job.spec.job
                            ? "job " + probe.job + " with other values (its model, data or training)"
                            : "another job, " + probe.job) +
                       "; make it anew with `ballast probe` and this job file");
    }
    if (of_servers ? !probe.lane : !probe.slot) {
      throw UsageError(path + ": says nothing of a " + (of_servers ? "server" : "worker") +
                       " on that machine; make it anew without --as, or with --as " +
                       (of_servers ? "server" : "worker"));
    }
    probes.push_back(std::move(probe));
  }
  return probes;
}

Fleet fleet_of(const Job& job, const AdviseOptions& options) {
  Fleet fleet;
  if (options.servers.empty() != options.workers.empty()) {
    throw UsageError(
        "say --server and --worker, with files of `ballast probe`; or none of both, to probe this machine");
  }
  fleet.is_one_machine = options.servers.empty();
  if (fleet.is_one_machine && (options.server_machines || options.server_mbit > 0)) {
    throw UsageError(
        "--servers and --server-mbit are of servers on machines of their own: say --server and --worker, with files of "
        "`ballast probe`");
  }
  if (fleet.is_one_machine) {
    std::fprintf(stderr, "probes this machine\n");
    ProbeOptions here;
    here.data_path = options.data_path;
    here.backend = options.backend;
    fleet.servers = {probe_machine(job, here)};
    fleet.workers = fleet.servers;
  } else {
    fleet.servers = load_all(options.servers, job, true);
    fleet.workers = load_all(options.workers, job, false);
  }
  const auto& cluster = job.spec.cluster;
  fleet.server_machines =
      options.server_machines.value_or(std::max<std::size_t>(options.servers.size(), cluster.shards));
  const auto workers =
      fleet.is_one_machine
          ? std::max<std::size_t>(cluster.workers, static_cast<std::size_t>(fleet.workers[0].processors))
          : std::max<std::size_t>(options.workers.size(), cluster.workers);
  fleet.worker_machines = options.worker_machines.value_or(workers);
  const double server_mbit = options.server_mbit > 0 ? options.server_mbit : cluster.link_mbit;
  fleet.server_link = server_mbit * kBytesPerMicroOfMbit;
  return fleet;
}

std::uint64_t least_memory(const std::vector<MachineProbe>& probes) {
  std::uint64_t least = 0;
  for (const auto& probe : probes) {
    least = least == 0 || (probe.memory > 0 && probe.memory < least) ? probe.memory : least;
  }
  return least;
}

// Whether a machine of each kind has the memory that is usual of its processes.
class MemoryRoom {
 public:
  MemoryRoom(const Job& job, const Fleet& fleet) : job_(job), fleet_(fleet) {}

  bool has(const Candidate& candidate) {
    auto job = job_;
    job.spec.cluster.shards = candidate.shards;
    job.spec.cluster.lanes = candidate.lanes;
    job.spec.cluster.workers = candidate.workers;
    const auto resources = resources_of(job);
    std::uint64_t shard = 0;
    std::uint64_t worker = 0;
    for (const auto& one : resources.shards) {
      shard = std::max(shard, total(one.memory).usual);
    }
    for (const auto& one : resources.workers) {
      worker = std::max(worker, total(one.memory).usual);
    }
    const auto machines = std::max<std::uint64_t>(1, fleet_.server_machines);
    const bool fits =
        fleet_.is_one_machine
            ? fits_into(shard * candidate.shards + worker * candidate.workers, least_memory(fleet_.servers))
            : fits_into(shard * ((candidate.shards + machines - 1) / machines), least_memory(fleet_.servers)) &&
                  fits_into(worker, least_memory(fleet_.workers));
    left_out_ += fits ? 0 : 1;
    return fits;
  }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  static bool fits_into(std::uint64_t bytes, std::uint64_t memory) { return memory == 0 || bytes <= memory; }

  const Job& job_;
  const Fleet& fleet_;
  std::size_t left_out_ = 0;
};

int advise_on(const Job& job, const AdviseOptions& options) {
  const auto fleet = fleet_of(job, options);
  MemoryRoom room(job, fleet);
  const auto begin = Clock::now();
  const auto within = [begin](double seconds) {
    return [begin, seconds] { return Clock::now() - begin < std::chrono::duration<double>(seconds); };
  };
  const auto found = foretell(job, fleet, waits_for_the_lead(job),
                              {.goes_on = within(options.seconds),
                               .explains = within(2 * options.seconds),
                               .fits = [&](const Candidate& candidate) { return room.has(candidate); }});
  const auto left_out = left_out_of(found, room.left_out());
  if (found.tried.empty()) {
    std::string why;
    for (const auto& sentence : left_out) {
      why += (why.empty() ? ": " : "; ") + sentence;
    }
    throw std::runtime_error("nothing can be foretold of job " + job.spec.job + " on these machines" + why);
  }
  Advised advised{job, fleet, found, unknown_of(job, fleet)};
  advised.unknown.insert(advised.unknown.end(), left_out.begin(), left_out.end());
  std::fputs((options.json ? advice_json(advised) : advice_text(advised)).c_str(), stdout);
  return 0;
}

}  // namespace

int advise(const AdviseOptions& options) {
  return with_job(options.job, options.overrides, [&](const Job& job) { return advise_on(job, options); });
}

}  // namespace ballast

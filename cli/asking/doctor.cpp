#include "cli/asking/doctor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/asking/diagnosis.h"
#include "cli/asking/finished_run.h"
#include "cli/asking/footprint.h"
#include "cli/asking/lead_address.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "cli/run_folder/run_folder.h"
#include "insight/on_the_way.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPids = 1U << 22U;       // the kernel's limit
constexpr std::chrono::milliseconds kAskFor{5'000};  // whoever hangs takes two seconds of it
constexpr Micros kSoon = 1'000'000;                  // what is merely slow arrives
constexpr Step kStepsBefore = 1;                     // records of them say how far back who is asked has some

struct LocalProcess {
  ProcessSeen process;
  FootprintSpan span;
};

// Those that the run's folder names.
std::vector<LocalProcess> of_folder(const fs::path& folder) {
  std::vector<LocalProcess> watched;
  std::ifstream in(folder / "processes.json");
  auto entries = nlohmann::json::parse(in, nullptr, false);
  if (!entries.is_array()) {
    return watched;
  }
  for (auto& entry : entries) {
    // One that is just being started again has no pid.
    if (entry.is_object() && entry["role"].is_string() && entry["pid"].is_number_unsigned() &&
        entry["index"].is_number_unsigned()) {
      const auto role = entry["role"].get<std::string>();
      const auto pid = static_cast<pid_t>(std::min<std::uint64_t>(entry["pid"].get<std::uint64_t>(), kMostPids));
      const auto index = entry["index"].get<std::uint64_t>();
      watched.push_back({{role + " " + std::to_string(index), pid, role == "server" && index == 0, std::nullopt},
                         FootprintSpan(pid)});
    }
  }
  return watched;
}

// Those of this machine that were told the lead's address. Which of them is the lead's, their command lines do not say.
std::vector<LocalProcess> of_lead(const std::string& lead) {
  std::vector<LocalProcess> watched;
  for (const auto* program : {"ballast-server", "ballast-worker"}) {
    for (const auto pid : processes_of(program, lead)) {
      watched.push_back({{program, pid, false, std::nullopt}, FootprintSpan(pid)});
    }
  }
  return watched;
}

std::vector<DiskSeen> disks_of(const fs::path& folder) {
  std::vector<DiskSeen> disks;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator(folder, unknown)) {
    const bool is_database = entry.path().filename().string().starts_with("shard-");
    const auto space = is_database ? fs::space(entry.path(), unknown) : fs::space_info{0, 0, 0};
    if (is_database && !unknown && space.capacity > 0) {
      const auto free = static_cast<double>(space.available);
      disks.push_back({entry.path().string(), free / static_cast<double>(space.capacity), free});
    }
  }
  return disks;
}

// What has left and has not arrived, of a job whose step stays open. Everybody is asked for that: not for one that goes
// on, or is to stand still.
void tell_on_the_way(TraceCollector& collector, JobSeen& seen) {
  if (!seen.before || !seen.after || goes_on(seen) || seen.after->step != seen.before->step ||
      seen.after->phase == JobPhase::paused || is_over(seen.after->phase)) {
    return;
  }
  if (const auto trace = collector.collect_soon(kStepsBefore, seen.silent, kAskFor)) {
    seen.on_the_way = insight::on_the_way(*trace, seen.after->step, kSoon);
  }
}

JobSeen look(const DoctorOptions& options) {
  JobSeen seen;
  seen.job = options.where;
  const bool is_folder = fs::is_directory(options.where);
  seen.lead = lead_address(options.where);
  const auto watched = is_folder ? of_folder(options.where) : of_lead(seen.lead);
  const auto began = std::chrono::steady_clock::now();
  TraceCollector collector(seen.lead, operator_keys(options.where, options.keys));
  seen.before = collector.ask_status();
  if (seen.before) {
    auto silent = collector.ask_who_is_silent(kAskFor);
    seen.silent = std::move(silent.names);
    seen.unasked = silent.unasked;
    std::this_thread::sleep_until(began + std::chrono::duration<double>(options.seconds));
    seen.after = collector.ask_status();
  }
  seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  seen.why_silent = seen.after ? std::string() : collector.why();
  for (const auto& one : watched) {
    seen.processes.push_back(one.process);
    seen.processes.back().footprint = one.span.end();
  }
  tell_on_the_way(collector, seen);
  seen.disks = is_folder ? disks_of(options.where) : std::vector<DiskSeen>();
  return seen;
}

// Of a run whose job has finished and whose processes are gone.
std::optional<JobSeen> end_of(const std::string& where) {
  const auto job = job_of_run(where);
  auto status = job ? finished_run(*job, where) : std::nullopt;
  if (!status) {
    return std::nullopt;
  }
  JobSeen seen;
  seen.job = where;
  seen.after = std::move(status);
  return seen;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  auto end = end_of(options.where);
  auto seen = end ? *std::move(end) : look(options);
  if (!seen.after && (end = end_of(options.where))) {
    seen = *std::move(end);  // it has finished meanwhile
  }
  const auto diagnosis = diagnose(seen);
  const auto text = options.json ? diagnosis_json(seen, diagnosis) : diagnosis_text(seen, diagnosis);
  std::fputs(text.c_str(), stdout);
  return diagnosis.goes_on ? 0 : 1;
}

}  // namespace ballast

#include "cli/asking/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>
#include <tuple>

#include "cli/asking/told_waits.h"
#include "common/net/descriptors.h"
#include "common/telling/amounts.h"
#include "common/telling/changes.h"
#include "common/text/shell_word.h"

namespace ballast {
namespace {

constexpr double kBusy = 0.9;         // of a processor
constexpr double kNearlyFull = 0.01;  // of a disk, if that is little besides
constexpr double kLittleRoom = 1e9;   // bytes
constexpr double kSteps = 2;          // that a look at a slow job takes
constexpr std::size_t kMostHeldUp = 5;
constexpr std::size_t kMostChains = 5;

std::string with_pid(const ProcessSeen& process) {
  return process.name + (process.is_lead ? ", the lead's" : "") + " (process " + std::to_string(process.pid) + ")";
}

std::string percent(double part) { return fixed(100 * part, 0) + " %"; }

std::uint64_t slots_of(const Status& status) {
  std::uint64_t slots = 0;
  for (const auto& session : status.sessions) {
    slots += session.slots;
  }
  return slots;
}

// What changes as a job evaluates, where no step ends.
std::tuple<JobPhase, Step, Step, Step> evaluated(const Status& status) {
  return {status.phase, status.validation.step, status.test.step, status.snapshot};
}

// One without a worker, or before it has as many as it waits for, is told of by its phase alone.
std::string waits_for(const Status& status) {
  if (status.phase == JobPhase::waiting && status.waits_for.empty()) {
    return "its workers: it begins with " + std::to_string(status.start_workers) + " (cluster.start_workers)";
  }
  return awaited_by(status);
}

class Look {
 public:
  explicit Look(const JobSeen& seen) : seen_(seen) {}

  // What is certain and near comes first: what a process of this machine does, then what the lead says.
  Diagnosis all() {
    diagnosis_.goes_on = goes_on(seen_);
    processes();
    if (seen_.after) {
      phase();
      disks();
    }
    connections();
    descriptors();
    if (!diagnosis_.goes_on) {
      chains();
    }
    if (!seen_.after) {
      lead();
    } else {
      waits();
    }
    silent();
    if (!diagnosis_.goes_on && diagnosis_.found.empty()) {
      longer();
    }
    return std::move(diagnosis_);
  }

 private:
  void found(std::string what, std::string remedy) { diagnosis_.found.push_back({std::move(what), std::move(remedy)}); }

  // Of one that may only be slow.
  void longer() {
    const auto pace = seen_.after->steps_per_second;
    const bool may_be = diagnosis_.is_short = pace > 0 && seen_.seconds < kSteps / pace;
    found("no step ended in " + fixed(seen_.seconds, 1) + " s" +
              (may_be ? ", which is no longer than its last ones took (" + fixed(1 / pace, 1) + " s each)"
                      : std::string(", and nobody says what it waits for")),
          may_be ? "look for longer: --seconds " + fixed(std::ceil(kSteps / pace), 0) : "look at `ballast analyze`");
  }

  void processes() {
    for (const auto& process : seen_.processes) {
      const auto pid = std::to_string(process.pid);
      if (!process.footprint && !(seen_.after && is_over(seen_.after->phase))) {
        found(with_pid(process) + " has ended", "its log says why; whoever started it is to start it again");
      } else if (!process.footprint) {
        continue;
      } else if (process.footprint->state == 'T' || process.footprint->state == 't') {
        found(with_pid(process) + " is stopped, by a signal or a debugger",
              "let it go on (kill -CONT " + pid + "), or end it");
      } else if (process.footprint->state == 'D') {
        found(with_pid(process) + " waits for a disk or a file system",
              "look at the kernel's log (dmesg), and at mounts");
      }
    }
  }

  void phase() {
    const auto& status = *seen_.after;
    if (status.phase == JobPhase::paused || status.phase == JobPhase::pausing) {
      found(std::string("its user has paused it: it is ") + name_of(status.phase),
            "ballast resume " + shell_word(seen_.job));
    } else if (status.phase == JobPhase::failed || status.phase == JobPhase::stopped) {
      found(std::string("it has ") + name_of(status.phase) + (status.failure.empty() ? "" : ": " + status.failure), "");
    }
  }

  void disks() {
    const auto text = seen_.after->waits_for + all_trouble(*seen_.after);
    const bool is_said = text.find("disk is full") != std::string::npos || text.find("No space") != std::string::npos;
    std::string paths;
    for (const auto& disk : seen_.disks) {
      if (disk.free < kNearlyFull && disk.bytes < kLittleRoom) {
        paths += (paths.empty() ? "" : ", ") + disk.path;
      }
    }
    is_full_ = is_said;
    if (is_said || !paths.empty()) {
      found(
          "a disk is full" + (paths.empty() ? std::string() : " (" + paths + ")") +
              (is_said ? ": " + (all_trouble(*seen_.after).empty() ? seen_.after->waits_for : all_trouble(*seen_.after))
                       : std::string()),
          "make room on it: the job goes on by itself");
    }
  }

  void connections() {
    for (const auto& process : seen_.processes) {
      const auto stuck = process.footprint ? process.footprint->stuck : std::vector<StuckConnection>();
      if (stuck.empty()) {
        continue;
      }
      const auto worst = std::ranges::max_element(stuck, {}, &StuckConnection::again);
      found("nobody acknowledges what " + with_pid(process) + " sends to " + worst->peer + ": it was sent again " +
                std::to_string(worst->again) + " times in a row" +
                (stuck.size() == 1 ? std::string() : ", and so on " + count_text(stuck.size() - 1, "more connection")),
            "that machine is gone, or the way to it or back is lost: look at routes and firewalls in both directions");
    }
  }

  void descriptors() {
    for (const auto& process : seen_.processes) {
      if (process.footprint && process.footprint->lacks_descriptors()) {
        const auto& own = *process.footprint;
        found(with_pid(process) + " has used up its file descriptors, or nearly (" + std::to_string(own.descriptors) +
                  " of " + std::to_string(own.descriptor_limit) + "): where none is left nobody else can connect",
              kDescriptorRemedy);
      }
    }
  }

  void chains() {
    diagnosis_.chains = chains_of(told_waits(seen_));
    for (const auto& chain : diagnosis_.chains) {
      if (chain.is_deadlock) {
        found("deadlock: " + chain_text(chain),
              "nobody in it can go on. Look at the way between them; else end a worker that is in it, which loses "
              "nothing: others compute what it has");
      }
    }
  }

  void lead() {
    const auto lead = std::ranges::find_if(seen_.processes, &ProcessSeen::is_lead);
    if (lead != seen_.processes.end() && lead->footprint && lead->footprint->processor > kBusy) {
      found(with_pid(*lead) + " does not answer, and computes all the time", "its log, or a debugger, says at what");
    } else {
      found(seen_.why_silent, "");
    }
  }

  void waits() {
    const auto& status = *seen_.after;
    if (const auto awaited = waits_for(status); !awaited.empty()) {
      found("it waits for " + awaited, "");
    }
    if (const auto trouble = all_trouble(status); !trouble.empty() && !is_full_) {
      found(trouble, "");
    }
    if (diagnosis_.goes_on) {
      return;  // somebody is always silent for a moment
    }
    std::size_t held_up = 0;
    for (const auto& session : status.sessions) {
      if (session.live && !session.held_up.empty() && held_up++ < kMostHeldUp) {
        found("worker " + session.name + " is not counted on: " + session.held_up, "");
      }
    }
    if (held_up > kMostHeldUp) {
      found("so are " + count_text(held_up - kMostHeldUp, "more worker"), "");
    }
  }

  void silent() {
    if (seen_.after && (is_over(seen_.after->phase) || (diagnosis_.goes_on && is_leaving()))) {
      return;
    }
    for (const auto& name : seen_.silent) {
      found(name + " answers nothing that the lead passes on",
            "it hangs, is stopped, or cannot be reached: run ballast doctor on its machine");
    }
    if (!seen_.silent.empty() && seen_.unasked > 0) {
      found(count_text(seen_.unasked, "more process", "more processes") + " could not be asked meanwhile", "");
    }
  }

  // Lanes may leave before the lead does.
  [[nodiscard]] bool is_leaving() const { return seen_.after->phase == JobPhase::finishing; }

  const JobSeen& seen_;
  Diagnosis diagnosis_;
  bool is_full_ = false;  // by what a shard says
};

const char* state_text(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'D':
      return "disk wait";
    case 'T':
    case 't':
      return "stopped";
    default:
      return "sleeps";
  }
}

std::string process_rows(const JobSeen& seen) {
  if (seen.processes.empty()) {
    return "no process of it is on this machine, or another user's are\n";
  }
  std::array<char, 200> line{};
  const auto row = [&](const char* name, const char* pid, const char* state, const char* processor, const char* starved,
                       const char* written, const char* descriptors, const char* memory) {
    std::snprintf(line.data(), line.size(), "%-12s %8s %-10s %10s %15s %14s %18s %10s\n", name, pid, state, processor,
                  starved, written, descriptors, memory);
    return std::string(line.data());
  };
  auto text = row("process", "pid", "state", "processor", "lacks one for", "written/s", "descriptors", "memory");
  for (const auto& process : seen.processes) {
    const auto pid = std::to_string(process.pid);
    if (!process.footprint) {
      text += row(process.name.c_str(), pid.c_str(), "ended", "", "", "", "", "");
      continue;
    }
    const auto& own = *process.footprint;
    text += row(process.name.c_str(), pid.c_str(), state_text(own.state), percent(own.processor).c_str(),
                percent(own.starved).c_str(), bytes_text(static_cast<std::uint64_t>(own.written)).c_str(),
                (std::to_string(own.descriptors) + " of " + std::to_string(own.descriptor_limit)).c_str(),
                bytes_text(own.memory).c_str());
  }
  return text;
}

std::string chain_rows(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& chain : diagnosis.chains | std::views::take(kMostChains)) {
    text += (chain.is_deadlock ? "deadlock: " : "waits: ") + chain_text(chain) + "\n";
  }
  if (diagnosis.chains.size() > kMostChains) {
    text += "waits: and " + count_text(diagnosis.chains.size() - kMostChains, "more chain") + "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const WaitChain& chain) {
  nlohmann::ordered_json json = {{"deadlock", chain.is_deadlock}, {"others", chain.others}};
  for (const auto& wait : chain.waits) {
    auto& one = json["waits"].emplace_back();
    one = {{"who", wait.who}, {"whom", wait.whom}, {"what", wait.what}};
    if (wait.seconds) {
      one["seconds"] = *wait.seconds;
    }
  }
  return json;
}

}  // namespace

bool goes_on(const JobSeen& seen) {
  const bool has_ended_badly =
      seen.after && (seen.after->phase == JobPhase::failed || seen.after->phase == JobPhase::stopped);
  if (seen.after && seen.after->phase == JobPhase::finished) {
    return true;
  }
  return seen.before && seen.after && !has_ended_badly &&
         (seen.after->step > seen.before->step || slots_of(*seen.after) > slots_of(*seen.before) ||
          evaluated(*seen.after) != evaluated(*seen.before));
}

Diagnosis diagnose(const JobSeen& seen) { return Look(seen).all(); }

std::string diagnosis_text(const JobSeen& seen, const Diagnosis& diagnosis) {
  std::string text;
  if (seen.after) {
    text = "job " + seen.after->job + ": " + name_of(seen.after->phase) + ", step " + std::to_string(seen.after->step) +
           " of " + std::to_string(seen.after->steps);
    text += seen.after->phase == JobPhase::finished ? "\n"
            : diagnosis.goes_on && seen.before
                ? ", goes on: " + count_text(seen.after->step - std::min(seen.before->step, seen.after->step), "step") +
                      " in " + fixed(seen.seconds, 1) + " s\n"
            : diagnosis.is_short ? ", no step has ended yet\n"
                                 : ", makes no progress\n";
  } else {
    text = "the lead at " + seen.lead + " does not answer\n";
  }
  for (const auto& one : diagnosis.found) {
    text += (&one == &diagnosis.found.front() && !diagnosis.goes_on ? "because " : "also: ") + one.what + "\n";
    text += one.remedy.empty() ? "" : "  " + one.remedy + "\n";
  }
  return text + chain_rows(diagnosis) + process_rows(seen);
}

std::string diagnosis_json(const JobSeen& seen, const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["goes_on"] = diagnosis.goes_on;
  json["found"] = nlohmann::ordered_json::array();
  for (const auto& one : diagnosis.found) {
    json["found"].push_back({{"what", one.what}, {"remedy", one.remedy}});
  }
  json["chains"] = nlohmann::ordered_json::array();
  for (const auto& chain : diagnosis.chains) {
    json["chains"].push_back(json_of(chain));
  }
  json["processes"] = nlohmann::ordered_json::array();
  for (const auto& process : seen.processes) {
    auto& one = json["processes"].emplace_back();
    one = {{"name", process.name}, {"pid", process.pid}, {"lead", process.is_lead}};
    if (process.footprint) {
      const auto& own = *process.footprint;
      one["state"] = std::string(1, own.state);
      one["processor"] = own.processor;
      one["starved"] = own.starved;
      one["written_per_second"] = own.written;
      one["memory"] = own.memory;
      one["descriptors"] = own.descriptors;
      one["descriptor_limit"] = own.descriptor_limit;
    }
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace ballast

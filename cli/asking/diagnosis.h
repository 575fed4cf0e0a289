// Why a job makes no progress: what is said of it, and what its processes on this machine do meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/asking/footprint.h"
#include "cli/asking/waits.h"
#include "insight/on_the_way.h"
#include "protocol/messages/status.h"

namespace ballast {

struct ProcessSeen {
  std::string name;  // "server 1", "worker 0"
  pid_t pid = 0;
  bool is_lead = false;
  std::optional<Footprint> footprint;  // none: it has ended
};

struct DiskSeen {
  std::string path;
  double free = 0;   // part of it
  double bytes = 0;  // that are free
};

struct JobSeen {
  std::string lead;              // its address
  std::string job;               // as a person would type it: the folder or the address
  std::optional<Status> before;  // none: the lead did not answer
  std::optional<Status> after;
  std::string why_silent;                     // of the lead
  double seconds = 0;                         // between the two
  std::vector<std::string> silent;            // who does not answer what the lead passes on
  std::size_t unasked = 0;                    // so many were not asked, for want of time
  std::vector<insight::OnTheWay> on_the_way;  // of a job that stands still
  std::vector<ProcessSeen> processes;
  std::vector<DiskSeen> disks;
};

struct Diagnosis {
  bool goes_on = false;
  bool is_short = false;  // the look was: no longer than two of the job's last steps took
  // What keeps the job from going on, the most likely first, each with what to do. Of a job that goes on: what is wrong
  // all the same.
  struct Finding {
    std::string what;
    std::string remedy;  // empty: none is known
  };
  std::vector<Finding> found;
  std::vector<WaitChain> chains = {};  // of a job that does not go on: who waits for whom
};

// Whether steps or evaluations went on meanwhile, or it has finished.
bool goes_on(const JobSeen& seen);

Diagnosis diagnose(const JobSeen& seen);

// For people: whether it goes on, why not, and what the processes take.
std::string diagnosis_text(const JobSeen& seen, const Diagnosis& diagnosis);
// For programs: one object.
std::string diagnosis_json(const JobSeen& seen, const Diagnosis& diagnosis);

}  // namespace ballast

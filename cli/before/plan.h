// `ballast plan`: what a job will take, before anything starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/before/resources.h"

namespace ballast {

struct PlanOptions {
  std::string job;                     // the job file
  std::vector<std::string> overrides;  // key.path=value
  bool here = false;                   // is this machine enough for all of it?
  std::string folder = ".";            // where databases would be kept
  bool json = false;
};

// What this machine has left.
struct Room {
  std::uint64_t memory = 0;  // bytes; 0: the system does not tell
  std::uint64_t disk = 0;
};
// Of the file system that `folder`, or the nearest folder above it that exists, is on.
Room room_here(const std::string& folder);

// Sentences about what does not fit; empty if all does. What is usual must fit; what is beyond it is said, too.
struct Verdict {
  std::vector<std::string> lacking;
  std::vector<std::string> warnings;
};
Verdict judge(const JobResources& resources, const Room& room);

// Prints it. Returns the exit code: 1 if --here and it does not fit, 2 if the job file is wrong.
int plan(const PlanOptions& options);

}  // namespace ballast

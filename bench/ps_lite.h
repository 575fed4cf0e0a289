// ps-lite's side of a comparison: a program that the user has built with it.
#pragma once

#include <string>

namespace ballast::bench {

struct PsLiteWork {
  std::string transport = "tcp";  // or ipc
  std::string tensors;            // resnet, or the bytes of each
  bool equal = false;             // SGD with momentum and replies that cannot tear; else it sums, and replies may tear
};

struct PsLiteSpeed {
  double gigabytes_per_second = 0;  // one way, though as many bytes come back
  double worker_cpu_ms = 0;         // processor time of a round
};

// One scheduler, one server and one worker of `program`, which push and pull all tensors at once for so many seconds.
// The program takes TENSORS SECONDS, its role and addresses from ps-lite's environment variables (DMLC_*), SGD=1,
// COPY=1 and KIND=2 (push and pull in one), and its worker prints a line with `pushpull`, `GB/s NUMBER` and
// `workercpu_ms NUMBER`. Throws std::runtime_error with its words if there is no such line.
PsLiteSpeed run_ps_lite(const std::string& program, const PsLiteWork& work, double seconds);

}  // namespace ballast::bench

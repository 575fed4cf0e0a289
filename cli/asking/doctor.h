// `ballast doctor`: why a job makes no progress.
#pragma once

#include <string>

namespace ballast {

struct DoctorOptions {
  std::string where;  // a run's folder or the lead's address
  std::string keys;
  double seconds = 3;  // that are looked at
  bool json = false;
};

// The exit code: 0 if the job goes on, else 1.
int doctor(const DoctorOptions& options);

}  // namespace ballast

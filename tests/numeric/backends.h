// The backends under test. A new backend joins every test by one line here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "worker/compute/backend.h"

namespace ballast {

struct NamedBackend {
  std::string name;
  std::unique_ptr<Backend> backend;
};

inline std::vector<NamedBackend> backends_under_test() {
  std::vector<NamedBackend> backends;
  backends.push_back({"cpu, 1 thread", make_cpu_backend(1)});
  backends.push_back({"cpu, 2 threads", make_cpu_backend(2)});
  return backends;
}

}  // namespace ballast

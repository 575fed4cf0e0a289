// The backends under test, begun.
#pragma once

#include <memory>
#include <vector>

#include "tests/numeric/backends.h"

namespace ballast::layers {

struct BackendUnderTest {
  NamedBackend named;
  std::unique_ptr<Backend> backend = named.make();

  [[nodiscard]] bool is_cpu() const { return named.name.starts_with("cpu"); }
};

// Once for all cases of a kind: a device takes longer to begin than to compute a case.
inline std::vector<BackendUnderTest> make_backends() {
  std::vector<BackendUnderTest> backends;
  for (const NamedBackend& named : backends_under_test()) {
    backends.push_back({named});
  }
  return backends;
}

}  // namespace ballast::layers

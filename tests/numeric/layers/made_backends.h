// The backends under test, begun, and what they lack.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
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

// Of a layer or loss that a backend does not have, nothing. The cpu has all.
template <typename Run>
auto run_if_had(const BackendUnderTest& under_test, const Run& run) -> std::optional<decltype(run())> {
  try {
    return run();
  } catch (const std::invalid_argument& error) {
    if (under_test.is_cpu() || std::string(error.what()).find("has no") == std::string::npos) {
      throw;
    }
    return std::nullopt;
  }
}

}  // namespace ballast::layers

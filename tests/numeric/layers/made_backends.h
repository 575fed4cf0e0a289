// The backends under test, begun, and what they lack.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

#include "common/network/layers.h"
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

inline bool is_recurrent(const Layer& layer) {
  return std::holds_alternative<Lstm>(layer) || std::holds_alternative<Gru>(layer) ||
         std::holds_alternative<TreeLstm>(layer);
}

// Nothing of the layers that the cuda backend does not have, which it says. The cpu has all.
template <typename Run>
auto run_if_had(const BackendUnderTest& under_test, const Layer& layer, const Run& run)
    -> std::optional<decltype(run())> {
  if (!under_test.is_cpu() && is_recurrent(layer)) {
    CHECK_THROWS_WITH_AS(run(), doctest::Contains(("has no " + name_of(layer)).c_str()), std::invalid_argument);
    return std::nullopt;
  }
  return run();
}

}  // namespace ballast::layers

// A small arena of several chunks, and the emulated model on it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/spec.h"
#include "worker/models/model.h"

namespace ballast::testing {

// Three parameters: `a` and `b` share a chunk, `bias` has one of its own; then the statistics chunk.
inline Arena small_arena() {
  const auto parameter = [](std::string name, std::uint32_t elements, Group group) {
    Parameter made;
    made.name = std::move(name);
    made.shape = {elements};
    made.group = group;
    return made;
  };
  return lay_out(
      {parameter("a", 37, Group::decay), parameter("b", 5, Group::decay), parameter("bias", 3, Group::no_decay)});
}

inline std::unique_ptr<Model> small_model(const Arena& arena) {
  ModelSpec spec;
  spec.name = "emulated";
  return make_model(spec, ExampleShape{}, arena, on_cpu(1));
}

}  // namespace ballast::testing

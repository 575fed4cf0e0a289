// What a worker is called in metrics while another one lives under the same name.
#pragma once

#include <fmt/core.h>

#include <string>

#include "protocol/ids.h"

namespace ballast {

// As the summary calls it (slots_by_session). Of the live workers of one name the one with the lowest session has the
// name itself, in the lead's metrics and in those of every lane.
inline std::string name_of_twin(const std::string& worker, SessionId session) {
  return fmt::format("{}@{:016x}", worker, session);
}

}  // namespace ballast

// How stale the contributions of an asynchronous job were, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "protocol/messages.h"

namespace ballast {

// One line without its end; empty if nothing was counted.
std::string staleness_text(const StalenessCounts& staleness);

// null if nothing was counted.
nlohmann::ordered_json staleness_json(const StalenessCounts& staleness);

}  // namespace ballast

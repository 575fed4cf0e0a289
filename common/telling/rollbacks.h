// How often a job went back to a snapshot and why, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "protocol/rollbacks.h"

namespace ballast {

// "a shard could not go on: 2, a gradient was not finite: 1"; empty if nothing was counted.
std::string causes_text(const RollbackCounts& rollbacks);

// Every cause by its name, those that were never met as well.
nlohmann::ordered_json causes_json(const RollbackCounts& rollbacks);

}  // namespace ballast

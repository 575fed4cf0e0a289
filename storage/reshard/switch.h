// New databases in the place of a run's old ones, all or nothing, whatever ends it in between. In the run's folder:
//
//   reshard.new/      is being built: nothing to anybody, removed by whoever has the run's lock next
//   reshard.out/      whole and durable. What the run has as shard-<i> goes into it, as old-<i>
//   reshard.in/       nothing is left of the old ones: new-<i> becomes shard-<i>, and job.yaml the run's
//   reshard.old/      all is done: removed
//
// It is one folder that goes from name to name. The rename from reshard.new to reshard.out is the moment that decides:
// before it the run is as it was, after it whoever comes next brings the rest to its end. Each step may be repeated. A
// name is durable before what rests on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "common/files/status.h"

namespace ballast {

// Where to build, in the run's folder: the folder, and in it the database of a shard and the job file.
std::filesystem::path reshard_build_folder(const std::filesystem::path& run_folder);
std::filesystem::path reshard_build_database(const std::filesystem::path& run_folder, std::uint32_t shard);
std::filesystem::path reshard_build_job(const std::filesystem::path& run_folder);

// Whether the name is one of the four.
bool is_reshard_name(const std::string& name);
// Whether a switch was decided and has not come to its end. Cheap.
bool has_unfinished_switch(const std::filesystem::path& run_folder);

// For all below: whoever calls has the run's lock, and no server has a database of it open.

// Decides for what was built, and brings it to its end. Removes what was replaced, journals included; what cannot be
// removed stays as reshard.old and is no failure. `between`, for tests, is called after each step.
StoreStatus switch_databases(const std::filesystem::path& run_folder, const std::function<void()>& between = {});
// Brings a switch that was decided to its end; nothing to do: ok.
StoreStatus finish_switch(const std::filesystem::path& run_folder, const std::function<void()>& between = {});
// Removes what a resharding that came to nothing, or to its end, has left. As far as that can be removed.
void remove_reshard_remains(const std::filesystem::path& run_folder);

}  // namespace ballast

// Whether databases are there, and those of the job that their run's folder names.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/job/job.h"
#include "storage/store/shard_store.h"

namespace ballast {

bool holds_something(const std::filesystem::path& database);

// Throws std::runtime_error naming the database, the shard and the remedy if nothing is there.
void check_there(const std::filesystem::path& database, std::uint32_t shard);

// Throws std::runtime_error naming the database and what differs if it is of another job than the run's job.yaml, or of
// another layout. One that has no identity yet is not.
void check_identity(const ShardStore& store, const Job& job);

}  // namespace ballast

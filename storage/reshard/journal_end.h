// How far a run's journals go beyond its newest snapshot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "storage/journal/journal_records.h"

namespace ballast {

// The furthest item whose updates the journals beside the databases (by shard) have of this timeline, and that a run
// which is resumed goes on from; none if one of the shards has no journal, for then nobody's counts. Fails as
// scan_journal does. Reads all of the journals.
StoreResult<std::optional<std::uint64_t>> newest_journaled_item(const std::vector<std::filesystem::path>& databases,
                                                                JournalOwner owner, Timeline timeline);

}  // namespace ballast

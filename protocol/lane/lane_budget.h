// How many bytes of contributions a lane may have, and how many of them are kept back for the oldest work.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane_config.h"

namespace ballast {

// The least budget with which every step can end, whatever is sent in whatever order. Of rounds: what lies before the
// first missing slot of a chunk makes floor(log2 slots) nodes at most, and the one that contains it comes to them;
// where the step's decision needs the whole gradient, the roots of all of the lane's chunks wait as well. Of items:
// one.
std::uint64_t reserve_of(Slot slots, const std::vector<LaneChunk>& chunks, bool needs_whole_gradient, bool is_of_items);

// What the statistics of a step's slots take at most, of rounds, one that joins them included: by them a newcomer shows
// that it can bring a slot, also where nothing else of it finds room.
std::uint64_t statistics_room_of(Slot slots, const std::vector<LaneChunk>& chunks);

// What is set aside of weights that are read and of no use else: a version of each chunk, and of its average (of
// statistics, which have none, their weights are sent for it). In a lane of few chunks, of which each of so many
// workers may read another version, one of the largest chunk for each, up to 16 MiB.
std::uint64_t kept_of(const std::vector<LaneChunk>& chunks, bool averages, std::uint64_t workers = 0);

}  // namespace ballast

// How large the numbers of messages may be, whatever the job: so large that no honest one ever is, and so small that
// the cores' arithmetic cannot wrap. What a job allows is less, and its receiver's to judge.
#pragma once

#include "common/wire/rules.h"
#include "common/wire/wire_limits.h"
#include "protocol/ids.h"

namespace ballast::wire {

inline constexpr Below kTimelines{kTimelineBits};
inline constexpr Below kSteps{kStepBits};                 // and snapshots, cuts, versions in rounds
inline constexpr Below kVersions{kStepBits + kSlotBits};  // and items: in item mode each slot of a step is an update
inline constexpr Below kCounts{53};                       // of anything that has happened; exact as a double
inline constexpr Below kSpans{48};                        // microseconds: nine years
inline constexpr Below kBytes{48};                        // and bytes a second
inline constexpr Below kExamples{32};                     // of a split, and its items
inline constexpr Below kChunks{28};
inline constexpr Below kSmallCounts{31};
inline constexpr BelowOr kVersionsOrNewest{kVersions, "the newest"};

// What becomes of them: one more, an item's step, and sums over all that may tell of one.
static_assert(kMaxSlots == std::uint64_t{1} << kSlotBits);
static_assert(kMaxSteps < kSteps.last(), "a job's steps, and the version after the last one");
static_assert(kVersions.last() == (kSteps.last() + 1) * kMaxSlots - 1, "a step's items");
static_assert(kTimelines.bits <= 48 && kVersions.bits < 62);
static_assert(kCounts.bits + 10 <= 63 && kMaxAddresses <= 1U << 10U && kMaxSessions <= 1U << 10U, "sums over members");
static_assert(kSpans.bits + kSlotBits <= 60, "a span for each slot");
static_assert(kBytes.bits + 10 <= 60);
static_assert(kMaxArenaFloats >> 14U <= kChunks.last(), "chunks are of 64 KiB at least, but for each group's last");

}  // namespace ballast::wire

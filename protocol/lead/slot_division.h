// The division of a step's slots among sessions.
#pragma once

#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/predicted_end.h"

namespace ballast {

// One range for each session, in slot order; together they are all slots. A range may be empty. There must be a
// session. A session's first slot begins its lag after the step's opening, with a free uplink; one whose `slot` is 0 is
// taken to need a microsecond.
//
// A step takes until its latest predicted end, and a session sends a whole model for each node of the reduction tree
// that its range is made of. So among divisions whose latest end is within 1 % of the best this is one with the fewest
// nodes, among those the one with the most even ends (the least sum of their squares).
//
// `kept`, the present division of the same sessions or null, is returned unchanged while its latest predicted end is
// within 3 % of the best. What is no division of these slots among so many sessions is not kept.
//
// The boundaries are put left to right, each among the places where it may lie: anywhere if sessions x slots^2 is 2^20
// at most, which finds the best there is. Else near its proportional place, by what each session completes within the
// least time in which all could complete all slots if every range were one node. If that finds no end within 2 % of
// that time, as with slow links, it is sought around what has been found, up to three times, with places throughout the
// step that become fewer with the distance. Pure; the same everywhere with IEEE arithmetic.
std::vector<SlotRange> divide_slots(const StepSize& step, const std::vector<SessionPace>& sessions,
                                    const std::vector<SlotRange>* kept = nullptr);

// The latest predicted end of a division, from the step's opening on. A session without slots has none.
Micros latest_end(const StepSize& step, const std::vector<SessionPace>& sessions, const std::vector<SlotRange>& ranges);

}  // namespace ballast

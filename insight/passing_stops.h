// What workers' stops cost a job in rounds.
#pragma once

#include <vector>

#include "insight/job_times.h"

namespace ballast::insight {

// Microseconds, in all steps: what its odd slots take more than its others, and its stops between them.
double odd_time(const WorkerTimes& own);

// Stands out among those of all workers, and matters beside the time looked at.
bool is_passing(double odd, double usual, double window);

// Of two the smaller.
double usual_odd_time(const std::vector<WorkerTimes>& workers);

// Takes the stops of workers that stand out of their slots, so that a replay has none of them, and puts in their place
// what they cost (`WorkerTimes::lost`): by how much longer than is usual the steps took for which they lasted, and the
// three after each, in which others still compute more than their part; no more than a quarter beyond what the stops
// took. Where three of four steps are such, usual is what a
// replay of the job without all of these stops takes if one of them lasts for several steps; else nothing is taken out.
// Of two workers that stopped in one step it is counted to the one that stopped for longer. A
// replay would have the lead divide better than it did, which cannot know that somebody stops. `took`: microseconds, by
// step.
void take_out_stops(const std::vector<double>& took, JobTimes& times);

}  // namespace ballast::insight

// What a lane's thread does in a second of the job's work here.
#pragma once

#include "cli/advising/probe.h"
#include "common/job/job.h"

namespace ballast {

// Whether an update waits for the lead, which has to know all of the gradient (server/lead_config.cpp).
bool waits_for_the_lead(const Job& job);

// Sums and updates with the job's optimizer go over chunks of the job, more than caches hold where the model is as
// large; messages are sent from a thread to another one of this process, over TCP on loopback, as workers and lanes
// send them. It takes some `seconds`, and a quarter of a gigabyte of memory at most. Throws std::runtime_error.
LaneProbe probe_lane(const Job& job, double seconds = 1);

}  // namespace ballast

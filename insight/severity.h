// How slow each resource of a job is beside its peers, by what was measured of some steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

enum class Resource : std::uint8_t {
  compute,    // of a worker: a slot, without the wait for its examples
  data,       // of a worker: the wait for a slot's examples
  uplink,     // of a worker: contributions of one model on their way to the lanes
  downlink,   // of a worker: the weights of one model on their way from the lanes
  storage,    // of a lane: an item's record, of its wait for the journal what the disk took
  processor,  // of a lane's thread: what it does, beside the time that it had a processor for it
  lead,       // deciding on a step whose update needs the whole gradient
};

struct Severity {
  Resource resource = Resource::compute;
  std::string who;
  std::size_t process = 0;  // its place among the trace's: names may be alike
  // Milliseconds: of a slot (compute, data), a model (links), a record (storage), a step (lead), a second (processor).
  double takes = 0;
  double ideal = 0;  // what peers take: their median; without peers, or where there is no such thing, what it could be
  // takes / ideal; of data and storage, where the ideal is no wait, how much longer a slot takes for it. At least 1.
  double times = 1;
  bool is_slow = false;  // beyond what scatter makes of peers that are alike
};

// All that could be measured, the worst first. A link's message counts from when it was sent, or from when the one
// before it arrived if that came later, so that what waits behind others is not counted against it; messages that
// waited at a lane which was busy are left out. Medians throughout.
std::vector<Severity> severities(const JobTrace& trace);

}  // namespace ballast::insight

// Contributions of those whose slots are not in a trace: of what they did nothing can be told.
#pragma once

#include <algorithm>
#include <set>

#include "insight/job_trace.h"

namespace ballast::insight {

// Calls `look` with each of them and the lane that has read it.
template <typename Look>
void each_unknown_contribution(const JobTrace& trace, Look&& look) {
  const Peers peers(trace);
  std::set<const ProcessTrace*> computing;
  for (const auto& process : trace.processes) {
    if (std::ranges::any_of(process.records, [](const auto& each) { return each.kind == TraceKind::slot; })) {
      computing.insert(&process);
    }
  }
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::contribution && !computing.contains(peers.worker(record.peer))) {
        look(process, record);
      }
    }
  }
}

}  // namespace ballast::insight

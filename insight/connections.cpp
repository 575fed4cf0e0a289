#include "insight/connections.h"

#include "insight/medians.h"

namespace ballast::insight {

Connections::Connections(const JobTrace& trace, Micros from, Micros until) {
  for (const auto& process : trace.processes) {
    const bool is_worker = process.source.role == TraceRole::worker;
    for (const auto& record : process.records) {
      const auto at = record.kind == TraceKind::link ? process.on_lead(record.first) : Micros{0};
      if (record.kind != TraceKind::link || at > until) {
        continue;
      }
      auto& seen = seen_[is_worker ? process.source.session : record.peer];
      if (is_worker) {
        seen.rates[record.peer] = record.fourth;
      }
      if (at >= from) {
        (is_worker ? seen.up : seen.down).push_back(static_cast<double>(record.second));
        seen.resent += static_cast<double>(record.third);
      }
    }
  }
}

Connection Connections::of(SessionId worker) const {
  const auto found = seen_.find(worker);
  if (found == seen_.end()) {
    return {};
  }
  const auto& seen = found->second;
  Connection told{median(seen.up), median(seen.down), seen.resent, 0};
  for (const auto& [lane, rate] : seen.rates) {
    told.rate += static_cast<double>(rate) / 1e6;
  }
  return told;
}

}  // namespace ballast::insight

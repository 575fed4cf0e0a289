#include "insight/job_trace.h"

#include <algorithm>

namespace ballast::insight {

Micros ProcessTrace::on_lead(Micros own) const {
  if (own == 0 || !clock) {
    return own;
  }
  const auto lead = own + clock->lead;
  return lead > clock->own ? lead - clock->own : 1;
}

const ProcessTrace* JobTrace::worker(SessionId session) const {
  const auto found = std::ranges::find_if(processes, [&](const ProcessTrace& process) {
    return process.source.role == TraceRole::worker && process.source.session == session;
  });
  return found == processes.end() ? nullptr : &*found;
}

const ProcessTrace* JobTrace::lane(std::uint64_t number) const {
  for (const auto& process : processes) {
    if (process.source.role == TraceRole::lane && number-- == 0) {
      return &process;
    }
  }
  return nullptr;
}

std::string name_of(const TraceSource& source) {
  switch (source.role) {
    case TraceRole::lead:
      return "lead";
    case TraceRole::lane:
      return "shard " + std::to_string(source.lane.shard) + " lane " + std::to_string(source.lane.lane);
    case TraceRole::worker:
      break;
  }
  return "worker " + std::to_string(source.session);
}

Times on_one_clock(const JobTrace& trace, const ProcessTrace& process, const TraceRecord& record) {
  const auto own = [&](Micros moment) { return process.on_lead(moment); };
  const auto of = [](const ProcessTrace* other, Micros moment) {
    return other == nullptr || !other->clock ? 0 : other->on_lead(moment);
  };
  switch (record.kind) {
    case TraceKind::pull:
      return {own(record.first), of(trace.lane(record.peer), record.second), own(record.third), own(record.fourth)};
    case TraceKind::contribution:
      return {of(trace.worker(record.peer), record.first), own(record.second), own(record.third), own(record.fourth)};
    case TraceKind::work:
      return {own(record.first), own(record.second), 0, 0};
    case TraceKind::fetch:
    case TraceKind::weights:
    case TraceKind::slot:
    case TraceKind::push:
    case TraceKind::update:
    case TraceKind::reply:
    case TraceKind::snapshot:
    case TraceKind::journal:
    case TraceKind::decision:
      break;
  }
  return {own(record.first), own(record.second), own(record.third), own(record.fourth)};
}

}  // namespace ballast::insight

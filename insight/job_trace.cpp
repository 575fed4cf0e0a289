#include "insight/job_trace.h"

namespace ballast::insight {

Micros ProcessTrace::on_lead(Micros own) const {
  if (own == 0 || !clock) {
    return own;
  }
  const auto lead = own + clock->lead;
  return lead > clock->own ? lead - clock->own : 1;
}

bool is_in_items(const JobTrace& trace) { return !trace.rules && (trace.mode == "async" || is_bounded(trace)); }

bool is_bounded(const JobTrace& trace) { return trace.mode == "ssp"; }

Peers::Peers(const JobTrace& trace) {
  for (const auto& process : trace.processes) {
    if (process.source.role == TraceRole::worker) {
      workers_.emplace(process.source.session, &process);
    } else if (process.source.role == TraceRole::lane) {
      lanes_.push_back(&process);
    }
  }
}

const ProcessTrace* Peers::worker(SessionId session) const {
  const auto found = workers_.find(session);
  return found == workers_.end() ? nullptr : found->second;
}

const ProcessTrace* Peers::lane(std::uint64_t number) const {
  return number < lanes_.size() ? lanes_[number] : nullptr;
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

bool is_of(TraceKind kind, TraceRole role) {
  switch (kind) {
    case TraceKind::fetch:
    case TraceKind::weights:
    case TraceKind::slot:
    case TraceKind::push:
    case TraceKind::pull:
      return role == TraceRole::worker;
    case TraceKind::contribution:
    case TraceKind::update:
    case TraceKind::reply:
    case TraceKind::snapshot:
    case TraceKind::journal:
    case TraceKind::work:
      return role == TraceRole::lane;
    case TraceKind::link:
    case TraceKind::line:
      return role != TraceRole::lead;
    case TraceKind::decision:
      break;
  }
  return role == TraceRole::lead;
}

Times on_one_clock(const Peers& peers, const ProcessTrace& process, const TraceRecord& record) {
  const auto own = [&](Micros moment) { return process.on_lead(moment); };
  const auto of = [](const ProcessTrace* other, Micros moment) {
    return other == nullptr || !other->clock ? 0 : other->on_lead(moment);
  };
  switch (record.kind) {
    case TraceKind::pull:
      return {own(record.first), of(peers.lane(record.peer), record.second), own(record.third), own(record.fourth)};
    case TraceKind::contribution:
      return {of(peers.worker(record.peer), record.first), own(record.second), own(record.third), own(record.fourth)};
    case TraceKind::work:
    case TraceKind::journal:
      return {own(record.first), own(record.second), 0, 0};
    case TraceKind::link:
    case TraceKind::line:
      return {own(record.first), 0, 0, 0};
    case TraceKind::push:
      return {own(record.first), own(record.second), own(record.third), 0};
    case TraceKind::fetch:
    case TraceKind::weights:
    case TraceKind::slot:
    case TraceKind::update:
    case TraceKind::reply:
    case TraceKind::snapshot:
    case TraceKind::decision:
      break;
  }
  return {own(record.first), own(record.second), own(record.third), own(record.fourth)};
}

}  // namespace ballast::insight

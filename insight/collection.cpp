#include "insight/collection.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/trace/trace_ring.h"
#include "insight/absent.h"

namespace ballast::insight {
namespace {

// Reads one process after the other into a trace.
class Collector {
 public:
  Collector(const Status& status, std::size_t most, const AskTrace& ask) : status_(status), most_(most), ask_(ask) {}

  void read(const TraceSource& source, Step first) {
    ProcessTrace process;
    process.source = source;
    process.name = name_in(status_, source);
    TraceAsked asked;
    asked.source = source;
    asked.first = first;
    // Records are made while it is read: it ends with as many as there can have been at the beginning.
    for (bool ends = false; !ends && process.records.size() < TraceRing::kOfProcess;) {
      const auto part = next(asked);
      if (!part) {
        collected_.trace.silent.push_back(process.name);
        break;
      }
      std::ranges::copy_if(part->records, std::back_inserter(process.records),
                           [&](const TraceRecord& record) { return is_of(record.kind, source.role); });
      records_ += part->records.size();
      process.lost += part->lost;
      process.clock = part->clock ? part->clock : process.clock;
      process.told_all = part->ends;
      // Whoever goes on without an end and has nothing is left.
      ends = part->ends || part->records.empty() || part->next <= asked.from;
      asked.from = part->next;
    }
    collected_.trace.processes.push_back(std::move(process));
  }

  [[nodiscard]] Collected& collected() { return collected_; }

 private:
  std::optional<TracePart> next(const TraceAsked& asked) {
    collected_.is_full = records_ >= most_;
    return collected_.is_full ? std::nullopt : ask_(asked);
  }

  const Status& status_;
  const std::size_t most_;
  const AskTrace& ask_;
  std::size_t records_ = 0;
  Collected collected_;
};

// The first of them; empty: all have answered.
std::string silent_lane(const JobTrace& trace) {
  for (const auto& process : trace.processes) {
    if (process.source.role == TraceRole::lane && std::ranges::count(trace.silent, process.name) > 0) {
      return process.name;
    }
  }
  return {};
}

}  // namespace

std::string name_in(const Status& status, const TraceSource& source) {
  const auto session = std::ranges::find(status.sessions, source.session, &SessionStatus::session);
  return source.role == TraceRole::worker && session != status.sessions.end() ? "worker " + session->name
                                                                              : name_of(source);
}

Collected collect(const Status& status, const TracePart& who, Step steps, std::size_t most, const AskTrace& ask) {
  Collector collector(status, most, ask);
  collector.collected().trace.job = status.job;
  collector.collected().trace.rules = who.rules;
  collector.collected().trace.mode = status.mode;
  const auto first = status.step > steps ? status.step - steps : 0;
  for (const auto& source : who.sources) {
    collector.read(source, first);
  }
  auto collected = std::move(collector.collected());
  auto& trace = collected.trace;
  trace.held = held(status);
  if (const auto lane = silent_lane(trace); trace.held.empty() && !collected.is_full && !lane.empty()) {
    trace.held = lane + " does not answer";  // before the lead says so
  }
  trace.absent = absent(status, trace.held.empty());
  return collected;
}

}  // namespace ballast::insight

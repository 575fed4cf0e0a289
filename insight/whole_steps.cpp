#include "insight/whole_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "insight/items_done.h"
#include "insight/unknown_work.h"

namespace ballast::insight {
namespace {

// Of a step: which chunks are updated, and when the last one was.
struct Updates {
  std::set<ChunkId> chunks;
  Micros last = 0;
};

std::map<Step, Updates> updates_of(const JobTrace& trace) {
  std::map<Step, Updates> found;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::update && process.source.role == TraceRole::lane && record.third != 0) {
        auto& of_step = found[record.step];
        of_step.chunks.insert(record.chunk);
        of_step.last = std::max(of_step.last, process.on_lead(record.third));
      }
    }
  }
  return found;
}

// Since then all that has contributed is here, and has said what it computed.
Step known_from(const JobTrace& trace) {
  Step from = 0;
  each_unknown_contribution(
      trace, [&](const ProcessTrace& /*lane*/, const TraceRecord& record) { from = std::max(from, record.step + 1); });
  return from;
}

}  // namespace

std::vector<WholeStep> whole_steps(const JobTrace& trace, std::size_t most) {
  if (is_in_items(trace)) {
    return steps_of_items(items_done(trace), most);
  }
  const auto all = updates_of(trace);
  std::vector<WholeStep> whole;
  if (!trace.rules || all.empty()) {
    return whole;
  }
  const auto newest = std::ranges::max_element(all, {}, [](const auto& step) { return step.second.last; });
  const auto from = known_from(trace);
  for (auto step = std::next(newest); step != all.begin() && whole.size() < most;) {
    --step;
    const bool is_whole = step->second.chunks.size() == trace.rules->chunks && step->first >= from;
    const bool goes_on =
        whole.empty() || (step->first + 1 == whole.back().step && step->second.last < whole.back().end);
    if (is_whole && goes_on) {
      whole.push_back({step->first, step->second.last});
    } else if (!whole.empty()) {
      break;
    }
  }
  std::ranges::reverse(whole);
  return whole;
}

}  // namespace ballast::insight

#include "insight/windows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "insight/change_points.h"
#include "insight/medians.h"
#include "insight/whole_steps.h"

namespace ballast::insight {
namespace {

constexpr Step kLeast = kLeastAlike;   // steps of a window
constexpr std::size_t kLastSlots = 5;  // of a worker that computes none any more

// What shows changes, value by value a step's.
class Series {
 public:
  explicit Series(const JobTrace& trace, const std::vector<WholeStep>& whole) {
    for (std::size_t i = 1; i < whole.size(); ++i) {
      takes_.push_back({whole[i].step, static_cast<double>(whole[i].end - whole[i - 1].end)});
    }
    for (const auto& process : trace.processes) {
      std::map<Step, std::vector<double>> slots;
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::slot && record.fourth > record.second) {
          slots[record.step].push_back(static_cast<double>(record.fourth - record.second));
        }
      }
      if (!slots.empty()) {
        auto& values = slots_.emplace_back();
        std::ranges::transform(slots, std::back_inserter(values), [](const auto& step) {
          return Value{step.first, mean(step.second)};
        });
      }
    }
  }

  // The first step since which nothing has changed until that one.
  [[nodiscard]] Step alike_since(Step first, Step last) const {
    auto since = changed(takes_, first, last);
    for (const auto& values : slots_) {
      since = std::max(since, changed(values, first, last));
    }
    return since;
  }

 private:
  struct Value {
    Step step = 0;
    double value = 0;
  };

  static Step changed(const std::vector<Value>& all, Step first, Step last) {
    std::vector<Step> steps;
    std::vector<double> values;
    for (const auto& each : all) {
      if (each.step >= first && each.step <= last) {
        steps.push_back(each.step);
        values.push_back(each.value);
      }
    }
    const auto at = last_change(values);
    return at == 0 ? first : steps[at];
  }

  std::vector<Value> takes_;
  std::vector<std::vector<Value>> slots_;  // by worker
};

bool belongs_by_step(const ProcessTrace& process, const TraceRecord& record, const Window& window,
                     const TimeSpan& span) {
  switch (record.kind) {
    case TraceKind::update:
      return record.step + 1 >= window.first && record.step <= window.last;
    case TraceKind::work: {
      const auto at = process.on_lead(record.second);
      return at > span.began && at <= span.ended + kWorkSpan;
    }
    case TraceKind::link:
    case TraceKind::line:
      return process.on_lead(record.first) <= span.ended + kWorkSpan;  // the newest says what a link carries
    case TraceKind::fetch:
    case TraceKind::weights:
    case TraceKind::slot:
    case TraceKind::push:
    case TraceKind::pull:
    case TraceKind::contribution:
    case TraceKind::reply:
    case TraceKind::snapshot:
    case TraceKind::journal:
    case TraceKind::decision:
      break;
  }
  return record.step >= window.first && record.step <= window.last;
}

// When what the record is of was over, on the lead's clock.
Micros end_of(const ProcessTrace& process, const TraceRecord& record) {
  switch (record.kind) {
    case TraceKind::slot:
    case TraceKind::pull:
      return process.on_lead(record.fourth);
    case TraceKind::contribution:
    case TraceKind::update:
      return process.on_lead(record.third);
    case TraceKind::link:
    case TraceKind::line:
      return process.on_lead(record.first);
    case TraceKind::fetch:
    case TraceKind::weights:
    case TraceKind::push:
    case TraceKind::reply:
    case TraceKind::snapshot:
    case TraceKind::journal:
    case TraceKind::work:
    case TraceKind::decision:
      break;
  }
  return process.on_lead(record.second);
}

bool belongs_by_time(const ProcessTrace& process, const TraceRecord& record, const TimeSpan& span) {
  const auto at = end_of(process, record);
  const bool is_of_link = record.kind == TraceKind::link || record.kind == TraceKind::line;
  const bool is_of_thread = record.kind == TraceKind::work || is_of_link;
  return (at > span.began || is_of_link) && at <= span.ended + (is_of_thread ? kWorkSpan : 0);
}

std::vector<TraceRecord> last_slots(const ProcessTrace& process, const Window& window) {
  std::vector<TraceRecord> slots;
  std::ranges::copy_if(process.records, std::back_inserter(slots), [&](const TraceRecord& record) {
    return record.kind == TraceKind::slot && record.step < window.first;
  });
  std::ranges::sort(slots, {}, &TraceRecord::first);
  slots.erase(slots.begin(), slots.end() - static_cast<std::ptrdiff_t>(std::min(slots.size(), kLastSlots)));
  return slots;
}

// From the last update of the step before the window to its own last one.
TimeSpan span_of_steps(const JobTrace& trace, const Window& window) {
  TimeSpan span;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::update && process.source.role == TraceRole::lane) {
        const auto end = process.on_lead(record.third);
        span.began = record.step + 1 == window.first ? std::max(span.began, end) : span.began;
        span.ended = record.step == window.last ? std::max(span.ended, end) : span.ended;
      }
    }
  }
  return span;
}

TimeSpan span_of_items(const JobTrace& trace, const Window& window) {
  TimeSpan span;
  for (const auto& step : whole_steps(trace, std::numeric_limits<std::size_t>::max())) {
    span.began = step.step + 1 == window.first ? step.end : span.began;
    span.ended = step.step == window.last ? step.end : span.ended;
  }
  return span;
}

std::vector<WholeStep> whole_until(const JobTrace& trace, Step until) {
  auto whole = whole_steps(trace, std::numeric_limits<std::size_t>::max());
  std::erase_if(whole, [until](const WholeStep& each) { return each.step > until; });
  return whole;
}

// A change shows beside what was before it.
Step looked_at_from(Step begin, Step last, std::size_t steps) {
  return last - std::min<Step>(last - begin, 2 * steps - 1);
}

}  // namespace

bool begins_at_change(const JobTrace& trace, const WindowsWanted& wanted, const Window& newest) {
  const auto whole = whole_until(trace, wanted.until);
  if (newest.steps() >= wanted.steps || whole.size() < 2) {
    return false;
  }
  const auto last = newest.last;
  const auto looked_at = looked_at_from(whole[1].step, last, wanted.steps);
  return newest.first > looked_at && Series(trace, whole).alike_since(looked_at, last) == newest.first;
}

std::vector<Window> windows(const JobTrace& trace, const WindowsWanted& wanted) {
  const auto whole = whole_until(trace, wanted.until);
  std::vector<Window> found;
  if (std::ssize(whole) <= kLeastAlike) {
    return found;
  }
  const Series series(trace, whole);
  // Fewer steps since a change say less than all those before it.
  constexpr Step kOfWindow = 10;
  const auto least = std::max(kLeast, wanted.steps / kOfWindow);
  const auto begin = whole[1].step;  // the first one's begin is not known
  const auto newest = whole.back().step;
  auto last = newest;
  while (found.size() < wanted.most && last + 1 >= begin + kLeast) {
    const auto looked_at = looked_at_from(begin, last, wanted.steps);
    const auto full = last - std::min<Step>(last - begin, wanted.steps - 1);
    const auto since = series.alike_since(looked_at, last);
    const auto first = std::max(full, since);
    if (found.empty() && since > looked_at && newest - since + 1 < least && since >= begin + least) {
      last = since - 1;
      continue;
    }
    if (last - first + 1 >= kLeast) {
      found.push_back({first, last});
    }
    if (first == begin) {
      break;
    }
    // A few steps that are left over from after a change are too few to be told from those before it.
    const bool leaves_few = since > looked_at && first - since < kLeast;
    last = (leaves_few ? since : first) - 1;
  }
  std::ranges::reverse(found);
  return found;
}

JobTrace part_of(const JobTrace& trace, const Window& window) {
  const bool by_time = is_in_items(trace);
  const auto span = by_time ? span_of_items(trace, window) : span_of_steps(trace, window);
  JobTrace part{trace.job, trace.rules, {}, trace.mode};
  if (by_time) {
    part.part_of = span;
  }
  for (const auto& process : trace.processes) {
    auto& own =
        part.processes.emplace_back(ProcessTrace{process.source, process.name, process.clock, {}, process.lost});
    std::ranges::copy_if(process.records, std::back_inserter(own.records), [&](const TraceRecord& record) {
      return by_time ? belongs_by_time(process, record, span) : belongs_by_step(process, record, window, span);
    });
    if (process.source.role == TraceRole::worker &&
        std::ranges::none_of(own.records, [](const auto& each) { return each.kind == TraceKind::slot; })) {
      std::ranges::copy(last_slots(process, window), std::back_inserter(own.records));
    }
  }
  return part;
}

}  // namespace ballast::insight

#include "insight/waterfall.h"

#include <algorithm>
#include <utility>

#include "insight/whole_steps.h"

namespace ballast::insight {
namespace {

struct Shown {
  Micros begin = 0;
  Micros end = 0;
};

// Where no step is whole: twice the longest of the newest slots, as long as that is a time that can be seen.
Shown last_moments(const Peers& peers, const JobTrace& trace) {
  Shown shown;
  Micros longest = 0;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot) {
        const auto times = on_one_clock(peers, process, record);
        shown.end = std::max(shown.end, times.fourth);
        longest = std::max(longest, record.fourth - std::min(record.first, record.fourth));
      }
    }
  }
  const auto length = std::clamp<Micros>(2 * longest, 10'000, 600'000'000);
  shown.begin = shown.end - std::min(length, shown.end);
  return shown;
}

void add_span(WaterfallRow& row, const Shown& window, Work work, Micros from, Micros until) {
  from = std::max(from, window.begin);
  until = std::min(until, window.end);
  if (from < until) {
    row.spans.push_back({work, from - window.begin, until - window.begin});
  }
}

// `from` is 0 where it is not known: nothing is drawn then.
void add_if_known(WaterfallRow& row, const Shown& window, Work work, Micros from, Micros until) {
  if (from != 0 && until != 0) {
    add_span(row, window, work, from, until);
  }
}

void add_record(WaterfallRow& row, const Shown& window, TraceKind kind, const Times& at) {
  switch (kind) {
    case TraceKind::weights:
      return add_if_known(row, window, Work::weights, at.first, at.second);
    case TraceKind::slot:
      add_if_known(row, window, Work::data, at.first, at.second);
      return add_if_known(row, window, Work::compute, at.second, at.fourth);
    case TraceKind::push:
      return add_if_known(row, window, Work::upload, at.first, at.third);
    case TraceKind::pull:
      return add_if_known(row, window, Work::download, at.first, at.fourth);
    case TraceKind::contribution:
      add_if_known(row, window, Work::arrival, at.first, at.second);
      return add_if_known(row, window, Work::sum, at.second, at.third);
    case TraceKind::update:
      return add_if_known(row, window, Work::apply, at.second, at.third);
    case TraceKind::reply:
      return add_if_known(row, window, Work::reply, at.first, at.second);
    case TraceKind::snapshot:
    case TraceKind::journal:
      return add_if_known(row, window, Work::disk, at.first, at.second);
    case TraceKind::decision:
      return add_if_known(row, window, Work::decision, at.first, at.second);
    case TraceKind::fetch:  // beside all else, by readers
    case TraceKind::work:
    case TraceKind::link:
    case TraceKind::line:
      break;
  }
}

// Those of one work that are no further apart than `gap` are one. `spans` are sorted by work and begin.
std::vector<WaterfallSpan> joined_spans(const std::vector<WaterfallSpan>& spans, Micros gap) {
  std::vector<WaterfallSpan> joint;
  for (const auto& span : spans) {
    if (!joint.empty() && joint.back().work == span.work && span.from <= joint.back().until + gap) {
      joint.back().until = std::max(joint.back().until, span.until);
    } else {
      joint.push_back(span);
    }
  }
  return joint;
}

// The times are of the spans before what lies close together became one.
void settle_row(WaterfallRow& row, Micros length, std::size_t most) {
  std::ranges::sort(row.spans, {}, [](const WaterfallSpan& span) { return std::pair(span.work, span.from); });
  row.spans = joined_spans(row.spans, 0);
  for (const auto& span : row.spans) {
    row.taken.at(static_cast<std::size_t>(span.work)) += span.until - span.from;
    if (span.work == Work::compute || span.work == Work::upload) {
      row.ended = std::max(row.ended, span.until);
    }
  }
  const auto is_too_many = [&] { return row.spans.size() > std::max<std::size_t>(most, 1) * kWorks; };
  for (auto gap = length / 2048 + 1; is_too_many(); gap *= 2) {
    row.spans = joined_spans(row.spans, gap);
  }
}

Micros busy_time(const WaterfallRow& row) {
  return row.taken.at(static_cast<std::size_t>(Work::sum)) + row.taken.at(static_cast<std::size_t>(Work::apply));
}

// The lead's, then workers, then lanes; the most telling of each first.
void choose_rows(Waterfall& waterfall, std::size_t most) {
  auto& rows = waterfall.rows;
  const auto rank = [](const WaterfallRow& row) {
    return row.role == TraceRole::lead ? 0 : row.role == TraceRole::worker ? 1 : 2;
  };
  std::ranges::stable_sort(rows, [&](const WaterfallRow& a, const WaterfallRow& b) {
    return std::pair(rank(a), ~(a.role == TraceRole::lane ? busy_time(a) : a.ended)) <
           std::pair(rank(b), ~(b.role == TraceRole::lane ? busy_time(b) : b.ended));
  });
  const auto all = rows.size();
  const auto lanes = static_cast<std::size_t>(std::ranges::count(rows, TraceRole::lane, &WaterfallRow::role));
  const auto others = std::max(most - std::min(lanes, most), most - most / 3);  // kept, at most
  std::size_t kept_others = 0;
  std::size_t kept = 0;
  std::erase_if(rows, [&](const WaterfallRow& row) {
    const bool is_lane = row.role == TraceRole::lane;
    const bool stays = kept < most && (is_lane || kept_others < others);
    kept += stays ? 1 : 0;
    kept_others += stays && !is_lane ? 1 : 0;
    return !stays;
  });
  waterfall.left_out = all - rows.size();
}

}  // namespace

const char* name_of(Work work) {
  static constexpr std::array<const char*, kWorks> kNames = {
      "data wait", "compute", "weights", "upload", "download", "arrival", "sum", "apply", "reply", "disk", "decision"};
  return kNames.at(static_cast<std::size_t>(work));
}

Waterfall waterfall_of(const JobTrace& trace, std::size_t rows, std::size_t spans) {
  const Peers peers(trace);
  Waterfall waterfall;
  Shown window;
  // Of a job in items any so many are a step: none of them is one that all worked at.
  if (const auto steps = is_in_items(trace) ? std::vector<WholeStep>() : whole_steps(trace, 2);
      steps.size() == 2 && steps.front().end < steps.back().end) {
    waterfall.is_step = true;
    waterfall.step = steps.back().step;
    window = {steps.front().end, steps.back().end};
  } else {
    window = last_moments(peers, trace);
  }
  waterfall.length = window.end - window.begin;
  for (const auto& process : trace.processes) {
    WaterfallRow row;
    row.name = process.name;
    row.role = process.source.role;
    for (const auto& record : process.records) {
      add_record(row, window, record.kind, on_one_clock(peers, process, record));
    }
    settle_row(row, waterfall.length, spans);
    waterfall.rows.push_back(std::move(row));
  }
  choose_rows(waterfall, rows);
  return waterfall;
}

}  // namespace ballast::insight

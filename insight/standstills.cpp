#include "insight/standstills.h"

#include <algorithm>
#include <map>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

constexpr Micros kLeastStandstill = 1'000'000;
constexpr double kOfUsual = 5;

double length_of(const TraceRecord& record) {
  return record.second > record.first ? static_cast<double>(record.second - record.first) : 0;
}

// Sorted, none of them within another.
std::vector<TimeSpan> joined(std::vector<TimeSpan> spans) {
  std::ranges::sort(spans, {}, &TimeSpan::began);
  std::vector<TimeSpan> all;
  for (const auto& span : spans) {
    if (!all.empty() && span.began <= all.back().ended) {
      all.back().ended = std::max(all.back().ended, span.ended);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

double length_of(const std::vector<TimeSpan>& spans) {
  double length = 0;
  for (const auto& span : spans) {
    length += static_cast<double>(span.ended - span.began);
  }
  return length;
}

}  // namespace

Standstills::Standstills(const ProcessTrace& lane) {
  std::vector<double> lengths;
  for (const auto& record : lane.records) {
    if (record.kind == TraceKind::work) {
      lengths.push_back(length_of(record));
    }
  }
  least_ = std::max(kLeastStandstill, static_cast<Micros>(kOfUsual * median(std::move(lengths))));
  for (const auto& record : lane.records) {
    if (record.kind == TraceKind::work && has(record)) {
      all_.push_back({lane.on_lead(record.first) + kWorkSpan, lane.on_lead(record.second)});
    }
  }
  all_ = joined(std::move(all_));
}

bool Standstills::has(const TraceRecord& work) const { return length_of(work) >= static_cast<double>(least_); }

bool Standstills::has_within(Micros from, Micros until) const {
  return std::ranges::any_of(all_, [&](const TimeSpan& each) { return from < each.ended && until > each.began; });
}

JobTrace without_standstills(JobTrace trace) {
  std::map<const ProcessTrace*, Standstills> lanes;
  for (const auto& process : trace.processes) {
    if (process.source.role == TraceRole::lane) {
      if (Standstills own(process); !own.all().empty()) {
        lanes.emplace(&process, std::move(own));
      }
    }
  }
  if (lanes.empty()) {
    return trace;
  }
  const Peers peers(trace);
  const auto stood = [&](const ProcessTrace* lane, Micros from, Micros until) {
    const auto found = lanes.find(lane);
    return found != lanes.end() && from != 0 && found->second.has_within(from, until);
  };
  for (auto& process : trace.processes) {
    for (auto& record : process.records) {
      const auto times = on_one_clock(peers, process, record);
      if (record.kind == TraceKind::contribution && stood(&process, times.first, times.second)) {
        record.first = 0;
      } else if (record.kind == TraceKind::pull && stood(peers.lane(record.peer), times.second, times.third)) {
        record.second = 0;
      }
    }
    std::erase_if(process.records, [&](const TraceRecord& record) {
      const auto times = on_one_clock(peers, process, record);
      return record.kind == TraceKind::journal && stood(&process, times.first, times.second);
    });
  }
  return trace;
}

std::vector<double> standstills_of_shards(const std::vector<const ProcessTrace*>& lanes, std::size_t shards,
                                          const TimeSpan& span) {
  std::vector<double> by_shard(shards, 0);
  std::vector<TimeSpan> known;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const auto before = length_of(known);
    for (const auto* lane : lanes) {
      if (lane->source.lane.shard == shard) {
        const Standstills own(*lane);
        for (const auto& one : own.all()) {
          const TimeSpan within{std::max(one.began, span.began), std::min(one.ended, span.ended)};
          if (within.began < within.ended) {
            known.push_back(within);
          }
        }
      }
    }
    known = joined(std::move(known));
    by_shard[shard] = length_of(known) - before;
  }
  return by_shard;
}

}  // namespace ballast::insight

#include "insight/standstills.h"

#include <algorithm>
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

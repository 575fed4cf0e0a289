#include "common/trace/trace_ring.h"

#include <algorithm>
#include <utility>

namespace ballast {
namespace {

constexpr std::size_t kOfPart = 512;  // records: 32 KiB, so that whoever passes it on is not kept for long

}  // namespace

// Of two blocks more than the records fill: one is being begun, and one is only half there.
TraceRing::TraceRing(std::size_t capacity) : capacity_(capacity), newest_(capacity / kBlock + 2) {
  records_.reserve(capacity);
}

void TraceRing::add(const TraceRecord& record) {
  const std::scoped_lock lock(mutex_);
  if (records_.size() < capacity_) {
    records_.push_back(record);
  } else {
    records_[added_ % capacity_] = record;
  }
  auto& newest = newest_of(added_ / kBlock);
  newest = added_ % kBlock == 0 ? record.step : std::max(newest, record.step);
  ++added_;
}

TraceRing::Part TraceRing::read(std::uint64_t from, std::size_t most) const {
  Part part;
  part.records.reserve(most);
  const std::scoped_lock lock(mutex_);
  const auto begin = std::min(std::max({from, oldest(), std::uint64_t{1}}), added_ + 1);
  const auto end = std::min(begin + most, added_ + 1);
  for (auto position = begin; position < end; ++position) {
    part.records.push_back(at(position));
  }
  part.next = end;
  part.lost = begin > from && from > 0 ? begin - from : 0;
  part.ends = end > added_;
  return part;
}

std::uint64_t TraceRing::beginning(Step step) const {
  const std::scoped_lock lock(mutex_);
  const auto first = (oldest() - 1) / kBlock;
  for (auto block = first; block * kBlock < added_; ++block) {
    if (newest_[block % newest_.size()] < step) {
      continue;
    }
    auto position = std::max(oldest(), block * kBlock + 1);
    while (position <= added_ && at(position).step < step) {
      ++position;
    }
    return position;
  }
  return added_ + 1;
}

TracePart part_of(const TraceRing& ring, const TraceAsked& asked) {
  auto read = ring.read(asked.from == 0 ? ring.beginning(asked.first) : asked.from, kOfPart);
  TracePart part;
  part.number = asked.number;
  part.records = std::move(read.records);
  part.next = read.next;
  part.lost = read.lost;
  part.ends = read.ends;
  return part;
}

}  // namespace ballast

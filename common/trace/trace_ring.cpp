#include "common/trace/trace_ring.h"

#include <algorithm>
#include <utility>

namespace ballast {
namespace {

constexpr std::size_t kOfPart = 512;  // records: 32 KiB, so that whoever passes it on is not kept for long

}  // namespace

TraceRing::TraceRing(std::size_t capacity)
    : capacity_(capacity), records_(std::make_unique_for_overwrite<TraceRecord[]>(capacity)) {}

void TraceRing::add(const TraceRecord& record) {
  const std::scoped_lock lock(mutex_);
  records_[added_ % capacity_] = record;
  ++added_;
}

TraceRing::Part TraceRing::read(std::uint64_t from, std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  const auto begin = std::min(std::max({from, oldest(), std::uint64_t{1}}), added_ + 1);
  const auto end = std::min(begin + most, added_ + 1);
  Part part;
  part.records.reserve(end - begin);
  for (auto position = begin; position < end; ++position) {
    part.records.push_back(at(position));
  }
  part.next = end;
  part.lost = begin > from && from > 0 ? begin - from : 0;
  part.ends = end > added_;
  return part;
}

// Records come nearly in the order of steps: a push may be taken by the kernel when the next step has begun.
std::uint64_t TraceRing::beginning(Step steps) const {
  const std::scoped_lock lock(mutex_);
  Step newest = 0;
  for (auto position = oldest(); position <= added_; ++position) {
    newest = std::max(newest, at(position).step);
  }
  for (auto position = oldest(); position <= added_; ++position) {
    if (at(position).step + steps > newest) {
      return position;
    }
  }
  return added_ + 1;
}

TracePart part_of(const TraceRing& ring, const TraceAsked& asked) {
  auto read = ring.read(asked.from == 0 ? ring.beginning(asked.steps) : asked.from, kOfPart);
  TracePart part;
  part.number = asked.number;
  part.records = std::move(read.records);
  part.next = read.next;
  part.lost = read.lost;
  part.ends = read.ends;
  return part;
}

}  // namespace ballast

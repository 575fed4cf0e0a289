// What lanes do in a replay of rounds.
#include <utility>

#include "insight/round_replay.h"

namespace ballast::insight {

void RoundReplay::work(std::uint32_t index) {
  auto& lane = lanes_[index];
  const auto& own = times_.lanes[index];
  if (lane.sums || lane.updating) {
    return;
  }
  if (!lane.updates.empty()) {
    lane.updating = lane.updates.front();
    lane.updates.pop_front();
    return add(now_ + times_.apply[*lane.updating], What::lane_free, index);
  }
  if (!lane.queue.empty()) {
    lane.sums = lane.queue.front();
    lane.queue.pop_front();
    const auto& chunk = chunks_[lane.sums->chunk];
    const bool is_late = lane.sums->step < chunk.version || chunk.is_covered;
    add(now_ + own.message + (is_late ? 0 : times_.sum[lane.sums->chunk]), What::lane_free, index);
  }
}

void RoundReplay::lane_free(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (const auto chunk = std::exchange(lane.updating, std::nullopt)) {
    updated(*chunk);
  } else if (const auto sums = std::exchange(lane.sums, std::nullopt)) {
    sum(*sums);
  }
  lane.changed = true;
  work(index);
}

void RoundReplay::sum(const Contribution& contribution) {
  auto& chunk = chunks_[contribution.chunk];
  if (contribution.step != chunk.version || chunk.is_covered) {
    return;
  }
  const auto before = chunk.covered.count();
  chunk.covered.insert(contribution.node);
  const auto after = chunk.covered.count();
  if (contribution.chunk == 0) {
    new_[contribution.worker] += after - before;
  }
  if (after < times_.rules.slots) {
    return;
  }
  chunk.is_covered = true;
  if (times_.decisions.empty()) {
    lanes_[times_.lane_of[contribution.chunk]].updates.push_back(contribution.chunk);
  } else if (++covered_ == chunks_.size()) {
    covered_ = 0;
    add(now_ + times_.decisions[replayed_step() % times_.decisions.size()], What::decided, 0);
  }
}

void RoundReplay::decided() {
  for (ChunkId chunk = 0; chunk < chunks_.size(); ++chunk) {
    lanes_[times_.lane_of[chunk]].updates.push_back(chunk);
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    work(lane);
  }
}

void RoundReplay::updated(ChunkId index) {
  auto& chunk = chunks_[index];
  ++chunk.version;
  chunk.covered = SlotSet(times_.rules.slots);
  chunk.is_covered = false;
  if (index == 0) {
    for (std::size_t worker = 0; worker < new_.size(); ++worker) {
      brought_[worker] += std::exchange(new_[worker], 0);
    }
  }
  if (++updated_ == chunks_.size()) {
    updated_ = 0;
    ++closed_;
    closes_.push_back(now_);
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    deliver(static_cast<std::uint32_t>((i + index) % workers_.size()), index);
  }
}

void RoundReplay::report(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (!std::exchange(lane.changed, false)) {
    return;
  }
  LaneReport report;
  report.open_step = ~Step{0};
  for (const auto chunk : lane.chunks) {
    report.open_step = std::min(report.open_step, chunks_[chunk].version);
  }
  SlotSet missing(times_.rules.slots);
  for (const auto chunk : lane.chunks) {
    if (chunks_[chunk].version == report.open_step) {
      auto lacks = SlotSet::full(times_.rules.slots);
      lacks.erase(chunks_[chunk].covered);
      missing.insert(lacks);
    }
  }
  report.rounds.missing = missing.words();
  if (index == times_.lane_of[0]) {
    for (std::size_t worker = 0; worker < brought_.size(); ++worker) {
      report.slots_by_session.push_back({worker + 1, brought_[worker]});
    }
  }
  lane.reports.push_back(std::move(report));
  add(now_ + kToLead, What::report_there, index);
}

}  // namespace ballast::insight

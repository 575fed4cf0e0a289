// Traces of jobs in items, as a test says.
#pragma once

#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "insight/job_trace.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {

// Workers w0, w1, ... one lane with two chunks, four slots a step, from step 5 on. An item takes kItem from when it is
// granted until its last chunk is updated, w1's as many times as long computing as is said; then the next one is
// granted.
class MadeItems {
 public:
  static constexpr Micros kBegins = 500;
  static constexpr Micros kWait = 3'000;  // for examples
  static constexpr Micros kCompute = 40'000;
  static constexpr Micros kCommit = 15'000;
  static constexpr Micros kApply = 300;
  static constexpr Micros kOnTheWay = 700;  // weights, and gradients
  static constexpr Micros kItem = kOnTheWay + kBegins + kWait + kCompute + kOnTheWay + kCommit + kApply;

  MadeItems(std::size_t workers, ItemId items, const std::string& mode, Micros slower = 1) {
    trace_.job = "a";
    trace_.mode = mode;
    trace_.processes.resize(workers + 1);
    for (std::size_t i = 0; i < workers; ++i) {
      trace_.processes[i].source = {TraceRole::worker, {}, kFirstSession + i};
      trace_.processes[i].name = "worker w" + std::to_string(i);
      trace_.processes[i].clock = ClockReading{0, 0, 10, 0};
    }
    lane().source = {TraceRole::lane, {0, 0}, 0};
    lane().name = "shard 0 lane 0";
    lane().clock = ClockReading{0, 0, 10, 0};
    std::priority_queue<std::pair<Micros, std::size_t>, std::vector<std::pair<Micros, std::size_t>>, std::greater<>>
        free;
    for (std::size_t i = 0; i < workers; ++i) {
      free.emplace(10'000'000 + i * kItem / workers, i);
    }
    for (ItemId item = kFirstItem; item < kFirstItem + items; ++item) {
      const auto [at, worker] = free.top();
      free.pop();
      free.emplace(add(item, worker, at, worker == 1 ? slower : 1), worker);
    }
  }

  JobTrace& trace() { return trace_; }
  [[nodiscard]] const JobTrace& trace() const { return trace_; }
  ProcessTrace& lane() { return trace_.processes.back(); }

 private:
  static constexpr SessionId kFirstSession = 70;
  static constexpr Slot kSlots = 4;
  static constexpr ItemId kFirstItem = 5 * kSlots;

  // When the next one is granted.
  Micros add(ItemId item, std::size_t index, Micros granted, Micros slower) {
    const Step step = item / kSlots;
    const auto slot = static_cast<Slot>(item % kSlots);
    const SlotRange slots{slot, slot + 1};
    auto& worker = trace_.processes[index].records;
    const auto stored = granted + kOnTheWay;
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      worker.push_back({step, 0, granted, granted + 10, stored, stored, chunk, {}, TraceKind::pull});
    }
    const auto wanted = stored + kBegins;
    const auto begun = wanted + kWait;
    const auto takes = kCompute * slower;
    worker.push_back({step, 0, wanted, begun, begun + takes / 3, begun + takes, 0, slots, TraceKind::slot});
    Micros end = 0;
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      const auto ready = begun + takes * (chunk + 1) / 2;
      worker.push_back({step, 0, ready, ready, ready + 10, 100U * (chunk + 1), chunk, slots, TraceKind::push});
      const auto read = ready + kOnTheWay;
      lane().records.push_back(
          {step, kFirstSession + index, ready, read, read, read, chunk, slots, TraceKind::contribution});
      lane().records.push_back({step, 0, read, read + kCommit, 0, 0, chunk, slots, TraceKind::journal});
      end = read + kCommit + kApply;
      lane().records.push_back({step, 0, read + kCommit, read + kCommit, end, 0, chunk, slots, TraceKind::update});
    }
    return end;
  }

  JobTrace trace_;
};

}  // namespace ballast::insight

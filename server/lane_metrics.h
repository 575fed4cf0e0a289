// What a lane tells its operators: counts derived from what the core returned, and from the messages that pass.
#pragma once

#include <string>
#include <unordered_map>

#include "common/metrics/series.h"
#include "common/protocol/lane.h"
#include "server/weights.h"

namespace ballast {

// One thread. `metrics` may be null: then nobody reads.
class LaneMetrics {
 public:
  LaneMetrics(Metrics* metrics, LaneId lane);

  // A hello names the worker whose series its session counts in.
  void received(SessionId session, const Message& message, std::uint64_t payload_bytes, Micros now);
  void sent_weights(std::uint64_t payload_bytes) { series_.bytes_out->add(static_cast<double>(payload_bytes)); }
  void sent_report() { series_.reports->add(); }
  void turn(Micros took) { turns_.observe(took); }
  void unreadable() { ++unreadable_; }
  [[nodiscard]] ScopedTimer time_sum() const { return ScopedTimer(*series_.sum); }
  [[nodiscard]] ScopedTimer time_apply() const { return ScopedTimer(*series_.apply); }
  // For whoever writes the lane's snapshots; any thread may count in it.
  [[nodiscard]] const SnapshotSeries& snapshots() const { return snapshots_; }
  // At every tick.
  void update(const Lane& lane, const LaneWeights& weights);

 private:
  struct WorkerState {
    LaneWorkerSeries series;
    Step last_step = ~Step{0};
  };
  WorkerState& state_of(SessionId session);
  void update_staleness(const StalenessCounts& staleness);
  void contribution(SessionId session, const Push& push, Micros now);

  Metrics* metrics_;
  std::uint32_t lane_;
  LaneSeries series_;
  TurnSeries turns_;
  SnapshotSeries snapshots_;
  std::unordered_map<SessionId, std::string> names_;
  std::unordered_map<SessionId, WorkerState> workers_;
  Step newest_step_ = ~Step{0};
  Micros newest_step_at_ = 0;
  std::uint64_t unreadable_ = 0;
};

}  // namespace ballast

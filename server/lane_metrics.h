// What a lane tells its operators: counts derived from what the core returned, and from the messages that pass.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/metrics/series.h"
#include "protocol/lane/lane.h"
#include "server/recent.h"
#include "server/stage_clock.h"
#include "server/weights.h"
#include "server/worker_tallies.h"

namespace ballast {

// Each worker has series of its own, which the lanes of a server share; a worker that was started again goes on with
// those of its name, and of two that contribute under one name each has its own (server/twin_name.h). Of a server's
// life's workers those are forgotten that were not heard of for longest, as soon as there is no place for another. One
// thread. `metrics` may be null: then nobody reads.
class LaneMetrics {
  static constexpr std::size_t kRefusalCodes = static_cast<std::size_t>(RefusalCode::wrong_bits) + 1;

 public:
  // Of two workers of one name the other is taken to be dead when it was not heard of for so long.
  static constexpr Micros kDeadAfter = 10'000'000;

  // The lanes of a server share `tallies`; null: it has its own.
  LaneMetrics(Metrics* metrics, LaneId lane, std::shared_ptr<WorkerTallies> tallies = nullptr);

  // The lane has taken the session in: its contributions count in the series of this worker.
  void welcomed(SessionId session, const std::string& worker);
  // Of anybody, before the core has judged it.
  void received(SessionId session, const Message& message, std::uint64_t payload_bytes);
  // The core has judged it.
  void judged() { in_hand_ = {}; }
  // The core has taken the contribution, or had it already: what it refuses says nothing of its sender, nor of others.
  void contributed(SessionId session, const Push& push, Micros now);
  // A LaneWelcome takes the session in under the name of its newest hello.
  void sent(SessionId session, const Message& message);
  // In item mode: an update was made of what the session has contributed.
  void applied(SessionId session, std::uint64_t staleness);
  void sent_weights(std::uint64_t payload_bytes) { series_.bytes_out->add(static_cast<double>(payload_bytes)); }
  void sent_report() { series_.reports->add(); }
  void turn(Micros took) { turns_.observe(took); }
  void unreadable() { ++unreadable_; }
  void unreadable_of_worker(RefusalCode why);
  [[nodiscard]] StageClock& stages() { return stages_; }
  [[nodiscard]] ScopedTimer time_sum() const { return ScopedTimer(*series_.sum); }
  [[nodiscard]] ScopedTimer time_apply() const { return ScopedTimer(*series_.apply); }
  // For whoever writes the lane's snapshots; any thread may count in it.
  [[nodiscard]] const SnapshotSeries& snapshots() const { return snapshots_; }
  // At every tick. `held`: bytes of contributions; `read_up_at`: all that had come by then was read.
  struct Now {
    Micros now = 0;
    Micros read_up_at = 0;
    std::uint64_t held = 0;
  };
  void update(const Lane& lane, const LaneWeights& weights, const Now& now);

 private:
  using Refusals = std::array<CounterHandle, kRefusalCodes>;  // null before the first
  // A session that has contributed.
  struct WorkerState {
    std::string name;
    std::string shown;  // in metrics
    WorkerTallies::Tally tally;
    Micros began_at = 0;
    Micros heard_at = 0;
    Step last_step = ~Step{0};
    ServerWorkerSeries::Updates updates = {};  // null before the first
    Refusals refusals = {};
  };
  WorkerState* state_of(SessionId session, Micros now);
  [[nodiscard]] bool is_twin(SessionId session, const WorkerState& worker, Micros now) const;
  void settle_name(SessionId session, WorkerState& worker, Micros now);
  void forget_oldest();
  void update_staleness(const StalenessCounts& staleness);
  void update_times(const Lane& lane, const Now& now);
  void refused(Refusals& refusals, const std::string& sender, RefusalCode why) const;

  Metrics* metrics_;
  LaneSeries series_;
  TurnSeries turns_;
  SnapshotSeries snapshots_;
  std::shared_ptr<WorkerTallies> tallies_;
  StageClock stages_;
  // The contribution that the core is judging.
  struct {
    SessionId session = 0;  // 0: there is none
    std::uint64_t bytes = 0;
    bool is_counted = true;  // the bytes, for the session's worker
  } in_hand_;
  std::pair<SessionId, std::string> greeting_;  // the newest hello
  Recent<SessionId, std::string> names_;        // of as many sessions as the lane knows
  Recent<SessionId, WorkerState> workers_;      // of those that have contributed
  Refusals of_strangers_ = {};
  std::unordered_map<std::string, std::set<SessionId>> namesakes_;  // of workers_
  Step newest_step_ = ~Step{0};
  Micros newest_step_at_ = 0;
  std::uint64_t unreadable_ = 0;
  struct {
    Step step = 0;
    Micros since = 0;
  } open_;  // the oldest step
};

}  // namespace ballast

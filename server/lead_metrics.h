// What the lead tells its operators, derived from its status.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/metrics/series.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/messages.h"
#include "server/recovery_clock.h"
#include "server/snapshot_clock.h"

namespace ballast {

// One thread. `metrics` may be null: then nobody reads.
class LeadMetrics {
 public:
  explicit LeadMetrics(Metrics* metrics) : metrics_(metrics), series_(metrics), turns_(metrics, "lead") {}
  void turn(Micros took) { turns_.observe(took); }
  void refused() { series_.messages_refused->add(); }
  void ledger_written(Micros took) { series_.ledger_write->observe_micros(took); }
  // The session has said something. Of sessions that no status has had nothing is remembered.
  void heard(SessionId session, Micros now);
  // A few times a second. `shards`: as the lead knows them.
  void update(const Status& status, Generation generation, const ShardRoster& shards, Micros now);

 private:
  void update_silence(const Status& status, const ShardRoster& shards, Micros now);
  void update_recovery(const Status& status, const ShardRoster& shards, Micros now);
  void update_snapshots(const Status& status, const ShardRoster& shards, Micros now);
  using Workers = std::map<std::string, SessionStatus>;  // of a status, by name
  void forget_others(const Workers& workers);
  void update_course(const Status& status);
  void update_quality(const Status& status);
  void tell(const std::string& evaluation, const std::vector<Metric>& metrics);
  void update_worker(const SessionStatus& session);

  Metrics* metrics_;
  LeadSeries series_;
  TurnSeries turns_;
  std::map<std::string, LeadWorkerSeries> workers_;
  std::unordered_map<SessionId, Micros> heard_;  // of the sessions of the newest status: when
  std::map<std::uint32_t, GaugeHandle> shard_silence_;
  RecoveryClock recovery_;
  SnapshotClock snapshots_;
  struct {
    Step step = 0;
    Micros since = 0;  // or since the first look
  } snapshot_;
  // Of metrics of evaluations, from the first on that tells them.
  std::map<std::pair<std::string, MetricKind>, GaugeHandle> told_;
};

}  // namespace ballast

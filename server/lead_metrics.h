// What the lead tells its operators, derived from its status.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/metrics/series.h"
#include "protocol/messages.h"

namespace ballast {

// One thread. `metrics` may be null: then nobody reads.
class LeadMetrics {
 public:
  explicit LeadMetrics(Metrics* metrics) : metrics_(metrics), series_(metrics), turns_(metrics, "lead") {}
  void turn(Micros took) { turns_.observe(took); }
  void refused() { series_.messages_refused->add(); }
  void ledger_written(Micros took) { series_.ledger_write->observe_micros(took); }
  // A few times a second.
  void update(const Status& status, Generation generation);

 private:
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
  // Of metrics of evaluations, from the first on that tells them.
  std::map<std::pair<std::string, MetricKind>, GaugeHandle> told_;
};

}  // namespace ballast

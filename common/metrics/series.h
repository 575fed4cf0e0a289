// The series of each role by name, looked up once. With null metrics they count, and nobody reads them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/metrics/metrics.h"
#include "common/protocol/messages.h"

namespace ballast {

using CounterHandle = std::shared_ptr<Counter>;
using GaugeHandle = std::shared_ptr<Gauge>;
using HistogramHandle = std::shared_ptr<Histogram>;

// The phases of a worker's step, as labels.
struct PhaseHistograms {
  HistogramHandle data_wait, pull, forward, backward, push;

  void observe(const PhaseTimes& times) const;
};

// Of one lane of a shard.
struct LaneSeries {
  LaneSeries(Metrics* metrics, std::uint32_t lane);

  CounterHandle accepted, duplicate, superseded, stale;  // contributions by outcome
  CounterHandle messages_refused, bytes_in, bytes_out, gone, served_older, replies_deferred, waited_for_factors;
  CounterHandle reports;
  GaugeHandle pending_replies, sessions, timeline, serving, open_step, held_payloads, pool_bytes;
  HistogramHandle sum, apply, persist;
};

// What one lane says of one worker.
struct LaneWorkerSeries {
  LaneWorkerSeries(Metrics* metrics, std::uint32_t lane, const std::string& worker);

  PhaseHistograms phases;
  HistogramHandle lateness;
};

struct LeadSeries {
  explicit LeadSeries(Metrics* metrics);

  GaugeHandle sessions, generation, timeline, step, steps, epoch, train_loss, recent_loss, test_loss, test_accuracy;
  GaugeHandle training_seconds;
  CounterHandle lost_sessions, backups, examples, messages_refused;
  std::map<std::string, GaugeHandle> phases;  // of the job: assembling, waiting, training, ...
};

// What the lead says of one worker.
struct LeadWorkerSeries {
  LeadWorkerSeries(Metrics* metrics, const std::string& worker);

  GaugeHandle live, step, data_wait, pull, forward, backward, push;
  CounterHandle slots;
};

struct WorkerSeries {
  explicit WorkerSeries(Metrics* metrics);

  PhaseHistograms phases;
  CounterHandle steps, slots, retries, duplicates, gone, bytes_in, bytes_out;
  GaugeHandle in_flight_bytes;
};

// Says which process this is: role, index and job.
void describe_process(Metrics* metrics, const std::string& role, const std::string& index, const std::string& job);

}  // namespace ballast

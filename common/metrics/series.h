// The series of each role by name, looked up once. With null metrics they count, and nobody reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/metrics/metrics.h"
#include "common/net/callers.h"
#include "protocol/messages.h"
#include "protocol/rollbacks.h"

namespace ballast {

using CounterHandle = std::shared_ptr<Counter>;
using GaugeHandle = std::shared_ptr<Gauge>;
using HistogramHandle = std::shared_ptr<Histogram>;

// The phases of a worker's step, as labels: data_wait, pull, forward, backward, push.
inline constexpr std::size_t kPhases = 5;

struct PhaseHistograms {
  std::array<HistogramHandle, kPhases> of;

  void observe(const PhaseTimes& times) const;
};

struct PhaseGauges {
  std::array<GaugeHandle, kPhases> of;

  void set(const PhaseTimes& times) const;
};

// Of one thread that loops around sockets. A loop that is busy for long is silent for as long.
class TurnSeries {
 public:
  // `loop`: worker, lead, or lane N.
  TurnSeries(Metrics* metrics, const std::string& loop);

  // From when it woke until it waits again.
  void observe(std::uint64_t micros);

 private:
  HistogramHandle seconds_;
  GaugeHandle longest_;
  std::uint64_t longest_micros_ = 0;
};

// Of any process: what it has had of processors (common/machine/processor_use.h).
class ProcessSeries {
 public:
  explicit ProcessSeries(Metrics* metrics);

  // Reads files of the system: now and then, off the loops.
  void read() const;

 private:
  CounterHandle processor_, periods_, throttled_periods_, throttled_, steal_;
};

// Of one listening socket, by reason (common/net/callers.h).
struct HandshakeSeries {
  // `loop`: lead, or lane N.
  HandshakeSeries(Metrics* metrics, const std::string& loop);

  std::array<CounterHandle, kRefusedHandshakeWords.size()> of;
};

// What a lane's thread does, as labels.
inline constexpr std::array kLaneStages = {"waiting", "reading", "summing", "applying", "replying", "storing", "other"};

// Of one lane of a shard.
struct LaneSeries {
  LaneSeries(Metrics* metrics, std::uint32_t lane);

  CounterHandle accepted, duplicate, superseded, stale, expired;  // contributions by outcome
  CounterHandle messages_refused, bytes_in, bytes_out, gone, served_older, replies_deferred, waited_for_factors;
  CounterHandle reports, updates_skipped;
  GaugeHandle pending_replies, sessions, timeline, serving, open_step, held_payloads, pool_bytes;
  CounterHandle calls, waited_for_room, taken_back, waited_for_readers, readers_cut;
  GaugeHandle memory_in_use, kept_weights, memory, waiting_offers;  // for contributions
  HistogramHandle sum, apply;
  GaugeHandle covered_items;
  HistogramHandle staleness;
  GaugeHandle unread, held_bytes, open_step_age;
  CounterHandle processor;
  std::array<CounterHandle, kLaneStages.size()> stages;
};

// Of one lane's snapshots. Thread-safe: whoever writes them counts them.
struct SnapshotSeries {
  SnapshotSeries(Metrics* metrics, std::uint32_t lane);

  // `took`: since the first chunk was taken. `bytes`: of weights and state.
  void made_durable(Step step, std::uint64_t bytes, Micros took) const;

  CounterHandle durable, failed, bytes;
  GaugeHandle step;
  HistogramHandle seconds;
};

// Of a shard's journal.
struct JournalSeries {
  explicit JournalSeries(Metrics* metrics);

  CounterHandle records, bytes, groups, syncs, sync_seconds, failures;
  GaugeHandle backlog_bytes, segments, disk_bytes, free_bytes, kept_back_bytes;
};

// Of what a shard waits for.
struct DiskSeries {
  explicit DiskSeries(Metrics* metrics);

  GaugeHandle waits;  // for room on its disk
  GaugeHandle connections_held_off, busy_seconds;
};

// Of a shard's database: what it has in memory, and whether it keeps up.
struct DatabaseSeries {
  explicit DatabaseSeries(Metrics* metrics);

  GaugeHandle memtable_bytes, cache_bytes, compaction_bytes, level0_files;
  CounterHandle slowed, stopped, errors;
};

// Of a shard's copies of snapshots to another place. Thread-safe.
struct CopySeries {
  explicit CopySeries(Metrics* metrics);

  void copied(Step newest) const;

  CounterHandle done, failed;
  GaugeHandle step;
};

// What all lanes of a server together say of one worker.
class ServerWorkerSeries {
 public:
  ServerWorkerSeries(Metrics* metrics, std::string worker);

  // Series that there are from the first look on.
  struct Updates {
    CounterHandle updates, staleness;
  };
  [[nodiscard]] Updates updates() const;
  // Takes the worker's series away; handles stay usable.
  void remove() const;

  CounterHandle bytes, accepted, duplicate, expired, stale;
  PhaseHistograms phases;
  HistogramHandle lateness;

 private:
  Metrics* metrics_;
  std::string worker_;
};

// Messages of the worker (empty: of a stranger) that a server refused, by reason; there from the first look on. They go
// with the worker's other series.
CounterHandle worker_refusals(Metrics* metrics, const std::string& worker, const std::string& reason);

struct LeadSeries {
  explicit LeadSeries(Metrics* metrics);

  GaugeHandle sessions, generation, timeline, base_step, snapshot_step, copied_step, copying_step, step, steps, epoch,
      training_seconds;
  GaugeHandle train_loss, recent_loss, learning_rate, gradient_norm;
  GaugeHandle validation_loss, validation_accuracy, best_loss, best_accuracy, best_step, test_loss, test_accuracy;
  GaugeHandle trouble, waits, arithmetics;
  CounterHandle lost_sessions, refused_workers, backups, slots_taken, slots_reassigned, slots_tried, examples,
      messages_refused;
  std::array<CounterHandle, kRollbackWords.size()> rollbacks;  // by cause
  CounterHandle rolled_back_steps, skipped_steps, snapshots_missed, resumed_shards;
  HistogramHandle ledger_write, recovery, snapshot;
  GaugeHandle recovering, snapshot_age;
  std::map<JobPhase, GaugeHandle> phases;
};

// What the lead says of one metric of an evaluation: "validation", "best" or "test".
GaugeHandle lead_metric(Metrics* metrics, const std::string& evaluation, const std::string& metric);

// What the lead says of one shard.
GaugeHandle lead_shard_silence(Metrics* metrics, std::uint32_t shard);

// What the lead says of one worker.
struct LeadWorkerSeries {
  LeadWorkerSeries(Metrics* metrics, const std::string& worker);

  GaugeHandle live, step, overtaken, held_up, slot_time, lag, uplink, silence;
  PhaseGauges phases;
  CounterHandle slots;
};

struct WorkerSeries {
  explicit WorkerSeries(Metrics* metrics);

  PhaseHistograms phases;
  CounterHandle steps, slots, slots_given_up, retries, duplicates, gone, bytes_in, bytes_out, corrupt_examples;
  CounterHandle examples, exposed_seconds, non_finite_slots;
  GaugeHandle in_flight_bytes, lead_silence;
};

// Of one group of a worker's layers.
GaugeHandle worker_gradient_norm(Metrics* metrics, const std::string& group);

// Of the GPU that a worker computes on.
struct GpuSeries {
  explicit GpuSeries(Metrics* metrics);

  GaugeHandle utilization, memory_used, memory_total, clock;
  GaugeHandle throttled_power, throttled_heat, throttled_hardware;
};

// Says which process this is: role, index and job.
void describe_process(Metrics* metrics, const std::string& role, const std::string& index, const std::string& job);

}  // namespace ballast

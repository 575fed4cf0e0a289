#include "common/metrics/series.h"

#include <utility>

#include "common/machine/processor_use.h"

namespace ballast {
namespace {

struct Phase {
  const char* name;
  std::uint64_t PhaseTimes::*micros;
};

constexpr std::array<Phase, kPhases> kOfAStep = {{{"data_wait", &PhaseTimes::data_wait},
                                                  {"pull", &PhaseTimes::pull},
                                                  {"forward", &PhaseTimes::forward},
                                                  {"backward", &PhaseTimes::backward},
                                                  {"push", &PhaseTimes::push}}};

double seconds(std::uint64_t micros) { return static_cast<double>(micros) * 1e-6; }

// Looks up series that share their first label values.
class Lookup {
 public:
  Lookup(Metrics* metrics, std::string prefix, Metrics::Labels labels)
      : metrics_(metrics), prefix_(std::move(prefix)), labels_(std::move(labels)) {}

  [[nodiscard]] CounterHandle counter(const std::string& name, const std::string& last = {}) const {
    return counter_of(metrics_, prefix_ + name, with(last));
  }
  [[nodiscard]] GaugeHandle gauge(const std::string& name, const std::string& last = {}) const {
    return gauge_of(metrics_, prefix_ + name, with(last));
  }
  [[nodiscard]] HistogramHandle histogram(const std::string& name, const std::string& last = {}) const {
    return histogram_of(metrics_, prefix_ + name, with(last));
  }
  [[nodiscard]] PhaseHistograms phase_histograms(const std::string& name) const {
    PhaseHistograms phases;
    for (std::size_t i = 0; i < kPhases; ++i) {
      phases.of[i] = histogram(name, kOfAStep[i].name);
    }
    return phases;
  }
  [[nodiscard]] PhaseGauges phase_gauges(const std::string& name) const {
    PhaseGauges phases;
    for (std::size_t i = 0; i < kPhases; ++i) {
      phases.of[i] = gauge(name, kOfAStep[i].name);
    }
    return phases;
  }

 private:
  [[nodiscard]] Metrics::Labels with(const std::string& last) const {
    auto labels = labels_;
    if (!last.empty()) {
      labels.push_back(last);
    }
    return labels;
  }

  Metrics* metrics_;
  std::string prefix_;
  Metrics::Labels labels_;
};

}  // namespace

void PhaseHistograms::observe(const PhaseTimes& times) const {
  for (std::size_t i = 0; i < kPhases; ++i) {
    of[i]->observe_micros(times.*kOfAStep[i].micros);
  }
}

void PhaseGauges::set(const PhaseTimes& times) const {
  for (std::size_t i = 0; i < kPhases; ++i) {
    of[i]->set(seconds(times.*kOfAStep[i].micros));
  }
}

TurnSeries::TurnSeries(Metrics* metrics, const std::string& loop)
    : seconds_(histogram_of(metrics, "ballast_turn_seconds", {loop})),
      longest_(gauge_of(metrics, "ballast_turn_longest_seconds", {loop})) {}

void TurnSeries::observe(std::uint64_t micros) {
  seconds_->observe_micros(micros);
  if (micros > longest_micros_) {
    longest_micros_ = micros;
    longest_->set(seconds(micros));
  }
}

ProcessSeries::ProcessSeries(Metrics* metrics) {
  const Lookup process(metrics, "ballast_process_", {});
  processor_ = process.counter("processor_seconds_total");
  periods_ = process.counter("quota_periods_total");
  throttled_periods_ = process.counter("throttled_periods_total");
  throttled_ = process.counter("throttled_seconds_total");
  steal_ = counter_of(metrics, "ballast_machine_steal_seconds_total");
}

void ProcessSeries::read() const {
  processor_->raise_to(processor_seconds());
  steal_->raise_to(stolen_seconds());
  const auto throttling = throttling_here();
  periods_->raise_to(static_cast<double>(throttling.periods));
  throttled_periods_->raise_to(static_cast<double>(throttling.throttled));
  throttled_->raise_to(throttling.seconds);
}

HandshakeSeries::HandshakeSeries(Metrics* metrics, const std::string& loop) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i] = counter_of(metrics, "ballast_refused_handshakes_total", {loop, std::string(kRefusedHandshakeWords[i])});
  }
}

LaneSeries::LaneSeries(Metrics* metrics, std::uint32_t lane) {
  const Lookup shard(metrics, "ballast_shard_", {std::to_string(lane)});
  accepted = shard.counter("contributions_total", "accepted");
  duplicate = shard.counter("contributions_total", "duplicate");
  superseded = shard.counter("contributions_total", "superseded");
  stale = shard.counter("contributions_total", "stale");
  expired = shard.counter("contributions_total", "expired");
  messages_refused = shard.counter("messages_refused_total");
  bytes_in = shard.counter("bytes_total", "in");
  bytes_out = shard.counter("bytes_total", "out");
  gone = shard.counter("gone_total");
  served_older = shard.counter("served_older_total");
  replies_deferred = shard.counter("replies_deferred_total");
  waited_for_factors = shard.counter("waited_for_factors_total");
  reports = shard.counter("reports_total");
  updates_skipped = shard.counter("updates_skipped_total");
  pending_replies = shard.gauge("pending_replies");
  sessions = shard.gauge("sessions");
  timeline = shard.gauge("timeline");
  serving = shard.gauge("serving");
  open_step = shard.gauge("open_step");
  held_payloads = shard.gauge("held_payloads");
  pool_bytes = shard.gauge("pool_bytes");
  calls = shard.counter("calls_total");
  waited_for_room = shard.counter("waited_for_room_total");
  taken_back = shard.counter("calls_taken_back_total");
  waited_for_readers = shard.counter("waited_for_readers_total");
  readers_cut = shard.counter("readers_cut_total");
  kept_weights = shard.gauge("kept_weights_bytes");
  memory_in_use = shard.gauge("contribution_bytes");
  waiting_offers = shard.gauge("waiting_offers");
  memory = shard.gauge("contribution_memory_bytes");
  sum = shard.histogram("sum_seconds");
  apply = shard.histogram("apply_seconds");
  covered_items = shard.gauge("covered_items");
  staleness = shard.histogram("staleness");
  unread = shard.gauge("unread_seconds");
  held_bytes = shard.gauge("held_bytes");
  open_step_age = shard.gauge("open_step_seconds");
  processor = shard.counter("processor_seconds_total");
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    stages[stage] = shard.counter("stage_seconds_total", kLaneStages[stage]);
  }
}

SnapshotSeries::SnapshotSeries(Metrics* metrics, std::uint32_t lane) {
  const Lookup shard(metrics, "ballast_shard_", {std::to_string(lane)});
  durable = shard.counter("snapshots_total", "durable");
  failed = shard.counter("snapshots_total", "failed");
  bytes = shard.counter("snapshot_bytes_total");
  step = shard.gauge("snapshot_step");
  seconds = shard.histogram("snapshot_seconds");
}

void SnapshotSeries::made_durable(Step newest, std::uint64_t size, Micros took) const {
  durable->add();
  bytes->add(static_cast<double>(size));
  step->set(static_cast<double>(newest));
  seconds->observe_micros(took);
}

JournalSeries::JournalSeries(Metrics* metrics) {
  const Lookup journal(metrics, "ballast_shard_journal_", {});
  records = journal.counter("records_total");
  bytes = journal.counter("bytes_total");
  groups = journal.counter("groups_total");
  syncs = journal.counter("syncs_total");
  sync_seconds = journal.counter("sync_seconds_total");
  failures = journal.counter("failures_total");
  backlog_bytes = journal.gauge("backlog_bytes");
  segments = journal.gauge("segments");
  disk_bytes = journal.gauge("disk_bytes");
  free_bytes = journal.gauge("free_bytes");
  kept_back_bytes = journal.gauge("kept_back_bytes");
}

DiskSeries::DiskSeries(Metrics* metrics) {
  const Lookup shard(metrics, "ballast_shard_", {});
  waits = shard.gauge("waits_for_room");
  connections_held_off = shard.gauge("connections_held_off");
  busy_seconds = shard.gauge("disk_busy_seconds");
}

DatabaseSeries::DatabaseSeries(Metrics* metrics) {
  const Lookup shard(metrics, "ballast_shard_database_", {});
  memtable_bytes = shard.gauge("memtable_bytes");
  cache_bytes = shard.gauge("cache_bytes");
  compaction_bytes = shard.gauge("compaction_bytes");
  level0_files = shard.gauge("uncompacted_files");
  slowed = shard.counter("stalled_seconds_total", "slowed");
  stopped = shard.counter("stalled_seconds_total", "stopped");
  errors = shard.counter("errors_total");
}

CopySeries::CopySeries(Metrics* metrics) {
  const Lookup shard(metrics, "ballast_shard_", {});
  done = shard.counter("snapshot_copies_total", "done");
  failed = shard.counter("snapshot_copies_total", "failed");
  step = shard.gauge("snapshot_copied_step");
}

void CopySeries::copied(Step newest) const {
  done->add();
  step->set(static_cast<double>(newest));
}

ServerWorkerSeries::ServerWorkerSeries(Metrics* metrics, std::string worker)
    : metrics_(metrics), worker_(std::move(worker)) {
  const Lookup of_worker(metrics_, "ballast_shard_worker_", {worker_});
  bytes = of_worker.counter("bytes_total");
  accepted = of_worker.counter("contributions_total", "accepted");
  duplicate = of_worker.counter("contributions_total", "duplicate");
  expired = of_worker.counter("contributions_total", "expired");
  stale = of_worker.counter("contributions_total", "stale");
  phases = of_worker.phase_histograms("phase_seconds");
  lateness = of_worker.histogram("lateness_seconds");
}

CounterHandle worker_refusals(Metrics* metrics, const std::string& worker, const std::string& reason) {
  return counter_of(metrics, "ballast_shard_worker_refusals_total", {worker, reason});
}

ServerWorkerSeries::Updates ServerWorkerSeries::updates() const {
  const Lookup of_worker(metrics_, "ballast_shard_worker_", {worker_});
  return {of_worker.counter("updates_total"), of_worker.counter("staleness_total")};
}

void ServerWorkerSeries::remove() const {
  if (metrics_ == nullptr) {
    return;
  }
  metrics_->remove("ballast_shard_worker_", {{"worker", worker_}});
}

LeadSeries::LeadSeries(Metrics* metrics) {
  const Lookup lead(metrics, "ballast_lead_", {});
  sessions = lead.gauge("sessions");
  generation = lead.gauge("generation");
  timeline = lead.gauge("timeline");
  base_step = lead.gauge("base_step");
  snapshot_step = lead.gauge("snapshot_step");
  copied_step = lead.gauge("copied_step");
  copying_step = lead.gauge("copying_step");
  step = lead.gauge("step");
  steps = lead.gauge("steps");
  epoch = lead.gauge("epoch");
  train_loss = lead.gauge("train_loss");
  recent_loss = lead.gauge("recent_loss");
  learning_rate = lead.gauge("learning_rate");
  gradient_norm = lead.gauge("gradient_norm");
  validation_loss = lead.gauge("validation_loss");
  validation_accuracy = lead.gauge("validation_accuracy");
  best_loss = lead.gauge("best_loss");
  best_accuracy = lead.gauge("best_accuracy");
  best_step = lead.gauge("best_step");
  test_loss = lead.gauge("test_loss");
  test_accuracy = lead.gauge("test_accuracy");
  training_seconds = lead.gauge("training_seconds");
  trouble = lead.gauge("trouble");
  waits = lead.gauge("waits");
  lost_sessions = lead.counter("lost_sessions_total");
  refused_workers = lead.counter("refused_workers_total");
  arithmetics = lead.gauge("arithmetics");
  backups = lead.counter("backups_total");
  slots_taken = lead.counter("slots_taken_total");
  slots_reassigned = lead.counter("slots_reassigned_total");
  slots_tried = lead.counter("slots_tried_total");
  examples = lead.counter("examples_total");
  messages_refused = lead.counter("messages_refused_total");
  for (std::size_t cause = 0; cause < rollbacks.size(); ++cause) {
    rollbacks[cause] = lead.counter("rollbacks_total", kRollbackWords[cause].name);
  }
  rolled_back_steps = lead.counter("rolled_back_steps_total");
  skipped_steps = lead.counter("skipped_steps_total");
  snapshots_missed = lead.counter("snapshots_missed_total");
  resumed_shards = lead.counter("resumed_shards_total");
  ledger_write = lead.histogram("ledger_write_seconds");
  recovery = lead.histogram("recovery_seconds");
  snapshot = lead.histogram("snapshot_seconds");
  recovering = lead.gauge("recovering_seconds");
  snapshot_age = lead.gauge("snapshot_age_seconds");
  for (std::size_t phase = 0; phase < kJobPhaseNames.size(); ++phase) {
    phases.emplace(static_cast<JobPhase>(phase), lead.gauge("phase", kJobPhaseNames[phase]));
  }
}

GaugeHandle lead_metric(Metrics* metrics, const std::string& evaluation, const std::string& metric) {
  return Lookup(metrics, "ballast_lead_", {}).gauge(evaluation + "_metric", metric);
}

GaugeHandle lead_shard_silence(Metrics* metrics, std::uint32_t shard) {
  return gauge_of(metrics, "ballast_lead_shard_silence_seconds", {std::to_string(shard)});
}

LeadWorkerSeries::LeadWorkerSeries(Metrics* metrics, const std::string& worker) {
  const Lookup of_worker(metrics, "ballast_lead_worker_", {worker});
  live = of_worker.gauge("live");
  step = of_worker.gauge("step");
  held_up = of_worker.gauge("held_up");
  slot_time = of_worker.gauge("slot_seconds");
  lag = of_worker.gauge("lag_seconds");
  uplink = of_worker.gauge("uplink_bytes_per_second");
  silence = of_worker.gauge("silence_seconds");
  slots = of_worker.counter("slots_total");
  overtaken = of_worker.gauge("overtaken_seconds");
  phases = of_worker.phase_gauges("phase_seconds");
}

WorkerSeries::WorkerSeries(Metrics* metrics) {
  const Lookup worker(metrics, "ballast_worker_", {});
  phases = worker.phase_histograms("phase_seconds");
  steps = worker.counter("steps_total");
  slots = worker.counter("slots_total");
  slots_given_up = worker.counter("slots_given_up_total");
  retries = worker.counter("retries_total");
  duplicates = worker.counter("duplicates_total");
  gone = worker.counter("gone_total");
  bytes_in = worker.counter("bytes_total", "in");
  bytes_out = worker.counter("bytes_total", "out");
  corrupt_examples = worker.counter("corrupt_examples_total");
  examples = worker.counter("examples_total");
  exposed_seconds = worker.counter("exposed_seconds_total");
  non_finite_slots = worker.counter("non_finite_slots_total");
  in_flight_bytes = worker.gauge("in_flight_bytes");
  lead_silence = worker.gauge("lead_silence_seconds");
}

GaugeHandle worker_gradient_norm(Metrics* metrics, const std::string& group) {
  return gauge_of(metrics, "ballast_worker_gradient_norm", {group});
}

GpuSeries::GpuSeries(Metrics* metrics) {
  const Lookup gpu(metrics, "ballast_worker_gpu_", {});
  utilization = gpu.gauge("utilization");
  memory_used = gpu.gauge("memory_used_bytes");
  memory_total = gpu.gauge("memory_bytes");
  clock = gpu.gauge("clock_hertz");
  throttled_power = gpu.gauge("throttled", "power");
  throttled_heat = gpu.gauge("throttled", "heat");
  throttled_hardware = gpu.gauge("throttled", "hardware");
}

void describe_process(Metrics* metrics, const std::string& role, const std::string& index, const std::string& job) {
  gauge_of(metrics, "ballast_process_info", {role, index, job})->set(1);
}

}  // namespace ballast

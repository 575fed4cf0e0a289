#include "common/metrics/metrics_table.h"

#include <algorithm>

namespace ballast {
namespace {

constexpr auto kCounter = MetricType::counter;
constexpr auto kGauge = MetricType::gauge;
constexpr auto kHistogram = MetricType::histogram;

const std::vector<MetricEntry>& table() {
  static const std::vector<MetricEntry> entries = {
      // ---- any process
      {"ballast_process_info", kGauge, "1", {"role", "index", "job"}, "1; says which process of which job this is."},
      {"ballast_metrics_dropped_series_total",
       kCounter,
       "series",
       {},
       "Series that were not exported because a metric had too many of them."},

      {"ballast_turn_seconds",
       kHistogram,
       "seconds",
       {"loop"},
       "Time of one turn of a loop (worker, lead, lane N), from when it woke until it waits again: for so long it "
       "answered nobody."},
      {"ballast_refused_handshakes_total",
       kCounter,
       "handshakes",
       {"loop", "reason"},
       "Connections to a loop (lead, lane N) that were refused before they said anything, by reason: unknown_key, "
       "other_server (who connects expects another server's key), unencrypted (one end has keys and the other none), "
       "malformed, broken_off (also a port scan, or a probe of the port), barred_key (refused for a while: with "
       "it messages came again and again that do not end)."},
      {"ballast_turn_longest_seconds", kGauge, "seconds", {"loop"}, "The longest turn of a loop since it began."},

      // ---- a shard, by lane
      {"ballast_shard_contributions_total",
       kCounter,
       "messages",
       {"lane", "outcome"},
       "Contributions by outcome: accepted, duplicate (already covered), superseded (replaced by a containing sum), "
       "stale (of an older timeline), expired (computed from weights that are older than the job's bound allows, or "
       "that "
       "the shard has lost)."},
      {"ballast_shard_staleness",
       kHistogram,
       "updates",
       {"lane"},
       "Staleness of contributions when they were applied (async and ssp)."},
      {"ballast_shard_updates_skipped_total",
       kCounter,
       "updates",
       {"lane"},
       "Updates of chunks that were left out because the gradient was not finite (async and ssp)."},
      {"ballast_shard_covered_items",
       kGauge,
       "items",
       {"lane"},
       "Items, from the first on without a gap, that all of the lane's chunks cover (async and ssp)."},
      {"ballast_shard_journal_records_total", kCounter, "updates", {}, "Updates committed to the shard's journal."},
      {"ballast_shard_journal_bytes_total", kCounter, "bytes", {}, "Bytes committed to the shard's journal."},
      {"ballast_shard_journal_groups_total",
       kCounter,
       "groups",
       {},
       "Writes by which updates were committed together."},
      {"ballast_shard_journal_syncs_total", kCounter, "syncs", {}, "Times the journal was forced to the disk."},
      {"ballast_shard_journal_sync_seconds_total", kCounter, "seconds", {}, "Time that forcing it to the disk took."},
      {"ballast_shard_journal_failures_total",
       kCounter,
       "failures",
       {},
       "Writes and syncs of the journal that failed."},
      {"ballast_shard_journal_backlog_bytes", kGauge, "bytes", {}, "Updates that wait to be committed to the journal."},
      {"ballast_shard_journal_segments", kGauge, "segments", {}, "Segments of the journal on the disk."},
      {"ballast_shard_journal_disk_bytes", kGauge, "bytes", {}, "Size of the journal on the disk."},
      {"ballast_shard_journal_free_bytes",
       kGauge,
       "bytes",
       {},
       "Free on the journal's disk, when it was written last."},
      {"ballast_shard_journal_kept_back_bytes",
       kGauge,
       "bytes",
       {},
       "Of the free bytes, those that the journal leaves for a snapshot."},
      {"ballast_shard_disk_busy_seconds",
       kGauge,
       "seconds",
       {},
       "Age of the oldest write, sync or read of the database or journal that has not come back from the disk; 0: none "
       "is "
       "in flight. Seconds are a disk that hangs."},
      {"ballast_shard_waits_for_room",
       kGauge,
       "1",
       {},
       "1 while the shard waits for room on its full disk to start, to begin or go on with a timeline, or to write the "
       "lead's ledger or the job's end; updates wait as the journal's backlog."},
      {"ballast_shard_connections_held_off",
       kGauge,
       "1",
       {},
       "1 while the server has no file descriptor left and those who want to connect must wait."},
      {"ballast_shard_messages_refused_total",
       kCounter,
       "messages",
       {"lane"},
       "Messages that could not be read or were refused, contributions included."},
      {"ballast_shard_bytes_total",
       kCounter,
       "bytes",
       {"lane", "direction"},
       "Payload bytes by direction: in (contributions) or out (weights)."},
      {"ballast_shard_gone_total", kCounter, "messages", {"lane"}, "Pulls of a version that was no longer held."},
      {"ballast_shard_served_older_total",
       kCounter,
       "messages",
       {"lane"},
       "Pulls answered with the version before the newest."},
      {"ballast_shard_replies_deferred_total",
       kCounter,
       "messages",
       {"lane"},
       "Weight replies that had to wait because their reader was slow."},
      {"ballast_shard_pending_replies",
       kGauge,
       "messages",
       {"lane"},
       "Weight replies that wait now for a slow reader."},
      {"ballast_shard_sessions", kGauge, "sessions", {"lane"}, "Workers that the lane knows."},
      {"ballast_shard_timeline", kGauge, "number", {"lane"}, "The timeline that the lane serves; 0 before the first."},
      {"ballast_shard_serving", kGauge, "1", {"lane"}, "1 while the lane serves its timeline, else 0."},
      {"ballast_shard_open_step", kGauge, "step", {"lane"}, "The oldest step that some chunk still collects."},
      {"ballast_shard_waited_for_factors_total",
       kCounter,
       "chunks",
       {"lane"},
       "Covered chunks that had to wait for the lead's factors."},
      {"ballast_shard_sum_seconds", kHistogram, "seconds", {"lane"}, "Time of adding one contribution to another."},
      {"ballast_shard_apply_seconds", kHistogram, "seconds", {"lane"}, "Time of one chunk's update."},
      {"ballast_shard_held_payloads", kGauge, "payloads", {"lane"}, "Partial sums held for open rounds."},
      {"ballast_shard_pool_bytes",
       kGauge,
       "bytes",
       {"lane"},
       "Buffers: two versions of each chunk's weights, the optimizer's state, and those that replies kept from being "
       "written."},
      {"ballast_shard_reports_total", kCounter, "messages", {"lane"}, "Reports sent to the lead."},
      {"ballast_shard_snapshots_total",
       kCounter,
       "snapshots",
       {"lane", "outcome"},
       "Snapshots by outcome: durable, or failed (could not be written; the job goes on without them)."},
      {"ballast_shard_snapshot_step", kGauge, "step", {"lane"}, "The newest snapshot that is durable in this lane."},
      {"ballast_shard_snapshot_seconds",
       kHistogram,
       "seconds",
       {"lane"},
       "From the first chunk taken for a snapshot until all of the lane's chunks were durable."},
      {"ballast_shard_snapshot_bytes_total",
       kCounter,
       "bytes",
       {"lane"},
       "Bytes of durable snapshots: weights and optimizer state."},
      {"ballast_shard_snapshot_copies_total",
       kCounter,
       "snapshots",
       {"outcome"},
       "Copies of the shard's part of complete snapshots to another place, by outcome: done or failed."},
      {"ballast_shard_snapshot_copied_step", kGauge, "step", {}, "The newest snapshot that was copied."},
      {"ballast_shard_worker_phase_seconds",
       kHistogram,
       "seconds",
       {"lane", "worker", "phase"},
       "A worker's phases as its contributions report them: data_wait, pull, forward, backward, push."},
      {"ballast_shard_worker_lateness_seconds",
       kHistogram,
       "seconds",
       {"lane", "worker"},
       "How long after a step's first contribution this worker's arrived."},

      // ---- the lead
      {"ballast_lead_sessions", kGauge, "sessions", {}, "Workers that are live."},
      {"ballast_lead_lost_sessions_total", kCounter, "sessions", {}, "Workers that were given up."},
      {"ballast_lead_refused_workers_total",
       kCounter,
       "sessions",
       {},
       "Workers that were refused for other data, or for another arithmetic where the job asks for one."},
      {"ballast_lead_arithmetics",
       kGauge,
       "kinds",
       {},
       "Kinds of arithmetic that were given work of this job; with more than 1 no single kind gives these bits."},
      {"ballast_lead_generation", kGauge, "number", {}, "Increases when slots change hands."},
      {"ballast_lead_timeline", kGauge, "number", {}, "The current timeline; more than 1 after a rollback."},
      {"ballast_lead_base_step", kGauge, "step", {}, "Where the current timeline began."},
      {"ballast_lead_rollbacks_total",
       kCounter,
       "rollbacks",
       {"cause"},
       "Times the whole job went back to a snapshot, by cause: shard (one that cannot go on came in the place of a "
       "shard; without a journal a resume is one), mark (work rested on what a shard had lost), below_cut (a shard "
       "came back with less than a cut that all had come to), lives (a shard had more lives than are remembered), "
       "non_finite "
       "(training.non_finite: rollback), unknown (counted by a program that told no causes)."},
      {"ballast_lead_ledger_write_seconds",
       kHistogram,
       "seconds",
       {},
       "From when the lead asked for a write of its ledger until it heard what came of it: a new timeline, what "
       "follows an "
       "evaluation and, in a job with a journal, a cut wait for it."},
      {"ballast_lead_rolled_back_steps_total",
       kCounter,
       "steps",
       {},
       "Steps trained again because of rollbacks; at least so many."},
      {"ballast_lead_skipped_steps_total", kCounter, "steps", {}, "Steps skipped for gradients that were not finite."},
      {"ballast_lead_resumed_shards_total",
       kCounter,
       "shards",
       {},
       "Shards that came back with all they had, so that the job went on in the same timeline."},
      {"ballast_lead_snapshot_step", kGauge, "step", {}, "The newest complete snapshot."},
      {"ballast_lead_copied_step", kGauge, "step", {}, "The newest snapshot that every shard has copied; 0: none."},
      {"ballast_lead_copying_step", kGauge, "step", {}, "The snapshot that the shards copy now; 0: none."},
      {"ballast_lead_snapshots_missed_total",
       kCounter,
       "snapshots",
       {},
       "Snapshots that were due while another one was being written."},
      {"ballast_lead_backups_total", kCounter, "assignments", {}, "Slots handed to a second worker as well."},
      {"ballast_lead_slots_taken_total",
       kCounter,
       "slots",
       {},
       "Slots given to another worker so that a step ends sooner (sync and local)."},
      {"ballast_lead_slots_reassigned_total",
       kCounter,
       "slots",
       {},
       "Slots of workers that were lost or are held up, given to others (sync and local)."},
      {"ballast_lead_step", kGauge, "step", {}, "Steps that every chunk has decided."},
      {"ballast_lead_steps", kGauge, "step", {}, "Steps of the whole job."},
      {"ballast_lead_epoch", kGauge, "epochs", {}, "Whole epochs done."},
      {"ballast_lead_train_loss", kGauge, "loss", {}, "Mean training loss over the last whole epoch."},
      {"ballast_lead_recent_loss", kGauge, "loss", {}, "Mean training loss over the last steps."},
      {"ballast_lead_learning_rate", kGauge, "1", {}, "Learning rate of the newest step whose factors are known."},
      {"ballast_lead_gradient_norm",
       kGauge,
       "1",
       {},
       "Norm of the newest decided step's gradient; 0 unless the job clips by global norm."},
      {"ballast_lead_validation_loss", kGauge, "loss", {}, "Mean loss of the last evaluation on the validation split."},
      {"ballast_lead_validation_accuracy",
       kGauge,
       "ratio",
       {},
       "Share of right answers in the last evaluation on the validation split, 0 to 1."},
      {"ballast_lead_best_loss", kGauge, "loss", {}, "Validation loss of the step with the best validation."},
      {"ballast_lead_best_accuracy",
       kGauge,
       "ratio",
       {},
       "Validation accuracy of the step with the best validation, 0 to 1."},
      {"ballast_lead_best_step", kGauge, "step", {}, "The step with the best validation (training.best_by)."},
      {"ballast_lead_validation_metric",
       kGauge,
       "1",
       {"metric"},
       "What the last evaluation on the validation split told beside loss and accuracy: top5, precision, recall, f1, "
       "auc, perplexity, "
       "squared_error or absolute_error."},
      {"ballast_lead_best_metric", kGauge, "1", {"metric"}, "What the best validation told beside loss and accuracy."},
      {"ballast_lead_test_metric",
       kGauge,
       "1",
       {"metric"},
       "What the last evaluation on the test split told beside loss and accuracy."},
      {"ballast_lead_test_loss", kGauge, "loss", {}, "Mean loss of the last evaluation on the test split."},
      {"ballast_lead_test_accuracy",
       kGauge,
       "ratio",
       {},
       "Share of right answers in the last evaluation on the test split, 0 to 1."},
      {"ballast_lead_examples_total", kCounter, "examples", {}, "Examples trained on."},
      {"ballast_lead_training_seconds", kGauge, "seconds", {}, "Time since this lead began to train, until its end."},
      {"ballast_lead_phase", kGauge, "1", {"phase"}, "1 for the phase the job is in, 0 for the others."},
      {"ballast_lead_trouble",
       kGauge,
       "1",
       {},
       "1 while something is wrong though the job goes on, e.g. a full disk; `ballast status` says what."},
      {"ballast_lead_waits", kGauge, "1", {}, "1 while the job waits for a shard or for workers."},
      {"ballast_lead_messages_refused_total",
       kCounter,
       "messages",
       {},
       "Messages to the lead that could not be read or were refused."},
      {"ballast_lead_worker_live", kGauge, "1", {"worker"}, "1 for a live worker, 0 for one that was lost or left."},
      {"ballast_lead_worker_step", kGauge, "step", {"worker"}, "The step that the worker means to compute next."},
      {"ballast_lead_worker_held_up",
       kGauge,
       "1",
       {"worker"},
       "1 while the worker is not counted on: it is silent, late, or was late in several steps in a row (sync and "
       "local); "
       "`ballast status` says why."},
      {"ballast_lead_worker_slot_seconds",
       kGauge,
       "seconds",
       {"worker"},
       "How long the worker's slots take, by which the lead divides a step; 0: not known (sync and local)."},
      {"ballast_lead_worker_lag_seconds",
       kGauge,
       "seconds",
       {"worker"},
       "From a step's opening until the worker begins its first slot (sync and local)."},
      {"ballast_lead_worker_uplink_bytes_per_second",
       kGauge,
       "bytes per second",
       {"worker"},
       "How fast the worker's contributions get through; 0: not known (sync and local)."},
      {"ballast_lead_worker_slots_total",
       kCounter,
       "slots",
       {"worker"},
       "The worker's slots that became part of steps."},
      {"ballast_lead_worker_overtaken_seconds",
       kGauge,
       "seconds",
       {"worker"},
       "For how long the worker has had in hand what others have brought since; 0: it has not. One that hangs."},
      {"ballast_lead_worker_phase_seconds",
       kGauge,
       "seconds",
       {"worker", "phase"},
       "Where the worker's last finished step went: data_wait, pull, forward, backward, push."},

      // ---- a worker
      {"ballast_worker_phase_seconds",
       kHistogram,
       "seconds",
       {"phase"},
       "Where each step goes: data_wait, pull, forward, backward, push."},
      {"ballast_worker_steps_total", kCounter, "steps", {}, "Steps this worker computed slots of."},
      {"ballast_worker_slots_total", kCounter, "slots", {}, "Slots computed."},
      {"ballast_worker_duplicates_total",
       kCounter,
       "messages",
       {},
       "Contributions whose work somebody else had covered before."},
      {"ballast_worker_gone_total", kCounter, "messages", {}, "Pulls of a version that was no longer held."},
      {"ballast_worker_retries_total", kCounter, "messages", {}, "Pulls and pushes that were sent again."},
      {"ballast_worker_bytes_total",
       kCounter,
       "bytes",
       {"direction"},
       "Payload bytes by direction: in (weights) or out (gradients)."},
      {"ballast_worker_corrupt_examples_total",
       kCounter,
       "examples",
       {},
       "Examples of this worker's data that could not be read and were left out or replaced (data.corrupt: skip), each "
       "once; of images those that it has come to so far."},
      {"ballast_worker_in_flight_bytes", kGauge, "bytes", {}, "Gradient bytes sent and without a receipt."},
      {"ballast_worker_lead_silence_seconds",
       kGauge,
       "seconds",
       {},
       "Time since this worker heard of its lead, or since it began to look for one."},
      {"ballast_worker_gpu_utilization",
       kGauge,
       "ratio",
       {},
       "Share of the last moments in which the worker's GPU ran a kernel, of any process; 0 to 1. All of a worker's "
       "GPU "
       "metrics are there only where it computes on one and its driver tells."},
      {"ballast_worker_gpu_memory_used_bytes", kGauge, "bytes", {}, "Memory in use on the GPU, by all processes."},
      {"ballast_worker_gpu_memory_bytes", kGauge, "bytes", {}, "Memory of the GPU."},
      {"ballast_worker_gpu_clock_hertz", kGauge, "hertz", {}, "Clock of the GPU's processors."},
      {"ballast_worker_gpu_throttled",
       kGauge,
       "1",
       {"reason"},
       "1 while the GPU runs slower than it could, by reason: power (a limit on it), heat, hardware (a slowdown that "
       "the "
       "board asks for)."},
  };
  return entries;
}

}  // namespace

std::span<const MetricEntry> metrics_table() { return table(); }

const MetricEntry* find_metric(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &MetricEntry::name);
  return found == table().end() ? nullptr : &*found;
}

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      break;
  }
  return "histogram";
}

std::string metrics_document() {
  std::string text =
      "# Metrics\n\n"
      "Every process serves these in Prometheus' text format at `/metrics` when it is told an address "
      "(`--metrics HOST:PORT`).\n"
      "Histograms have bounds from 0.1 ms to 30 s. Of workers that live under one name at once, the one with the "
      "lowest\n"
      "session has the label `worker` to itself, and each other is `name@session`.\n\n"
      "| name | type | unit | labels | meaning |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& entry : table()) {
    std::string labels;
    for (const auto label : entry.labels) {
      labels.append(labels.empty() ? "" : ", ").append(label);
    }
    text.append("| `").append(entry.name).append("` | ").append(to_string(entry.type)).append(" | ");
    text.append(entry.unit).append(" | ").append(labels).append(" | ").append(entry.help).append(" |\n");
  }
  return text;
}

}  // namespace ballast

#include "server/lead_metrics.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "server/twin_name.h"

namespace ballast {

void LeadMetrics::heard(SessionId session, Micros now) {
  if (const auto known = heard_.find(session); known != heard_.end()) {
    known->second = now;
  }
}

void LeadMetrics::update(const Status& status, Generation generation, const ShardRoster& shards, Micros now) {
  std::size_t live = 0;
  for (const auto& session : status.sessions) {
    live += session.live ? 1 : 0;
  }
  // A worker that was started again has several sessions of one name, in no order: the live one speaks for it. Of two
  // that live under one name each speaks for itself.
  Workers workers;
  for (const auto& session : status.sessions) {
    const auto [worker, is_new] = workers.try_emplace(session.name, session);
    if (is_new) {
      continue;
    }
    if (session.live && worker->second.live) {
      auto twin = session;
      twin.name = name_of_twin(session.name, session.session);
      workers.emplace(twin.name, twin);
      continue;
    }
    const auto slots = worker->second.slots + session.slots;
    if (session.live) {
      worker->second = session;
    }
    worker->second.slots = slots;
  }
  for (const auto& [name, session] : workers) {
    update_worker(session);
    const auto heard = heard_.find(session.session);
    const bool is_heard = session.live && heard != heard_.end();
    workers_.at(name).silence->set(is_heard ? static_cast<double>(now - std::min(now, heard->second)) * 1e-6 : 0);
  }
  forget_others(workers);
  update_silence(status, shards, now);
  update_recovery(status, shards, now);
  update_snapshots(status, shards, now);
  series_.sessions->set(static_cast<double>(live));
  series_.generation->set(static_cast<double>(generation));
  update_course(status);
  update_quality(status);
  tell("validation", status.validation_metrics);
  tell("best", status.best_metrics);
  tell("test", status.test_metrics);
  for (const auto& [phase, gauge] : series_.phases) {
    gauge->set(status.phase == phase ? 1 : 0);
  }
}

// A session that is new here has just been heard.
void LeadMetrics::update_silence(const Status& status, const ShardRoster& shards, Micros now) {
  std::unordered_map<SessionId, Micros> heard;
  for (const auto& session : status.sessions) {
    const auto known = heard_.find(session.session);
    heard.emplace(session.session, known == heard_.end() ? now : known->second);
  }
  heard_ = std::move(heard);
  std::map<std::uint32_t, Micros> oldest;  // by shard
  for (const auto& [id, lane] : shards.lanes()) {
    const auto known = oldest.try_emplace(id.shard, lane.heard_at).first;
    known->second = std::min(known->second, lane.heard_at);
  }
  for (const auto& [shard, heard_at] : oldest) {
    auto& gauge = shard_silence_[shard];
    if (!gauge) {
      gauge = lead_shard_silence(metrics_, shard);
    }
    gauge->set(static_cast<double>(now - std::min(now, heard_at)) * 1e-6);
  }
}

void LeadMetrics::update_recovery(const Status& status, const ShardRoster& shards, Micros now) {
  const auto silent = shards.longest_silent(now, now, status.step).span;
  if (const auto took = recovery_.look({status.phase, silent, shards.all_serve()}, now)) {
    series_.recovery->observe_micros(*took);
  }
  series_.recovering->set(static_cast<double>(recovery_.lasts(now)) * 1e-6);
}

void LeadMetrics::update_snapshots(const Status& status, const ShardRoster& shards, Micros now) {
  std::set<Step> begun;
  for (const auto& [id, lane] : shards.lanes()) {
    for (const auto* told : {&lane.report.writing, &lane.report.held}) {
      for (const auto& snapshot : *told) {
        if (lane.report.open_step >= snapshot.step) {  // else it is ordered, and still to come
          begun.insert(snapshot.step);
        }
      }
    }
  }
  if (const auto took = snapshots_.look(begun, status.snapshot, now)) {
    series_.snapshot->observe_micros(*took);
  }
  if (status.snapshot != snapshot_.step || snapshot_.since == 0) {
    snapshot_ = {status.snapshot, now};
  }
  series_.snapshot_age->set(static_cast<double>(now - snapshot_.since) * 1e-6);
}

// The lead forgets the longest dead, in its status first.
void LeadMetrics::forget_others(const Workers& workers) {
  std::erase_if(workers_, [&](const auto& known) {
    const bool is_gone = !workers.contains(known.first);
    if (is_gone && metrics_ != nullptr) {
      metrics_->remove("ballast_lead_worker_", {{"worker", known.first}});
    }
    return is_gone;
  });
}

// How far the job is, and what it has been through.
void LeadMetrics::update_course(const Status& status) {
  const auto set = [](Gauge& gauge, std::uint64_t value) { gauge.set(static_cast<double>(value)); };
  const auto raise = [](Counter& counter, std::uint64_t total) { counter.raise_to(static_cast<double>(total)); };
  set(*series_.timeline, status.timeline);
  set(*series_.base_step, status.base.step);
  set(*series_.snapshot_step, status.snapshot);
  set(*series_.copied_step, status.copies.copied);
  set(*series_.copying_step, status.copies.copying);
  set(*series_.step, status.step);
  set(*series_.steps, status.steps);
  set(*series_.epoch, status.epoch);
  series_.training_seconds->set(static_cast<double>(status.training) * 1e-6);
  series_.trouble->set(all_trouble(status).empty() ? 0 : 1);
  series_.waits->set(status.waits_for.empty() ? 0 : 1);
  raise(*series_.lost_sessions, status.lost_workers);
  raise(*series_.refused_workers, status.refused_workers);
  set(*series_.arithmetics, status.arithmetics.size());
  raise(*series_.backups, status.backups);
  raise(*series_.slots_taken, status.slots_taken);
  raise(*series_.slots_reassigned, status.slots_reassigned);
  raise(*series_.slots_tried, status.slots_tried);
  raise(*series_.examples, status.examples);
  for (const auto& [cause, name, words] : kRollbackWords) {
    raise(*series_.rollbacks[static_cast<std::size_t>(cause)], status.rollback_causes.of(cause));
  }
  raise(*series_.rolled_back_steps, status.rolled_back_steps);
  raise(*series_.skipped_steps, status.skipped_steps);
  raise(*series_.snapshots_missed, status.snapshots_missed);
  raise(*series_.resumed_shards, status.resumed_shards);
}

// What training has come to.
void LeadMetrics::update_quality(const Status& status) {
  const auto accuracy = [](const SplitStatus& split, const std::vector<Metric>& metrics) {
    return told_accuracy(split.accuracy, metrics).value_or(std::numeric_limits<double>::quiet_NaN());
  };
  series_.train_loss->set(status.train_loss);
  series_.recent_loss->set(status.recent_loss);
  series_.learning_rate->set(status.learning_rate);
  series_.gradient_norm->set(status.gradient_norm);
  series_.validation_loss->set(status.validation.loss);
  series_.validation_accuracy->set(accuracy(status.validation, status.validation_metrics));
  series_.best_loss->set(status.best.loss);
  series_.best_accuracy->set(accuracy(status.best, status.best_metrics));
  series_.best_step->set(static_cast<double>(status.best.step));
  series_.test_loss->set(status.test.loss);
  series_.test_accuracy->set(accuracy(status.test, status.test_metrics));
}

void LeadMetrics::tell(const std::string& evaluation, const std::vector<Metric>& metrics) {
  for (const auto& metric : metrics) {
    auto& gauge = told_[{evaluation, metric.kind}];
    if (!gauge) {
      gauge = lead_metric(metrics_, evaluation, name_of(metric.kind));
    }
    gauge->set(metric.value);
  }
}

void LeadMetrics::update_worker(const SessionStatus& session) {
  const auto known = workers_.find(session.name);
  const auto& series = known != workers_.end()
                           ? known->second
                           : workers_.emplace(session.name, LeadWorkerSeries(metrics_, session.name)).first->second;
  series.live->set(session.live ? 1 : 0);
  series.step->set(static_cast<double>(session.step));
  series.held_up->set(session.held_up.empty() ? 0 : 1);
  series.slot_time->set(static_cast<double>(session.slot_time) * 1e-6);
  series.lag->set(static_cast<double>(session.lag) * 1e-6);
  series.uplink->set(static_cast<double>(session.up));
  series.slots->raise_to(static_cast<double>(session.slots));
  series.overtaken->set(static_cast<double>(session.overtaken) / 1e6);
  series.phases.set(session.phases);
}

}  // namespace ballast

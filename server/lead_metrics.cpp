#include "server/lead_metrics.h"

#include <string_view>

namespace ballast {

void LeadMetrics::update(const Status& status, const LeadWork& work) {
  std::size_t live = 0;
  for (const auto& session : status.sessions) {
    live += session.live ? 1 : 0;
  }
  // A worker that was started again has several sessions of one name, in no order: the live one speaks for it.
  std::map<std::string_view, SessionStatus> workers;
  for (const auto& session : status.sessions) {
    const auto [worker, is_new] = workers.try_emplace(session.name, session);
    if (is_new) {
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
  }
  series_.sessions->set(static_cast<double>(live));
  series_.generation->set(static_cast<double>(work.generation()));
  series_.timeline->set(static_cast<double>(status.timeline));
  series_.step->set(static_cast<double>(status.step));
  series_.steps->set(static_cast<double>(status.steps));
  series_.epoch->set(static_cast<double>(status.epoch));
  series_.train_loss->set(status.train_loss);
  series_.recent_loss->set(status.recent_loss);
  series_.test_loss->set(status.test_loss);
  series_.test_accuracy->set(status.test_accuracy);
  series_.training_seconds->set(static_cast<double>(status.training) * 1e-6);
  series_.lost_sessions->raise_to(static_cast<double>(status.lost_workers));
  series_.backups->raise_to(static_cast<double>(status.backups));
  series_.examples->raise_to(static_cast<double>(status.examples));
  for (const auto& [phase, gauge] : series_.phases) {
    gauge->set(status.phase == phase ? 1 : 0);
  }
}

void LeadMetrics::update_worker(const SessionStatus& session) {
  const auto known = workers_.find(session.name);
  const auto& series = known != workers_.end()
                           ? known->second
                           : workers_.emplace(session.name, LeadWorkerSeries(metrics_, session.name)).first->second;
  const auto seconds = [](std::uint64_t micros) { return static_cast<double>(micros) * 1e-6; };
  series.live->set(session.live ? 1 : 0);
  series.step->set(static_cast<double>(session.step));
  series.slots->raise_to(static_cast<double>(session.slots));
  series.data_wait->set(seconds(session.phases.data_wait));
  series.pull->set(seconds(session.phases.pull));
  series.forward->set(seconds(session.phases.forward));
  series.backward->set(seconds(session.phases.backward));
  series.push->set(seconds(session.phases.push));
}

}  // namespace ballast

// What the lead tells about the job.
#include <algorithm>

#include "protocol/lead/lead.h"
#include "protocol/lead/ledger_status.h"

namespace ballast {

namespace {

constexpr Step kRecentSteps = 50;

void add(StalenessCounts& total, const StalenessCounts& part) {
  total.counts.resize(std::max(total.counts.size(), part.counts.size()));
  for (std::size_t i = 0; i < part.counts.size(); ++i) {
    total.counts[i] += part.counts[i];
  }
  total.sum += part.sum;
  total.largest = std::max(total.largest, part.largest);
  total.expired += part.expired;
  total.skipped += part.skipped;
}

}  // namespace

JobPhase Lead::job_phase() const {
  static constexpr std::array kAsItIs = {
      JobPhase::assembling, JobPhase::assembling, JobPhase::waiting,  JobPhase::training, JobPhase::evaluating,
      JobPhase::finishing,  JobPhase::finishing,  JobPhase::finished, JobPhase::stopped,  JobPhase::failed};
  if (!is_over()) {
    if (book_.durable().pause == Pause::held) {
      return JobPhase::paused;
    }
    const bool holds = pauses_.hold() || pauses_.waits_for_room();
    if (book_.may_hold_pause() || (holds && (pauses_.wants_stop() || !holds_for_departure()))) {
      return JobPhase::pausing;
    }
    if (began() && phase_ <= Phase::confirming) {
      return JobPhase::recovering;
    }
  }
  return kAsItIs[static_cast<std::size_t>(phase_)];
}

Status Lead::status() const {
  Status status;
  status.job = config_.name;
  status.mode = config_.mode;
  status.phase = job_phase();
  tell_trouble(status);
  tell_stand(status);
  tell_training(status);
  tell_events(status);
  tell_members(status);
  return status;
}

// ---- what is wrong

void Lead::tell_trouble(Status& status) const {
  status.failure = end_.failure;
  status.waits_for = waits_for_;
  status.trouble = trouble_.empty() ? copies_.trouble() : trouble_;
  for (const auto& [id, lane] : shards_.lanes()) {
    if (status.trouble.empty() && !lane.report.trouble.empty()) {
      status.trouble = "shard " + std::to_string(id.shard) + ": " + lane.report.trouble;
    }
  }
  for (const auto& [shard, other] : shards_.turned_away()) {
    if (status.trouble.empty() && other.why != waits_for_) {
      status.trouble = other.why;
    }
  }
  status.bits_trouble = bits_trouble();
  tell_stranded(status);
  tell_overtaken(status);
}

// In training or in evaluations, and since when.
std::map<SessionId, Micros> Lead::overtaken() const {
  auto overtaken = course_.overtaken();
  for (const auto& [session, since] : evaluations_.overtaken()) {
    const auto known = overtaken.try_emplace(session, since).first;
    known->second = std::min(known->second, since);
  }
  return overtaken;
}

// Whoever is merely slow brings it soon.
void Lead::tell_overtaken(Status& status) const {
  constexpr Micros kSoon = 1'000'000;
  std::string names;
  for (const auto& [session, since] : overtaken()) {
    if (now_ - since > kSoon) {
      names += (names.empty() ? "" : ", ") + sessions_.at(session).name;
    }
  }
  if (!names.empty() && status.trouble.empty() && !is_over()) {
    status.trouble = "others have brought what " + names + " still has to compute: it lives, and brings nothing";
  }
}

// Workers that a lane lets wait keep the job from going on if there are no others.
void Lead::tell_stranded(Status& status) const {
  std::size_t live = 0;
  std::size_t stranded = 0;
  const LeadSession* first = nullptr;
  for (const auto& [id, session] : sessions_.all()) {
    live += session.live ? 1 : 0;
    if (session.live && !session.beat.waits_for.empty()) {
      first = first == nullptr ? &session : first;
      ++stranded;
    }
  }
  if (first == nullptr || is_over()) {
    return;
  }
  const auto others = stranded == 1 ? std::string() : " (like " + std::to_string(stranded - 1) + " more)";
  if (stranded == live && status.waits_for.empty()) {
    status.waits_for = "worker " + first->name + others + ", which waits for " + first->beat.waits_for;
  } else if (status.trouble.empty()) {
    status.trouble = "worker " + first->name + others + " waits for " + first->beat.waits_for;
  }
}

// ---- where the job is

void Lead::tell_stand(Status& status) const {
  const auto& ledger = book_.current();
  status.timeline = ledger.timeline;
  status.base = ledger.base;
  status.snapshot = book_.durable().complete.empty() ? 0 : book_.durable().complete.back().step;
  copies_.tell(book_.durable().copies, copy_parts(), status.copies);
  status.copies.awaited = !is_over() && book_.current().timeline > 0 && awaits_copy() &&
                          (pauses_.waits_for_copy() || (phase_ == Phase::finishing && has_final_snapshot()));
  // A job that had ended before this lead began has nothing open, and one that is taken back goes on from there.
  const Step least = began() && phase_ <= Phase::confirming ? status.snapshot : ledger.base.step;
  status.step = ledger.finished ? ledger.finished->step : std::max(course_.open_step(), least);
  status.beyond_snapshot = !has_held() && course_.is_beyond(shards_, status.snapshot);
  status.steps = config_.steps;
  status.epoch = log_.next() / config_.steps_per_epoch;
  status.epochs = (config_.steps + config_.steps_per_epoch - 1) / config_.steps_per_epoch;
  status.start_workers = config_.start_workers;
}

void Lead::tell_training(Status& status) const {
  status.training = pace_.training(now_);
  status.examples = log_.examples();
  status.examples_per_second = pace_.meter().examples_per_second();
  status.steps_per_second = pace_.meter().steps_per_second();
  status.learning_rate =
      planner_.factors(course_.updates(std::min(status.step, config_.steps - 1)), skipped()).learning_rate;
  status.gradient_norm = planner_.gradient_norm();
  const Step epoch = std::max<Step>(log_.next() - log_.next() % config_.steps_per_epoch, config_.steps_per_epoch);
  status.train_loss = log_.mean_loss(epoch - config_.steps_per_epoch, epoch);
  status.recent_loss = log_.mean_loss(log_.next() - std::min(log_.next(), kRecentSteps), log_.next());
  tell_evaluations(evaluations_.records(), config_.best_by, status);
}

// ---- what has happened, and who is there

void Lead::tell_events(Status& status) const {
  status.backups = course_.backups();
  course_.tell(status);
  tell_ledger(book_.current(), status);
}

void Lead::tell_members(Status& status) const {
  status.lost_workers = sessions_.lost();
  status.refused_workers = sessions_.refused();
  status.data = book_.durable().provenance.data;
  status.arithmetics = book_.durable().provenance.arithmetics;
  const auto overtaken = this->overtaken();
  std::map<SessionId, std::uint64_t> slots;
  for (const auto& [id, lane] : shards_.lanes()) {
    status.duplicates += lane.report.duplicates;
    status.superseded += lane.report.superseded;
    add(status.staleness, lane.report.items.staleness);
    for (const auto& entry : lane.report.slots_by_session) {
      slots[entry.session] += entry.slots;
    }
  }
  for (const auto& [id, session] : sessions_.all()) {
    status.sessions.push_back({id, session.name, session.live, session.beat.step, slots[id], session.beat.fingerprint,
                               session.refusal, session.beat.phases});
    const auto since = overtaken.find(id);
    status.sessions.back().overtaken = since == overtaken.end() ? 0 : static_cast<std::uint64_t>(now_ - since->second);
    status.sessions.back().said_goodbye = session.said_goodbye;
    course_.tell(id, status.sessions.back());
    if (status.phase != JobPhase::training) {
      status.sessions.back().held_up.clear();  // as it was when work was last given out
    }
  }
}

}  // namespace ballast

// When a life is over, and what it has shown.
#include <algorithm>

#include "tests/simulation/cluster.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

constexpr Micros kEnough = 6'000'000;         // after the last fault every life is over by then
constexpr Micros kEnoughSkewed = 18'000'000;  // if its clocks run at half their rate, and its patience is longer

}  // namespace

bool Cluster::lead_died() const { return run_.dead_shard == std::optional<std::uint32_t>(0); }

bool Cluster::is_over() {
  if (!run_.lead_over && (roster_.lead->ended() || (lead_died() && !roster_.lead->alive()))) {
    end_lead();
  }
  if (!run_.lead_over || run_.resume_scheduled ||
      std::any_of(processes_.begin() + static_cast<std::ptrdiff_t>(run_.begins), processes_.end(),
                  [](const Hosted& hosted) { return base(hosted.shell).alive(); })) {
    return false;
  }
  restart_if_resumable();
  return !run_.resume_scheduled;
}

// Whoever cannot learn of the end needs not wait for it.
void Cluster::end_lead() {
  run_.lead_over = true;
  for (auto* lane : roster_.lanes) {
    if (!lane->has_heard(roster_.lead->id())) {
      lane->die();  // it waits for a lead to come up, as it should: any order of starts is allowed
    } else if (processes_[lane->id()].stands_until > now()) {
      lane->excuse();
    }
  }
  for (auto* lane : roster_.seconds) {
    if (lane != nullptr) {
      lane->die();  // whoever does not belong to the job needs not learn of its end
    }
  }
  for (auto* worker : roster_.workers) {
    if (!worker->alive()) {
      continue;
    }
    if (!lead_died() && roster_.lead->believes_in(worker->id()) && processes_[worker->id()].stands_until <= now()) {
      continue;  // the lead had to see to it that this one learns of the end
    }
    worker->excuse();
    if (!worker->has_heard(roster_.lead->id())) {
      worker->die();  // it knows of no job yet and goes on asking; nobody is left to answer
    }
  }
}

// The slowest worker may be the only one that the job is let have, for its data or its arithmetic.
Micros Cluster::work_of_one() const {
  Micros slot = 0;
  for (const auto& worker : life().workers) {
    slot = std::max(slot, worker.forward + worker.backward);
  }
  return slot * static_cast<Micros>(life().steps * life().slots);
}

void Cluster::check_progress() const {
  // Who hangs is given up after thrice what its share is predicted to take by what things took, and that was longer
  // where workers stood still, hung for a while in each slot that is known, or weights lay unread. What lanes called of
  // one that sends nothing took until another had brought it.
  const auto& faults = life().faults;
  const Micros slot = std::max(faults.worker_pause, faults.hang);
  const Micros late = 3 * slot * life().slots + (faults.unread > 0 ? kEnough : 0);
  const Micros enough = (faults.clock_skew ? kEnoughSkewed : kEnough) + (faults.hangs > 0 ? late : 0) +
                        (faults.withholds > 0 ? kEnough : 0) + work_of_one();
  if (now() <= run_.calm_since + enough) {
    return;
  }
  std::string still;
  for (const auto& hosted : processes_) {
    const auto& process = base(hosted.shell);
    still += process.alive() ? (still.empty() ? "" : ", ") + process.name() : "";
  }
  throw Violation("the life is not over " + std::to_string(enough / 1000) +
                  " ms after the last fault; the lead is in phase " +
                  std::string(name_of(roster_.lead->core().status().phase)) + " at step " +
                  std::to_string(roster_.lead->core().status().step) + "; still there: " + still);
}

void Cluster::conclude() {
  gather_facts();
  if (run_.dead_shard) {
    facts().note(Fact::death);
    // One that had written its part of the last snapshot before it died is not missed.
    if (!world_.ledger.ledger.finished) {
      return conclude_after_death();
    }
  }
  check_failures();
  judge().finished_well(disks(), world_.copies, roster_.lead->core().status(), world_.ledger,
                        facts().has(Fact::copy_failed));
  for (std::uint32_t lane = 0; lane < life().all_lanes(); ++lane) {
    const auto& shell = *roster_.lanes[lane];
    const bool has_not_heard = shell.excused() && !shell.failure().empty();
    require(!shell.ended() || has_not_heard ||
                world_.disks.present[lane / life().lanes].finished == world_.ledger.ledger.finished,
            "a shard has left before the end was durable with it");
  }
}

void Cluster::check_failures() {
  for (std::size_t i = run_.begins; i < processes_.size(); ++i) {
    const auto& shell = processes_[i].shell;
    const auto& process = base(shell);
    if (process.failure().empty()) {
      continue;
    }
    const auto* worker = std::get_if<WorkerShell>(&shell);
    if (run_.said_to_some || is_second(shell)) {
      continue;  // it left for what a lead had said that then crashed
    }
    if (worker != nullptr && worker->refused()) {
      continue;
    }
    if (!process.excused()) {
      throw Violation(process.name() + " ends with: " + process.failure());
    }
    facts().note(Fact::unheard_end);
  }
}

void Cluster::gather_facts() {
  const auto status = roster_.lead->core().status();
  facts().note(Fact::backup, status.backups > 0);
  facts().note(Fact::lost_worker, status.lost_workers > 0);
  if (const auto* shares = roster_.lead->core().shares()) {
    facts().note(Fact::tail_taken, shares->taken() > 0);
    facts().note(Fact::suspect_back, shares->returned() > 0);
    facts().note(Fact::suspect_relieved, shares->relieved() > 0);
    facts().note(Fact::trial, shares->trials() > 0);
  }
  facts().calm = faults_seen_ + network_.faults() == 0;
  facts().time = now();
  facts().add(judge().facts());
  gather_items();
  facts().note(Fact::mixed_arithmetic, world_.ledger.ledger.provenance.arithmetics.size() > 1);
  if (!life().norms.empty() && (facts().has(Fact::rollback) || facts().has(Fact::with_lead))) {
    facts().note(life().has_trust_ratios() ? Fact::scaled_by_trust : Fact::clipped);
  }
  facts().note(Fact::averages_restored, life().averaged_from && facts().has(Fact::rollback) &&
                                            life().validation_examples + life().test_examples > 0);
  for (const auto& hosted : processes_) {
    if (const auto* lane = std::get_if<LaneShell>(&hosted.shell)) {
      lane->gather(facts());
    }
  }
  for (const auto* worker : roster_.workers) {
    facts().note(Fact::retry, worker->core().retries() > 0);
  }
}

void Cluster::gather_items() {
  facts().note(Fact::skewed, life().faults.clock_skew);
  if (!life().items) {
    return;
  }
  facts().note(Fact::async, life().items->bound == 0);
  facts().note(Fact::ssp, !facts().has(Fact::async));
  facts().note(Fact::journaled, life().journaled());
  const bool goes_back = world_.ledger.ledger.timeline > 1;
  facts().note(Fact::kept_in_crash, facts().has(Fact::journaled) && facts().has(Fact::shard_crash) && !goes_back);
  facts().note(Fact::survived_loss, facts().has(Fact::lost_commits) && !goes_back);
}

void Cluster::conclude_after_death() const {
  if (!lead_died() &&
      roster_.lead->failure().find("shard " + std::to_string(*run_.dead_shard) + " ") == std::string::npos) {
    throw Violation("shard " + std::to_string(*run_.dead_shard) + " died, and the lead ends with: \"" +
                    roster_.lead->failure() + "\"");
  }
  for (std::uint32_t lane = 0; lane < life().all_lanes(); ++lane) {
    if (lane / life().lanes != *run_.dead_shard && roster_.lanes[lane]->ended() &&
        roster_.lanes[lane]->failure().empty()) {
      throw Violation(roster_.lanes[lane]->name() + " ends as if the job had finished");
    }
  }
}

}  // namespace ballast::simulation

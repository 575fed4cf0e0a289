// What the user does: stops, pauses, and starts the cluster again.
#include <algorithm>

#include "tests/simulation/cluster.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void Cluster::schedule_user() {
  const auto& faults = life().faults;
  schedule_some(faults.stops, 2'000, 150'000, UserStops{});
  if (faults.late_stop) {
    schedule(now() + 1'000, UserStopsLate{});
  }
  for (std::uint32_t i = 0; i < faults.user_pauses; ++i) {
    const auto begin = random_.between(2'000, std::min<Micros>(60'000, faults.until));
    // Often before the pause is complete.
    const auto end = begin + random_.between(2'000, random_.chance(0.5) ? 20'000 : 200'000);
    schedule(begin, UserPauses{});
    schedule(end, UserEndsPause{random_.chance(0.3)});
  }
}

void Cluster::command(Control::Command command) {
  if (!run_.lead_over && roster_.lead->alive()) {
    judge().commanded(command, roster_.lead->core().phase());
    roster_.lead->receive_command(*this, command);
  }
}

void Cluster::carry_out(const UserStops& /*what*/) {
  say("the user stops the job");
  command(Control::Command::stop);
}

void Cluster::carry_out(const UserStopsLate& /*what*/) {
  if (run_.lead_over) {
    return;
  }
  if (!roster_.lead->alive() || roster_.lead->core().phase() != Lead::Phase::finishing) {
    return schedule(now() + 1'000, UserStopsLate{});
  }
  ++faults_seen_;
  facts().note(Fact::late_stop);
  disturb();
  say("the user stops the job, which is about to finish");
  command(Control::Command::stop);
}

void Cluster::carry_out(const UserPauses& /*what*/) {
  say("the user pauses the job");
  command(Control::Command::pause);
}

// Who waits for a pause that is in the ledger gets it, or the job's end.
void Cluster::carry_out(const UserEndsPause& what) {
  if (what.waits_for_it && world_.ledger.ledger.pause == Pause::wanted && !run_.lead_over) {
    return schedule(now() + 20'000, what);
  }
  const bool is_paused = roster_.lead->alive() && roster_.lead->core().status().phase == JobPhase::paused;
  if (is_paused) {
    judge().called_paused();
  }
  facts().note(Fact::paused, is_paused);
  say("the user lets the job go on");
  let_go_on();
}

// Says it until the lead says that the job goes on, as the command line does.
void Cluster::let_go_on() {
  if (run_.lead_over) {
    return;
  }
  // The job may go on after all, if the lead crashes before all have ended.
  const bool is_ending = roster_.lead->alive() && roster_.lead->core().phase() >= Lead::Phase::finished;
  if (is_ending) {
    return schedule(now() + 40'000, UserLetsGoOn{});
  }
  command(Control::Command::resume);
  disturb();
  const auto phase = roster_.lead->core().status().phase;
  if (roster_.lead->alive() && phase != JobPhase::paused && phase != JobPhase::pausing) {
    return require(world_.ledger.ledger.pause == Pause::none,
                   "the job is said to go on, and its ledger knows of a pause");
  }
  schedule(now() + 40'000, UserLetsGoOn{});
}

void Cluster::carry_out(const UserLetsGoOn& /*what*/) { let_go_on(); }

// A job that was stopped, or failed for a reason that goes away, is started again from what is durable.
void Cluster::restart_if_resumable() {
  if (run_.dead_shard || run_.resume_scheduled || roster_.lead->core().phase() == Lead::Phase::finished) {
    return;
  }
  const auto& failure = roster_.lead->failure();
  const bool was_stopped = roster_.lead->core().phase() == Lead::Phase::stopped;
  const bool has_halted = failure.find("is not finite") != std::string::npos && !life().non_finite_gradients.empty() &&
                          world_.non_finite == NonFinite::halt;
  const bool could_not_write =
      failure.find("could not be written") != std::string::npos && facts().has(Fact::snapshot_failed);
  const bool met_nobody = run_.said_to_some && failure.find("gave up waiting for") != std::string::npos;
  if (!was_stopped && !has_halted && !could_not_write && !met_nobody) {
    throw Violation("lead ends with: " + failure);
  }
  const bool out_of_patience =
      was_stopped && roster_.lead->core().status().trouble.find("(cluster.stop_patience)") != std::string::npos;
  judge().stopped_well(world_.ledger, out_of_patience);
  facts().note(Fact::resumed);
  facts().note(Fact::stopped_without, out_of_patience);
  if (has_halted) {
    facts().note(Fact::halted);
    world_.non_finite = NonFinite::skip;
    judge().resumes_with(world_.non_finite);
  }
  ++faults_seen_;
  run_.resume_scheduled = true;
  schedule(now() + random_.between(1'000, 20'000), UserResumes{});
}

void Cluster::carry_out(const UserResumes& /*what*/) {
  run_.resume_scheduled = false;
  say("the job is resumed");
  if (life().journaled() && random_.chance(0.5)) {
    world_.snapshot_every = random_.between(0, 3);
    judge().resumes_with_snapshots(world_.snapshot_every);
    facts().note(Fact::other_cuts);
  }
  disturb();
  start_cluster();
  if (world_.ledger.ledger.pause != Pause::none) {
    let_go_on();
  }
  for (const auto& worker : life().workers) {
    schedule(now() + worker.joins_at, WorkerJoins{worker});
  }
}

}  // namespace ballast::simulation

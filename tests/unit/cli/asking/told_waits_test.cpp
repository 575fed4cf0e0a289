#include "cli/asking/told_waits.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace ballast {
namespace {

Footprint asleep() {
  Footprint footprint;
  footprint.state = 'S';
  return footprint;
}

// Two servers and a worker, at step 40.
JobSeen stalled() {
  JobSeen seen;
  seen.seconds = 3;
  Status status;
  status.phase = JobPhase::training;
  status.step = 40;
  status.steps = 100;
  status.sessions.resize(1);
  status.sessions[0].session = 5;
  status.sessions[0].name = "worker-0";
  status.sessions[0].live = true;
  seen.before = seen.after = status;
  seen.processes = {
      {"server 0", 10, true, asleep()}, {"server 1", 11, false, asleep()}, {"worker 0", 12, false, asleep()}};
  return seen;
}

std::string lane_of(std::size_t number) {
  return "shard " + std::to_string(number / 16) + " lane " + std::to_string(number % 16);
}

std::string first_chain(const JobSeen& seen) {
  const auto chains = diagnose(seen).chains;
  return chains.empty() ? std::string() : chain_text(chains.front());
}

TEST_CASE("told waits: of nobody, where nobody tells any; none of a job that goes on") {
  auto seen = stalled();
  CHECK(told_waits(seen).empty());
  CHECK(diagnose(seen).chains.empty());
  seen.after->step = 41;
  seen.after->waits_for = "shard 1 to come";
  CHECK(diagnose(seen).chains.empty());
}

TEST_CASE("told waits: the lead for a lane, and that for its process") {
  auto seen = stalled();
  seen.after->waits_for = "shard 1 (lane 0), not heard of for 4111 ms, at step 40";
  CHECK(first_chain(seen) == "lead waits for shard 1 lane 0 (its report, for 4.1 s)");
  seen.processes[1].footprint->state = 'T';
  seen.silent = {"shard 1 lane 0"};
  CHECK(
      first_chain(seen) ==
      "lead waits for shard 1 lane 0 (its report, for 4.1 s), which waits for a signal that lets server 1 (process 11) "
      "go on");
  CHECK(diagnosis_text(seen, diagnose(seen)).find("\nwaits: lead waits for shard 1 lane 0 (") != std::string::npos);
  seen.processes[1].footprint.reset();
  CHECK(first_chain(seen).ends_with("which waits for the next life of server 1 (process 11)"));
  seen.after->waits_for = "shard 1 to come";
  seen.silent.clear();
  CHECK(first_chain(seen) ==
        "lead waits for shard 1 (its start), which waits for the next life of server 1 (process 11)");
}

TEST_CASE("told waits: doctor for a lead that does not answer, and a process that nobody else names") {
  auto seen = stalled();
  seen.after.reset();
  seen.processes[0].footprint->state = 'T';
  CHECK(
      first_chain(seen) ==
      "ballast doctor waits for lead (an answer, for 3.0 s), which waits for a signal that lets server 0 (process 10) "
      "go on");
  seen = stalled();
  seen.processes[2].footprint->stuck = {{"10.0.0.1:4000", 7, 100}};
  CHECK(first_chain(seen) ==
        "worker 0 (process 12) waits for 10.0.0.1:4000 to acknowledge what worker 0 (process 12) sends");
}

TEST_CASE("told waits: for workers: held up, absent, too few") {
  auto seen = stalled();
  seen.after->sessions[0].held_up = "it is silent";
  seen.processes[2].footprint->state = 'T';
  CHECK(
      first_chain(seen) ==
      "lead waits for worker worker-0 (it is silent), which waits for a signal that lets worker 0 (process 12) go on");
  seen = stalled();
  seen.after->sessions.clear();
  CHECK(first_chain(seen) == "lead waits for a worker (there is none)");
  seen.before->phase = seen.after->phase = JobPhase::waiting;
  seen.after->start_workers = 4;
  CHECK(first_chain(seen) == "lead waits for workers (it begins with 4)");
}

TEST_CASE("told waits: for its user, for room on a disk, for descriptors, and for what it says in other words") {
  auto seen = stalled();
  seen.before->phase = seen.after->phase = JobPhase::paused;
  CHECK(first_chain(seen) == "lead waits for its user (it is paused)");
  seen = stalled();
  seen.after->trouble = "shard 1: the disk is full: make room on it";
  CHECK(first_chain(seen) == "shard 1 waits for room on its disk (the disk is full: make room on it)");
  seen = stalled();
  seen.processes[0].footprint->descriptors = seen.processes[0].footprint->descriptor_limit = 1'024;
  CHECK(first_chain(seen) == "server 0 (process 10) waits for file descriptors for server 0 (process 10)");
  seen = stalled();
  seen.after->waits_for = "a snapshot that all shards hold";
  CHECK(first_chain(seen) == "lead waits for a snapshot that all shards hold");
}

TEST_CASE("told waits: a lane for a worker that waits for the lane is a deadlock, and is told first") {
  auto seen = stalled();
  seen.after->waits_for =
      "worker worker-0 (like 1 more), which waits for lane 2 of shard 1 at tcp://h:1, which does not answer";
  CHECK(first_chain(seen) ==
        "lead waits for worker worker-0 (its part of the step), which waits for shard 1 lane 2 (it does not answer)");
  seen.after->trouble = "shard 1: lane 2 waits for step 40 of chunk 7, which session 5 offered, and does not send";
  const auto diagnosis = diagnose(seen);
  REQUIRE(!diagnosis.chains.empty());
  CHECK(diagnosis.chains[0].is_deadlock);
  CHECK(
      diagnosis.found[0].what ==
      "deadlock: worker worker-0 waits for shard 1 lane 2 (it does not answer), which waits for worker worker-0 (step "
      "40 of chunk 7, which it offered)");
  const auto json = nlohmann::json::parse(diagnosis_json(seen, diagnosis));
  CHECK(json["chains"][0]["deadlock"] == true);
  CHECK(json["chains"][0]["waits"][0]["whom"] == "shard 1 lane 2");
  seen.processes[2].footprint->state = 'T';  // that is the reason
  CHECK(diagnose(seen).found[0].what.starts_with("worker 0 (process 12) is stopped"));
  CHECK_FALSE(diagnose(seen).chains[0].is_deadlock);
}

TEST_CASE("told waits: for what has left and has not arrived") {
  auto seen = stalled();
  seen.on_the_way = {{"shard 1 lane 0", "worker worker-0", true, 40, 3, 2'500'000, 0}};
  CHECK(
      first_chain(seen) ==
      "worker worker-0 waits for weights sent to worker worker-0 and not stored there (of step 40 in chunk 3, by shard "
      "1 lane 0, for 2.5 s)");
  seen.on_the_way = {{"worker worker-0", "shard 1 lane 0", false, 40, 3, 2'500'000, 4}};
  CHECK(
      first_chain(seen) ==
      "shard 1 lane 0 waits for the way to shard 1 lane 0 (worker worker-0's part of step 40 in chunk 3, sent and not "
      "accepted, the oldest of 5, for 2.5 s)");
}

TEST_CASE("told waits: of what has left for many there is one chain for each") {
  constexpr std::size_t kProcesses = 2'024;
  auto seen = stalled();
  for (std::size_t i = 0; i < kProcesses; ++i) {
    seen.on_the_way.push_back({"worker worker-0", lane_of(i), false, 40, 3, 2'500'000, 999});
  }
  const auto diagnosis = diagnose(seen);
  CHECK(diagnosis.chains.size() == kProcesses);
  CHECK(diagnosis_text(seen, diagnosis).find("\nwaits: and 2019 more chains\n") != std::string::npos);
  CHECK(nlohmann::json::parse(diagnosis_json(seen, diagnosis))["chains"].size() == kProcesses);
}

}  // namespace
}  // namespace ballast

#include "cli/asking/diagnosis.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace ballast {
namespace {

Footprint calm() {
  Footprint footprint;
  footprint.state = 'S';
  footprint.descriptors = 60;
  footprint.descriptor_limit = 1'024;
  return footprint;
}

// A job of a server and a worker that stands still at step 40.
JobSeen still() {
  JobSeen seen;
  seen.lead = "ipc:///r/lead";
  seen.job = "r";
  seen.seconds = 3;
  Status status;
  status.job = "a";
  status.phase = JobPhase::training;
  status.step = 40;
  status.steps = 100;
  status.sessions.emplace_back();
  status.sessions.back().name = "a";
  status.sessions.back().live = true;
  seen.before = seen.after = status;
  seen.processes = {{"server 0", 10, true, calm()}, {"worker 0", 11, false, calm()}};
  return seen;
}

std::string first_of(const JobSeen& seen) {
  const auto diagnosis = diagnose(seen);
  CHECK_FALSE(diagnosis.goes_on);
  return diagnosis.found.empty() ? std::string() : diagnosis.found.front().what;
}

TEST_CASE("diagnosis: a job whose steps or slots go on does, whatever else is wrong") {
  auto seen = still();
  seen.after->step = 46;
  CHECK(diagnose(seen).goes_on);
  CHECK(diagnose(seen).found.empty());
  CHECK(
      diagnosis_text(seen, diagnose(seen)).starts_with("job a: training, step 46 of 100, goes on: 6 steps in 3.0 s\n"));
  seen = still();
  seen.after->sessions[0].slots = 1;
  CHECK(diagnose(seen).goes_on);
  seen.processes[1].footprint->state = 'T';
  CHECK(diagnose(seen).goes_on);
  CHECK(diagnosis_text(seen, diagnose(seen)).find("also: worker 0 (process 11) is stopped") != std::string::npos);
}

TEST_CASE(
    "diagnosis: a job that has failed makes no progress, one that has finished is at its end, and evaluations are "
    "some") {
  auto seen = still();
  seen.before->phase = seen.after->phase = JobPhase::failed;
  seen.after->failure = "no weights";
  CHECK(first_of(seen) == "it has failed: no weights");
  seen.before->phase = JobPhase::training;  // while it was looked at
  CHECK(first_of(seen) == "it has failed: no weights");
  seen = still();
  seen.after->phase = JobPhase::finished;
  seen.processes[1].footprint.reset();
  CHECK(diagnose(seen).goes_on);
  CHECK(diagnose(seen).found.empty());
  CHECK(diagnosis_text(seen, diagnose(seen)).starts_with("job a: finished, step 40 of 100\n"));
  seen.before.reset();  // its lead is gone, and the databases tell its end
  CHECK(diagnose(seen).goes_on);
  seen = still();
  seen.before->phase = seen.after->phase = JobPhase::evaluating;
  CHECK_FALSE(diagnose(seen).goes_on);
  seen.after->test.step = 40;
  CHECK(diagnose(seen).goes_on);
}

TEST_CASE("diagnosis: a job without a worker, and one that waits for more") {
  auto seen = still();
  seen.before->sessions.clear();
  seen.after->sessions.clear();
  CHECK(first_of(seen) == "it waits for a worker, for there is none");
  seen.before->phase = seen.after->phase = JobPhase::waiting;
  seen.after->start_workers = 4;
  CHECK(first_of(seen) == "it waits for its workers: it begins with 4 (cluster.start_workers)");
}

TEST_CASE("diagnosis: a process that is stopped comes before what the lead says of it") {
  auto seen = still();
  seen.processes[1].footprint->state = 'T';
  CHECK(first_of(seen) == "worker 0 (process 11) is stopped, by a signal or a debugger");
  seen.before->sessions.clear();
  seen.after->sessions.clear();
  CHECK(diagnose(seen).found[0].remedy == "let it go on (kill -CONT 11), or end it");
  CHECK(diagnose(seen).found[1].what == "it waits for a worker, for there is none");
}

TEST_CASE("diagnosis: of a lead that does not answer its process says why, if it is here") {
  auto seen = still();
  seen.before = seen.after = std::nullopt;
  seen.why_silent = "no lead answers at ipc:///r/lead";
  CHECK(first_of(seen) == "no lead answers at ipc:///r/lead");
  CHECK(diagnosis_text(seen, diagnose(seen)).starts_with("the lead at ipc:///r/lead does not answer\nbecause no lead"));
  seen.processes[0].footprint->processor = 0.99;
  CHECK(first_of(seen) == "server 0, the lead's (process 10) does not answer, and computes all the time");
  seen.processes[0].footprint->descriptors = 1'023;
  CHECK(first_of(seen).starts_with(
      "server 0, the lead's (process 10) has used up its file descriptors, or nearly (1023 of 1024)"));
  seen.processes[0].footprint->state = 'T';
  CHECK(first_of(seen).starts_with("server 0, the lead's (process 10) is stopped"));
  seen.processes[0].footprint.reset();
  CHECK(first_of(seen) == "server 0, the lead's (process 10) has ended");
}

TEST_CASE("diagnosis: a pause, a full disk, a way that is lost, descriptors, and who answers nothing") {
  auto seen = still();
  seen.before->phase = seen.after->phase = JobPhase::paused;
  CHECK(first_of(seen) == "its user has paused it: it is paused");
  CHECK(diagnose(seen).found[0].remedy == "ballast resume r");

  seen = still();
  seen.after->trouble = "shard 1: the disk is full: make room on it";
  CHECK(first_of(seen) == "a disk is full: shard 1: the disk is full: make room on it");
  CHECK(diagnose(seen).found.size() == 1);  // it is told once
  seen.disks = {{"r/shard-0", 0.4, 1e9}, {"r/shard-1", 0, 0}, {"r/shard-2", 0.009, 9e11}};
  CHECK(first_of(seen) == "a disk is full (r/shard-1): shard 1: the disk is full: make room on it");

  seen = still();
  seen.processes[0].footprint->stuck = {{"10.0.0.2:41000", 3, 100}, {"10.0.0.2:41002", 7, 9}};
  CHECK(first_of(seen) ==
        "nobody acknowledges what server 0, the lead's (process 10) sends to 10.0.0.2:41002: it was sent again 7 times "
        "in "
        "a row, and so on 1 more connection");

  seen = still();
  seen.processes[0].footprint->descriptors = 800;
  CHECK(first_of(seen).find("descriptors") == std::string::npos);
  seen.processes[0].footprint->descriptors = 1'020;
  CHECK(first_of(seen).find("used up its file descriptors, or nearly (1020 of 1024)") != std::string::npos);

  seen = still();
  seen.silent = {"shard 1 lane 0"};
  CHECK(first_of(seen) == "shard 1 lane 0 answers nothing that the lead passes on");
  seen.unasked = 7;
  CHECK(diagnose(seen).found[1].what == "7 more processes could not be asked meanwhile");
  seen.before->phase = seen.after->phase = JobPhase::finishing;  // it may hang in the last snapshot
  CHECK(first_of(seen) == "shard 1 lane 0 answers nothing that the lead passes on");
  seen.before->phase = JobPhase::training;
  CHECK(diagnose(seen).goes_on);
  CHECK(diagnose(seen).found.empty());
}

TEST_CASE("diagnosis: what the lead says, and where nobody says anything, that") {
  auto seen = still();
  seen.after->sessions[0].held_up = "it is silent";
  CHECK(first_of(seen) == "worker a is not counted on: it is silent");
  seen.after->sessions.resize(9, seen.after->sessions[0]);
  CHECK(diagnose(seen).found.size() == 6);
  CHECK(diagnose(seen).found.back().what == "so are 4 more workers");
  seen = still();
  CHECK(first_of(seen) == "no step ended in 3.0 s, and nobody says what it waits for");
  seen.after->steps_per_second = 0.1;
  CHECK(first_of(seen) == "no step ended in 3.0 s, which is no longer than its last ones took (10.0 s each)");
  CHECK(diagnose(seen).found[0].remedy == "look for longer: --seconds 20");
}

TEST_CASE("diagnosis: programs are told all of it in an object") {
  auto seen = still();
  seen.silent = {"worker \xff"};
  const auto json = nlohmann::json::parse(diagnosis_json(seen, diagnose(seen)));
  CHECK(json["goes_on"] == false);
  CHECK(json["found"].size() == 1);
  CHECK(json["processes"][0]["lead"] == true);
  CHECK(json["processes"][1]["descriptors"] == 60);
}

}  // namespace
}  // namespace ballast

#include "cli/running/scaler.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

Member scaled_worker(std::uint32_t index, pid_t pid) {
  Member member;
  member.role = Role::worker;
  member.index = index;
  member.pid = pid;
  return member;
}

// A shard, and workers of which the lead knows those named.
std::vector<Member> scaled_members() { return {Member{}, scaled_worker(0, 70), scaled_worker(1, 71)}; }

Status status_of(const std::vector<std::string>& live) {
  Status status;
  status.phase = JobPhase::training;
  for (const auto& name : live) {
    auto& session = status.sessions.emplace_back();
    session.name = name;
    session.live = true;
  }
  return status;
}

TEST_CASE("a wish is fulfilled when the lead knows all workers") {
  const ScaleWish wish{5, 2};
  const auto members = scaled_members();
  const auto none = scale_answer(wish, members, nullptr);
  CHECK(none.id == 5);
  CHECK_FALSE(none.done);
  CHECK(none.workers == 0);
  const auto one = status_of({"worker-0", "worker-7"});
  const auto half = scale_answer(wish, members, &one);
  CHECK_FALSE(half.done);
  CHECK(half.workers == 1);
  CHECK(half.waits_for == "worker 1 (process 71) to join the job");
  auto both = status_of({"worker-0", "worker-1"});
  CHECK(scale_answer(wish, members, &both).done);
  CHECK(scale_answer(wish, members, &both).workers == 2);
  both.sessions.back().live = false;
  CHECK_FALSE(scale_answer(wish, members, &both).done);
}

TEST_CASE("one that was told to go counts no more, and is waited for until it has gone") {
  auto members = scaled_members();
  members[2].wanted = false;
  members[2].told_to_go = true;
  const auto both = status_of({"worker-0", "worker-1"});
  const auto answer = scale_answer({5, 1}, members, &both);
  CHECK_FALSE(answer.done);
  CHECK(answer.workers == 1);
  CHECK(answer.waits_for.find("worker 1 (process 71) to end what it computes and leave; kill -9 71 ends it") == 0);
  members[2].pid = 0;
  members[2].told_to_go = false;
  CHECK(scale_answer({5, 1}, members, &both).done);
}

TEST_CASE("one that could not be started is waited for, with the reason; one that is given up is not") {
  auto members = scaled_members();
  members[2].pid = 0;
  members[2].refusal = "cannot start it: no processes";
  const auto one = status_of({"worker-0"});
  CHECK(scale_answer({5, 2}, members, &one).waits_for == "worker 1 to be started: cannot start it: no processes");
  members[2].wanted = false;
  members[2].given_up_for = "worker 1 cannot serve: no such backend";
  const auto answer = scale_answer({5, 2}, members, &one);
  CHECK(answer.done);
  CHECK(answer.workers == 1);
  CHECK(answer.refusal == "worker 1 cannot serve: no such backend");
  CHECK(scale_answer({5, 1}, members, &one).refusal.empty());  // nobody asks for it now
}

TEST_CASE("what a job does with so few is told") {
  std::vector<Member> members = {Member{}, scaled_worker(0, 0)};
  members[1].wanted = false;
  auto status = status_of({});
  CHECK(scale_answer({5, 0}, members, &status).done);
  CHECK(scale_answer({5, 0}, members, &status).note == "the job waits until it has one");
  status.phase = JobPhase::waiting;
  status.start_workers = 3;
  CHECK(scale_answer({5, 0}, members, &status).note == "the job begins when there are 3 (cluster.start_workers)");
}

}  // namespace
}  // namespace ballast

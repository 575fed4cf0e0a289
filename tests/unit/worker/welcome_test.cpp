#include "worker/welcome.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <stdexcept>
#include <string>

#include "common/job/load.h"

namespace ballast {
namespace {

constexpr auto* kWelcomedJob = R"(
job: welcomed
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, max_steps: 9}
cluster: {shards: 2, lanes: 2, patience: 7}
)";

WorkerWelcome welcome() {
  const auto job = make_job(parse_job(kWelcomedJob, "test"));
  WorkerWelcome welcome;
  welcome.job = kWelcomedJob;
  welcome.spec_digest = job.spec_digest;
  welcome.layout_digest = job.layout_digest;
  welcome.shards = 2;
  welcome.lanes = 2;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    welcome.addresses.push_back({{lane / 2, lane % 2}, 1, "here"});
  }
  return welcome;
}

TEST_CASE("a job that this build reads otherwise than the lead is refused") {
  auto other = welcome();
  CHECK(job_of(other).spec.training.slots == 4);
  other.layout_digest = "another";
  CHECK_THROWS_AS(job_of(other), std::runtime_error);
}

TEST_CASE("the lead's list of lanes must be complete and in order") {
  CHECK_NOTHROW(check_lanes(welcome()));
  auto swapped = welcome();
  std::swap(swapped.addresses[1], swapped.addresses[2]);
  CHECK_THROWS_WITH_AS(check_lanes(swapped), "the lead's list of lanes is not in order", std::runtime_error);
  auto shorter = welcome();
  shorter.addresses.pop_back();
  CHECK_THROWS_WITH_AS(check_lanes(shorter), "the lead's list of lanes is not complete", std::runtime_error);
}

TEST_CASE("a worker that may not have as many files open as its lanes need is told so before it loads its data") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  auto many = welcome();
  many.shards = 64;
  many.lanes = 4;
  many.addresses.clear();
  for (std::uint32_t lane = 0; lane < 256; ++lane) {
    many.addresses.push_back({{lane / 4, lane % 4}, 1, "tcp://127.0.0.1:1"});
  }
  const rlimit low{1024, limit.rlim_max};  // of four for each lane
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::string refusal;
  try {
    check_lanes(many);
  } catch (const std::runtime_error& error) {
    refusal = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(refusal.find("the job has 256 lanes, for which a worker needs 1088 files open at once") != std::string::npos);
}

TEST_CASE("the layout names each chunk's lane among those of all shards") {
  const auto job = job_of(welcome());
  WorkerLayout layout;
  complete(layout, job, 2, 2);
  CHECK(layout.lanes == 4);
  CHECK(layout.slots == 4);
  CHECK(layout.lead_silence == 7'000'000);
  REQUIRE(layout.chunks.size() == job.arena.chunks.size());
  for (const auto& chunk : layout.chunks) {
    CHECK(chunk.lane < 4);
    CHECK(chunk.bytes == job.arena.chunks[chunk.id].bytes());
  }
}

}  // namespace
}  // namespace ballast

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/status.h"
#include "cli/summary.h"
#include "common/job/load.h"

namespace ballast {
namespace {

Job small_job() {
  return make_job(parse_job(R"(
job: small
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, epochs: 2}
cluster: {workers: 3, shards: 2, lanes: 1}
)",
                            "test"));
}

Status finished() {
  Status status;
  status.phase = "finished";
  status.step = 8;
  status.steps = 8;
  status.epoch = 2;
  status.training = 2'000'000;
  status.examples = 128;
  status.train_loss = 0.5;
  status.test_loss = 0.75;
  status.test_accuracy = 0.625;
  status.evaluated = true;
  status.duplicates = 3;
  status.lost_workers = 1;
  status.sessions = {{10, "worker-0", true, 8, 20, "f", {}},
                     {11, "worker-1", false, 3, 5, "f", {}},
                     {12, "worker-1", true, 8, 7, "f", {}},
                     {13, "", true, 8, 0, "f", {}}};
  return status;
}

TEST_CASE("the summary holds what the lead and the databases said") {
  const auto json =
      nlohmann::json::parse(summary_json(small_job(), {finished(), "aa", "bb", 3.5, 1, "/somewhere/run"}));
  CHECK(json["job"] == "small");
  CHECK(json["workers"] == 3);
  CHECK(json["shards"] == 2);
  CHECK(json["steps"] == 8);
  CHECK(json["train_loss"] == 0.5);
  CHECK(json["test_accuracy"] == 0.625);
  CHECK(json["weights_sha256"] == "aa");
  CHECK(json["optimizer_sha256"] == "bb");
  CHECK(json["wall_seconds"] == 3.5);
  CHECK(json["examples_per_second"] == 64);
  CHECK(json["duplicates"] == 3);
  CHECK(json["lost_workers"] == 1);
  CHECK(json["worker_restarts"] == 1);
  CHECK(json["run_dir"] == "/somewhere/run");
}

TEST_CASE("each life of a worker has its own slots") {
  const auto slots = slots_by_session(finished());
  const std::map<std::string, std::uint64_t> expected = {
      {"worker-0", 20}, {"worker-1@000000000000000b", 5}, {"worker-1@000000000000000c", 7}, {"@000000000000000d", 0}};
  CHECK(slots == expected);
}

TEST_CASE("what is not finite or not known is null") {
  auto status = finished();
  status.train_loss = std::numeric_limits<double>::quiet_NaN();
  status.test_loss = std::numeric_limits<double>::infinity();
  auto json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, "\xff"}));
  CHECK(json["train_loss"].is_null());
  CHECK(json["test_loss"].is_null());
  CHECK(json["optimizer_sha256"].is_null());
  status.evaluated = false;
  status.training = 0;
  json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, "run"}));
  CHECK(json["test_accuracy"].is_null());
  CHECK(json["examples_per_second"] == 0);
}

TEST_CASE("the status as JSON") {
  const auto json = nlohmann::json::parse(status_json(finished()));
  CHECK(json["phase"] == "finished");
  CHECK(json["sessions"].size() == 4);
  CHECK(json["sessions"][1]["live"] == false);
  CHECK(json["sessions"][2]["slots"] == 7);
}

}  // namespace
}  // namespace ballast

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/asking/status.h"
#include "cli/telling/summary.h"
#include "common/job/load.h"
#include "common/telling/status_json.h"

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
  status.phase = JobPhase::finished;
  status.job = "small";
  status.mode = "local";
  status.step = 8;
  status.steps = 8;
  status.epoch = 2;
  status.epochs = 3;
  status.training = 2'000'000;
  status.examples = 128;
  status.train_loss = 0.5;
  status.test = {true, 8, 0.75, 0.625};
  status.validation = {true, 8, 0.7, 0.5};
  status.best = {true, 4, 0.6, 0.75};
  status.timeline = 3;
  status.base = {3, 4};
  status.rollbacks = 2;
  status.rollback_causes = {.shard = 1, .non_finite = 1};
  status.rolled_back_steps = 9;
  status.skipped_steps = 1;
  status.snapshots_missed = 4;
  status.resumed_shards = 6;
  status.staleness = {{6, 1, 3}, 9, 3, 2, 4};
  status.duplicates = 3;
  status.lost_workers = 1;
  status.refused_workers = 2;
  status.data = {"0f", "worker worker-0"};
  status.arithmetics = {{"f", "worker worker-0"}};
  status.sessions = {{10, "worker-0", true, 8, 20, "f", {}, {}},
                     {11, "worker-1", false, 3, 5, "f", {}, {}},
                     {12, "worker-1", true, 8, 7, "f", {}, {}},
                     {13, "", true, 8, 0, "f", {}, {}}};
  return status;
}

TEST_CASE("the summary holds what the lead and the databases said") {
  const auto json =
      nlohmann::json::parse(summary_json(small_job(), {finished(), "aa", "bb", 3.5, 2, 64, 1, 2, "/somewhere/run"}));
  CHECK(json["job"] == "small");
  CHECK(json["mode"] == "sync");
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
  CHECK(json["refused_workers"] == 2);
  CHECK(json["data_digest"] == "0f");
  CHECK(json["arithmetics"] == std::vector<std::string>{"f"});
  CHECK(json["worker_restarts"] == 1);
  CHECK(json["restarted_shards"] == 2);
  CHECK(json["rollbacks"] == 2);
  CHECK(json["rollbacks_by_cause"]["shard"] == 1);
  CHECK(json["rollbacks_by_cause"]["mark"] == 0);
  CHECK(json["rolled_back_steps"] == 9);
  CHECK(json["base_step"] == 4);
  CHECK(json["skipped_steps"] == 1);
  CHECK(json["snapshots_missed"] == 4);
  CHECK(json["resumed_shards"] == 6);
  CHECK(json["staleness"]["mean"] == 0.9);
  CHECK(json["staleness"]["largest"] == 3);
  CHECK(json["staleness"]["contributions"] == 10);
  CHECK(json["staleness"]["expired"] == 2);
  CHECK(json["staleness"]["skipped"] == 4);
  CHECK(json["staleness"]["histogram"][2] == nlohmann::json{{"from", 2}, {"to", 3}, {"contributions", 3}});
  CHECK(json["validation_accuracy"] == 0.5);
  CHECK(json["best_validation_accuracy"] == 0.75);
  CHECK(json["best_step"] == 4);
  CHECK(json["training_seconds"] == 2);
  CHECK(json["run_dir"] == "/somewhere/run");
}

TEST_CASE("each life of a worker has its own slots") {
  const auto slots = slots_by_session(finished());
  const std::map<std::string, std::uint64_t> expected = {
      {"worker-0", 20}, {"worker-1@000000000000000b", 5}, {"worker-1@000000000000000c", 7}, {"@000000000000000d", 0}};
  CHECK(slots == expected);
}

TEST_CASE("what computed is told: every kind that had slots") {
  auto status = finished();
  const auto line = [&] {
    const auto text = summary_text({status, "aa", "", 1, 2, 64, 0, 0, "run"}, "run");
    const auto begin = text.find("computed by");
    return begin == std::string::npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line() == "computed by f");
  status.sessions[0].fingerprint = "cuda-tf32-a1";
  status.sessions[3].fingerprint = "had no slots";
  CHECK(line() == "computed by cuda-tf32-a1 (20 slots), f (12 slots)");
  const auto json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, 0, 0, 0, "run"}));
  CHECK(json["slots_by_fingerprint"] == nlohmann::json{{"cuda-tf32-a1", 20}, {"f", 12}});
  status.sessions.clear();
  CHECK(line().empty());
}

TEST_CASE("several kinds of arithmetic are told, and who brought them, though nothing else shows them any more") {
  auto status = finished();
  const auto text = [&] { return summary_text({status, "aa", "", 1, 2, 64, 0, 0, "run"}, "run"); };
  CHECK(text().find("not the bits of one arithmetic") == std::string::npos);
  CHECK(text().find("workers refused for other data or another arithmetic: 2\n") != std::string::npos);
  status.arithmetics.push_back({"g", "worker late"});
  CHECK(text().find("not the bits of one arithmetic: 2 kinds were given work of this job, f (worker worker-0), "
                    "g (worker late); training.exact: required allows one only\n") != std::string::npos);
}

TEST_CASE("what is not finite or not known is null") {
  auto status = finished();
  status.train_loss = std::numeric_limits<double>::quiet_NaN();
  status.test.loss = std::numeric_limits<double>::infinity();
  auto json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, 0, 0, 0, "\xff"}));
  CHECK(json["train_loss"].is_null());
  CHECK(json["test_loss"].is_null());
  CHECK(json["optimizer_sha256"].is_null());
  status.test = {};
  status.best = {};
  json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, 0, 0, 0, "run"}));
  CHECK(json["test_accuracy"].is_null());
  CHECK(json["best_step"].is_null());
  CHECK(json["examples_per_second"] == 0);
}

TEST_CASE("metrics are told beside losses and accuracies") {
  auto status = finished();
  status.test_metrics = {{MetricKind::top5, 0.875}, {MetricKind::f1, 0.5}};
  status.validation_metrics = {{MetricKind::f1, 0.25}};
  status.best_metrics = {{MetricKind::f1, 0.375}};
  const auto json = nlohmann::json::parse(summary_json(small_job(), {status, "aa", "", 1, 0, 0, 0, 0, "run"}));
  CHECK(json["test_metrics"] == nlohmann::json{{"top5", 0.875}, {"f1", 0.5}});
  CHECK(json["validation_metrics"] == nlohmann::json{{"f1", 0.25}});
  CHECK(json["best_validation_metrics"] == nlohmann::json{{"f1", 0.375}});
  const auto text = summary_text({status, "aa", "", 1, 0, 64, 0, 0, "run"}, "run");
  CHECK(text.find("test accuracy 62.50 %, test loss 0.7500, train loss 0.5000\ntest top5 87.50 %, f1 0.5000\n"
                  "validation accuracy 50.00 %, loss 0.7000, f1 0.2500\n"
                  "best validation accuracy 75.00 %, loss 0.6000, f1 0.3750, at step 4\n") != std::string::npos);
  const Summary by_f1{status, "aa", "", 1, 0, 64, 0, 0, "run", 0, MetricKind::f1};
  const std::string best = "best by f1: 0.3750, at step 4 (validation accuracy 75.00 %, loss 0.6000, f1 0.3750)\n";
  CHECK(summary_text(by_f1, "run").find(best) != std::string::npos);
  CHECK(nlohmann::json::parse(summary_json(small_job(), by_f1))["best_by"] == "f1");
  CHECK(json["best_by"].is_null());
  CHECK(status_lines(status, MetricKind::f1).find(best) != std::string::npos);
  CHECK(nlohmann::json::parse(status_json(status, MetricKind::f1))["best_by"] == "f1");
  CHECK(status_lines(status).find("test accuracy 62.50 %, loss 0.7500, top5 87.50 %, f1 0.5000, at step 8\n") !=
        std::string::npos);
  auto numbers = status;
  numbers.test_metrics = {{MetricKind::squared_error, 0.25}};
  CHECK(summary_text({numbers, "aa", "", 1, 0, 64, 0, 0, "run"}, "run")
            .find("test squared_error 0.2500 (errors are in the units that the network is trained on)\n") !=
        std::string::npos);
  const auto told = nlohmann::json::parse(status_json(status));
  CHECK(told["test"]["metrics"] == nlohmann::json{{"top5", 0.875}, {"f1", 0.5}});
  CHECK(told["best"]["metrics"] == nlohmann::json{{"f1", 0.375}});
}

TEST_CASE("corrupt examples are told with the log that names the first of them") {
  Summary summary{finished(), "aa", "", 1, 0, 64, 0, 0, "run"};
  CHECK(summary_text(summary, "run").find("corrupt") == std::string::npos);
  summary.corrupt_examples = 3;
  summary.corrupt_log = "run/logs/worker-1.log";
  CHECK(summary_text(summary, "run")
            .find("corrupt examples, left out or replaced (data.corrupt: skip): 3; "
                  "run/logs/worker-1.log names the first of them; `ballast check --examples` names all\n") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(summary_json(small_job(), summary))["corrupt_examples"] == 3);
}

TEST_CASE("what went wrong is told to people, and nothing else is") {
  auto status = finished();
  const auto text = summary_text({status, "aa", "", 1, 2, 64, 0, 0, "run"}, "run");
  CHECK(text.find("2 epochs in 2.0 s, 64 examples/s") != std::string::npos);
  CHECK(text.find(
            "\nvalidation accuracy 50.00 %, loss 0.7000\nbest validation accuracy 75.00 %, loss 0.6000, at step 4\n") !=
        std::string::npos);
  CHECK(text.find(
            "recoveries: 2 (a shard could not go on: 1, a gradient was not finite: 1), with 9 steps trained again") !=
        std::string::npos);
  CHECK(text.find("not finite: 1\n") != std::string::npos);
  CHECK(text.find("snapshots missed: 4") != std::string::npos);
  CHECK(text.find("came back with all they had: 6\n") != std::string::npos);
  CHECK(text.find("staleness: mean 0.90, largest 3 updates; 0: 60.0 %, 1: 10.0 %, 2-3: 30.0 %; expired: "
                  "2; left out, not finite: 4\n") != std::string::npos);
  CHECK(text.find("stood still") == std::string::npos);
  const auto stalled = summary_text({status, "aa", "", 800, 700, 64, 0, 0, "run", 640}, "run");
  CHECK(stalled.find("stood still for 10:40 min of that, which examples/s leaves out") != std::string::npos);
  status.rollbacks = 0;
  status.resumed_shards = 0;
  status.staleness = {};
  status.skipped_steps = 0;
  status.snapshots_missed = 0;
  const auto calm = summary_text({status, "aa", "", 1, 2, 64, 0, 0, "run"}, "run");
  CHECK(calm.find("recoveries") == std::string::npos);
  CHECK(calm.find("came back") == std::string::npos);
  CHECK(calm.find("stale") == std::string::npos);
  CHECK(calm.find("missed") == std::string::npos);
}

TEST_CASE("the status for people") {
  auto status = finished();
  status.phase = JobPhase::recovering;
  status.waits_for = "shard 1";
  status.trouble = "the disk is full";
  const auto text = status_lines(status);
  CHECK(text.find("job small: recovering, step 8 of 8, 2 of 3 epochs done, mode local\nwaits for: shard 1\ntrouble: "
                  "the disk is full\n") == 0);
  CHECK(text.find("best validation accuracy 75.00 %, loss 0.6000, at step 4\n") != std::string::npos);
  CHECK(text.find("timeline 3, from step 4; 2 recoveries (a shard could not go on: 1, a gradient was not finite: 1), 9 "
                  "steps trained again; 6 shards came back within a timeline; 1 step skipped; 4 snapshots") !=
        std::string::npos);
  CHECK(text.find("\nstaleness: mean 0.90, largest 3 updates") != std::string::npos);
  CHECK(text.find("worker-0") != std::string::npos);
}

TEST_CASE("the status as JSON") {
  const auto json = nlohmann::json::parse(status_json(finished()));
  CHECK(json["mode"] == "local");
  CHECK(json["phase"] == "finished");
  CHECK(json["sessions"].size() == 4);
  CHECK(json["sessions"][1]["live"] == false);
  CHECK(json["sessions"][2]["slots"] == 7);
  CHECK(json["base"]["step"] == 4);
  CHECK(json["best"]["accuracy"] == 0.75);
  CHECK(json["rollbacks_by_cause"]["non_finite"] == 1);
  CHECK(json["rolled_back_steps"] == 9);
  CHECK(json["resumed_shards"] == 6);
  CHECK(json["staleness"]["largest"] == 3);
  auto status = finished();
  status.test = {};
  CHECK(nlohmann::json::parse(status_json(status))["test"].is_null());
  status.staleness = {};
  CHECK(nlohmann::json::parse(status_json(status))["staleness"].is_null());
}

}  // namespace
}  // namespace ballast

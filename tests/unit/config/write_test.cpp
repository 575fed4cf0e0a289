#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "tests/unit/config/support.h"

namespace ballast::testing {
namespace {

TEST_CASE("the effective job reads back as the same job") {
  std::vector<JobSpec> specs = {parse_job(kJob, "job.yaml"), parse_job(kEmulated, "job.yaml")};
  for (const auto& name : {"quickstart", "mnist-lenet5", "mnist-mlp", "emulated-resnet50"}) {
    specs.push_back(load_job(project_file("configs/" + std::string(name) + ".yaml")));
  }
  JobSpec odd = specs[0];
  odd.data = {.name = "mnist", .path = "a \"b\" \\c: #d", .train_examples = 3, .test_examples = 2};
  odd.training.optimizer.learning_rate = 0.1 + 0.2;  // not 0.3
  odd.training.seed = 18446744073709551615U;
  odd.training.max_steps = 1000000000000U;
  specs.push_back(odd);
  JobSpec listed = specs[1];
  listed.model.preset = "";
  listed.model.parameters = {{"a.weight", {3, 4}}, {"null", {7}}};
  specs.push_back(listed);
  for (const auto& spec : specs) {
    const std::string yaml = to_yaml(spec);
    CAPTURE(yaml);
    const JobSpec again = parse_job(yaml, "effective");
    CHECK(to_yaml(again) == yaml);
    CHECK(spec_digest(again) == spec_digest(spec));
    CHECK(again.data.path == spec.data.path);
    CHECK(again.training.seed == spec.training.seed);
    CHECK(again.training.max_steps == spec.training.max_steps);
    CHECK(again.training.optimizer.learning_rate == spec.training.optimizer.learning_rate);
    CHECK(again.model.parameters.size() == spec.model.parameters.size());
    CHECK(again.cluster.transport == spec.cluster.transport);
  }
}

TEST_CASE("the effective job of a small file") {
  CHECK(to_yaml(parse_job(kJob, "job.yaml")) ==
        "job: sample\nmodel:\n  name: mlp\n  hidden: [256, 128]\ndata:\n  name: glyphs\n  train_examples: 0\n"
        "  test_examples: 0\ntraining:\n  mode: sync\n  slots: 8\n  batch: 128\n  epochs: 2\n  seed: 1\n"
        "  threads_per_slot: 1\n  augment:\n    shift: 0\n  optimizer:\n    name: sgd\n    learning_rate: 0.05\n    "
        "momentum: 0\n"
        "    weight_decay: 0\n  schedule:\n    name: constant\ncluster:\n  shards: 1\n  workers: 2\n  lanes: 1\n"
        "  start_workers: 1\n  transport: ipc\ndurability:\n  mode: final\n");
}

TEST_CASE("the digest changes with what decides the bits and with nothing else") {
  const JobSpec base = parse_job(kJob, "job.yaml");
  const std::string digest = spec_digest(base);
  CHECK(digest.size() == 64);
  CHECK(digest == spec_digest(base));
  const std::vector<std::string> decides = {"job=other",
                                            "model.name=lenet5",
                                            "model.hidden=[256]",
                                            "data.name=mnist",
                                            "data.train_examples=999",
                                            "data.test_examples=99",
                                            "training.seed=2",
                                            "training.slots=16",
                                            "training.batch=64",
                                            "training.epochs=3",
                                            "training.max_steps=5",
                                            "training.threads_per_slot=2",
                                            "training.augment.shift=2",
                                            "training.optimizer.learning_rate=0.06",
                                            "training.optimizer.momentum=0.5",
                                            "training.optimizer.weight_decay=0.1"};
  std::set<std::string> digests = {digest};
  for (const auto& change : decides) {
    CAPTURE(change);
    CHECK(digests.insert(spec_digest(parse_job(kJob, "job.yaml", std::vector<std::string>{change}))).second);
  }
  const std::vector<std::string> indifferent = {
      "cluster.shards=3",        "cluster.workers=9",     "cluster.lanes=2",
      "cluster.start_workers=2", "cluster.transport=tcp", "training.seed=1"};  // its default, written out
  for (const auto& change : indifferent) {
    CAPTURE(change);
    CHECK(spec_digest(parse_job(kJob, "job.yaml", std::vector<std::string>{change})) == digest);
  }
  // The folder of the data is a matter of the machine.
  JobSpec mnist = base;
  mnist.data.name = "mnist";
  JobSpec moved = mnist;
  moved.data.path = "/elsewhere";
  CHECK(spec_digest(mnist) == spec_digest(moved));
}

TEST_CASE("what differs between two jobs is named") {
  const std::string a = to_yaml(parse_job(kJob, "a"));
  const auto with = [](const std::vector<std::string>& overrides) { return to_yaml(parse_job(kJob, "b", overrides)); };
  CHECK(differing_keys(a, a).empty());
  CHECK(differing_keys(a, with({"cluster.shards=5"})).empty());
  CHECK(differing_keys(a, with({"training.seed=2"})) == "training.seed (1 against 2)");
  CHECK(differing_keys(a, with({"training.max_steps=7", "job=b"})) ==
        "job (sample against b), training.max_steps (none against 7)");
  CHECK(differing_keys(a, with({"model.name=lenet5"})) ==
        "model.hidden ([256, 128] against none), model.name (mlp against lenet5)");
  CHECK(contains(differing_keys(a, "job: ["), "the second job:"));
  CHECK(contains(differing_keys("", a), "can't be read by this version"));
}

}  // namespace
}  // namespace ballast::testing

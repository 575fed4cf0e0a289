#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

const std::vector<std::string> kWrittenLocal = {
    "training.mode=local", "training.local.steps=4", "training.local.partition=by_class",
    "training.local.optimizer.name=adamw", "training.local.optimizer.beta1=0.7"};
const std::vector<std::string> kWrittenSsp = {"training.mode=ssp", "training.staleness.bound=3",
                                              "training.staleness.damping=inverse", "durability.fsync=never"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

TEST_CASE("the effective job reads back as the same job") {
  std::vector<JobSpec> specs = {parse_job(kJob, "job.yaml"), parse_job(kEmulated, "job.yaml")};
  for (const auto& name : {"quickstart", "mnist-lenet5", "mnist-mlp", "emulated-resnet50"}) {
    specs.push_back(load_job(project_file("configs/" + std::string(name) + ".yaml")));
  }
  JobSpec odd = specs[0];
  odd.data = {.name = "mnist", .path = "a \"b\" \\c: #d", .train_examples = 301, .test_examples = 2, .digest = {}};
  odd.training.optimizer.learning_rate = 0.1 + 0.2;  // not 0.3
  odd.training.seed = 18446744073709551615U;
  odd.training.max_steps = 1000000000000U;
  specs.push_back(odd);
  JobSpec adam = specs[0];
  adam.data.validation_examples = 1000;
  adam.training.optimizer = {.name = "adam", .beta1 = 0.1 + 0.2, .epsilon = 1e-9};
  adam.training.schedule = {.name = "cosine", .decay_steps = 77, .warmup_steps = 3, .final_rate = 0.01};
  adam.training.clip.global_norm = 0.7;
  adam.training.non_finite = NonFinite::rollback;
  adam.training.keep_best = true;
  adam.training.init_from = "a b.safetensors";
  adam.durability.copy_to = "s3://bucket/x";
  adam.durability.s3_endpoint = "http://host:9000";
  adam.durability.s3_encryption = "aws:kms";
  adam.durability.s3_kms_key_id = "arn:aws:kms:eu-central-1:1:key/2";
  adam.durability.copy_key_file = "/a b/copies.key";
  specs.push_back(adam);
  JobSpec listed = specs[1];
  listed.model.preset = "";
  listed.model.parameters = {{"a.weight", {3, 4}}, {"null", {7}}, {"mean", {7}, "state", 0.1}};
  listed.training.parameter_groups = {{"a.*", 0.25, std::nullopt, true}, {"*", 1, 0.1 + 0.2, false}};
  listed.training.optimizer = {.name = "lars", .momentum = 0.5, .epsilon = 1e-9, .trust_coefficient = 0.1 + 0.2};
  specs.push_back(listed);
  specs.push_back(parse_job(kJob, "job.yaml", kWrittenLocal));
  specs.push_back(parse_job(kJob, "job.yaml", kWrittenSsp));
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
    CHECK(again.training.non_finite == spec.training.non_finite);
    CHECK(again.training.keep_best == spec.training.keep_best);
    CHECK(again.training.clip.global_norm == spec.training.clip.global_norm);
    CHECK(again.training.schedule.decay_steps == spec.training.schedule.decay_steps);
    CHECK(again.durability.s3_endpoint == spec.durability.s3_endpoint);
    CHECK(again.durability.s3_encryption == spec.durability.s3_encryption);
    CHECK(again.durability.s3_kms_key_id == spec.durability.s3_kms_key_id);
    CHECK(again.durability.copy_key_file == spec.durability.copy_key_file);
    CHECK(again.durability.mode == spec.durability.mode);
    CHECK(again.durability.fsync == spec.durability.fsync);
    CHECK(again.training.mode == spec.training.mode);
    CHECK(again.training.staleness.bound == spec.training.staleness.bound);
    CHECK(again.training.staleness.damping == spec.training.staleness.damping);
    CHECK(again.training.local.steps == spec.training.local.steps);
    CHECK(again.training.local.partition == spec.training.local.partition);
    CHECK(again.training.local.optimizer.beta1 == spec.training.local.optimizer.beta1);
  }
}

TEST_CASE("the effective job of a small file") {
  CHECK(to_yaml(parse_job(kJob, "job.yaml")) ==
        "job: sample\nmodel:\n  name: mlp\n  hidden: [256, 128]\ndata:\n  name: glyphs\n  train_examples: 0\n"
        "  test_examples: 0\n  validation_examples: 0\n  threads: 1\ntraining:\n  mode: sync\n  slots: 8\n  batch: "
        "128\n  micro_batch: 0\n  epochs: "
        "2\n  seed: 1\n"
        "  threads_per_slot: 1\n  precision: float32\n  init_partial: false\n  non_finite: halt\n  "
        "evaluate_every_epochs: 1\n  keep_best: "
        "false\n  exact: prefer\n"
        "  augment:\n    shift: 0\n  optimizer:\n    name: sgd\n    learning_rate: 0.05\n    momentum: 0\n"
        "    nesterov: false\n    weight_decay: 0\n  schedule:\n    name: constant\n    warmup_steps: 0\n"
        "  early_stop:\n    patience: 0\n    min_delta: 0\ncluster:\n  shards: 1\n  workers: 2\n  lanes: 1\n"
        "  start_workers: 1\n  transport: ipc\n  io_threads: 0\n  socket_buffer_bytes: 0\n  patience: 600\n"
        "  stop_patience: 300\ndurability:\n  mode: snapshot\n"
        "  every_steps: 200\n  keep: 2\n  copy_patience: 1800\n");
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
                                            "training.precision=tf32",
                                            "training.precision=bfloat16",
                                            "training.augment.shift=2",
                                            "training.optimizer.learning_rate=0.06",
                                            "training.optimizer.momentum=0.5",
                                            "training.optimizer.weight_decay=0.1",
                                            "data.validation_examples=100",
                                            "training.init_from=weights.safetensors",
                                            "training.optimizer.name=adam",
                                            "training.optimizer.name=adamw",
                                            "training.optimizer.name=adagrad",
                                            "training.optimizer.name=rmsprop",
                                            "training.schedule.name=cosine",
                                            "training.schedule.warmup_steps=3",
                                            "training.clip.value=1",
                                            "training.clip.tensor_norm=1",
                                            "training.clip.global_norm=1",
                                            "training.evaluate_every_epochs=2"};
  std::set<std::string> digests = {digest};
  for (const auto& change : decides) {
    CAPTURE(change);
    CHECK(digests.insert(spec_digest(parse_job(kJob, "job.yaml", std::vector<std::string>{change}))).second);
  }
  const std::vector<std::string> indifferent = {"cluster.shards=3",
                                                "cluster.workers=9",
                                                "cluster.lanes=2",
                                                "cluster.start_workers=2",
                                                "cluster.transport=tcp",
                                                "training.seed=1",  // its default, written out
                                                "cluster.patience=5",
                                                "cluster.stop_patience=5",
                                                "cluster.hold_patience=5",
                                                "durability.mode=final",
                                                "durability.every_steps=7",
                                                "durability.keep=9",
                                                "durability.copy_to=/x",
                                                "durability.copy_patience=5",
                                                "training.non_finite=skip",
                                                "cluster.io_threads=3",
                                                "cluster.socket_buffer_bytes=9"};
  for (const auto& change : indifferent) {
    CAPTURE(change);
    CHECK(spec_digest(parse_job(kJob, "job.yaml", std::vector<std::string>{change})) == digest);
  }
  // A value that is what the optimizer takes by itself.
  const std::vector<std::string> adagrad = {"training.optimizer.name=adagrad"};
  const std::vector<std::string> written_out = {"training.optimizer.name=adagrad", "training.optimizer.epsilon=1e-10"};
  CHECK(spec_digest(parse_job(kJob, "job.yaml", adagrad)) == spec_digest(parse_job(kJob, "job.yaml", written_out)));
  // Keeping the best is a matter of the disk; how it is found, of the result.
  const std::vector<std::string> validated = {"data.validation_examples=100"};
  const std::vector<std::string> best = {"data.validation_examples=100", "training.keep_best=true"};
  const std::vector<std::string> stopping = {"data.validation_examples=100", "training.early_stop.patience=2"};
  CHECK(spec_digest(parse_job(kJob, "job.yaml", best)) == spec_digest(parse_job(kJob, "job.yaml", validated)));
  CHECK(spec_digest(parse_job(kJob, "job.yaml", stopping)) != spec_digest(parse_job(kJob, "job.yaml", validated)));
  // The folder of the data is a matter of the machine.
  JobSpec mnist = base;
  mnist.data.name = "mnist";
  JobSpec moved = mnist;
  moved.data.path = "/elsewhere";
  CHECK(spec_digest(mnist) == spec_digest(moved));
}

TEST_CASE("a key that came later to tables enters file and digest only with another value than its default") {
  const std::string table =
      "job: table\nmodel: {name: mlp}\ndata: {name: csv, train: t.csv, train_examples: 300, "
      "columns: [{name: a}, {name: b, kind: flag}]}\ntraining: {epochs: 2}\n";
  const auto of = [&](const std::vector<std::string>& overrides) { return parse_job(table, "job.yaml", overrides); };
  const auto plain = of({});
  CHECK(to_yaml(plain).find("evaluate_every_epochs") == std::string::npos);
  CHECK(spec_digest(of({"training.evaluate_every_epochs=1"})) == spec_digest(plain));
  const auto rarely = of({"training.evaluate_every_epochs=2"});
  CHECK(to_yaml(rarely).find("  evaluate_every_epochs: 2\n") != std::string::npos);
  CHECK(spec_digest(rarely) != spec_digest(plain));
  CHECK(parse_job(to_yaml(rarely), "job.yaml").training.evaluate_every_epochs == 2);
}

TEST_CASE("the digest counts what means something in the job's mode") {
  const auto digest = [](const std::vector<std::string>& overrides) {
    return spec_digest(parse_job(kJob, "job.yaml", overrides));
  };
  std::set<std::string> digests = {digest({}), digest(kWrittenLocal), digest(kWrittenSsp),
                                   digest({"training.mode=async"})};
  CHECK(digests.size() == 4);
  for (const auto* change :
       {"training.local.steps=2", "training.local.partition=mixed", "training.local.optimizer.beta1=0.6",
        "training.local.optimizer.learning_rate=0.5", "training.local.optimizer.name=adam",
        "training.local.optimizer.weight_decay=0.1", "training.optimizer.learning_rate=1"}) {
    CAPTURE(change);
    CHECK(digests.insert(digest(with(kWrittenLocal, change))).second);
  }
  for (const auto* change : {"training.staleness.bound=4", "training.staleness.damping=none"}) {
    CAPTURE(change);
    CHECK(digests.insert(digest(with(kWrittenSsp, change))).second);
  }
  for (const auto* change : {"durability.mode=snapshot", "durability.fsync=always", "durability.every_steps=7"}) {
    CAPTURE(change);
    auto journaled = kWrittenSsp;
    journaled.pop_back();
    CHECK(digest(with(journaled, change)) == digest(kWrittenSsp));
  }
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

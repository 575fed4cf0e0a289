// What a job file says reaches the spec.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/job.h"
#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

TEST_CASE("a job's values reach the spec and the rest keeps its defaults") {
  const JobSpec spec = parse_job(
      "job: all-keys_1.0\n"
      "model: {name: mlp, hidden: [7, 5]}\n"
      "data: {name: mnist, path: '/data/my mnist', train_examples: 1000, test_examples: 100}\n"
      "training: {mode: sync, slots: 4, batch: 20, epochs: 3, max_steps: 77, seed: 18446744073709551615,\n"
      "  threads_per_slot: 2, optimizer: {name: sgd, learning_rate: 1e-2, momentum: .9, weight_decay: 0.0005},\n"
      "  schedule: {name: constant}}\n"
      "cluster: {shards: 3, workers: 5, lanes: 2, start_workers: 4, transport: tcp}\n"
      "durability: {mode: final}\n",
      "job.yaml");
  CHECK(spec.job == "all-keys_1.0");
  CHECK(spec.model.name == "mlp");
  CHECK(spec.model.hidden == std::vector<std::uint32_t>{7, 5});
  CHECK(spec.data.name == "mnist");
  CHECK(spec.data.path == "/data/my mnist");
  CHECK(spec.data.train_examples == 1000);
  CHECK(spec.data.test_examples == 100);
  CHECK(spec.training.slots == 4);
  CHECK(spec.training.batch == 20);
  CHECK(spec.training.epochs == 3U);
  CHECK(spec.training.max_steps == 77U);
  CHECK(spec.training.seed == 18446744073709551615U);
  CHECK(spec.training.threads_per_slot == 2);
  CHECK(spec.training.optimizer.learning_rate == 0.01);
  CHECK(spec.training.optimizer.momentum == 0.9);
  CHECK(spec.training.optimizer.weight_decay == 0.0005);
  CHECK(spec.cluster.shards == 3);
  CHECK(spec.cluster.workers == 5);
  CHECK(spec.cluster.lanes == 2);
  CHECK(spec.cluster.start_workers == 4);
  CHECK(spec.cluster.transport == "tcp");

  const JobSpec small = parse_job(kJob, "job.yaml");
  CHECK(small.training.seed == TrainingSpec().seed);
  CHECK(small.model.hidden == ModelSpec().hidden);
  CHECK_FALSE(small.training.max_steps);
  CHECK(small.cluster.transport == "ipc");
}

TEST_CASE("an emulated model takes a list of parameters") {
  const JobSpec spec = parse_job(
      "job: e\nmodel:\n  name: emulated\n  compute_ms: 2.5\n  gradient: fixed\n  parameters:\n"
      "    - {name: conv.weight, shape: [64, 3, 7, 7]}\n    - name: fc.bias\n      shape: [10]\n"
      "data: {name: none, train_examples: 512}\ntraining: {epochs: 1}\n",
      "job.yaml");
  REQUIRE(spec.model.parameters.size() == 2);
  CHECK(spec.model.parameters[0].name == "conv.weight");
  CHECK(spec.model.parameters[0].shape == std::vector<std::uint32_t>{64, 3, 7, 7});
  CHECK(spec.model.parameters[1].shape == std::vector<std::uint32_t>{10});
  CHECK(spec.model.compute_ms == 2.5);
  CHECK(spec.model.gradient == "fixed");
}

const std::string kModels =
    "mlp, lenet5, autoencoder, conv_autoencoder, vgg16, resnet20, resnet32, resnet56, resnet50, simpsons_cnn, "
    "text_cnn, "
    "text_lstm, tree_lstm, transformer, gpt, layers, emulated";

struct Slip {
  std::string from;
  std::string to;
  std::string error;  // whole text
};

TEST_CASE("optimizers take the keys that mean something for them") {
  const auto optimizer = [](const std::string& keys) { return replaced(kJob, "0.05\n", "0.05\n" + keys); };
  const JobSpec adam =
      parse_job(optimizer("    name: adam\n    beta1: 0.8\n    beta2: 0.99\n    epsilon: 1e-6\n"), "job.yaml");
  CHECK(adam.training.optimizer.name == "adam");
  CHECK(adam.training.optimizer.beta1 == 0.8);
  CHECK(adam.training.optimizer.beta2 == 0.99);
  CHECK(adam.training.optimizer.epsilon == 1e-6);
  const JobSpec rmsprop = parse_job(optimizer("    name: rmsprop\n    alpha: 0.9\n    momentum: 0.5\n"), "job.yaml");
  CHECK(rmsprop.training.optimizer.alpha == 0.9);
  CHECK(rmsprop.training.optimizer.momentum == 0.5);
  CHECK(rmsprop.training.optimizer.epsilon == 1e-8);
  const JobSpec adagrad = parse_job(optimizer("    name: adagrad\n    initial_accumulator: 0.1\n"), "job.yaml");
  CHECK(adagrad.training.optimizer.initial_accumulator == 0.1);
  CHECK(adagrad.training.optimizer.epsilon == 1e-10);
  const JobSpec nesterov = parse_job(optimizer("    momentum: 0.9\n    nesterov: true\n"), "job.yaml");
  CHECK(nesterov.training.optimizer.nesterov);

  const std::vector<Slip> slips = {
      {"", "    name: adam\n    momentum: 0.9\n",
       "job.yaml:13: training.optimizer.momentum: means nothing here; it is allowed only with training.optimizer.name: "
       "sgd, rmsprop, lars; remove it"},
      {"", "    beta1: 0.9\n",
       "job.yaml:12: training.optimizer.beta1: means nothing here; it is allowed only with training.optimizer.name: "
       "adam, "
       "adamw, lamb; remove it"},
      {"", "    nesterov: true\n",
       "job.yaml:12: training.optimizer.nesterov: true without a momentum changes nothing; set "
       "training.optimizer.momentum (e.g. 0.9), or remove it"},
      {"", "    momentum: 0.9\n    nesterov: 1\n",
       "job.yaml:13: training.optimizer.nesterov: '1' is neither true nor false; allowed: true, false"},
      {"", "    name: adamw\n    beta2: 1\n",
       "job.yaml:13: training.optimizer.beta2: '1' is out of range; allowed: 0 to 0.999999"},
      {"", "    name: adma\n",
       "job.yaml:12: training.optimizer.name: 'adma' is not known; allowed: sgd, adam, adamw, adagrad, rmsprop, lars, "
       "lamb; did you mean 'adam'?"},
      {"", "    trust_coefficient: 0.01\n",
       "job.yaml:12: training.optimizer.trust_coefficient: means nothing here; it is allowed only with "
       "training.optimizer.name: lars; remove it"},
      {"", "    name: lars\n    trust_coefficient: 0\n",
       "job.yaml:13: training.optimizer.trust_coefficient: '0' is out of range; allowed: 1e-12 to 1000"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.to);
    CHECK(job_error(optimizer(slip.to)) == slip.error);
  }
}

TEST_CASE("schedules, clipping, validation and durability reach the spec") {
  const JobSpec spec = parse_job(
      "job: all\nmodel: {name: mlp}\ndata: {name: glyphs, train_examples: 1000, validation_examples: 200}\n"
      "training: {epochs: 9, init_from: weights.safetensors, non_finite: rollback, evaluate_every_epochs: 3,\n"
      "  keep_best: true, early_stop: {patience: 4, min_delta: 0.001}, clip: {tensor_norm: 2.5},\n"
      "  schedule: {name: cosine, decay_steps: 30, warmup_steps: 5, final_rate: 0.01}}\n"
      "cluster: {patience: 30, io_threads: 3, socket_buffer_bytes: 65536}\n"
      "durability: {every_steps: 50, keep: 3, copy_to: 's3://bucket/jobs', s3_endpoint: 'http://127.0.0.1:9000'}\n",
      "job.yaml");
  CHECK(spec.data.validation_examples == 200);
  CHECK(spec.training.init_from == "weights.safetensors");
  CHECK(spec.training.non_finite == NonFinite::rollback);
  CHECK(spec.training.evaluate_every_epochs == 3);
  CHECK(spec.training.keep_best);
  CHECK(spec.training.early_stop.patience == 4);
  CHECK(spec.training.early_stop.min_delta == 0.001);
  CHECK_FALSE(spec.training.clip.value);
  CHECK(spec.training.clip.tensor_norm == 2.5);
  CHECK_FALSE(spec.training.clip.global_norm);
  CHECK(spec.training.schedule.name == "cosine");
  CHECK(spec.training.schedule.decay_steps == 30U);
  CHECK(spec.training.schedule.warmup_steps == 5);
  CHECK(spec.training.schedule.final_rate == 0.01);
  CHECK(spec.cluster.patience == 30);
  CHECK(spec.cluster.io_threads == 3);
  CHECK(io_threads_of(spec.cluster) == 3);
  CHECK(spec.cluster.socket_buffer_bytes == 65536);
  CHECK(spec.durability.mode == "snapshot");
  CHECK(spec.durability.every_steps == 50);
  CHECK(spec.durability.keep == 3);
  CHECK(spec.durability.copy_to == "s3://bucket/jobs");
  CHECK(spec.durability.s3_endpoint == "http://127.0.0.1:9000");

  const JobSpec usual = parse_job(kJob, "job.yaml");
  CHECK(usual.training.non_finite == NonFinite::halt);
  CHECK(usual.training.evaluate_every_epochs == 1);
  CHECK_FALSE(usual.training.keep_best);
  CHECK(usual.training.early_stop.patience == 0);
  CHECK_FALSE(usual.training.schedule.decay_steps);
  CHECK(usual.durability.mode == "snapshot");
  CHECK(usual.durability.every_steps == 200);
  CHECK(usual.durability.keep == 2);
  CHECK(usual.cluster.patience == 600);
  CHECK(io_threads_of(usual.cluster) == usual.cluster.lanes);
  CHECK(usual.cluster.socket_buffer_bytes == 0);
  CHECK(parse_job(kJob + "durability: {mode: final}\n", "job.yaml").durability.mode == "final");
}

TEST_CASE("an empty section is a section of defaults") {
  CHECK(job_errors(kJob + "durability:\n  # mode: final\n").empty());
}

}  // namespace
}  // namespace ballast::testing

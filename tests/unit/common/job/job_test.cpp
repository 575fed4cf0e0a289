#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/yaml_tree.h"
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

TEST_CASE("each slip is told with file, line, key, what is allowed and what was meant") {
  const std::vector<Slip> slips = {
      {"slots: 8", "slts: 8", "job.yaml:7: training.slts: unknown key; did you mean 'training.slots'?"},
      {"job: sample\n", "job: sample\nseed: 5\n", "job.yaml:2: seed: unknown key; did you mean 'training.seed'?"},
      {"cluster:", "clutser:", "job.yaml:12: clutser: unknown key; did you mean 'cluster'?"},
      {"workers: 2", "zzzzzzzzz: 2",
       "job.yaml:13: cluster.zzzzzzzzz: unknown key; allowed here: shards, workers, lanes, start_workers, "
       "transport, io_threads, socket_buffer_bytes, divide_by_speed, redistribute, patience, stop_patience, "
       "hold_patience"},
      {"slots: 8", "slots: eight",
       "job.yaml:7: training.slots: 'eight' is not a whole number in plain digits; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: 8.0",
       "job.yaml:7: training.slots: '8.0' is not a whole number in plain digits; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: -8", "job.yaml:7: training.slots: '-8' is out of range; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: 0", "job.yaml:7: training.slots: '0' is out of range; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: 99999999999999999999999999",
       "job.yaml:7: training.slots: '99999999999999999999999999' is out of range; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: 4294967304",
       "job.yaml:7: training.slots: '4294967304' is out of range; allowed: 1 to 4096 slots"},
      {"slots: 8", "slots: 010",
       "job.yaml:7: training.slots: '010' begins with a zero, which some read as octal; remove it"},
      {"slots: 8", "slots: '8'",
       "job.yaml:7: training.slots: '8' is text because of its quotes; remove them, a whole number is needed; "
       "allowed: 1 to 4096 slots"},
      {"slots: 8", "slots:", "job.yaml:7: training.slots: has no value; write one or remove the key"},
      {"slots: 8", "slots: [8]",
       "job.yaml:7: training.slots: a list where a whole number (allowed: 1 to 4096 slots) is needed"},
      {"epochs: 2", "epochs: -1", "job.yaml:9: training.epochs: '-1' is out of range; allowed: 1 to 1000000 epochs"},
      {"epochs: 2", "seed: 18446744073709551616\n  epochs: 2",
       "job.yaml:9: training.seed: '18446744073709551616' is out of range; allowed: 0 to 18446744073709551615"},
      {"0.05", "fast", "job.yaml:11: training.optimizer.learning_rate: 'fast' is not a number; allowed: 1e-12 to 1000"},
      {"0.05", "nan", "job.yaml:11: training.optimizer.learning_rate: 'nan' is out of range; allowed: 1e-12 to 1000"},
      {"0.05", ".nan", "job.yaml:11: training.optimizer.learning_rate: '.nan' is not a number; allowed: 1e-12 to 1000"},
      {"0.05", "inf", "job.yaml:11: training.optimizer.learning_rate: 'inf' is out of range; allowed: 1e-12 to 1000"},
      {"0.05", "1e999",
       "job.yaml:11: training.optimizer.learning_rate: '1e999' is out of range; allowed: 1e-12 to 1000"},
      {"0.05", "-0.05",
       "job.yaml:11: training.optimizer.learning_rate: '-0.05' is out of range; allowed: 1e-12 to 1000"},
      {"0.05", "0.05\n    momentum: 1",
       "job.yaml:12: training.optimizer.momentum: '1' is out of range; allowed: 0 to 0.999999"},
      {"name: mlp", "name: mpl",
       "job.yaml:3: model.name: 'mpl' is not known; allowed: " + kModels + "; did you mean 'mlp'?"},
      {"name: mlp\n", "hidden: [3]\n", "job.yaml: model.name: is missing; allowed: " + kModels},
      {"name: mlp", "name: [mlp]", "job.yaml:3: model.name: a list where text is needed"},
      {"name: mlp", "name: mlp\n  hidden: 256",
       "job.yaml:4: model.hidden: '256' where a list is needed; e.g. [256, 128]"},
      {"name: mlp", "name: mlp\n  hidden: []",
       "job.yaml:4: model.hidden: a list of 0; allowed: 1 to 16 numbers, e.g. [256, 128]"},
      {"name: mlp", "name: mlp\n  hidden: [256, 0]",
       "job.yaml:4: model.hidden: '0' is out of range; allowed: 1 to 65536 units"},
      {"name: mlp", "name: mlp\n  compute_ms: 3",
       "job.yaml:4: model.compute_ms: means nothing here; it is allowed only with model.name: emulated; remove it"},
      {"name: glyphs", "name: glyphs\n  path: /data",
       "job.yaml:6: data.path: means nothing here; it is allowed only with data.name: mnist, idx, cifar10, images, "
       "text, characters, "
       "trees, csv, npy; remove it"},
      {"name: glyphs", "name: none",
       "job.yaml:5: data.name: 'none' is for emulated models; mlp needs a set of examples, e.g. mnist or glyphs"},
      {"name: glyphs", "name: mnist\n  train_examples: 60001",
       "job.yaml:6: data.train_examples: 60001 is out of range; mnist has 60000 examples in this split"},
      {"job: sample\n", "", "job.yaml: job: is missing; write a value"},
      {"job: sample", "job: Sample!",
       "job.yaml:1: job: 'Sample!' is no name; allowed: 1 to 64 of a-z 0-9 - _ . beginning with a letter or digit"},
      {"job: sample", "job: ..",
       "job.yaml:1: job: '..' is no name; allowed: 1 to 64 of a-z 0-9 - _ . beginning with a letter or digit"},
      {"batch: 128", "batch: 100",
       "job.yaml:8: training.batch: 100 is not a multiple of training.slots (8); the nearest multiples are 96 and 104"},
      {"batch: 128", "batch: 5",
       "job.yaml:8: training.batch: 5 is not a multiple of training.slots (8); the nearest multiples are 8"},
      {"  epochs: 2\n", "",
       "job.yaml:8: training: the job would never end; set training.epochs or training.max_steps (or both)"},
      {"workers: 2", "workers: 2\n  start_workers: 3",
       "job.yaml:14: cluster.start_workers: 3 is more than cluster.workers (2), so training would never start; lower "
       "it "
       "or raise cluster.workers"},
      {"  workers: 2", "  transport: udp",
       "job.yaml:13: cluster.transport: 'udp' is not known; allowed: ipc, tcp; did you mean 'tcp'?"},
      {"cluster:\n  workers: 2\n", "cluster: 5\n",
       "job.yaml:12: cluster: is a section; write its keys below it, indented"},
      {"name: mlp", "name: &m mlp", "job.yaml:3: an anchor (&name); write the value out where it is used"},
      {"slots: 8", "slots: !!int 8", "job.yaml:7: a tag (tag:yaml.org,2002:int); remove it, types follow from the key"},
      {"slots: 8", "slots: 8\n  slots: 8",
       "job.yaml:8: slots: this key stands here twice; it stands already in line 7, remove one of them"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.to);
    CHECK(job_error(replaced(kJob, slip.from, slip.to)) == slip.error);
  }
}

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

TEST_CASE("contradictions between keys are told with a remedy") {
  const std::vector<Slip> slips = {
      {"name: glyphs", "name: glyphs\n  train_examples: 500\n  validation_examples: 500",
       "job.yaml:7: data.validation_examples: 500 of 500 train examples leave none to train on; lower it or raise "
       "data.train_examples"},
      {"name: glyphs", "name: glyphs\n  validation_examples: 19900",
       "job.yaml:6: data.validation_examples: 19900 leaves 100 examples to train on, fewer than training.batch (128); "
       "lower one of the two or raise data.train_examples"},
      {"slots: 8", "slots: 8\n  keep_best: true",
       "job.yaml:8: training.keep_best: true goes by held-out examples; set data.validation_examples, or remove it"},
      {"slots: 8", "slots: 8\n  early_stop: {patience: 3}",
       "job.yaml:8: training.early_stop.patience: 3 goes by held-out examples; set data.validation_examples, or "
       "remove it"},
      {"slots: 8", "slots: 8\n  early_stop: {min_delta: 0.1}",
       "job.yaml:8: training.early_stop.min_delta: means nothing without training.early_stop.patience; set that too, "
       "or "
       "remove it"},
      {"slots: 8", "slots: 8\n  schedule: {name: step}",
       "job.yaml:8: training.schedule.name: 'step' decays every training.schedule.decay_steps; set them"},
      {"slots: 8", "slots: 8\n  schedule: {decay_steps: 5}",
       "job.yaml:8: training.schedule.decay_steps: means nothing here; it is allowed only with training.schedule.name: "
       "step, exponential, cosine; remove it"},
      {"slots: 8", "slots: 8\n  schedule: {warmup_steps: 315}",
       "job.yaml:8: training.schedule.warmup_steps: 315 is more than the job's 314 steps, so the learning rate would "
       "never be reached; lower it or train longer"},
      {"slots: 8", "slots: 8\n  clip: {value: 1, global_norm: 2}",
       "job.yaml:8: training.clip.global_norm: one way to clip is allowed, but training.clip.value, "
       "training.clip.global_norm are given; keep one of them"},
      {"slots: 8", "slots: 8\n  clip: {value: 0}",
       "job.yaml:8: training.clip.value: '0' is out of range; allowed: 1e-12 to 1000000000000"},
      {"slots: 8", "slots: 8\n  non_finite: stop",
       "job.yaml:8: training.non_finite: 'stop' is not known; allowed: halt, skip, rollback; did you mean 'skip'?"},
      {"slots: 8", "slots: 8\n  exact: never",
       "job.yaml:8: training.exact: 'never' is not known; allowed: prefer, required"},
      {"cluster:", "durability: {copy_to: s3://jobs}\ncluster:",
       "job.yaml:12: durability.copy_to: 's3://jobs' needs to know where the storage is; set durability.s3_endpoint, "
       "e.g. https://s3.eu-central-1.amazonaws.com"},
      {"cluster:", "durability: {s3_endpoint: http://a}\ncluster:",
       "job.yaml:12: durability.s3_endpoint: means nothing without a bucket; set durability.copy_to: "
       "s3://bucket/prefix, "
       "or remove it"},
      {"cluster:", "durability: {run: first}\ncluster:",
       "job.yaml:12: durability.run: means nothing without copies; set durability.copy_to, or remove it"},
      {"cluster:", "durability: {copy_to: /c, run: The First}\ncluster:",
       "job.yaml:12: durability.run: 'The First' is no name; allowed: 1 to 64 of a-z 0-9 - _ . beginning with a "
       "letter or digit"},
      {"cluster:", "durability: {copy_to: ftp://jobs}\ncluster:",
       "job.yaml:12: durability.copy_to: 'ftp://jobs' is no place for copies; allowed: a folder, or "
       "s3://bucket/prefix"},
      {"cluster:", "durability: {copy_to: s3://jobs, s3_endpoint: host}\ncluster:",
       "job.yaml:12: durability.s3_endpoint: 'host' is no address; allowed: http://host[:port] or https://host[:port]"},
      {"cluster:", "durability: {mode: final, keep: 3}\ncluster:",
       "job.yaml:12: durability.keep: means nothing here; it is allowed only with durability.mode: snapshot, "
       "journal; remove it"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.to);
    CHECK(job_error(replaced(kJob, slip.from, slip.to)) == slip.error);
  }
  // What is just within the rules.
  CHECK(job_errors(kJob, {"data.validation_examples=19872"}).empty());
  CHECK(job_errors(kJob, {"training.schedule.warmup_steps=314"}).empty());
  CHECK(job_errors(kJob, {"data.validation_examples=100", "training.keep_best=true", "training.early_stop.patience=1"})
            .empty());
  CHECK(job_errors(kEmulated, {"training.schedule.warmup_steps=5"}).empty());
  CHECK(contains(job_error(kEmulated, {"training.schedule.warmup_steps=6"}), "more than the job's 5 steps"));
  CHECK(contains(job_error(kEmulated, {"data.validation_examples=6"}), "allowed only with data.name: mnist, glyphs"));
}

JobSpec with(const std::string& text, const std::vector<std::string>& overrides) {
  return parse_job(text, "job.yaml", overrides);
}

const std::string kImages =
    "job: images\n"
    "model: {name: lenet5}\n"
    "data:\n"
    "  name: images\n"          // 4
    "  train: train.tar\n"      // 5
    "  test: test.tar\n"        // 6
    "  classes: [cat, dog]\n"   // 7
    "  height: 28\n"            // 8
    "  width: 30\n"             // 9
    "  train_examples: 1000\n"  // 10
    "  test_examples: 100\n"    // 11
    "training: {epochs: 1}\n";

TEST_CASE("a batch is no larger than two epochs") {
  const auto why = [](const std::string& examples, const std::string& remedy) {
    return "is more than twice the " + examples + " examples of an epoch, and a step takes those at most; use " +
           remedy + " (one step an epoch) or less, or raise data.train_examples";
  };
  CHECK(job_error(replaced(kJob, "batch: 128", "batch: 1000000")) ==
        "job.yaml:8: training.batch: 1000000 " + why("20000", "20000"));
  CHECK(job_error(kJob, {"data.train_examples=63"}) == "--set: training.batch: 128 " + why("63", "64"));
  CHECK(job_errors(kJob, {"data.train_examples=64"}).empty());
  CHECK(job_errors(kJob, {"data.train_examples=3", "training.batch=8"}).empty());  // an example for each slot
  CHECK(job_errors(kJob, {"data.train_examples=3", "training.batch=16"}).size() == 1);
}

TEST_CASE("a job says of images all that servers need") {
  const auto job = parse_job(kImages, "job.yaml");
  CHECK(example_shape(job.data) == ExampleShape{.channels = 3, .height = 28, .width = 30, .classes = 2});
  CHECK(split_sizes(job.data).train == 1000);
  CHECK(split_sizes(job.data).test == 100);
  CHECK(job.data.classes == std::vector<std::string>{"cat", "dog"});
  const auto again = parse_job(to_yaml(job), "again");
  CHECK(to_yaml(again) == to_yaml(job));
  const auto rich =
      with(kImages, {"data.mean=[0.5, 0.25, 0]", "data.deviation=[0.1, 1, 2]", "data.threads=4",
                     "training.augment.rotation=15", "training.augment.flip=0.5", "training.augment.crop=4"});
  CHECK(rich.data.mean == std::vector<double>{0.5, 0.25, 0});
  CHECK(rich.data.deviation == std::vector<double>{0.1, 1, 2});
  CHECK(rich.training.augment.rotation == 15);
  CHECK(rich.training.augment.crop == 4);
  CHECK(to_yaml(parse_job(to_yaml(rich), "again")) == to_yaml(rich));
}

TEST_CASE("keys of images that contradict each other, or are missing, are told with a remedy") {
  const std::string why = "; 'ballast data describe FOLDER' looks at the files and writes it";
  const std::vector<Slip> slips = {
      {"  train: train.tar\n", "", "job.yaml:4: data.train: is missing; data.name: images needs it, e.g. train" + why},
      {"  classes: [cat, dog]\n", "",
       "job.yaml:4: data.classes: is missing; data.name: images needs it, e.g. [cat, dog]" + why},
      {"  height: 28\n", "", "job.yaml:4: data.height: is missing; data.name: images needs it, e.g. 32" + why},
      {"  test_examples: 100\n", "",
       "job.yaml:4: data.test_examples: is missing; data.name: images needs it, e.g. 2000" + why},
      {"[cat, dog]", "[cat, dog, cat]", "job.yaml:7: data.classes: 'cat' stands there twice; remove one of them"},
      {"  test_examples: 100", "  test_examples: 100\n  channels: 2",
       "job.yaml:12: data.channels: 2 channels are neither grey (1) nor colour (3)"},
      {"  test_examples: 100", "  test_examples: 100\n  mean: [0.5, 0.5]",
       "job.yaml:12: data.mean: has 2 number(s), but the images have 3 channel(s); give one for each"},
      {"  test_examples: 100", "  test_examples: 100\n  deviation: [1, 1, 0]",
       "job.yaml:12: data.deviation: '0' is out of range; allowed: 1e-06 to 1000"},
      {"{epochs: 1}", "{epochs: 1, augment: {crop: 28}}",
       "job.yaml:12: training.augment.crop: 28 is not less than the images' 28 pixels, so nothing of them might be "
       "left; "
       "lower it"},
      {"  test_examples: 100\ntraining: {epochs: 1}",
       "  test_examples: 100\n  channels: 1\ntraining: {epochs: 1, augment: {saturation: 0.2}}",
       "job.yaml:13: training.augment.saturation: changes colours, and these images are grey; remove it"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.to);
    CHECK(job_error(replaced(kImages, slip.from, slip.to)) == slip.error);
  }
  CHECK(job_errors(kImages, {"training.augment.crop=27"}).empty());
}

TEST_CASE("what a job leaves out of normalization and augmentation does not enter its digest") {
  const auto plain = parse_job(kJob, "job.yaml");
  CHECK(!contains(to_yaml(plain), "rotation"));
  CHECK(!contains(to_yaml(plain), "mean"));
  CHECK(spec_digest(plain) == spec_digest(with(kJob, {"data.threads=3"})));
  CHECK(spec_digest(plain) != spec_digest(with(kJob, {"training.augment.rotation=3"})));
  CHECK(spec_digest(plain) != spec_digest(with(kJob, {"data.mean=[0.5]"})));
}

TEST_CASE("rules of emulated models") {
  CHECK(job_errors(kEmulated).empty());
  const std::vector<Slip> slips = {
      {", preset: resnet50", "",
       "job.yaml:2: model: an emulated model takes its parameters from exactly one of model.preset (e.g. resnet50) and "
       "model.parameters"},
      {"resnet50", "resnet50, parameters: [{name: a, shape: [1]}]",
       "job.yaml:2: model: an emulated model takes its parameters from exactly one of model.preset (e.g. resnet50) and "
       "model.parameters"},
      {"resnet50", "resnet",
       "job.yaml:2: model.preset: 'resnet' is not known; allowed: resnet50; did you mean 'resnet50'?"},
      {"name: none", "name: mnist",
       "job.yaml:3: data.name: 'mnist' with an emulated model, which reads no data; use none"},
      {"name: none", "name: glyphs",
       "job.yaml:3: data.name: 'glyphs' with an emulated model, which reads no data; use none"},
      {"preset: resnet50", "parameters: [{name: a, shape: [1]}, {name: a, shape: [2]}]",
       "job.yaml:2: model.parameters: two parameters are named 'a'"},
      {"preset: resnet50", "parameters: [{name: a}]",
       "job.yaml:2: model.parameters: parameter 1: parameter 'a' has no shape; e.g. shape: [64, 3, 7, 7]"},
      {"preset: resnet50", "parameters: [{shape: [4]}]",
       "job.yaml:2: model.parameters: parameter 1: '' is no name of a parameter; allowed: 1 to 128 of A-Z a-z 0-9 . _ "
       "-"},
      {"preset: resnet50", "parameters: [{name: a, shape: [4], size: 3}]",
       "job.yaml:2: model.parameters: parameter 1: unknown key 'size' of a parameter; allowed: name, shape, group, "
       "momentum"},
      {"preset: resnet50", "parameters: [{name: a, shape: [4], momentum: 0.1}]",
       "job.yaml:2: model.parameters: parameter 1: parameter 'a' has a momentum, which only running statistics have; "
       "add group: state, or remove it"},
      {"preset: resnet50", "parameters: [{name: a, shape: [4], group: state, momentum: 1.5}]",
       "job.yaml:2: model.parameters: parameter 1: '1.5' is out of range; allowed: 0 to 1"},
      {"preset: resnet50", "parameters: [5]",
       "job.yaml:2: model.parameters: parameter 1: '5' where {name: ..., shape: [...]} is needed"},
      {"preset: resnet50", "parameters: [{name: a, shape: [0]}]",
       "job.yaml:2: model.parameters: parameter 1: '0' is out of range; allowed: 1 to 4294967295"},
      // The product wraps around 64 bits to 0 if it is not guarded.
      {"preset: resnet50", "parameters: [{name: a, shape: [4294967295, 65536, 65536, 65536, 65536]}]",
       "job.yaml:2: model.parameters: the model has more than 274877906944 floats (1 TiB); make it smaller"},
      {"preset: resnet50", "parameters: [{name: a, shape: [65536, 65536, 2]}, {name: b, shape: [1]}]",
       "job.yaml:2: model.parameters: the model has 8589934608 floats, and a lane holds at most 8589934592 (32 GiB): "
       "the 1 "
       "of 1 shards are too few; raise cluster.shards or cluster.lanes"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.to);
    CHECK(job_error(replaced(kEmulated, slip.from, slip.to)) == slip.error);
  }
}

TEST_CASE("a mistake in a list is told with the line of its item") {
  const std::string text =
      "job: e\nmodel:\n  name: emulated\n  parameters:\n    - {name: a, shape: [1]}\n    - {name: b, shape: [x]}\n"
      "data: {name: none}\ntraining: {max_steps: 1}\n";
  CHECK(job_error(text) ==
        "job.yaml:6: model.parameters: parameter 2: 'x' is not a whole number in plain digits; allowed: 1 to "
        "4294967295");
}

TEST_CASE("a job whose effective file would be too large to read is refused") {
  const auto job_of = [](std::size_t parameters) {
    std::string text = "job: a\nmodel: {name: emulated, parameters: [";
    for (std::size_t i = 0; i < parameters; ++i) {
      text += "{name: " + std::string(78, 'p') + std::to_string(10000 + i) + ",shape: [1]},";
    }
    return text + "]}\ndata: {name: none}\ntraining: {max_steps: 5}\n";
  };
  REQUIRE(job_of(10000).size() < kMaxYamlBytes);
  CHECK(contains(job_error(job_of(10000)), "job.yaml: model.parameters: the job with all its defaults is 10"));
  const JobSpec spec = parse_job(job_of(9000), "job.yaml");
  CHECK(to_yaml(parse_job(to_yaml(spec), "effective")) == to_yaml(spec));
}

TEST_CASE("a perceptron too large for any machine is refused") {
  const auto with = [](const std::string& hidden, const std::string& cluster = "") {
    return replaced(kJob, "name: mlp", "name: mlp\n  hidden: " + hidden) + cluster;
  };
  CHECK(contains(job_error(with("[65536, 65536, 65536]")), "8642166800 floats, and a lane holds at most 8589934592"));
  for (const auto* hidden : {"[65536, 1024]", "[65536, 65536]"}) {
    CHECK(job_errors(with(hidden)).empty());
  }
}

TEST_CASE("a model at the arena's limit is refused by the check, and never by the arena") {
  const auto refusal = [](std::uint32_t rows) -> std::string {
    const auto text =
        replaced(kEmulated, "preset: resnet50",
                 "parameters: [{name: a, shape: [" + std::to_string(rows) + ", 1048576]}, {name: b, shape: [5]}]");
    try {
      make_job(parse_job(text, "job.yaml", std::vector<std::string>{"cluster.shards=64", "cluster.lanes=16"}));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(refusal(262143).empty());
  CHECK(contains(refusal(262144), "more than 274877906944 floats (1 TiB)"));  // by b alone
}

TEST_CASE("all mistakes are told at once, in the order of the file, and beyond twenty they are counted") {
  auto text = replaced(kJob, "slots: 8", "slots: 0");
  text = replaced(text, "0.05", "fast");
  text = replaced(text, "job: sample", "job: A");
  const auto errors = job_errors(text, {"cluster.lanes=99"});
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].starts_with("job.yaml:1: job: "));
  CHECK(errors[1].starts_with("job.yaml:7: training.slots: "));
  CHECK(errors[2].starts_with("job.yaml:11: training.optimizer.learning_rate: "));
  CHECK(errors[3] == "--set: cluster.lanes: '99' is out of range; allowed: 1 to 16 threads");

  std::string many = kJob;
  for (int i = 0; i < 30; ++i) {
    many += "unknown_number_" + std::to_string(i) + ": 1\n";
  }
  const auto counted = job_errors(many);
  REQUIRE(counted.size() == kMaxConfigErrors + 1);
  CHECK(counted.back() == "job.yaml: and 10 more mistakes");
}

TEST_CASE("an empty section is a section of defaults") {
  CHECK(job_errors(kJob + "durability:\n  # mode: final\n").empty());
}

TEST_CASE("overrides replace, add and take away") {
  const std::vector<std::string> overrides = {"training.slots=4",      "training.seed=9",      "model.hidden=[3, 2]",
                                              "training.max_steps=12", "training.epochs=",     "training.slots=16",
                                              "data.test_examples=10", "cluster.transport=tcp"};
  const JobSpec spec = parse_job(kJob, "job.yaml", overrides);
  CHECK(spec.training.slots == 16);
  CHECK(spec.training.seed == 9);
  CHECK(spec.model.hidden == std::vector<std::uint32_t>{3, 2});
  CHECK_FALSE(spec.training.epochs);
  CHECK(spec.training.max_steps == 12U);
  CHECK(spec.data.test_examples == 10);
  CHECK(spec.cluster.transport == "tcp");
  // A mistake in the file that an override replaces is no mistake any more.
  CHECK(job_errors(replaced(kJob, "slots: 8", "slots: 0"), {"training.slots=8"}).empty());
}

TEST_CASE("mistakes in overrides name --set") {
  const std::vector<std::pair<std::string, std::string>> slips = {
      {"training.slots=0", "--set: training.slots: '0' is out of range; allowed: 1 to 4096 slots"},
      {"training.slots=48",
       "--set: training.batch: 128 is not a multiple of training.slots (48); the nearest multiples "
       "are 96 and 144"},
      {"cluster.start_workers=3", "--set: cluster.start_workers: 3 is more than cluster.workers (2)"},
      {"data.name=none", "--set: data.name: 'none' is for emulated models"},
      {"training.slot=8", "--set: training.slot: unknown key; did you mean 'training.slots'?"},
      {"--workers cluster.workers=300",
       "--workers: cluster.workers: '300' is out of range; allowed: 1 to 256 processes"},
      {"training.optimizer.lr=8",
       "--set: training.optimizer.lr: unknown key; did you mean "
       "'training.optimizer.learning_rate'?"},
      {"training.optimizer.wd=8",
       "--set: training.optimizer.wd: unknown key; did you mean "
       "'training.optimizer.weight_decay'?"},
      {"slots=8", "--set: slots: unknown key; did you mean 'training.slots'?"},
      {"training=8", "--set: training: is a section; name one of its keys, as in --set training.key=value"},
      {"training.slots", "--set: training.slots: has no value; write --set key.path=value"},
      {"model.hidden=[1, 2", "--set: model.hidden: the value is not readable; "},
      {"model.name=*a", "--set: model.name: the value is not readable; "},
      {"job=\xff", "--set: job: the value is not readable; "},
      {"training.mode=asynch",
       "--set: training.mode: 'asynch' is not known; allowed: sync, local, async, ssp; did you mean 'async'?"},
      {"training.clip={global_norm: 1}", "--set: training.clip: is a section; name one of its keys"},
      {"data.digest=0123abcd", "--set: data.digest: '0123abcd' is no digest of data; allowed: 32 hexadecimal digits"},
      {"model.name=", "job.yaml: model.name: is missing; allowed: " + kModels},
      {"=5", "--set: : unknown key"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.first);
    CHECK(job_error(kJob, {slip.first}).starts_with(slip.second));
  }
}

TEST_CASE("texts that are no configuration") {
  const std::vector<std::string> missing = {
      "job.yaml: job: is missing; write a value", "job.yaml: model.name: is missing; allowed: " + kModels,
      "job.yaml: data.name: is missing; allowed: mnist, glyphs, idx, cifar10, images, text, characters, trees, csv, "
      "npy, none",
      "job.yaml: training: the job would never end; set training.epochs or training.max_steps (or both)"};
  CHECK(job_errors("") == missing);
  CHECK(job_errors("# nothing\n") == missing);
  CHECK(job_error("- a\n- b\n") == "job.yaml:1: not a configuration; lines of `key: value` are needed");
  CHECK(job_error("just words") == "job.yaml:1: not a configuration; lines of `key: value` are needed");
  CHECK(job_error(kJob + "---\njob: second\n") == "job.yaml:14: a second document begins; a file holds one");
  CHECK(contains(job_error("job: [\n"), "not readable as YAML"));
  CHECK(contains(job_error("job: a\n\tmodel: b\n"), "job.yaml:2: "));
  CHECK(job_error("job: a\nmodel: \xff\xfe\n") == "job.yaml:2: the text is not UTF-8; save the file as UTF-8");
  CHECK(contains(job_error(std::string("job: a\nmodel: \0\n", 16)), "job.yaml:2: control character 0x00"));
  CHECK(contains(job_error("job: a\n\x04model: {name: mlp}\n"), "job.yaml:2: control character 0x04"));
}

TEST_CASE("what YAML's escapes smuggle in does not reach a log, a terminal or the wire") {
  CHECK(job_error(replaced(kJob, "name: mlp", R"(name: "m\e[2J\nlp")"))
            .starts_with("job.yaml:3: model.name: 'm [2J lp' is"));
  CHECK(job_error(kJob, {std::string("data.na\0me=x", 12)}).starts_with("--set: data.na me: unknown key"));
  for (const std::string escape : {"\\n", "\\x7F", "\\N", "\\L", "\\P", "\\u009B"}) {
    CAPTURE(escape);
    CHECK(contains(job_error(replaced(kJob, "name: glyphs", "name: mnist\n  path: \"a" + escape + "\"")),
                   "data.path: contains a line break or another control character; remove it"));
  }
}

TEST_CASE("hostile texts end quickly in an error") {
  std::string bomb = "a: &a [x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ", *" + static_cast<char>(c - 1) + "]\n";
  }
  CHECK(contains(job_error(bomb), "job.yaml:1: an anchor"));
  std::string steps;
  for (int i = 0; i < 100000; ++i) {
    steps += "- ";
  }
  CHECK(job_error(steps) == "job.yaml:1: nested deeper than 16 levels");
  CHECK(job_error(std::string(100000, '[')).starts_with("job.yaml:1: "));
  CHECK(job_error("job: " + std::string(100000, '{')).starts_with("job.yaml:1: "));
  CHECK(contains(job_error("job: " + std::string(kMaxConfigErrors + (1U << 20U), 'a')), "larger than 1048576 bytes"));
  // However long a value is, the message is not.
  CHECK(job_error(replaced(kJob, "job: sample", "job: " + std::string(500000, 'A'))).size() < 300);
  CHECK(job_error(std::string(1000, 'k') + ": 1\n" + kJob).size() < 300);
}

TEST_CASE("a file that can't be read is told by its path") {
  const TemporaryFolder folder;
  CHECK(load_job(folder.file("good.yaml", kJob)).job == "sample");
  const auto error_of = [](const std::string& path) {
    try {
      load_job(path);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_of(folder.path() + "/none.yaml") ==
        folder.path() + "/none.yaml: can't be read: No such file or directory");
  CHECK(error_of(folder.path()) == folder.path() + ": can't be read: Is a directory");
  CHECK(contains(error_of("/dev/zero"), "/dev/zero: larger than 1048576 bytes"));
  const std::string bad = folder.file("bad.yaml", replaced(kJob, "slots: 8", "slots: 0"));
  CHECK(error_of(bad).starts_with(bad + ":7: training.slots: "));
}

}  // namespace
}  // namespace ballast::testing

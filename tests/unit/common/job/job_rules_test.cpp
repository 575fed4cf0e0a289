// What does not fit together is told with a remedy.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/yaml_tree.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

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
      {"cluster:", "durability: {copy_key_file: copies.key}\ncluster:",
       "job.yaml:12: durability.copy_key_file: means nothing without copies; set durability.copy_to, or remove it"},
      {"cluster:", "durability: {copy_to: /c, s3_encryption: AES256}\ncluster:",
       "job.yaml:12: durability.s3_encryption: means nothing without a copy to s3://BUCKET/PREFIX; set "
       "durability.copy_to, or remove it"},
      {"cluster:", "durability: {copy_to: /c, s3_credentials_file: f}\ncluster:",
       "job.yaml:12: durability.s3_credentials_file: means nothing without a copy to s3://BUCKET/PREFIX; set "
       "durability.copy_to, or remove it"},
      {"cluster:", "durability: {copy_to: s3://jobs, s3_endpoint: http://a, s3_encryption: aes256}\ncluster:",
       "job.yaml:12: durability.s3_encryption: 'aes256' is not known; allowed: none, AES256, aws:kms"},
      {"cluster:",
       "durability: {copy_to: s3://jobs, s3_endpoint: http://a, s3_encryption: AES256, s3_kms_key_id: k}\ncluster:",
       "job.yaml:12: durability.s3_kms_key_id: means nothing here; it is allowed only with durability.s3_encryption: "
       "aws:kms; remove it"},
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

TEST_CASE("a job has no more steps than messages can say") {
  const std::vector<std::string> long_job = {"data.train_examples=16000000", "training.batch=8",
                                             "training.epochs=1000000"};
  const auto error = job_error(kJob, long_job);
  CHECK(contains(error, "training.epochs: 2000000000000 steps are more than a job may have (1000000000000)"));
  CHECK(contains(error, "training.max_steps"));
  auto bounded = long_job;
  bounded.push_back("training.max_steps=1000000000000");
  CHECK(job_errors(kJob, bounded).empty());
  auto shorter = long_job;
  shorter.back() = "training.epochs=500000";
  CHECK(job_errors(kJob, shorter).empty());
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

}  // namespace
}  // namespace ballast::testing

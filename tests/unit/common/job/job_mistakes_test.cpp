// Mistakes of writing, overrides, and texts that are no job.
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

TEST_CASE("each slip is told with file, line, key, what is allowed and what was meant") {
  const std::vector<Slip> slips = {
      {"slots: 8", "slts: 8", "job.yaml:7: training.slts: unknown key; did you mean 'training.slots'?"},
      {"job: sample\n", "job: sample\nseed: 5\n", "job.yaml:2: seed: unknown key; did you mean 'training.seed'?"},
      {"cluster:", "clutser:", "job.yaml:12: clutser: unknown key; did you mean 'cluster'?"},
      {"workers: 2", "zzzzzzzzz: 2",
       "job.yaml:13: cluster.zzzzzzzzz: unknown key; allowed here: shards, workers, lanes, start_workers, "
       "transport, io_threads, socket_buffer_bytes, memory_mib, link_mbit, divide_by_speed, redistribute, patience, "
       "stop_patience, hold_patience"},
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

TEST_CASE("a mistake in a list is told with the line of its item") {
  const std::string text =
      "job: e\nmodel:\n  name: emulated\n  parameters:\n    - {name: a, shape: [1]}\n    - {name: b, shape: [x]}\n"
      "data: {name: none}\ntraining: {max_steps: 1}\n";
  CHECK(job_error(text) ==
        "job.yaml:6: model.parameters: parameter 2: 'x' is not a whole number in plain digits; allowed: 1 to "
        "4294967295");
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

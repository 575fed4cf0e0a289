// The keys of the modes: what each takes, what it takes by itself, and what it refuses.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/job/load.h"
#include "common/job/mode_text.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

JobSpec job(const std::vector<std::string>& overrides) { return parse_job(kJob, "job.yaml", overrides); }

std::vector<std::string> joined(std::vector<std::string> overrides, const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

const std::vector<std::string> kAsync = {"training.mode=async"};
const std::vector<std::string> kSsp = {"training.mode=ssp", "training.staleness.bound=4"};
const std::vector<std::string> kLocal = {"training.mode=local", "training.local.steps=4"};

// Beginnings of the one error that each set of overrides gives.
using Slips = std::vector<std::pair<std::vector<std::string>, std::string>>;

void check(const Slips& slips) {
  for (const auto& slip : slips) {
    CAPTURE(slip.second);
    CHECK(job_error(kJob, slip.first) == slip.second);
  }
}

TEST_CASE("the words of the modes reach the spec") {
  CHECK(job({}).training.mode == Mode::sync);
  CHECK(job(kLocal).training.mode == Mode::local);
  CHECK(job(kAsync).training.mode == Mode::async);
  const JobSpec ssp = job(joined(kSsp, {"training.staleness.damping=inverse"}));
  CHECK(ssp.training.mode == Mode::ssp);
  CHECK(ssp.training.staleness.bound == 4);
  CHECK(ssp.training.staleness.damping == StalenessSpec::Damping::inverse);
  CHECK(job(kAsync).training.staleness.damping == StalenessSpec::Damping::none);
  CHECK_FALSE((is_item_mode(Mode::sync) || is_item_mode(Mode::local)));
  CHECK((is_item_mode(Mode::async) && is_item_mode(Mode::ssp)));
  for (const auto mode : {Mode::sync, Mode::local, Mode::async, Mode::ssp}) {
    const std::vector<std::string> needs = mode == Mode::local ? kLocal
                                           : mode == Mode::ssp ? kSsp
                                                               : std::vector<std::string>{};
    CHECK(job(joined(needs, {std::string("training.mode=") + name_of(mode)})).training.mode == mode);
  }
}

TEST_CASE("trust ratios go with rounds and clipping by value, within slots too") {
  for (const std::string name : {"lars", "lamb"}) {
    const std::vector<std::string> taken = {"training.optimizer.name=" + name, "training.clip.value=1",
                                            "training.parameter_groups=[{match: '*.bias', trust_ratio: false}]"};
    const auto spec = job(taken);
    CHECK(has_trust_ratios(spec.training.optimizer));
    CHECK(spec.training.parameter_groups[0].trust_ratio == false);
    CHECK(epsilon_of(spec.training.optimizer) == (name == "lars" ? 1e-8 : 1e-6));
    const auto by_norm =
        " is not possible: its trust ratios bound each tensor's step already, and would need the "
        "clipped gradient's norms; use training.clip.value, or remove it";
    for (const std::string clip : {"training.clip.tensor_norm", "training.clip.global_norm"}) {
      check({{{"training.optimizer.name=" + name, clip + "=1"},
              "--set: " + clip + ": clipping by norm with training.optimizer.name: " + name + by_norm},
             {joined(kLocal, {"training.local.optimizer.name=" + name, clip + "=1"}),
              "--set: " + clip + ": clipping by norm with training.local.optimizer.name: " + name + by_norm}});
      // What is clipped is the inner gradient.
      CHECK(job_errors(kJob, joined(kLocal, {"training.optimizer.name=" + name, clip + "=1"})).empty());
    }
    for (const auto& mode : {kAsync, kSsp}) {
      const std::string mode_name = job(mode).training.mode == Mode::ssp ? "ssp" : "async";
      check({{joined(mode, {"training.optimizer.name=" + name}),
              "--set: training.optimizer.name: '" + name + "' with training.mode: " + mode_name +
                  " is impossible: its trust ratios need all of an update before any of it is applied; use "
                  "training.mode: sync, or " +
                  (name == "lars" ? "sgd" : "adamw")}});
    }
  }
  const std::string groups = "training.parameter_groups=[{match: '*.bias', trust_ratio: false}]";
  const std::string useless =
      "--set: training.parameter_groups: trust_ratio of group '*.bias' means nothing here; it is "
      "allowed only with ";
  check({{{groups}, useless + "training.optimizer.name: lars, lamb; remove it"},
         {joined(kLocal, {"training.optimizer.name=lamb", groups}),
          useless + "training.local.optimizer.name: lars, lamb; remove it"}});
  CHECK(job_errors(kJob, joined(kLocal, {"training.local.optimizer.name=lamb", groups})).empty());
}

TEST_CASE("weights are averaged in rounds, from a step on that comes") {
  const std::string decay = "training.weight_average.decay=0.99";
  const std::string begins = "training.weight_average.begins_at_step=";
  const auto plain = job({});
  CHECK_FALSE(averages_weights(plain.training));
  CHECK(to_yaml(plain).find("weight_average") == std::string::npos);
  for (const auto& mode : {std::vector<std::string>{}, kLocal}) {
    const auto averaged = job(joined(mode, {decay}));
    CHECK(averages_weights(averaged.training));
    CHECK(averaged.training.weight_average.decay == 0.99);
    CHECK(mode_text(averaged.training) ==
          mode_text(job(mode).training) + "; evaluations are of a moving average of the weights");
    CHECK_FALSE(averaged.training.weight_average.begins_at_step);
    CHECK(spec_digest(averaged) != spec_digest(job(mode)));
    CHECK(spec_digest(job(joined(mode, {decay, begins + "2"}))) != spec_digest(averaged));
    CHECK(job(joined(mode, {decay, begins + "0"})).training.weight_average.begins_at_step == 0);
  }
  for (const auto& mode : {kAsync, kSsp}) {
    const std::string mode_name = name_of(job(mode).training.mode);
    check({{joined(mode, {decay}),
            "--set: training.weight_average.decay: a moving average of the weights with training.mode: " + mode_name +
                " is impossible: chunks have their updates at different times, so that there is no step whose weights "
                "would be averaged; use training.mode: sync or local, or remove it"}});
  }
  check({{{begins + "3"},
          "--set: training.weight_average.begins_at_step: means nothing without an average; set "
          "training.weight_average.decay, or remove it"},
         {{decay, "training.max_steps=3", begins + "3"},
          "--set: training.weight_average.begins_at_step: 3 is no less than training.max_steps (3), so nothing would "
          "ever be averaged; lower it or raise training.max_steps"}});
  CHECK(job_errors(kJob, {decay, "training.max_steps=4", begins + "3"}).empty());
  CHECK_FALSE(job_errors(kJob, {"training.weight_average.decay=1"}).empty());
}

TEST_CASE("what local steps take, and take by themselves") {
  const JobSpec usual = job(joined(kLocal, {"training.optimizer.learning_rate="}));
  CHECK(usual.training.local.steps == 4);
  CHECK(usual.training.local.partition == LocalSpec::Partition::mixed);
  CHECK(usual.training.local.optimizer.name == "sgd");
  CHECK(usual.training.local.optimizer.learning_rate == 0.01);
  CHECK(usual.training.optimizer.learning_rate == 1);  // plain averaging
  CHECK(job(kLocal).training.optimizer.learning_rate == 0.05);
  CHECK(job({"training.optimizer.learning_rate="}).training.optimizer.learning_rate == 0.01);
  const std::vector<std::string> outer_adam = {"training.optimizer.learning_rate=", "training.optimizer.name=adam"};
  CHECK(job(joined(kLocal, outer_adam)).training.optimizer.learning_rate == 0.01);

  const JobSpec diloco =
      job(joined(kLocal, {"training.local.optimizer.name=adamw", "training.local.optimizer.learning_rate=0.001",
                          "training.local.optimizer.weight_decay=0.1", "training.local.optimizer.beta2=0.99",
                          "training.local.partition=by_class", "training.optimizer.momentum=0.9",
                          "training.optimizer.nesterov=true"}));
  CHECK(diloco.training.local.optimizer.name == "adamw");
  CHECK(diloco.training.local.optimizer.learning_rate == 0.001);
  CHECK(diloco.training.local.optimizer.weight_decay == 0.1);
  CHECK(diloco.training.local.optimizer.beta2 == 0.99);
  CHECK(diloco.training.local.optimizer.epsilon == 1e-8);
  CHECK(diloco.training.local.partition == LocalSpec::Partition::by_class);
  CHECK(diloco.training.optimizer.nesterov);
}

TEST_CASE("a slot's examples are cut evenly into local steps") {
  check({
      {{"training.mode=local"}, "--set: training.local.steps: is missing; training.mode: local needs it, e.g. 10"},
      {{"training.mode=local", "training.local.steps=10"},
       "--set: training.local.steps: 10 does not divide the 16 examples of a slot (training.batch 128 / training.slots "
       "8); the nearest batches that it divides are 80 and 160"},
      {{"training.mode=local", "training.local.steps=17"},
       "--set: training.local.steps: 17 does not divide the 16 examples of a slot (training.batch 128 / training.slots "
       "8); the nearest batches that it divides are 136"},
      // One slip is told once.
      {{"training.mode=local", "training.local.steps=10", "training.batch=100"},
       "--set: training.batch: 100 is not a multiple of training.slots (8); the nearest multiples are 96 and 104"},
      {{"training.mode=local", "training.local.steps=0"},
       "--set: training.local.steps: '0' is out of range; allowed: 1 to 1000000 local steps"},
  });
  for (const auto* steps : {"1", "2", "16"}) {
    CHECK(job_errors(kJob, {"training.mode=local", std::string("training.local.steps=") + steps}).empty());
  }
}

TEST_CASE("keys of a mode mean nothing in another") {
  check({
      {{"training.local.steps=4"},
       "--set: training.local.steps: means nothing here; it is allowed only with training.mode: local; remove it"},
      {{"training.local.partition=by_class"},
       "--set: training.local.partition: means nothing here; it is allowed only with training.mode: local; remove it"},
      // The outer condition counts, even where the inner one does not hold either.
      {{"training.local.optimizer.momentum=0.9"},
       "--set: training.local.optimizer.momentum: means nothing here; it is allowed only with training.mode: local; "
       "remove it"},
      {{"training.local.optimizer.beta1=0.9"},
       "--set: training.local.optimizer.beta1: means nothing here; it is allowed only with training.mode: local; "
       "remove it"},
      {joined(kLocal, {"training.local.optimizer.beta1=0.9"}),
       "--set: training.local.optimizer.beta1: means nothing here; it is allowed only with "
       "training.local.optimizer.name: adam, adamw, lamb; remove it"},
      {joined(kLocal, {"training.local.optimizer.nesterov=true"}),
       "--set: training.local.optimizer.nesterov: true without a momentum changes nothing; set "
       "training.local.optimizer.momentum (e.g. 0.9), or remove it"},
      {{"training.staleness.bound=4"},
       "--set: training.staleness.bound: means nothing here; it is allowed only with training.mode: ssp; remove it"},
      {{"training.mode=async", "training.staleness.bound=4"},
       "--set: training.staleness.bound: means nothing here; it is allowed only with training.mode: ssp; remove it"},
      {joined(kLocal, {"training.staleness.damping=inverse"}),
       "--set: training.staleness.damping: means nothing here; it is allowed only with training.mode: async, ssp; "
       "remove it"},
      {{"training.mode=ssp"},
       "--set: training.staleness.bound: is missing; training.mode: ssp needs it, e.g. 4 (allowed: 1 to 100000 "
       "updates)"},
      {{"training.mode=ssp", "training.staleness.bound=0"},
       "--set: training.staleness.bound: '0' is out of range; allowed: 1 to 100000 updates"},
  });
}

TEST_CASE("a key of the file that an override leaves without a meaning is named by its line") {
  const auto text = replaced(kJob, "  slots: 8\n", "  slots: 8\n  mode: async\n  staleness: {damping: inverse}\n");
  CHECK(job_error(text, {"training.mode=sync"}) ==
        "--set: training.staleness.damping: means nothing here; it is allowed only with training.mode: async, ssp; "
        "remove it from line 9 of the file, or add --set training.staleness.damping=");
  CHECK(job_errors(text, {"training.mode=sync", "training.staleness.damping="}).empty());
}

TEST_CASE("the bound that is proposed to a job without one goes by its workers") {
  const auto wanted = [](const std::string& workers) {
    return job_error(kJob, {"training.mode=ssp", "cluster.workers=" + workers});
  };
  CHECK(wanted("1").find("needs it, e.g. 4 ") != std::string::npos);
  CHECK(wanted("3").find("needs it, e.g. 4 ") != std::string::npos);
  CHECK(wanted("20").find("needs it, e.g. 38 ") != std::string::npos);
}

TEST_CASE("updates of single slots refuse what needs whole steps") {
  for (const auto& [mode, name] : {std::pair(kAsync, std::string("async")), std::pair(kSsp, std::string("ssp"))}) {
    const std::string why = "clipping by norm with training.mode: " + name +
                            " is impossible: it needs all of a step's gradient before any of it is applied; use "
                            "training.clip.value";
    check({{joined(mode, {"training.clip.tensor_norm=1"}), "--set: training.clip.tensor_norm: " + why},
           {joined(mode, {"training.clip.global_norm=1"}), "--set: training.clip.global_norm: " + why},
           {joined(mode, {"training.non_finite=rollback"}),
            "--set: training.non_finite: rollback leaves out whole steps, and with training.mode: " + name +
                " each slot is an update of its own; use halt or skip"}});
    CHECK(job_errors(kJob, joined(mode, {"training.clip.value=1", "training.non_finite=skip"})).empty());
  }
}

TEST_CASE("by_class goes by labels") {
  const std::vector<std::string> classes = {"training.mode=local", "training.local.steps=1",
                                            "training.local.partition=by_class"};
  CHECK(job_error(kEmulated, classes) ==
        "--set: training.local.partition: by_class goes by the labels of examples, and data.name: none has none; use "
        "mixed");
  CHECK(job_errors(kJob, classes).empty());
}

TEST_CASE("durability by mode") {
  CHECK(job({}).durability.mode == "snapshot");
  CHECK(job(kLocal).durability.mode == "snapshot");
  CHECK(job(kAsync).durability.mode == "journal");
  CHECK(job(kSsp).durability.mode == "journal");
  CHECK(job(kAsync).durability.fsync == Fsync::interval);
  CHECK(job(kAsync).durability.fsync_interval_ms == 200);
  CHECK(job(joined(kAsync, {"durability.mode=snapshot"})).durability.mode == "snapshot");
  CHECK(job(joined(kAsync, {"durability.mode=final"})).durability.mode == "final");
  CHECK(job(joined(kAsync, {"durability.fsync=always"})).durability.fsync == Fsync::always);
  CHECK(job(joined(kAsync, {"durability.fsync=never"})).durability.fsync == Fsync::never);
  const JobSpec often = job(joined(kAsync, {"durability.fsync_interval_ms=5", "durability.every_steps=9",
                                            "durability.keep=4", "durability.copy_to=/x"}));
  CHECK(often.durability.fsync_interval_ms == 5);
  CHECK(often.durability.every_steps == 9);
  check({
      {{"durability.mode=journal"},
       "--set: durability.mode: journal is for training.mode: async, ssp; with sync a round is collected anew from the "
       "newest snapshot on; use snapshot"},
      {joined(kLocal, {"durability.mode=journal"}),
       "--set: durability.mode: journal is for training.mode: async, ssp; with local a round is collected anew from "
       "the newest snapshot on; use snapshot"},
      {{"durability.fsync=always"},
       "--set: durability.fsync: means nothing here; it is allowed only with durability.mode: journal; remove it"},
      {{"durability.fsync_interval_ms=5"},
       "--set: durability.fsync_interval_ms: means nothing here; it is allowed only with durability.mode: journal; "
       "remove it"},
      {joined(kAsync, {"durability.fsync=always", "durability.fsync_interval_ms=5"}),
       "--set: durability.fsync_interval_ms: means nothing here; it is allowed only with durability.fsync: interval; "
       "remove it"},
  });
}

TEST_CASE("workers that a mode has no work for are told") {
  const auto text = [](const std::vector<std::string>& needs, const std::string& workers) {
    return idle_workers_text(job(joined(needs, {"cluster.workers=" + workers})));
  };
  CHECK(text({}, "8").empty());
  CHECK(text({}, "9") == "of 9 workers at most 8 find work at a time: training.slots is 8");
  CHECK(text(kLocal, "9") == text({}, "9"));
  CHECK(text(kSsp, "5").empty());
  CHECK(text(kSsp, "6") == "of 6 workers at most 5 find work at a time: training.staleness.bound is 4");
  CHECK(text(kAsync, "200").empty());
}

TEST_CASE("settings of the cluster that are not followed as they stand are told") {
  using Notes = std::vector<std::string>;
  const auto notes = [](const std::vector<std::string>& needs, const std::vector<std::string>& more) {
    return cluster_notes(job(joined(needs, more)));
  };
  CHECK(notes({}, {}).empty());
  CHECK(notes({}, {"cluster.hold_patience=300"}).empty());
  CHECK(notes({}, {"cluster.hold_patience=400"}) ==
        Notes{"cluster.hold_patience is 400, but a server that is told to end waits no longer than "
              "cluster.stop_patience, which is 300 (seconds)"});
  const std::vector<std::string> rigid = {"cluster.redistribute=false", "cluster.divide_by_speed=false"};
  CHECK(notes({}, rigid).empty());
  CHECK(notes(kLocal, rigid).empty());
  CHECK(notes(kAsync, {rigid[0]}) ==
        Notes{"cluster.redistribute: false changes nothing with async, where each worker takes a slot whenever it has "
              "none; it is for sync and local"});
  const auto both = notes(kSsp, rigid);
  REQUIRE(both.size() == 2);
  CHECK(both[0].starts_with("cluster.divide_by_speed: false changes nothing with ssp"));
}

TEST_CASE("the mode in a line") {
  const auto text = [](const std::vector<std::string>& overrides) { return mode_text(job(overrides).training); };
  const std::vector<std::string> averaging = joined(kLocal, {"training.optimizer.learning_rate="});
  CHECK(text({}) == "sync: each step is one update by sgd, the mean of 8 slots");
  CHECK(text(averaging) == "local: 4 steps of sgd a slot, averaged");
  CHECK(text(joined(averaging, {"training.optimizer.momentum=0.9", "training.optimizer.nesterov=true",
                                "training.local.optimizer.name=adamw", "training.local.steps=1",
                                "training.local.partition=by_class"})) ==
        "local: 1 step of adamw a slot, their mean change applied by sgd with Nesterov momentum; each slot draws from "
        "its "
        "own classes");
  CHECK(text(joined(averaging, {"training.optimizer.learning_rate=0.5"})) ==
        "local: 4 steps of sgd a slot, their mean change applied by sgd");
  CHECK(text(joined(kAsync, {"training.optimizer.momentum=0.9"})) ==
        "async: each slot is an update of its own by sgd with momentum");
  CHECK(text(joined(kSsp, {"training.staleness.damping=inverse"})) ==
        "ssp: each slot is an update of its own by sgd, at most 4 updates late, damped by its staleness");
  const auto durability = [](const std::vector<std::string>& overrides) {
    return durability_text(job(overrides).durability);
  };
  CHECK(durability({}) == "snapshots every 200 steps, 2 kept");
  CHECK(durability({"durability.mode=final"}) == "the final weights alone");
  CHECK(durability(kAsync) ==
        "a journal of every update, forced to the disk every 200 ms; snapshots every 200 steps, 2 kept");
  CHECK(durability(joined(kAsync, {"durability.fsync=always"})) ==
        "a journal of every update, forced to the disk before it counts; snapshots every 200 steps, 2 kept");
  CHECK(durability(joined(kAsync, {"durability.fsync=never"})) ==
        "a journal of every update, forced to the disk when the system does it; snapshots every 200 steps, 2 kept");
}

}  // namespace
}  // namespace ballast::testing

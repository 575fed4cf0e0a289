#include "common/job/checks.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/example_file_checks.h"
#include "common/job/image_checks.h"
#include "common/job/model_graph.h"
#include "common/job/model_parameters.h"
#include "common/job/own_layers.h"
#include "common/job/parameter_groups.h"
#include "common/job/steps.h"
#include "common/job/trust_checks.h"
#include "common/job/weight_average_checks.h"
#include "common/job/words.h"
#include "protocol/ids.h"

namespace ballast {
namespace {

constexpr std::uint32_t kMnistTrain = 60000;
constexpr std::uint32_t kMnistTest = 10000;
constexpr std::uint64_t kTooMany = kMaxArenaFloats + 1;  // floats

class JobChecks {
 public:
  JobChecks(const Schema& schema, const JobSpec& spec, const Given& given, const std::vector<std::string>& unreadable,
            Mistakes& mistakes)
      : schema_(schema), spec_(spec), given_(given), unreadable_(unreadable), mistakes_(mistakes) {}

  void run() {
    keys_that_mean_nothing();
    if (readable({"model.name", "data.name"})) {
      const auto before = mistakes_.size();
      model_fits_data();
      images();
      emulated_parameters();
      mnist_examples();
      example_files();
      if (mistakes_.size() == before) {  // otherwise its examples are not known
        network();
      }
      if (mistakes_.size() == before) {
        metric_is_told();
      }
    }
    batch_divides();
    batch_fits_epoch();
    has_an_end();
    held_out_examples();
    validation_is_there();
    momentum_for_nesterov("training.optimizer", spec_.training.optimizer);
    schedule();
    one_clip();
    parameter_groups();
    initial_weights();
    if (readable({"training.mode"})) {
      mode();
      trust_ratios();
      weight_average();
    }
    copies();
    enough_workers();
  }

 private:
  [[nodiscard]] bool readable(const std::vector<std::string>& paths) const {
    return std::none_of(paths.begin(), paths.end(), [&](const std::string& path) {
      return std::find(unreadable_.begin(), unreadable_.end(), path) != unreadable_.end();
    });
  }

  [[nodiscard]] bool is_given(const std::string& path) const { return given_.contains(path); }

  // The place of the first of these keys that an override gives, or else that the file gives: whoever overrides wants
  // to hear what is wrong with that.
  [[nodiscard]] Place place_of(const std::vector<std::string>& paths) const {
    Place place;
    for (const auto& path : paths) {
      const auto found = given_.find(path);
      if (found != given_.end() && found->second.place.is_override()) {
        return found->second.place;
      }
      if (found != given_.end() && place.line == 0) {
        place = found->second.place;
      }
    }
    return place;
  }

  void refuse(const std::string& path, const std::string& text) { mistakes_.add(place_of({path}), path, text); }

  // The key and those that decide whether it means something.
  [[nodiscard]] std::vector<std::string> conditions_of(const Key& key) const {
    std::vector<std::string> paths = {key.path};
    for (const auto* next = &key; !next->only_with.key.empty(); paths.push_back(next->path)) {
      next = schema_.find_key(next->only_with.key);
    }
    return paths;
  }

  void keys_that_mean_nothing() {
    for (const auto& key : schema_.keys) {
      const auto* unmet = is_given(key.path) && readable(conditions_of(key)) ? unmet_condition(schema_, key) : nullptr;
      if (unmet != nullptr) {
        const auto place = place_of({key.path, unmet->key});
        mistakes_.add(place, key.path,
                      "means nothing here; it is allowed only with " + unmet->key + ": " + comma_list(unmet->values) +
                          "; " + removal(key.path, place));
      }
    }
  }

  // How to get rid of a key that is refused at `place`, which may be an override of another one.
  [[nodiscard]] std::string removal(const std::string& path, Place place) const {
    const auto own = given_.at(path).place;
    return place.is_override() && !own.is_override()
               ? "remove it from line " + std::to_string(own.line) + " of the file, or add --set " + path + "="
               : "remove it";
  }

  void model_fits_data() {
    const bool emulated = spec_.model.name == "emulated";
    const bool none = spec_.data.name == "none";
    if (emulated && !none) {
      mistakes_.add(place_of({"data.name", "model.name"}), "data.name",
                    "'" + spec_.data.name + "' with an emulated model, which reads no data; use none");
    } else if (!emulated && none) {
      mistakes_.add(
          place_of({"data.name", "model.name"}), "data.name",
          "'none' is for emulated models; " + spec_.model.name + " needs a set of examples, e.g. mnist or glyphs");
    }
  }

  void images() {
    check_images(spec_, [&](const std::string& path, const std::string& text) {
      if (readable({path})) {
        mistakes_.add(place_of({path, "data.name"}), path, text);
      }
    });
  }

  void emulated_parameters() {
    const auto& model = spec_.model;
    if (model.name != "emulated" || !readable({"model.preset", "model.parameters"})) {
      return;
    }
    if (model.preset.empty() == model.parameters.empty()) {
      mistakes_.add(place_of({"model.parameters", "model.name"}), "model",
                    "an emulated model takes its parameters from exactly one of model.preset (e.g. resnet50) and "
                    "model.parameters");
      return;
    }
    std::set<std::string> names;
    std::uint64_t floats = 0;
    for (const auto& parameter : model.parameters) {
      if (!names.insert(parameter.name).second) {
        refuse("model.parameters", "two parameters are named '" + parameter.name + "'");
        return;
      }
      floats = std::min(kTooMany, floats + in_arena(elements(parameter.shape)));
    }
    check_size("model.parameters", floats);
  }

  // At most kTooMany, so that nothing overflows.
  static std::uint64_t elements(const std::vector<std::uint32_t>& shape) {
    std::uint64_t count = 1;
    for (const auto extent : shape) {
      count = extent != 0 && count > kTooMany / extent ? kTooMany : count * extent;
    }
    return std::min(kTooMany, count);
  }

  // What a parameter takes there.
  static std::uint64_t in_arena(std::uint64_t elements) {
    constexpr auto kAlignment = kArenaAlignment / sizeof(float);
    return (elements + kAlignment - 1) / kAlignment * kAlignment;
  }

  void check_size(const std::string& path, std::uint64_t floats) {
    if (floats > kMaxArenaFloats) {
      refuse(path, "the model has more than " + std::to_string(kMaxArenaFloats) + " floats (1 TiB); make it smaller");
      return;
    }
    const auto lanes = std::uint64_t{spec_.cluster.shards} * spec_.cluster.lanes;
    if (readable({"cluster.shards", "cluster.lanes"}) && floats > kMaxLaneFloats * lanes) {
      refuse(path, "the model has " + std::to_string(floats) + " floats, and a lane holds at most " +
                       std::to_string(kMaxLaneFloats) + " (32 GiB): the " + std::to_string(lanes) + " of " +
                       std::to_string(spec_.cluster.shards) +
                       " shards are too few; raise cluster.shards or cluster.lanes");
    }
  }

  // What is computed of the data's examples, if anything is.
  void network() {
    const auto& model = spec_.model;
    if (!has_graph(model) || spec_.data.name == "none" || !readable_section("model.") || !readable_section("data.")) {
      return;
    }
    try {
      std::uint64_t floats = 0;
      for (const auto& parameter : model_graph(model, example_shape(spec_.data)).parameters) {
        floats = std::min(kTooMany, floats + in_arena(elements(parameter.shape)));
      }
      check_size(model.name == "mlp" || model.name == "autoencoder" ? "model.hidden" : "model.name", floats);
    } catch (const LayerMisfit& misfit) {
      mistakes_.add(place_of_layer(misfit.index()), misfit.key(), misfit.text());
    } catch (const ModelMisfit& misfit) {
      mistakes_.add(place_of({misfit.key(), "model.name", "data.name"}), misfit.key(), misfit.text());
    } catch (const std::invalid_argument& error) {
      mistakes_.add(place_of({"model.name", "data.name"}), "model.name", error.what());
    }
  }

  void metric_is_told() {
    if (spec_.training.best_by.empty() || !readable_section("model.") || !readable_section("data.")) {
      return;
    }
    const auto rules = metric_rules(spec_.model, example_shape(spec_.data));
    std::vector<std::string> told;
    for (std::size_t kind = 0; kind < kMetricKinds; ++kind) {
      if (rules.tell(static_cast<MetricKind>(kind))) {
        told.emplace_back(name_of(static_cast<MetricKind>(kind)));
      }
    }
    if (const auto wanted = metric_named(spec_.training.best_by); wanted && !rules.tell(*wanted)) {
      refuse("training.best_by",
             "'" + spec_.training.best_by + "' is not told of this model; choose " + comma_list(told));
    }
  }

  [[nodiscard]] bool readable_section(const std::string& section) const {
    return std::none_of(unreadable_.begin(), unreadable_.end(),
                        [&](const std::string& path) { return path.starts_with(section); });
  }

  [[nodiscard]] Place place_of_layer(std::size_t index) const {
    auto place = place_of({"model.layers"});
    if (!place.is_override()) {
      place.line = given_.at("model.layers").node.items[index].line;
    }
    return place;
  }

  void mnist_examples() {
    if (spec_.data.name == "mnist") {
      at_most("data.train_examples", spec_.data.train_examples, kMnistTrain);
      at_most("data.test_examples", spec_.data.test_examples, kMnistTest);
    }
  }

  // Of a key that is given but can't be read, that alone is told.
  void example_files() {
    check_example_files(spec_.data, [&](const std::string& path, const std::string& text) {
      if (readable({path})) {
        mistakes_.add(place_of({path, "data.name"}), path, text);
      }
    });
  }

  void at_most(const std::string& path, std::uint32_t examples, std::uint32_t most) {
    if (readable({path}) && examples > most) {
      refuse(path, std::to_string(examples) + " is out of range; mnist has " + std::to_string(most) +
                       " examples in this split");
    }
  }

  void batch_divides() {
    const std::uint32_t batch = spec_.training.batch;
    const std::uint32_t slots = spec_.training.slots;
    if (!readable({"training.batch", "training.slots"}) || batch % slots == 0) {
      return;
    }
    mistakes_.add(place_of({"training.batch", "training.slots"}), "training.batch",
                  std::to_string(batch) + " is not a multiple of training.slots (" + std::to_string(slots) +
                      "); the nearest multiples are " + nearest_multiples(batch, slots));
  }

  // A step takes an epoch's examples at most, and a slot's time and memory, of the probe before the first step too, are
  // those of its share of the batch. A default that is a little too large for a small set does no harm.
  void batch_fits_epoch() {
    const auto& training = spec_.training;
    if (!readable(
            {"training.batch", "training.slots", "data.name", "data.train_examples", "data.validation_examples"}) ||
        training.batch % training.slots != 0 || spec_.data.validation_examples > 0) {
      return;  // of held-out examples, held_out_examples tells
    }
    const std::uint64_t examples = split_sizes(spec_.data).train;
    const std::uint64_t slots = training.slots;
    if (examples > 0 && training.batch > std::max(2 * examples, slots)) {
      mistakes_.add(place_of({"training.batch", "data.train_examples"}), "training.batch",
                    std::to_string(training.batch) + " is more than twice the " + std::to_string(examples) +
                        " examples of an epoch, and a step takes those at most; use " +
                        std::to_string((examples + slots - 1) / slots * slots) +
                        " (one step an epoch) or less, or raise data.train_examples");
    }
  }

  static std::string nearest_multiples(std::uint64_t number, std::uint64_t factor) {
    const auto below = number / factor * factor;
    const std::string above = std::to_string(below + factor);
    return below > 0 ? std::to_string(below) + " and " + above : above;
  }

  void has_an_end() {
    if (readable({"training.epochs", "training.max_steps"}) && !spec_.training.epochs && !spec_.training.max_steps) {
      mistakes_.add(place_of({"training.batch", "training.slots"}), "training",
                    "the job would never end; set training.epochs or training.max_steps (or both)");
    } else if (readable({"training.epochs", "training.max_steps", "training.batch", "data.name", "data.train_examples",
                         "data.validation_examples"})) {
      ends_in_time();
    }
  }

  // By what messages can say.
  void ends_in_time() {
    if (const auto steps = plan_steps(spec_.training, split_sizes(spec_.data).train).steps; steps > kMaxSteps) {
      mistakes_.add(place_of({"training.epochs", "training.max_steps"}), "training.epochs",
                    std::to_string(steps) + " steps are more than a job may have (" + std::to_string(kMaxSteps) +
                        "); train for fewer epochs, or set training.max_steps");
    }
  }

  void held_out_examples() {
    const std::uint32_t held_out = spec_.data.validation_examples;
    if (held_out == 0 || !readable({"data.name", "data.train_examples", "data.validation_examples"})) {
      return;
    }
    const SplitSizes sizes = split_sizes(spec_.data);
    if (sizes.train == 0) {
      mistakes_.add(place_of({"data.validation_examples", "data.train_examples"}), "data.validation_examples",
                    std::to_string(held_out) + " of " + std::to_string(sizes.validation) +
                        " train examples leave none to train on; lower it or raise data.train_examples");
    } else if (readable({"training.batch"}) && sizes.train < spec_.training.batch) {
      mistakes_.add(place_of({"data.validation_examples", "training.batch", "data.train_examples"}),
                    "data.validation_examples",
                    std::to_string(held_out) + " leaves " + std::to_string(sizes.train) +
                        " examples to train on, fewer than training.batch (" + std::to_string(spec_.training.batch) +
                        "); lower one of the two or raise data.train_examples");
    }
  }

  void validation_is_there() {
    if (spec_.data.validation_examples > 0 || !readable({"data.validation_examples"})) {
      return;
    }
    const std::string remedy = " goes by held-out examples; set data.validation_examples, or remove it";
    if (spec_.training.keep_best) {
      refuse("training.keep_best", "true" + remedy);
    }
    if (!spec_.training.best_by.empty()) {
      refuse("training.best_by", "'" + spec_.training.best_by + "'" + remedy);
    }
    if (spec_.training.early_stop.patience > 0) {
      refuse("training.early_stop.patience", std::to_string(spec_.training.early_stop.patience) + remedy);
    } else if (spec_.training.early_stop.min_delta > 0 && readable({"training.early_stop.patience"})) {
      refuse("training.early_stop.min_delta",
             "means nothing without training.early_stop.patience; set that too, or remove it");
    }
  }

  void momentum_for_nesterov(const std::string& section, const OptimizerSpec& optimizer) {
    if (optimizer.name == "sgd" && optimizer.nesterov && optimizer.momentum == 0 &&
        readable({section + ".name", section + ".momentum"})) {
      mistakes_.add(place_of({section + ".nesterov", section + ".momentum"}), section + ".nesterov",
                    "true without a momentum changes nothing; set " + section + ".momentum (e.g. 0.9), or remove it");
    }
  }

  void schedule() {
    const auto& schedule = spec_.training.schedule;
    if ((schedule.name == "step" || schedule.name == "exponential") && !schedule.decay_steps &&
        readable({"training.schedule.name", "training.schedule.decay_steps"})) {
      refuse("training.schedule.name", "'" + schedule.name + "' decays every training.schedule.decay_steps; set them");
    }
    if (schedule.warmup_steps == 0 ||
        !readable({"training.schedule.warmup_steps", "training.epochs", "training.max_steps", "training.batch",
                   "data.name", "data.train_examples", "data.validation_examples"})) {
      return;
    }
    const bool ends = spec_.training.epochs || spec_.training.max_steps;
    const auto steps = plan_steps(spec_.training, split_sizes(spec_.data).train).steps;
    if (ends && steps > 0 && schedule.warmup_steps > steps) {
      mistakes_.add(place_of({"training.schedule.warmup_steps", "training.max_steps", "training.epochs"}),
                    "training.schedule.warmup_steps",
                    std::to_string(schedule.warmup_steps) + " is more than the job's " + std::to_string(steps) +
                        " steps, so the learning rate would never be reached; lower it or train longer");
    }
  }

  void initial_weights() {
    if (spec_.training.init_partial && spec_.training.init_from.empty() && readable({"training.init_from"})) {
      refuse("training.init_partial", "means nothing without training.init_from; name a file there, or remove it");
    }
  }

  void one_clip() {
    const auto& clip = spec_.training.clip;
    std::vector<std::string> given;
    for (const auto& [name, limit] : {std::pair("value", &clip.value), std::pair("tensor_norm", &clip.tensor_norm),
                                      std::pair("global_norm", &clip.global_norm)}) {
      if (limit->has_value()) {
        given.push_back(std::string("training.clip.") + name);
      }
    }
    if (given.size() > 1) {
      mistakes_.add(place_of({given.back(), given.front()}), given.back(),
                    "one way to clip is allowed, but " + comma_list(given) + " are given; keep one of them");
    }
  }

  void parameter_groups() {
    if (spec_.training.parameter_groups.empty() || !readable_section("model.") ||
        !readable({"data.name", "training.parameter_groups"})) {
      return;
    }
    std::vector<Parameter> parameters;
    try {
      parameters = declare_parameters(spec_.model, example_shape(spec_.data));
    } catch (const std::invalid_argument&) {
      return;  // what is wrong with the model is told where it is made
    }
    for (const auto& text : useless_groups(spec_.training.parameter_groups, parameters)) {
      refuse("training.parameter_groups", text);
    }
  }

  void mode() {
    const Mode mode = spec_.training.mode;
    if (mode == Mode::local) {
      local_steps();
      momentum_for_nesterov("training.local.optimizer", spec_.training.local.optimizer);
      classes();
    }
    if (mode == Mode::ssp && !is_given("training.staleness.bound")) {
      mistakes_.add(place_of({"training.mode"}), "training.staleness.bound",
                    "is missing; training.mode: ssp needs it, e.g. " + std::to_string(usual_bound()) +
                        " (allowed: 1 to 100000 updates)");
    }
    if (is_item_mode(mode)) {
      nothing_of_whole_steps();
    } else if (spec_.durability.mode == "journal" && readable({"durability.mode"})) {
      mistakes_.add(place_of({"durability.mode", "training.mode"}), "durability.mode",
                    std::string("journal is for training.mode: async, ssp; with ") + name_of(mode) +
                        " a round is collected anew from the newest snapshot on; use snapshot");
    }
  }

  // With which workers that are alike do not wait for each other: docs/modes.md.
  [[nodiscard]] std::uint32_t usual_bound() const { return std::max(4U, 2 * (spec_.cluster.workers - 1)); }

  void local_steps() {
    const auto& training = spec_.training;
    if (!is_given("training.local.steps")) {
      mistakes_.add(place_of({"training.mode"}), "training.local.steps",
                    "is missing; training.mode: local needs it, e.g. 10");
      return;
    }
    if (!readable({"training.local.steps", "training.batch", "training.slots"}) ||
        training.batch % training.slots != 0) {
      return;
    }
    const auto examples = training.batch / training.slots;
    if (examples % training.local.steps != 0) {
      const auto factor = std::uint64_t{training.slots} * training.local.steps;
      mistakes_.add(place_of({"training.local.steps", "training.batch", "training.slots"}), "training.local.steps",
                    std::to_string(training.local.steps) + " does not divide the " + std::to_string(examples) +
                        " examples of a slot (training.batch " + std::to_string(training.batch) + " / training.slots " +
                        std::to_string(training.slots) + "); the nearest batches that it divides are " +
                        nearest_multiples(training.batch, factor));
    }
  }

  void classes() {
    if (spec_.training.local.partition != LocalSpec::Partition::by_class ||
        !readable({"training.local.partition", "data.name"})) {
      return;
    }
    if (example_shape(spec_.data).labels != Labels::classes) {
      mistakes_.add(place_of({"training.local.partition", "data.name"}), "training.local.partition",
                    "by_class goes by the one class of each example, and those of data.name: " + spec_.data.name +
                        " have none; use mixed");
    } else if (spec_.data.name == "none") {
      mistakes_.add(place_of({"training.local.partition", "data.name"}), "training.local.partition",
                    "by_class goes by the labels of examples, and data.name: none has none; use mixed");
    }
  }

  // What would need all of a step's gradient before any of it is applied.
  void nothing_of_whole_steps() {
    const std::string why = std::string(" with training.mode: ") + name_of(spec_.training.mode) +
                            " is impossible: it needs all of a step's gradient before any of it is applied; ";
    const auto& clip = spec_.training.clip;
    if (clip.tensor_norm) {
      refuse_with_mode("training.clip.tensor_norm", "clipping by norm" + why + "use training.clip.value");
    }
    if (clip.global_norm) {
      refuse_with_mode("training.clip.global_norm", "clipping by norm" + why + "use training.clip.value");
    }
    if (spec_.training.non_finite == NonFinite::rollback) {
      refuse_with_mode("training.non_finite", std::string("rollback leaves out whole steps, and with training.mode: ") +
                                                  name_of(spec_.training.mode) +
                                                  " each slot is an update of its own; use halt or skip");
    }
  }

  void trust_ratios() {
    check_trust_ratios(spec_, [&](const std::string& path, const std::vector<std::string>& with,
                                  const std::string& text) { refuse_with(path, with, text); });
  }

  void weight_average() {
    check_weight_average(spec_, [&](const std::string& path, const std::vector<std::string>& with,
                                    const std::string& text) { refuse_with(path, with, text); });
  }

  void refuse_with(const std::string& path, std::vector<std::string> with, const std::string& text) {
    with.insert(with.begin(), path);
    if (readable(with)) {
      mistakes_.add(place_of(with), path, text);
    }
  }

  void refuse_with_mode(const std::string& path, const std::string& text) {
    mistakes_.add(place_of({path, "training.mode"}), path, text);
  }

  void copies() {
    const auto& durability = spec_.durability;
    if (durability.mode == "final" || !readable({"durability.mode", "durability.copy_to", "durability.s3_endpoint"})) {
      return;
    }
    const auto refuse_without = [this](bool is_given, const std::string& path, const std::string& text) {
      if (is_given && readable({path})) {
        mistakes_.add(place_of({path, "durability.copy_to"}), path, text);
      }
    };
    const std::string no_copies = "means nothing without copies; set durability.copy_to, or remove it";
    const std::string no_bucket =
        "means nothing without a copy to s3://BUCKET/PREFIX; set durability.copy_to, or remove it";
    const bool has_none = durability.copy_to.empty();
    const bool to_s3 = durability.copy_to.starts_with("s3://");
    refuse_without(has_none && !durability.run.empty(), "durability.run", no_copies);
    refuse_without(has_none && !durability.copy_key_file.empty(), "durability.copy_key_file", no_copies);
    refuse_without(!to_s3 && !durability.s3_credentials_file.empty(), "durability.s3_credentials_file", no_bucket);
    refuse_without(!to_s3 && durability.s3_encryption != "none", "durability.s3_encryption", no_bucket);
    if (to_s3 && durability.s3_endpoint.empty()) {
      refuse("durability.copy_to", shown(durability.copy_to) +
                                       " needs to know where the storage is; set durability.s3_endpoint, e.g. "
                                       "https://s3.eu-central-1.amazonaws.com");
    } else if (!to_s3 && !durability.s3_endpoint.empty()) {
      mistakes_.add(place_of({"durability.s3_endpoint", "durability.copy_to"}), "durability.s3_endpoint",
                    "means nothing without a bucket; set durability.copy_to: s3://bucket/prefix, or remove it");
    }
  }

  void enough_workers() {
    const auto& cluster = spec_.cluster;
    if (readable({"cluster.workers", "cluster.start_workers"}) && cluster.start_workers > cluster.workers) {
      mistakes_.add(place_of({"cluster.start_workers", "cluster.workers"}), "cluster.start_workers",
                    std::to_string(cluster.start_workers) + " is more than cluster.workers (" +
                        std::to_string(cluster.workers) +
                        "), so training would never start; lower it or raise cluster.workers");
    }
  }

  const Schema& schema_;
  const JobSpec& spec_;
  const Given& given_;
  const std::vector<std::string>& unreadable_;
  Mistakes& mistakes_;
};

}  // namespace

void check_job(const Schema& schema, const JobSpec& spec, const Given& given,
               const std::vector<std::string>& unreadable, Mistakes& mistakes) {
  JobChecks(schema, spec, given, unreadable, mistakes).run();
}

}  // namespace ballast

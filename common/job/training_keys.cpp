// The table of the keys below `training`: what decides the bits of the result.
#include "common/job/key_tables.h"

namespace ballast {
namespace {

constexpr double kMaxU64 = 18446744073709551615.0;

std::vector<Key> keys_of_training(TrainingSpec& training) {
  return {
      {.path = "training.mode",
       .target = &training.mode,
       .description = "How gradients become updates (docs/modes.md). `sync`: a step is one update by the mean gradient "
                      "of all its slots, computed from the same weights. `local`: each slot trains for some steps by "
                      "itself, and their mean change is the update. `async`: each slot makes an update of its own, "
                      "when it comes. `ssp`: as `async`, with a bound on staleness",
       .choices = {"sync", "local", "async", "ssp"},
       .identity = true},
      {.path = "training.slots",
       .target = &training.slots,
       .description = "Fixed micro-batches that a step's batch is cut into, whatever the number of workers; at most so "
                      "many workers find work, but for `async` and `ssp`",
       .unit = "slots",
       .minimum = 1,
       .maximum = 4096,
       .identity = true},
      {.path = "training.batch",
       .target = &training.batch,
       .description = "Examples of a step over all slots; a multiple of `training.slots`",
       .unit = "examples",
       .minimum = 1,
       .maximum = 1000000,
       .identity = true},
      {.path = "training.micro_batch",
       .target = &training.micro_batch,
       .description =
           "Examples of a slot (with `local`: of a local step) that are computed at once; their gradients are "
           "added. Less memory, and batch normalization sees so many; a part of the arithmetic: another "
           "number gives other bits. Means nothing to the emulated model",
       .unit = "examples",
       .minimum = 0,
       .maximum = 1000000,
       .identity = true,
       .default_note = "all at once"},
      {.path = "training.epochs",
       .target = &training.epochs,
       .description = "Passes over the train split; at least one of `epochs` and `max_steps` is needed",
       .unit = "epochs",
       .minimum = 1,
       .maximum = 1000000,
       .identity = true},
      {.path = "training.max_steps",
       .target = &training.max_steps,
       .description = "Steps after which the job ends, even amid an epoch",
       .unit = "steps",
       .minimum = 1,
       .maximum = 1e12,
       .identity = true},
      {.path = "training.seed",
       .target = &training.seed,
       .description = "Of the initial weights, the order of examples and everything else that is drawn at random",
       .minimum = 0,
       .maximum = kMaxU64,
       .identity = true},
      {.path = "training.threads_per_slot",
       .target = &training.threads_per_slot,
       .description = "Threads that compute one slot; a part of the arithmetic: another number gives other last bits",
       .unit = "threads",
       .minimum = 1,
       .maximum = 256,
       .identity = true},
      {.path = "training.precision",
       .target = &training.precision,
       .description =
           "How precisely GPUs multiply in convolutions and linear layers: `tf32` rounds factors to 10 bits of "
           "mantissa, `bfloat16` to 7, and both are faster; sums, weights and gradients are float32 always. GPUs of "
           "compute capability 8.0 or newer have them, the cpu has float32 alone",
       .choices = {"float32", "tf32", "bfloat16"},
       .identity = true},
      {.path = "training.init_from",
       .target = &training.init_from,
       .description = "A safetensors file with the initial value of every parameter, read by the servers",
       .identity = true,
       .default_note = "drawn from the seed"},
      {.path = "training.init_partial",
       .target = &training.init_partial,
       .description = "Whether that file may lack parameters, which are then drawn from the seed; it has at least one",
       .identity = true},
      {.path = "training.non_finite",
       .target = &training.non_finite,
       .description = "What happens at a step whose gradient has an infinity or a NaN: `halt` fails the job and names "
                      "slot and parameter; `skip` leaves weights and optimizer state as they are; `rollback` goes back "
                      "to the newest snapshot and leaves out all steps from there through this one",
       .choices = {"halt", "skip", "rollback"}},
      {.path = "training.evaluate_every_epochs",
       .target = &training.evaluate_every_epochs,
       .description = "Epochs from one evaluation to the next; the end of the job is always evaluated. With "
                      "`data.validation_examples` these evaluations are of the validation split, and the test split is "
                      "evaluated once, at the job's end; without, they are of the test split",
       .unit = "epochs",
       .minimum = 1,
       .maximum = 1000000,
       .only_with = {"data.name", joined(image_sets(), example_file_sets())},
       .later_with = example_file_sets(),
       .identity = true},
      {.path = "training.keep_best",
       .target = &training.keep_best,
       .description = "Keep the snapshot with the best validation, however old it grows"},
      {.path = "training.best_by",
       .target = &training.best_by,
       .description =
           "What `training.keep_best` and `training.early_stop` compare validations by: `loss`, `accuracy`, or another "
           "metric that evaluations of this model tell. Losses, perplexity and errors are the better the smaller",
       .choices = {"loss", "accuracy", "top5", "precision", "recall", "f1", "auc", "perplexity", "squared_error",
                   "absolute_error"},
       .identity = true,
       .default_note = "`accuracy`; `loss` where numbers are predicted or labels stand at each step"},
      {.path = "training.exact",
       .target = &training.exact,
       .description =
           "What becomes of a worker whose arithmetic is not the first one's (another processor, GPU, library or "
           "precision that gives other bits): `prefer` lets it train and tells it, `required` refuses it",
       .choices = {"prefer", "required"}},
      {.path = "training.parameter_groups",
       .target = &training.parameter_groups,
       .description =
           "Other settings for some parameters: `[{match: conv*.weight, learning_rate: 0.1, weight_decay: 0.01}, "
           "...]`. "
           "`match` is a parameter's name, in which `*` stands for any characters or none; of several that match the "
           "first counts. `learning_rate` is a factor of the optimizer's, `0` leaves the parameters as they are; "
           "`weight_decay` takes the place of the optimizer's, for biases too; `trust_ratio: false` leaves each of the "
           "parameters without a ratio of its own (`lars`, `lamb`). With `local` they are those of the "
           "inner optimizer",
       .identity = true},
  };
}

std::vector<Key> augment_keys(AugmentSpec& augment) {
  const auto key = [](const std::string& name, Target target, const std::string& description, const std::string& unit,
                      double maximum) {
    return Key{.path = "training.augment." + name,
               .target = target,
               .description = description,
               .unit = unit,
               .minimum = 0,
               .maximum = maximum,
               .only_with = {"data.name", image_sets()},
               .identity = true};
  };
  return {
      key("shift", &augment.shift, "Images are moved by up to so many pixels in each direction; the edge is repeated",
          "pixels", 8),
      key("rotation", &augment.rotation, "They are turned by up to so much in each direction", "degrees", 180),
      key("shear", &augment.shear, "They are sheared: by up to so many pixels sidewards for each pixel down", "", 2),
      key("zoom", &augment.zoom, "They are scaled by a factor between 1 less and 1 more this", "", 0.9),
      key("flip", &augment.flip, "The part of examples that are mirrored, left for right", "", 1),
      key("crop", &augment.crop,
          "They are padded by so many pixels on each side with zeros (after normalization), and a window of their size "
          "is cut out",
          "pixels", 64),
      key("brightness", &augment.brightness, "Values are multiplied by a factor between 1 less and 1 more this", "", 1),
      key("contrast", &augment.contrast,
          "Distances from the image's mean luma are multiplied by a factor between 1 less and 1 more this", "", 1),
      key("saturation", &augment.saturation,
          "Distances from the pixel's luma are multiplied by a factor between 1 less and 1 more this", "", 1),
  };
}

std::vector<Key> optimizer_keys(OptimizerSpec& optimizer, const std::string& section) {
  const OnlyWith sgd = {section + ".name", {"sgd"}};
  const OnlyWith adam = {section + ".name", {"adam", "adamw", "lamb"}};
  const OnlyWith rmsprop = {section + ".name", {"rmsprop"}};
  const auto kept = [&](const std::string& name, double& target, const std::string& description, const OnlyWith& with) {
    return Key{.path = section + "." + name,
               .target = &target,
               .description = description,
               .minimum = 0,
               .maximum = 0.999999,
               .only_with = with,
               .identity = true};
  };
  return {
      {.path = section + ".name",
       .target = &optimizer.name,
       .description = "Stochastic gradient descent, or one that scales each element by what its gradients were; all as "
                      "PyTorch defines them. `lars` and `lamb`, for large batches, also scale each tensor's update by "
                      "the norm of its weights (formulas: common/numeric/optimizer.h)",
       .choices = {"sgd", "adam", "adamw", "adagrad", "rmsprop", "lars", "lamb"},
       .identity = true},
      {.path = section + ".learning_rate",
       .target = &optimizer.learning_rate,
       .description = "Step size, before the schedule's factor",
       .minimum = 1e-12,
       .maximum = 1000,
       .identity = true,
       .default_note = "`0.01`; `sgd` with `training.mode: local`: `1`"},
      kept("momentum", optimizer.momentum, "Share of the previous update that is kept",
           {section + ".name", {"sgd", "rmsprop", "lars"}}),
      {.path = section + ".nesterov",
       .target = &optimizer.nesterov,
       .description = "Momentum that looks ahead (Nesterov's)",
       .only_with = sgd,
       .identity = true},
      kept("beta1", optimizer.beta1, "Share of the running mean of gradients that is kept at each step", adam),
      kept("beta2", optimizer.beta2, "Share of the running mean of squared gradients that is kept at each step", adam),
      kept("alpha", optimizer.alpha, "Share of the running mean of squared gradients that is kept at each step",
           rmsprop),
      {.path = section + ".epsilon",
       .target = &optimizer.epsilon,
       .description = "Added to the root that updates are divided by; `lars`: to the norms that a ratio is divided by",
       .minimum = 1e-20,
       .maximum = 1,
       .only_with = {section + ".name", {"adam", "adamw", "adagrad", "rmsprop", "lars", "lamb"}},
       .identity = true,
       .default_note = "adagrad: `1e-10`; lamb: `1e-06`; others: `1e-08`"},
      {.path = section + ".initial_accumulator",
       .target = &optimizer.initial_accumulator,
       .description = "What each sum of squared gradients begins with",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = {section + ".name", {"adagrad"}},
       .identity = true},
      {.path = section + ".trust_coefficient",
       .target = &optimizer.trust_coefficient,
       .description = "Factor of each tensor's ratio of norms: how far a step goes, as a part of the weights' norm",
       .minimum = 1e-12,
       .maximum = 1000,
       .only_with = {section + ".name", {"lars"}},
       .identity = true},
      {.path = section + ".weight_decay",
       .target = &optimizer.weight_decay,
       .description =
           "Pull of weights towards zero; biases are left alone. With `adamw` weights shrink by learning rate "
           "times decay (decoupled), with `lamb` decay times weight is added to the update before its norm is taken, "
           "with all others to the gradient (L2)",
       .minimum = 0,
       .maximum = 1,
       .identity = true},
  };
}

std::vector<Key> staleness_keys(StalenessSpec& staleness) {
  return {
      {.path = "training.staleness.bound",
       .target = &staleness.bound,
       .description = "Updates by others, at most, that a chunk has had since the weights that an update was computed "
                      "from; a worker that would exceed it waits",
       .unit = "updates",
       .minimum = 1,
       .maximum = 100000,
       .only_with = {"training.mode", {"ssp"}},
       .identity = true,
       .default_note = "*required* with `ssp`"},
      {.path = "training.staleness.damping",
       .target = &staleness.damping,
       .description = "`inverse` divides the learning rate of an update by its staleness, where that is above 1",
       .choices = {"none", "inverse"},
       .only_with = {"training.mode", {"async", "ssp"}},
       .identity = true},
  };
}

std::vector<Key> local_keys(LocalSpec& local) {
  const OnlyWith local_mode = {"training.mode", {"local"}};
  return {
      {.path = "training.local.steps",
       .target = &local.steps,
       .description = "Steps that a slot trains before its change is averaged with the others'; a slot's examples "
                      "(`training.batch / training.slots`) are a multiple of it",
       .unit = "local steps",
       .minimum = 1,
       .maximum = 1000000,
       .only_with = local_mode,
       .identity = true,
       .default_note = "*required* with `local`"},
      {.path = "training.local.partition",
       .target = &local.partition,
       .description = "`mixed`: every slot draws from all examples; `by_class`: the examples, sorted by label, are cut "
                      "into `training.slots` parts, and each slot draws from its own",
       .choices = {"mixed", "by_class"},
       .only_with = local_mode,
       .identity = true},
  };
}

std::vector<Key> local_optimizer_keys(OptimizerSpec& optimizer) {
  auto keys = optimizer_keys(optimizer, "training.local.optimizer");
  for (auto& key : keys) {
    if (key.only_with.key.empty()) {
      key.only_with = {"training.mode", {"local"}};
    }
    if (key.path == "training.local.optimizer.learning_rate") {
      key.description = "Step size of each local step; `training.schedule` does not concern it";
      key.default_note = {};
    }
  }
  return keys;
}

std::vector<Key> schedule_keys(ScheduleSpec& schedule) {
  const std::string name = "training.schedule.name";
  return {
      {.path = name,
       .target = &schedule.name,
       .description = "The factor of the learning rate: always 1, multiplied by `decay_rate` every `decay_steps` steps "
                      "(`step`) or evenly over them (`exponential`), or along half a cosine down to `final_rate`",
       .choices = {"constant", "step", "exponential", "cosine"},
       .identity = true},
      {.path = "training.schedule.decay_steps",
       .target = &schedule.decay_steps,
       .description = "Steps between two decays, or from the end of the warm-up to the end of the cosine",
       .unit = "steps",
       .minimum = 1,
       .maximum = 1e12,
       .only_with = {name, {"step", "exponential", "cosine"}},
       .identity = true,
       .default_note = "cosine: until the job's last step"},
      {.path = "training.schedule.decay_rate",
       .target = &schedule.decay_rate,
       .description = "Factor of each decay",
       .minimum = 1e-6,
       .maximum = 1,
       .only_with = {name, {"step", "exponential"}},
       .identity = true},
      {.path = "training.schedule.warmup_steps",
       .target = &schedule.warmup_steps,
       .description = "First steps, over which the learning rate rises along a line from 0; the schedule begins after "
                      "them",
       .unit = "steps",
       .minimum = 0,
       .maximum = 1e12,
       .identity = true},
      {.path = "training.schedule.final_rate",
       .target = &schedule.final_rate,
       .description = "The cosine's smallest factor, which holds from its end on",
       .minimum = 0,
       .maximum = 1,
       .only_with = {name, {"cosine"}},
       .identity = true},
  };
}

std::vector<Key> clip_keys(ClipSpec& clip) {
  const auto limit = [](const std::string& name, std::optional<double>& target, const std::string& description) {
    return Key{.path = "training.clip." + name,
               .target = &target,
               .description = description,
               .minimum = 1e-12,
               .maximum = 1e12,
               .identity = true};
  };
  return {
      limit("value", clip.value, "Largest magnitude of an element; larger ones are cut to it"),
      limit("tensor_norm", clip.tensor_norm,
            "Largest Euclidean norm of one parameter's gradient; a larger gradient is scaled down to it"),
      limit("global_norm", clip.global_norm,
            "Largest Euclidean norm of the whole gradient, over all shards; a larger one is scaled down to it"),
  };
}

std::vector<Key> weight_average_keys(WeightAverageSpec& average) {
  return {
      {.path = "training.weight_average.decay",
       .target = &average.decay,
       .description =
           "Share of the average that is kept at each step; the rest is the step's new weights. As PyTorch's "
           "`AveragedModel` with `get_ema_multi_avg_fn(decay)`; running statistics are not averaged",
       .minimum = 0,
       .maximum = 0.999999,
       .identity = true,
       .default_note = "no average is kept"},
      {.path = "training.weight_average.begins_at_step",
       .target = &average.begins_at_step,
       .description = "Steps after which the average begins, as a copy of the weights; until then it is the weights",
       .unit = "steps",
       .minimum = 0,
       .maximum = 1e12,
       .identity = true,
       .default_note = "`1`"},
  };
}

std::vector<Key> early_stop_keys(EarlyStopSpec& early_stop) {
  return {
      {.path = "training.early_stop.patience",
       .target = &early_stop.patience,
       .description = "Evaluations without a better validation (`training.best_by`) after which the job ends",
       .unit = "evaluations",
       .minimum = 0,
       .maximum = 1000000,
       .identity = true,
       .default_note = "`0`: never"},
      {.path = "training.early_stop.min_delta",
       .target = &early_stop.min_delta,
       .description =
           "By how much a validation must be better than the best so far to count, in what `training.best_by` names "
           "(accuracy is 0 to 1)",
       .minimum = 0,
       .maximum = 1000000,
       .identity = true},
  };
}

}  // namespace

std::vector<Key> training_keys(TrainingSpec& training) {
  auto keys = keys_of_training(training);
  append(keys, augment_keys(training.augment));
  append(keys, optimizer_keys(training.optimizer, "training.optimizer"));
  append(keys, staleness_keys(training.staleness));
  append(keys, local_keys(training.local));
  append(keys, local_optimizer_keys(training.local.optimizer));
  append(keys, schedule_keys(training.schedule));
  append(keys, clip_keys(training.clip));
  append(keys, weight_average_keys(training.weight_average));
  append(keys, early_stop_keys(training.early_stop));
  return keys;
}

}  // namespace ballast

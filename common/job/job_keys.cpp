// The table of the keys of job files.
#include "common/job/schema.h"

namespace ballast {
namespace {

constexpr double kMaxU64 = 18446744073709551615.0;

std::vector<Section> job_sections() {
  return {
      {"model", "What is trained."},
      {"data", "What it is trained on."},
      {"training", "How it is trained. Everything here decides the bits of the result."},
      {"training.augment", "How training examples are changed at random, anew in every epoch; never test examples."},
      {"training.optimizer", "How a step's mean gradient changes the weights."},
      {"training.schedule", "How the learning rate changes over the steps."},
      {"training.clip", "Limits on gradients."},
      {"cluster",
       "How many processes there are and how they talk. Nothing here changes the result: the same job on 1 worker or "
       "12 gives the same bits."},
      {"durability", "What is kept on disk."},
  };
}

std::vector<Key> model_keys(ModelSpec& model) {
  const OnlyWith mlp = {"model.name", {"mlp"}};
  const OnlyWith emulated = {"model.name", {"emulated"}};
  return {
      {.path = "model.name",
       .target = &model.name,
       .description =
           "The network: `mlp` is a perceptron with ReLU, `lenet5` a small convolutional network, `emulated` "
           "a stand-in with any parameters that waits instead of computing",
       .choices = {"mlp", "lenet5", "emulated"},
       .required = true,
       .identity = true},
      {.path = "model.hidden",
       .target = &model.hidden,
       .description = "Units of each hidden layer, from input to output",
       .unit = "units",
       .minimum = 1,
       .maximum = 65536,
       .only_with = mlp,
       .identity = true},
      {.path = "model.preset",
       .target = &model.preset,
       .description = "A known list of parameters instead of `model.parameters`: `resnet50` is its 161 tensors, "
                      "25,557,032 floats",
       .choices = {"resnet50"},
       .only_with = emulated,
       .identity = true},
      {.path = "model.parameters",
       .target = &model.parameters,
       .description = "The parameters, first layer first: `[{name: fc.weight, shape: [1000, 2048]}, ...]`",
       .minimum = 1,
       .maximum = 4294967295.0,
       .only_with = emulated,
       .identity = true},
      {.path = "model.compute_ms",
       .target = &model.compute_ms,
       .description = "Time that the gradient of one slot takes; a wait, so workers that share a machine do not slow "
                      "each other down",
       .unit = "milliseconds",
       .minimum = 0,
       .maximum = 3600000,
       .only_with = emulated,
       .identity = true},
      {.path = "model.gradient",
       .target = &model.gradient,
       .description =
           "`hashed` makes each gradient from seed, step, slot, element and weight, so that a wrong sum shows; "
           "`fixed` makes it once, so that transport is measured alone",
       .choices = {"hashed", "fixed"},
       .only_with = emulated,
       .identity = true},
  };
}

std::vector<Key> data_keys(DataSpec& data) {
  return {
      {.path = "data.name",
       .target = &data.name,
       .description = "The data set: `mnist` is read from files, `glyphs` (digits drawn by a generator) needs none, "
                      "`none` is for emulated models",
       .choices = {"mnist", "glyphs", "none"},
       .required = true,
       .identity = true},
      {.path = "data.path",
       .target = &data.path,
       .description = "Folder of the data files",
       .only_with = {"data.name", {"mnist"}},
       .default_note = "$BALLAST_DATA, then ~/.cache/ballast"},
      {.path = "data.train_examples",
       .target = &data.train_examples,
       .description = "Examples of an epoch: the first ones of the train split",
       .unit = "examples",
       .minimum = 0,
       .maximum = 1000000,
       .identity = true,
       .default_note = "mnist: all 60,000; glyphs: 20,000; none: 1,000,000"},
      {.path = "data.test_examples",
       .target = &data.test_examples,
       .description = "Examples that each evaluation looks at: the first ones of the test split",
       .unit = "examples",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = {"data.name", {"mnist", "glyphs"}},
       .identity = true,
       .default_note = "mnist: all 10,000; glyphs: 4,000"},
  };
}

std::vector<Key> training_keys(TrainingSpec& training) {
  return {
      {.path = "training.mode",
       .target = &training.mode,
       .description = "`sync`: each step is the mean gradient over all its slots, computed from the same weights",
       .choices = {"sync"},
       .not_built = {"async", "ssp", "local"},
       .identity = true},
      {.path = "training.slots",
       .target = &training.slots,
       .description = "Fixed micro-batches that a step's batch is cut into, whatever the number of workers; at most so "
                      "many workers find work",
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
      {.path = "training.augment.shift",
       .target = &training.augment.shift,
       .description = "Images are moved by up to so many pixels in each direction; the edge is repeated",
       .unit = "pixels",
       .minimum = 0,
       .maximum = 8,
       .only_with = {"data.name", {"mnist", "glyphs"}},
       .identity = true},
  };
}

std::vector<Key> optimizer_keys(OptimizerSpec& optimizer) {
  return {
      {.path = "training.optimizer.name",
       .target = &optimizer.name,
       .description = "`sgd`: stochastic gradient descent with momentum and weight decay, as PyTorch defines it",
       .choices = {"sgd"},
       .not_built = {"adam", "adamw", "adagrad", "lars", "lamb"},
       .identity = true},
      {.path = "training.optimizer.learning_rate",
       .target = &optimizer.learning_rate,
       .description = "Step size",
       .minimum = 1e-12,
       .maximum = 1000,
       .identity = true},
      {.path = "training.optimizer.momentum",
       .target = &optimizer.momentum,
       .description = "Share of the previous update that is kept",
       .minimum = 0,
       .maximum = 0.999999,
       .identity = true},
      {.path = "training.optimizer.weight_decay",
       .target = &optimizer.weight_decay,
       .description = "Pull of weights towards zero, added to the gradient; biases are left alone",
       .minimum = 0,
       .maximum = 1,
       .identity = true},
  };
}

std::vector<Key> schedule_keys(ScheduleSpec& schedule) {
  return {
      {.path = "training.schedule.name",
       .target = &schedule.name,
       .description = "`constant`: the learning rate of every step is `training.optimizer.learning_rate`",
       .choices = {"constant"},
       .not_built = {"exponential", "step", "cosine"},
       .identity = true},
      {.path = "training.schedule.decay_steps",
       .description = "Steps between two decays, or until the end of a cosine",
       .unit = "steps"},
      {.path = "training.schedule.decay_rate", .description = "Factor of each decay"},
      {.path = "training.schedule.warmup_steps",
       .description = "First steps, over which the learning rate rises from 0",
       .unit = "steps"},
      {.path = "training.clip.global_norm", .description = "Largest norm of a step's whole gradient"},
  };
}

std::vector<Key> cluster_keys(ClusterSpec& cluster) {
  return {
      {.path = "cluster.shards",
       .target = &cluster.shards,
       .description = "Server processes that the weights are spread over",
       .unit = "processes",
       .minimum = 1,
       .maximum = 64},
      {.path = "cluster.workers",
       .target = &cluster.workers,
       .description = "Worker processes that `ballast run` starts; more may join at any time",
       .unit = "processes",
       .minimum = 1,
       .maximum = 256},
      {.path = "cluster.lanes",
       .target = &cluster.lanes,
       .description = "Threads of each shard that serve and update weights",
       .unit = "threads",
       .minimum = 1,
       .maximum = 16},
      {.path = "cluster.start_workers",
       .target = &cluster.start_workers,
       .description = "Training starts when so many workers have said hello; at most `cluster.workers`",
       .unit = "processes",
       .minimum = 1,
       .maximum = 256},
      {.path = "cluster.transport",
       .target = &cluster.transport,
       .description = "What the processes of `ballast run` talk over: `ipc` (sockets in the run's folder) or `tcp` "
                      "(loopback)",
       .choices = {"ipc", "tcp"}},
  };
}

std::vector<Key> durability_keys(DurabilitySpec& durability) {
  return {
      {.path = "durability.mode",
       .target = &durability.mode,
       .description = "`final`: the job's identity and its final weights; a shard that dies takes the job back to its "
                      "start",
       .choices = {"final"},
       .not_built = {"snapshot", "journal"}},
      {.path = "durability.every_steps", .description = "Steps between two snapshots", .unit = "steps"},
      {.path = "durability.keep", .description = "Snapshots that are kept", .unit = "snapshots"},
  };
}

void append(std::vector<Key>& keys, std::vector<Key> more) {
  keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Schema job_schema(JobSpec& spec) {
  Schema schema;
  schema.sections = job_sections();
  schema.keys = {{.path = "job",
                  .target = &spec.job,
                  .description = "Name of the job: in paths, metrics and messages",
                  .rule = TextRule::job_name,
                  .required = true,
                  .identity = true}};
  append(schema.keys, model_keys(spec.model));
  append(schema.keys, data_keys(spec.data));
  append(schema.keys, training_keys(spec.training));
  append(schema.keys, optimizer_keys(spec.training.optimizer));
  append(schema.keys, schedule_keys(spec.training.schedule));
  append(schema.keys, cluster_keys(spec.cluster));
  append(schema.keys, durability_keys(spec.durability));
  return schema;
}

}  // namespace ballast

// The table of the keys of job files.
#include "common/job/schema.h"

namespace ballast {
namespace {

constexpr double kMaxU64 = 18446744073709551615.0;
constexpr double kWeek = 7 * 24 * 3600;  // seconds

std::vector<Section> job_sections() {
  return {
      {"model", "What is trained."},
      {"data", "What it is trained on."},
      {"training", "How it is trained. Everything here decides the bits of the result."},
      {"training.augment", "How training examples are changed at random, anew in every epoch; never test examples."},
      {"training.optimizer",
       "How a step's mean gradient changes the weights; with `training.mode: local` the outer optimizer, whose "
       "gradient "
       "is the slots' mean change, negated: `sgd` with learning rate 1 is plain averaging."},
      {"training.staleness", "What becomes of updates from weights that have changed since."},
      {"training.local", "What each slot does between two averagings."},
      {"training.local.optimizer",
       "The inner optimizer: how each local step changes a slot's copy of the weights. Its state starts anew with each "
       "step of the job."},
      {"training.schedule", "How the learning rate changes over the steps."},
      {"training.clip",
       "Limits on the gradient, before the optimizer sees it; at most one of them. With `sync` of a step's mean "
       "gradient, with `local` of each local step's, with `async` and `ssp` of each slot's."},
      {"training.early_stop", "When a job ends before its last step."},
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
       .description = "Time that the gradient of one slot (with `local`: of one local step) takes; a wait, so workers "
                      "that share a machine do not slow "
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
  const OnlyWith images = {"data.name", {"mnist", "glyphs"}};
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
       .only_with = images,
       .identity = true,
       .default_note = "mnist: all 10,000; glyphs: 4,000"},
      {.path = "data.validation_examples",
       .target = &data.validation_examples,
       .description =
           "The last ones of `data.train_examples`, held out to validate with: an epoch trains on the others",
       .unit = "examples",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = images,
       .identity = true,
       .default_note = "`0`: none"},
      {.path = "data.digest",
       .target = &data.digest,
       .description =
           "The digest that each worker's data must have, over the set and examples as the worker decodes them; a "
           "worker with another is refused. `ballast status` and the summary tell it",
       .rule = TextRule::data_digest,
       .default_note = "that of the first ready worker"},
  };
}

std::vector<Key> training_keys(TrainingSpec& training) {
  const OnlyWith images = {"data.name", {"mnist", "glyphs"}};
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
      {.path = "training.non_finite",
       .target = &training.non_finite,
       .description = "What happens at a step whose gradient has an infinity or a NaN: `halt` fails the job and names "
                      "slot and parameter; `skip` leaves weights and optimizer state as they are; `rollback` goes back "
                      "to the newest snapshot and leaves out all steps from there through this one",
       .choices = {"halt", "skip", "rollback"}},
      {.path = "training.evaluate_every_epochs",
       .target = &training.evaluate_every_epochs,
       .description = "Epochs from one evaluation to the next; the end of the job is always evaluated",
       .unit = "epochs",
       .minimum = 1,
       .maximum = 1000000,
       .only_with = images,
       .identity = true},
      {.path = "training.keep_best",
       .target = &training.keep_best,
       .description = "Keep the snapshot with the best validation accuracy, however old it grows"},
      {.path = "training.exact",
       .target = &training.exact,
       .description =
           "What becomes of a worker whose arithmetic is not the first one's (another processor, GPU, library or "
           "precision that gives other bits): `prefer` lets it train and tells it, `required` refuses it",
       .choices = {"prefer", "required"}},
      {.path = "training.augment.shift",
       .target = &training.augment.shift,
       .description = "Images are moved by up to so many pixels in each direction; the edge is repeated",
       .unit = "pixels",
       .minimum = 0,
       .maximum = 8,
       .only_with = images,
       .identity = true},
  };
}

std::vector<Key> optimizer_keys(OptimizerSpec& optimizer, const std::string& section) {
  const OnlyWith sgd = {section + ".name", {"sgd"}};
  const OnlyWith adam = {section + ".name", {"adam", "adamw"}};
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
                      "PyTorch defines them (formulas: common/numeric/optimizer.h)",
       .choices = {"sgd", "adam", "adamw", "adagrad", "rmsprop"},
       .not_built = {"lars", "lamb"},
       .identity = true},
      {.path = section + ".learning_rate",
       .target = &optimizer.learning_rate,
       .description = "Step size, before the schedule's factor",
       .minimum = 1e-12,
       .maximum = 1000,
       .identity = true,
       .default_note = "`0.01`; `sgd` with `training.mode: local`: `1`"},
      kept("momentum", optimizer.momentum, "Share of the previous update that is kept",
           {section + ".name", {"sgd", "rmsprop"}}),
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
       .description = "Added to the root that updates are divided by",
       .minimum = 1e-20,
       .maximum = 1,
       .only_with = {section + ".name", {"adam", "adamw", "adagrad", "rmsprop"}},
       .identity = true,
       .default_note = "adagrad: `1e-10`; others: `1e-08`"},
      {.path = section + ".initial_accumulator",
       .target = &optimizer.initial_accumulator,
       .description = "What each sum of squared gradients begins with",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = {section + ".name", {"adagrad"}},
       .identity = true},
      {.path = section + ".weight_decay",
       .target = &optimizer.weight_decay,
       .description =
           "Pull of weights towards zero; biases are left alone. With `adamw` weights shrink by learning rate "
           "times decay (decoupled), with all others decay times weight is added to the gradient (L2)",
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

std::vector<Key> early_stop_keys(EarlyStopSpec& early_stop) {
  return {
      {.path = "training.early_stop.patience",
       .target = &early_stop.patience,
       .description = "Evaluations without a better validation accuracy after which the job ends",
       .unit = "evaluations",
       .minimum = 0,
       .maximum = 1000000,
       .identity = true,
       .default_note = "`0`: never"},
      {.path = "training.early_stop.min_delta",
       .target = &early_stop.min_delta,
       .description = "By how much validation accuracy (0 to 1) must exceed the best so far to count as better",
       .minimum = 0,
       .maximum = 1,
       .identity = true},
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
      {.path = "cluster.io_threads",
       .target = &cluster.io_threads,
       .description = "Threads of each server, and of each worker for its lanes, that move bytes between sockets and "
                      "memory",
       .unit = "threads",
       .minimum = 0,
       .maximum = 64,
       .default_note = "`0`: as many as `cluster.lanes`"},
      {.path = "cluster.socket_buffer_bytes",
       .target = &cluster.socket_buffer_bytes,
       .description = "Size of the system's buffers of each connection to a lane, in each direction. A given size ends "
                      "the kernel's own tuning, and many kernels cut it to 208 KiB (net.core.wmem_max, rmem_max)",
       .unit = "bytes",
       .minimum = 0,
       .maximum = 1073741824,
       .default_note = "`0`: the kernel tunes it"},
      {.path = "cluster.patience",
       .target = &cluster.patience,
       .description = "How long the job waits for a shard or a lead that is gone, before it fails",
       .unit = "seconds",
       .minimum = 1,
       .maximum = kWeek},
      {.path = "cluster.stop_patience",
       .target = &cluster.stop_patience,
       .description = "How long a job that is told to stop waits for a snapshot, before it ends without one: it is "
                      "resumed from what is durable",
       .unit = "seconds",
       .minimum = 0,
       .maximum = kWeek},
  };
}

std::vector<Key> durability_keys(DurabilitySpec& durability) {
  const OnlyWith snapshot = {"durability.mode", {"snapshot", "journal"}};
  return {
      {.path = "durability.mode",
       .target = &durability.mode,
       .description = "`snapshot`: weights and optimizer state at regular steps and at the end; a shard that dies "
                      "takes the job back to the newest. `final`: the final weights alone; a shard that dies takes the "
                      "job back to its start. `journal`: snapshots, and each update between them; with `async` and "
                      "`ssp` only",
       .choices = {"snapshot", "final", "journal"},
       .default_note = "`sync`, `local`: `snapshot`; `async`, `ssp`: `journal`"},
      {.path = "durability.fsync",
       .target = &durability.fsync,
       .description = "When the journal is forced to the disk: `always` before an update counts, `interval` every "
                      "`fsync_interval_ms`, `never` when the system does it. A process that dies loses nothing either "
                      "way; a power cut may lose what was not forced",
       .choices = {"always", "interval", "never"},
       .only_with = {"durability.mode", {"journal"}}},
      {.path = "durability.fsync_interval_ms",
       .target = &durability.fsync_interval_ms,
       .description = "Time between two such moments",
       .unit = "milliseconds",
       .minimum = 1,
       .maximum = 60000,
       .only_with = {"durability.fsync", {"interval"}}},
      {.path = "durability.journal_budget_mb",
       .target = &durability.journal_budget_mb,
       .description =
           "What the journal of a shard may come to: where the updates of `every_steps` steps take more than "
           "half of it, snapshots are taken after fewer steps",
       .unit = "megabytes",
       .minimum = 1,
       .maximum = 1000000000,
       .only_with = {"durability.mode", {"journal"}}},
      {.path = "durability.every_steps",
       .target = &durability.every_steps,
       .description = "Steps between two snapshots; fewer lose less when a server dies and write more",
       .unit = "steps",
       .minimum = 1,
       .maximum = 1000000000,
       .only_with = snapshot},
      {.path = "durability.keep",
       .target = &durability.keep,
       .description = "Complete snapshots that are kept; older ones are deleted",
       .unit = "snapshots",
       .minimum = 1,
       .maximum = 1000,
       .only_with = snapshot},
      {.path = "durability.copy_to",
       .target = &durability.copy_to,
       .description =
           "Where complete snapshots are copied to, one after the other, so that the loss of a disk is not the loss of "
           "the job",
       .rule = TextRule::copy_target,
       .only_with = snapshot,
       .default_note = "no copies"},
      {.path = "durability.copy_patience",
       .target = &durability.copy_patience,
       .description = "How long all shards may take to copy a snapshot; then a newer one is copied in its place, and "
                      "that there is no copy is told as trouble. At its end a job waits no longer for its last copy",
       .unit = "seconds",
       .minimum = 1,
       .maximum = kWeek,
       .only_with = snapshot},
      {.path = "durability.s3_endpoint",
       .target = &durability.s3_endpoint,
       .description = "Address of the S3-compatible storage of an `s3://` copy",
       .rule = TextRule::http_url,
       .only_with = snapshot},
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
  append(schema.keys, optimizer_keys(spec.training.optimizer, "training.optimizer"));
  append(schema.keys, staleness_keys(spec.training.staleness));
  append(schema.keys, local_keys(spec.training.local));
  append(schema.keys, local_optimizer_keys(spec.training.local.optimizer));
  append(schema.keys, schedule_keys(spec.training.schedule));
  append(schema.keys, clip_keys(spec.training.clip));
  append(schema.keys, early_stop_keys(spec.training.early_stop));
  append(schema.keys, cluster_keys(spec.cluster));
  append(schema.keys, durability_keys(spec.durability));
  return schema;
}

}  // namespace ballast

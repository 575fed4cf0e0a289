// The table of the keys of job files.
#include "common/job/key_tables.h"

namespace ballast {
namespace {

constexpr double kWeek = 7 * 24 * 3600;  // seconds

std::vector<Section> job_sections() {
  return {
      {"model", "What is trained."},
      {"data", "What it is trained on."},
      {"data.strip", "What of a message is not read (docs/data-text.md)."},
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
      {"training.weight_average",
       "A moving average of the weights (docs/modes.md), which is evaluated, exported and predicted from in their "
       "place; "
       "training goes on from the weights themselves."},
      {"training.early_stop", "When a job ends before its last step."},
      {"cluster",
       "How many processes there are and how they talk. Nothing here changes the result: the same job on 1 worker or "
       "12 gives the same bits."},
      {"durability", "What is kept on disk."},
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
      {.path = "cluster.memory_mib",
       .target = &cluster.memory_mib,
       .description =
           "Memory of each server process. What its shard needs whatever happens is taken off (`ballast plan` lists "
           "it); the rest is for contributions, by the bytes that each lane owns: with more of it workers wait less. "
           "A server does not start with too little; `ballast plan` says how much it needs, and how much it can make "
           "use of. Where several servers run on one machine each may take what the default says: then give it. The "
           "kernel's buffers of connections are beside it",
       .unit = "MiB",
       .minimum = 0,
       .maximum = kMaxMemoryMib,
       .is_new = true,
       .default_note = "`0`: what `cluster.workers` can make use of, at most half of what the machine or the control "
                       "group has"},
      {.path = "cluster.link_mbit",
       .target = &cluster.link_mbit,
       .description =
           "What the network link of each server's machine carries, each way; servers of one machine share it, "
           "containers have theirs. For `ballast analyze` alone: a link that is in nobody's way shows nothing "
           "(docs/slow-jobs.md)",
       .unit = "Mbit/s",
       .minimum = 0,
       .maximum = kMaxLinkMbit,
       .is_new = true,
       .default_note = "`0`: not known"},
      {.path = "cluster.divide_by_speed",
       .target = &cluster.divide_by_speed,
       .description = "Each worker gets as many of a step's slots as its speed and its link allow, as the lead learns "
                      "them; else all get as many. Changes no bit; in `sync` and `local`",
       .is_new = true},
      {.path = "cluster.redistribute",
       .target = &cluster.redistribute,
       .description = "Within a step, workers that have nothing left take slots of those that end last, or of which "
                      "nothing is heard; else only of those that are lost. Changes no bit; in `sync` and `local`",
       .is_new = true},
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
      {.path = "cluster.hold_patience",
       .target = &cluster.hold_patience,
       .description =
           "How long a server that is told to end (SIGTERM) waits for the snapshot at which the job holds for "
           "it, before it ends without one and the job goes back; at most `cluster.stop_patience`. Less than "
           "the time after which a service manager kills",
       .unit = "seconds",
       .minimum = 0,
       .maximum = kWeek,
       .is_new = true},
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
       .description =
           "When the journal is forced to the disk: `always` before an update counts, `interval` every "
           "`fsync_interval_ms`, `never` when the system does it. A process that dies loses nothing either "
           "way; a power cut may lose what was not forced. Each time all stop, for an evaluation or a snapshot, it is "
           "forced whatever this says",
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
      {.path = "durability.copy_key_file",
       .target = &durability.copy_key_file,
       .description = "File on each server with the key by which copies are encrypted before they leave it (`ballast "
                      "keygen --copies FILE`); read anew when it changes. Without the key nobody can restore them",
       .only_with = snapshot,
       .is_new = true,
       .default_note = "they are not encrypted"},
      {.path = "durability.copy_patience",
       .target = &durability.copy_patience,
       .description = "How long all shards may take to copy a snapshot; then a newer one is copied in its place, and "
                      "that there is no copy is told as trouble. At its end a job waits no longer for its last copy",
       .unit = "seconds",
       .minimum = 1,
       .maximum = kWeek,
       .only_with = snapshot},
      {.path = "durability.run",
       .target = &durability.run,
       .description =
           "Name of this run, which no other run of the job has: copies are kept under it, and a server whose "
           "disk is lost restores its part from the newest complete copy by itself; the whole job goes back "
           "to it",
       .rule = TextRule::job_name,
       .only_with = snapshot,
       .is_new = true,
       .default_note = "drawn at random; then a lost disk is restored by `ballast restore` alone"},
      {.path = "durability.s3_credentials_file",
       .target = &durability.s3_credentials_file,
       .description = "File on each server with the keys of an `s3://` copy, as the AWS command line has it "
                      "(`~/.aws/credentials`); read anew when it changes",
       .only_with = snapshot,
       .is_new = true,
       .default_note = "they are in the servers' environment"},
      {.path = "durability.s3_endpoint",
       .target = &durability.s3_endpoint,
       .description = "Address of the S3-compatible storage of an `s3://` copy",
       .rule = TextRule::http_url,
       .only_with = snapshot},
      {.path = "durability.s3_encryption",
       .target = &durability.s3_encryption,
       .description =
           "What the storage of an `s3://` copy is told to encrypt objects by, with keys of its own: `AES256`, "
           "or `aws:kms`, its key management. `none`: it is told nothing, and does what its bucket says",
       .choices = {"none", "AES256", "aws:kms"},
       .only_with = snapshot,
       .is_new = true},
      {.path = "durability.s3_kms_key_id",
       .target = &durability.s3_kms_key_id,
       .description = "Name of the key of the storage's key management",
       .only_with = {"durability.s3_encryption", {"aws:kms"}},
       .is_new = true,
       .default_note = "the storage's own"},
  };
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
  append(schema.keys, example_file_keys(spec.data));
  append(schema.keys, training_keys(spec.training));
  append(schema.keys, cluster_keys(spec.cluster));
  append(schema.keys, durability_keys(spec.durability));
  return schema;
}

}  // namespace ballast

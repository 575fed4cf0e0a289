// The table of the keys of worker files.
#include "common/job/schema.h"
#include "common/log/levels.h"

namespace ballast {

Schema worker_schema(WorkerSpec& spec) {
  Schema schema;
  schema.keys = {
      {.path = "lead",
       .target = &spec.lead,
       .description = "Address of the lead, the one thing a worker must be told: `tcp://host:port` or `ipc://path`",
       .rule = TextRule::endpoint,
       .required = true},
      {.path = "keys",
       .target = &spec.keys,
       .description = "File of this worker's keys (`ballast keygen`): servers that have keys let in nobody without one",
       .default_note = "none"},
      {.path = "data_path",
       .target = &spec.data_path,
       .description = "Folder of the data files on this machine; no other is searched then",
       .default_note = "the job's `data.path`, then $BALLAST_DATA, then ~/.cache/ballast"},
      {.path = "metrics_address",
       .target = &spec.metrics_address,
       .description = "Where metrics are served over HTTP: `host:port`; port 0 takes a free one",
       .rule = TextRule::host_port,
       .default_note = "not served"},
      {.path = "log_file",
       .target = &spec.log_file,
       .description = "File that the log is appended to",
       .default_note = "standard error"},
      {.path = "log_level",
       .target = &spec.log_level,
       .description = "Least important messages that are logged",
       .choices = {kLogLevelNames.begin(), kLogLevelNames.end()}},
      {.path = "log_megabytes",
       .target = &spec.log_megabytes,
       .description =
           "A log file that is larger is put aside as `FILE.1`, the one before as `FILE.2` and so on; 0: never",
       .unit = "MB",
       .minimum = 0,
       .maximum = 1'000'000},
      {.path = "log_files",
       .target = &spec.log_files,
       .description = "How many log files are kept, the newest included",
       .minimum = 1,
       .maximum = 1000},
      {.path = "name",
       .target = &spec.name,
       .description = "Shown for this worker in metrics and status",
       .default_note = "host name and process id"},
      {.path = "backend",
       .target = &spec.backend,
       .description =
           "What computes: the processor (`cpu`) or an NVIDIA GPU (`cuda`); `auto` takes a GPU where one can be "
           "had, and says in the log why not. CPU and GPU give other last bits (docs/backends.md)",
       .choices = {"auto", "cpu", "cuda"}},
      {.path = "device",
       .target = &spec.device,
       .description = "Which GPU, as CUDA counts those it may see; several GPUs are several workers",
       .minimum = 0,
       .maximum = 63},
      {.path = "link_mbit",
       .target = &spec.link_mbit,
       .description = "What this machine's network link carries, each way. For `ballast analyze` alone: a link that is "
                      "in nobody's way shows nothing (docs/slow-jobs.md)",
       .unit = "Mbit/s",
       .minimum = 0,
       .maximum = kMaxLinkMbit,
       .default_note = "`0`: not known"},
  };
  return schema;
}

}  // namespace ballast

#include "cli/before/check.h"

#include <algorithm>
#include <cstdio>
#include <variant>

#include "cli/before/backend_probe.h"
#include "cli/before/shapes.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/mode_text.h"
#include "common/job/model_graph.h"
#include "common/job/shard_bytes.h"
#include "common/telling/amounts.h"
#include "worker/data/datasets.h"
#include "worker/data/failures.h"

namespace ballast {

namespace {

constexpr std::uint32_t kFewForBatchNorm = 8;  // examples

std::uint64_t count_parameters(const Arena& arena) {
  std::uint64_t count = 0;
  for (const auto& extent : arena.extents) {
    count += extent.elements;
  }
  return count;
}

bool normalizes_batches(const Job& job) {
  if (!has_graph(job.spec.model)) {
    return false;
  }
  const auto graph = model_graph(job.spec.model, job.shape);
  return std::ranges::any_of(graph.layers,
                             [](const auto& named) { return std::holds_alternative<BatchNorm>(named.layer); });
}

void print_summary(const Job& job) {
  const auto& training = job.spec.training;
  const auto& cluster = job.spec.cluster;
  std::printf("job         %s: %s on %s\n", job.spec.job.c_str(), job.spec.model.name.c_str(),
              job.spec.data.name.c_str());
  std::printf("mode        %s\n", mode_text(training).c_str());
  std::printf("steps       %llu, %llu per epoch\n", number(job.steps.steps), number(job.steps.steps_per_epoch));
  std::printf("examples    %u to train on, %u to test on; %u per step in %u slots of %u\n", job.sizes.train,
              job.sizes.test, training.batch, training.slots, training.batch / training.slots);
  std::printf("model       %zu parameters of %llu floats in all, %llu bytes\n", job.arena.parameters.size(),
              number(count_parameters(job.arena)), number(count_parameters(job.arena) * sizeof(float)));
  std::printf("chunks      %zu\n", job.arena.chunks.size());
  std::printf("cluster     %s, %s of %s, over %s\n", count_text(cluster.workers, "worker").c_str(),
              count_text(cluster.shards, "shard").c_str(), count_text(cluster.lanes, "lane").c_str(),
              cluster.transport.c_str());
  if (job.sizes.train < training.batch) {
    std::printf("note        training.batch is more than the examples of an epoch: each step takes all %u of them\n",
                job.sizes.train);
  }
  if (normalizes_batches(job)) {
    std::printf("batch norm  %s\n", batch_norm_text(training).c_str());
  }
  if (const auto idle = idle_workers_text(job.spec); !idle.empty()) {
    std::printf("note        %s\n", idle.c_str());
  }
  for (const auto& note : cluster_notes(job.spec)) {
    std::printf("note        %s\n", note.c_str());
  }
  if (training.precision != "float32") {
    std::printf("precision   %s\n", training.precision.c_str());
    for (const auto& line : precision_notes("auto", training.precision)) {
      std::printf("note        %s\n", line.c_str());
    }
  }
  std::printf("durability  %s\n", durability_text(job.spec.durability).c_str());
  if (const auto text = journal_cuts_text(job); !text.empty()) {
    std::printf("note        %s\n", text.c_str());
  }
  std::printf("job digest  %s\n", job.spec_digest.c_str());
}

std::string compute_text(const WorkerSpec& worker) {
  const std::string gpu = "GPU " + std::to_string(worker.device);
  return worker.backend == "cpu" ? "the cpu" : worker.backend == "cuda" ? gpu : gpu + " if it can be had, else the cpu";
}

void print_summary(const WorkerSpec& worker) {
  const auto or_default = [](const std::string& value, const char* text) {
    return value.empty() ? text : value.c_str();
  };
  std::printf("lead        %s\n", worker.lead.c_str());
  std::printf("name        %s\n", or_default(worker.name, "host name and process id"));
  std::printf("data        %s\n", or_default(worker.data_path, "as the job says, $BALLAST_DATA, or the cache folder"));
  std::printf("computes on %s\n", compute_text(worker).c_str());
  std::printf("metrics     %s\n", or_default(worker.metrics_address, "not served"));
  std::printf("log         %s, level %s\n", or_default(worker.log_file, "standard error"), worker.log_level.c_str());
}

}  // namespace

std::string batch_norm_text(const TrainingSpec& training) {
  auto examples = training.batch / training.slots;
  std::string of = "a slot (training.batch / training.slots)";
  if (training.mode == Mode::local) {
    examples /= training.local.steps;
    of = "a local step (training.batch / training.slots / training.local.steps)";
  }
  if (training.micro_batch > 0 && training.micro_batch < examples) {
    examples = training.micro_batch;
    of = "training.micro_batch";
  }
  const bool few = examples < kFewForBatchNorm;
  return "statistics are over " + std::to_string(examples) + " examples, those of " + of + ", not over the step's " +
         std::to_string(training.batch) +
         (few ? "; that is few for most networks: use fewer slots or a larger batch (docs/models.md)" : "");
}

namespace {

template <typename Summarize>
int check(const Summarize& summarize) {
  try {
    summarize();
    return 0;
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  } catch (const BadData& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace

int check_job(const std::string& file, const std::vector<std::string>& overrides, DataLook look) {
  bool good = true;
  const int code = check([&] {
    const auto job = make_job(load_job(file, overrides, Fit::judged));
    print_summary(job);
    if (look != DataLook::none) {
      good = look_at_data(job, look);
    } else if (reads_files(job.spec.data)) {
      std::printf("note        the data were not looked at; --data opens them as workers do\n");
    }
  });
  return good ? code : kExitBadJob;
}

int check_shapes(const std::string& file, const std::vector<std::string>& overrides) {
  return check([&] {
    const auto spec = load_job(file, overrides);
    if (!has_graph(spec.model)) {
      throw ConfigError(file + ": model.name: an emulated model has no layers whose shapes could be shown");
    }
    std::printf("%s", shapes_text(model_graph(spec.model, example_shape(spec.data))).c_str());
  });
}

int check_worker(const std::string& file, const std::vector<std::string>& overrides) {
  return check([&] { print_summary(load_worker(file, overrides)); });
}

}  // namespace ballast

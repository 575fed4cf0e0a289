// Training a real, small network: what the cluster leaves of the model's own speed.
#include <span>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/local_cluster.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/torch.h"
#include "common/arena/initial.h"
#include "common/job/load.h"
#include "worker/data/pipeline.h"
#include "worker/models/model.h"

namespace ballast::bench {

namespace {

constexpr double kLeNet5Seconds = 4;

// Few test examples, so that the evaluation at each epoch's end hardly counts.
constexpr const char* kLeNet5Job =
    "job: bench-lenet5\n"
    "model: {name: lenet5}\n"
    "data: {name: glyphs, train_examples: 20000, test_examples: 100}\n"
    "training: {batch: 128, slots: 8, max_steps: 1000000000, seed: 1, optimizer: {name: sgd, learning_rate: 0.02, "
    "momentum: 0.9, weight_decay: 0.0005}}\n"
    "cluster: {shards: 1, lanes: 1, workers: 1, transport: ipc}\n";

struct LeNet5Speed {
  double images_per_second = 0;
  double cpu_us = 0;  // processor time for an image, all processes and threads
};

std::vector<float> initial_weights(const Arena& arena, std::uint64_t seed) {
  std::vector<float> weights(arena.elements);
  for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
    const auto [offset, elements] = arena.extents[i];
    fill_initial(std::span(weights).subspan(offset, elements), arena.parameters[i].initial, seed, i, 0);
  }
  return weights;
}

// The slots of the job's first step, forward and backward, again and again.
LeNet5Speed model_alone(const Job& job, double seconds) {
  const auto dataset = open_dataset(job.spec.data, "");
  Pipeline pipeline(*dataset, job.spec.training);
  std::vector<SlotExamples> slots;
  for (std::uint32_t slot = 0; slot < job.spec.training.slots; ++slot) {
    slots.push_back(pipeline.take(0, slot));
  }
  const auto model = make_model(job.spec.model, job.shape, job.arena, on_cpu(1));
  const auto weights = initial_weights(job.arena, job.spec.training.seed);
  std::vector<float> gradients(job.arena.elements);
  const auto train_step = [&](std::uint64_t step) {
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      model->train({step, slot, job.spec.training.batch, job.spec.training.seed}, slots[slot].batch(), weights,
                   gradients, [](std::size_t) {});
    }
  };
  train_step(0);
  const auto begin = Clock::now();
  const auto cpu_begin = own_cpu_seconds();
  double elapsed = 0;
  std::uint64_t steps = 0;
  while (elapsed < seconds) {
    train_step(++steps);
    elapsed = seconds_since(begin);
  }
  const auto images = static_cast<double>(steps * job.spec.training.batch);
  return {images / elapsed, 1e6 * (own_cpu_seconds() - cpu_begin) / images};
}

LeNet5Speed cluster(const Job& job, double seconds, const Options& options) {
  LocalCluster cluster(kLeNet5Job, 1, false, options);
  cluster.wait_for_step(job.steps.steps_per_epoch + 1);  // every glyph has been drawn once
  const auto progressed = cluster.measure(seconds);
  const auto images = static_cast<double>(progressed.steps * job.spec.training.batch);
  return {images / progressed.seconds, 1e6 * (progressed.server_cpu_seconds + progressed.worker_cpu_seconds) / images};
}

Row row(const char* work, const std::vector<LeNet5Speed>& speeds, const std::vector<LeNet5Speed>& alone) {
  std::vector<double> rates;
  std::vector<double> cpu;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    rates.push_back(speeds[i].images_per_second);
    cpu.push_back(speeds[i].cpu_us);
    ratios.push_back(rates.back() / alone[i].images_per_second);
  }
  const auto ratio = spread_of(ratios);
  return {{"work", work},
          {"images_s", spread_of(rates).median},
          {"ratio_to_model_alone", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"cpu_us_per_image", spread_of(cpu).median}};
}

}  // namespace

Result lenet5(const Options& options) {
  const double seconds = options.seconds.value_or(kLeNet5Seconds);
  const auto job = make_job(parse_job(kLeNet5Job, "the benchmark's job"));
  std::vector<LeNet5Speed> alone;
  std::vector<LeNet5Speed> clusters;
  std::vector<LeNet5Speed> torches;
  TorchSpeed torch;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    const auto before = model_alone(job, seconds / 4);
    clusters.push_back(cluster(job, seconds, options));
    torch = torch_lenet5(seconds / 2);
    if (torch.refused.empty()) {
      torches.push_back({torch.images_per_second, torch.cpu_us});
    }
    const auto after = model_alone(job, seconds / 4);
    alone.push_back({(before.images_per_second + after.images_per_second) / 2, (before.cpu_us + after.cpu_us) / 2});
  }
  Result result;
  result.how =
      "LeNet-5, glyphs, batch 128 in 8 slots of 16. cluster: 1 ballast-server and 1 ballast-worker over ipc, one "
      "compute "
      "thread, from the second epoch on, the barriers between epochs included. model alone: the same model's forward "
      "and "
      "backward in this process on one thread, examples in memory, no update, half before and half after each run. "
      "Medians; "
      "ratios with their least and most. cpu_us_per_image: processor time of all processes, the learning of weights "
      "included "
      "where there is an update; it hardly depends on how busy the machine is.";
  result.rows = {row("cluster", clusters, alone), row("model alone", alone, alone)};
  if (torches.size() == alone.size()) {
    result.how +=
        " PyTorch: the same layers and optimizer, batch 128 in one piece, one thread; its examples are bytes in "
        "memory, gathered in a drawn order and normalised for each step, as ours are.";
    result.rows.push_back(row(torch.described.c_str(), torches, alone));
  } else {
    result.how += " PyTorch is left out: " + torch.refused + ".";
  }
  return result;
}

}  // namespace ballast::bench

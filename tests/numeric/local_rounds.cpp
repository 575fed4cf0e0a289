// Trains a job of local steps for another framework to repeat:  local-rounds JOB FOLDER
//
//   layout.txt                 one line for each parameter: name, offset, then its shape
//   before.f32 after.f32       whole arenas: the weights before the first round and after the last
//   features.f32 labels.i32    the examples of all slots of all rounds, NCHW, in the order of their drawing
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arena/initial.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/optimizer_settings.h"
#include "common/job/schedule.h"
#include "worker/data/pipeline.h"
#include "worker/training/local_steps.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

template <typename T>
void write_values(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

void write_layout(const std::string& path, const Arena& arena) {
  std::ofstream file(path);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    file << arena.parameters[i].name << ' ' << arena.extents[i].offset;
    for (const std::uint32_t extent : arena.parameters[i].shape) {
      file << ' ' << extent;
    }
    file << '\n';
  }
}

Floats initial_weights(const Job& job) {
  Floats weights(job.arena.elements);
  for (std::size_t i = 0; i < job.arena.parameters.size(); ++i) {
    const auto& extent = job.arena.extents[i];
    fill_initial(std::span(weights).subspan(extent.offset, extent.elements), job.arena.parameters[i].initial,
                 job.spec.training.seed, static_cast<std::uint32_t>(i), 0);
  }
  return weights;
}

// The round's root; what it was trained on is added to `drawn`.
Floats mean_change(const Job& job, Model& model, Pipeline& pipeline, Step step, const Floats& weights,
                   SlotExamples& drawn) {
  const auto& training = job.spec.training;
  Floats root(weights.size());
  for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
    const auto examples = pipeline.take(step, slot);
    drawn.features.insert(drawn.features.end(), examples.features.begin(), examples.features.end());
    drawn.labels.insert(drawn.labels.end(), examples.labels.begin(), examples.labels.end());
    Floats change(weights.size());
    model.train({step, slot, training.batch, training.seed}, examples.batch(), weights, change, [](std::size_t) {});
    for (std::size_t i = 0; i < root.size(); ++i) {
      root[i] += change[i];
    }
  }
  return root;
}

void run(const std::string& file, const std::string& folder) {
  const Job job = make_job(load_job(file));
  const auto& training = job.spec.training;
  const auto dataset = open_dataset(job.spec.data, "");
  Pipeline pipeline(*dataset, training);
  const auto model =
      with_local_steps(make_model(job.spec.model, job.shape, job.arena, on_cpu(training.threads_per_slot)), job);
  const auto outer = optimizer_settings(training, Group::no_decay);
  auto weights = initial_weights(job);
  write_layout(folder + "/layout.txt", job.arena);
  write_values(folder + "/before.f32", weights);
  std::vector<Floats> state(state_tensors(outer).size(), Floats(weights.size()));
  const std::vector<std::span<float>> spans(state.begin(), state.end());
  SlotExamples drawn;
  for (Step step = 0; step < job.steps.steps; ++step) {
    const auto root = mean_change(job, *model, pipeline, step, weights, drawn);
    const auto factors = step_factors(training, job.steps.steps, step, step);
    Floats next(weights.size());
    optimizer_step(outer, {factors.learning_rate, factors.step_size, factors.second_moment_root}, 1.0F, weights, root,
                   spans, next);
    weights.swap(next);
  }
  write_values(folder + "/after.f32", weights);
  write_values(folder + "/features.f32", drawn.features);
  write_values(folder + "/labels.i32", drawn.labels);
}

}  // namespace
}  // namespace ballast

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      throw std::invalid_argument("two arguments are needed: JOB FOLDER");
    }
    ballast::run(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "local-rounds: %s\n", error.what());
    return 1;
  }
}

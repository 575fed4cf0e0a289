// Writes a short run of a network for another framework to repeat:  dump-network JOB FOLDER
//
// JOB is a job file: its model is trained for 20 steps of plain gradient descent at the job's rate in this process, on
// drawn examples of the job's kind and size, a step's examples cut into slots as in a job.
//
//   network.json                        layers, loss, parameters (name, shape, offset, group, momentum), slots, the
//                                       first step's rate
//   weights-V.f32                       the arena at versions V = 0, 10, 20
//   gradient-V.f32                      the mean gradient of the step from there; of state its statistic's mean
//   slot-V-S.*                          a slot's examples at versions 0, 1, 10, 20: features.f32 labels.i32 ...;
//   mask-LAYER.u8 of each dropout losses.txt                          the mean loss of each step
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "common/arena/arena.h"
#include "common/arena/initial.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/model_graph.h"
#include "common/job/schedule.h"
#include "tests/numeric/draw_examples.h"
#include "tests/numeric/graph_json.h"
#include "worker/compute/pass.h"
#include "worker/models/model.h"

namespace ballast {
namespace {

constexpr std::uint64_t kSteps = 20;
constexpr std::uint64_t kDumpedEvery = 10;

template <typename T>
void write_values(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

class Run {
 public:
  Run(const Job& job, std::string folder)
      : job_(job),
        graph_(model_graph(job.spec.model, job.shape)),
        folder_(std::move(folder)),
        model_(make_model(job.spec.model, job.shape, job.arena, on_cpu(1))),
        weights_(job.arena.elements) {
    const auto seed = job.spec.training.seed;
    for (std::uint32_t i = 0; i < job.arena.parameters.size(); ++i) {
      const auto [offset, elements] = job.arena.extents[i];
      fill_initial(std::span(weights_).subspan(offset, elements), job.arena.parameters[i].initial, seed, i, 0);
    }
  }

  void all() {
    write_network();
    std::ofstream losses(folder_ + "/losses.txt");
    losses.precision(17);
    for (std::uint64_t step = 0; step <= kSteps; ++step) {
      losses << one_step(step) << '\n';
    }
  }

 private:
  double one_step(std::uint64_t step) {
    const auto& training = job_.spec.training;
    const bool dumped = step % kDumpedEvery == 0;
    const auto version = std::to_string(step);
    std::vector<float> sum(job_.arena.elements);
    double loss = 0;
    for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
      const auto examples = draw_examples(job_.shape, training.batch / training.slots, 1000 * (step + 1) + slot);
      const Pass pass{examples.batch(), true, training.seed, step, slot, 0};
      std::vector<float> gradient(job_.arena.elements);
      loss += model_
                  ->train({step, slot, training.batch, training.seed, 0}, pass.batch, weights_, gradient,
                          [](std::size_t) {})
                  .loss_sum;
      add(gradient, sum);
      if (dumped || step == 1) {
        write_slot(folder_ + "/slot-" + version + "-" + std::to_string(slot) + ".", examples, pass);
      }
    }
    if (dumped) {
      write_values(folder_ + "/weights-" + version + ".f32", weights_);
      write_values(folder_ + "/gradient-" + version + ".f32", sum);
    }
    descend(sum, learning_rate(step));
    return loss / training.batch;
  }

  void add(const std::vector<float>& gradient, std::vector<float>& sum) const {
    const auto share = 1.0F / static_cast<float>(job_.spec.training.slots);
    for (std::size_t i = 0; i < job_.arena.parameters.size(); ++i) {
      const auto [offset, elements] = job_.arena.extents[i];
      const auto part = job_.arena.parameters[i].group == Group::state ? share : 1.0F;
      for (auto at = offset; at < offset + elements; ++at) {
        sum[at] += part * gradient[at];
      }
    }
  }

  [[nodiscard]] float learning_rate(std::uint64_t step) const {
    const auto& training = job_.spec.training;
    return static_cast<float>(training.optimizer.learning_rate *
                              schedule_factor(training.schedule, job_.steps.steps, step));
  }

  void descend(const std::vector<float>& sum, float rate) {
    for (std::size_t i = 0; i < job_.arena.parameters.size(); ++i) {
      const auto [offset, elements] = job_.arena.extents[i];
      const auto& parameter = job_.arena.parameters[i];
      for (auto at = offset; at < offset + elements; ++at) {
        weights_[at] +=
            parameter.group == Group::state ? parameter.momentum * (sum[at] - weights_[at]) : -rate * sum[at];
      }
    }
  }

  void write_network() const {
    auto json = to_json(graph_);
    for (std::size_t i = 0; i < job_.arena.parameters.size(); ++i) {
      const auto& parameter = job_.arena.parameters[i];
      json["parameters"].push_back({{"name", parameter.name},
                                    {"shape", parameter.shape},
                                    {"offset", job_.arena.extents[i].offset},
                                    {"state", parameter.group == Group::state},
                                    {"momentum", parameter.momentum}});
    }
    json["learning_rate"] = learning_rate(0);
    json["slots"] = job_.spec.training.slots;
    json["batch"] = job_.spec.training.batch;
    json["steps"] = std::max(job_.shape.steps, 1U);
    json["example"] = {job_.shape.channels, job_.shape.height, job_.shape.width};
    std::ofstream(folder_ + "/network.json") << json.dump(1) << '\n';
  }

  void write_slot(const std::string& prefix, const Examples& examples, const Pass& pass) const {
    write_values(prefix + "features.f32", examples.features);
    write_values(prefix + "labels.i32", examples.labels);
    write_values(prefix + "targets.f32", examples.targets);
    write_values(prefix + "tokens.i32", examples.tokens);
    write_values(prefix + "lengths.u32", examples.lengths);
    write_values(prefix + "children.i32", examples.children);
    for (std::uint32_t i = 0; i < graph_.layers.size(); ++i) {
      if (const auto* const dropout = std::get_if<Dropout>(&graph_.layers[i].layer)) {
        write_values(prefix + "mask-" + graph_.layers[i].name + ".u8", mask(*dropout, i, pass));
      }
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> mask(const Dropout& dropout, std::uint32_t number, const Pass& pass) const {
    const auto stream = dropout_stream(pass);
    std::vector<std::uint8_t> kept(graph_.layers[number].output.elements() * pass.batch.count);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      kept[i] = stream.uniform(first_dropout_draw(pass, number) + i) >= dropout.rate ? 1 : 0;
    }
    return kept;
  }

  const Job& job_;
  Graph graph_;
  std::string folder_;
  std::unique_ptr<Model> model_;
  std::vector<float> weights_;
};

}  // namespace
}  // namespace ballast

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      throw std::invalid_argument("two arguments are needed: JOB FOLDER");
    }
    const ballast::Job job = ballast::make_job(ballast::load_job(argv[1], {}));
    ballast::Run(job, argv[2]).all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump-network: %s\n", error.what());
    return 1;
  }
}

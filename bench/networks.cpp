// Networks of several kinds, against PyTorch: one thread, the same layers, the same examples at once, in turns.
#include <span>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/torch_networks.h"
#include "common/arena/initial.h"
#include "common/job/model_graph.h"
#include "worker/models/network.h"
#include "worker/training/probe_slot.h"

namespace ballast::bench {

namespace {

constexpr double kNetworksSeconds = 4;

struct Subject {
  std::string name;  // torch_networks.cpp knows it too
  ModelSpec model;
  ExampleShape example;
  std::uint32_t examples = 0;  // at once
};

ModelSpec named(const std::string& name) {
  ModelSpec model;
  model.name = name;
  return model;
}

ExampleShape images(std::uint32_t channels, std::uint32_t side) { return {channels, side, side, 10}; }

ExampleShape texts(std::uint32_t vocabulary, std::uint32_t steps, std::uint32_t classes) {
  ExampleShape shape;
  shape.vocabulary = vocabulary;
  shape.steps = steps;
  shape.classes = classes;
  return shape;
}

std::vector<Subject> subjects() {
  auto lstm = named("text_lstm");
  lstm.embedding = 50;
  lstm.units = 128;
  auto transformer = named("transformer");
  transformer.dropout = 0.1;
  return {{"lenet5", named("lenet5"), images(1, 28), 128},
          {"resnet20", named("resnet20"), images(3, 32), 128},
          {"vgg16", named("vgg16"), images(3, 32), 32},
          {"text_lstm", lstm, texts(9000, 100, 20), 32},
          {"transformer", transformer, texts(9000, 128, 20), 16}};
}

Speed ours(const Subject& subject, double seconds) {
  auto graph = model_graph(subject.model, subject.example);
  const Arena arena = lay_out(graph.parameters);
  std::vector<float> weights(arena.elements);
  for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
    const auto [offset, elements] = arena.extents[i];
    fill_initial(std::span(weights).subspan(offset, elements), arena.parameters[i].initial, 1, i, 0);
  }
  Network network(make_cpu_backend(1), std::move(graph), arena);
  const auto examples = probe_slot(subject.example, subject.examples, 1);
  std::vector<float> gradients(arena.elements);
  const auto train = [&](std::uint64_t step) {
    network.train({step, 0, subject.examples, 1}, examples.batch(), weights, gradients, [](std::size_t) {});
  };
  train(0);
  const auto begin = Clock::now();
  const auto cpu_begin = own_cpu_seconds();
  std::uint64_t steps = 0;
  while (seconds_since(begin) < seconds || steps < 2) {
    train(++steps);
  }
  const auto trained = static_cast<double>(steps * subject.examples);
  return {trained / seconds_since(begin), 1e6 * (own_cpu_seconds() - cpu_begin) / trained};
}

// Medians, and our speed by processor time over PyTorch's.
Row row(const Subject& subject, const std::vector<Speed>& ours, const std::vector<Speed>& torches) {
  std::vector<double> rates;
  std::vector<double> torch_rates;
  std::vector<double> cpu;
  std::vector<double> torch_cpu;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    rates.push_back(ours[i].examples_per_second);
    torch_rates.push_back(torches[i].examples_per_second);
    cpu.push_back(ours[i].cpu_us);
    torch_cpu.push_back(torches[i].cpu_us);
    ratios.push_back(torches[i].cpu_us / ours[i].cpu_us);
  }
  const auto ratio = spread_of(ratios);
  return {{"network", subject.name},
          {"examples_at_once", subject.examples},
          {"examples_s", spread_of(rates).median},
          {"torch_examples_s", spread_of(torch_rates).median},
          {"cpu_us", spread_of(cpu).median},
          {"torch_cpu_us", spread_of(torch_cpu).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most}};
}

}  // namespace

Result networks(const Options& options) {
  const double seconds = options.seconds.value_or(kNetworksSeconds);
  Result result;
  result.how =
      "Forward and backward of drawn examples in memory, without an update, one thread each, in turns. cpu_us: "
      "processor "
      "time for an example. ratio: PyTorch's processor time over ours, so above 1 we are faster; medians, ratios with "
      "their least and most.";
  std::string described;
  for (const auto& subject : subjects()) {
    std::vector<Speed> mine;
    std::vector<Speed> torches;
    for (unsigned i = 0; i < options.repetitions; ++i) {
      const auto torch = torch_network(subject.name, subject.examples, seconds);
      if (!torch.refused.empty()) {
        result.how += " PyTorch is left out: " + torch.refused + ".";
        return result;
      }
      torches.push_back(torch.speed);
      described = torch.described;
      mine.push_back(ours(subject, seconds));
    }
    result.rows.push_back(row(subject, mine, torches));
  }
  result.how += " " + described + ".";
  return result;
}

}  // namespace ballast::bench

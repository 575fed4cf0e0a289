// Measures how fast one worker's model trains, without data, network or servers: the ceiling of a cluster's speed.
//
//   model-speed [MODEL [SLOTS [EXAMPLES_PER_SLOT [THREADS [SECONDS [BACKEND]]]]]]     defaults: lenet5 8 16 1 3 cpu
//
// MODEL is mlp, lenet5 or a preset of the emulated model, with its kind of gradient: resnet50:fixed. Prints one line of
// JSON; a step is SLOTS slots. The fastest slot's times tell what the model can do on a machine that is busy with other
// things.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/numeric/initial.h"
#include "common/numeric/philox.h"
#include "worker/compute/choose.h"
#include "worker/host_arena.h"
#include "worker/models/model.h"

namespace {

using ballast::Arena;
using ballast::ExampleShape;

struct Settings {
  std::string model = "lenet5";
  std::uint32_t slots = 8;
  std::uint32_t examples = 16;
  std::uint32_t threads = 1;
  std::uint32_t seconds = 3;
  std::string backend = "cpu";
};

std::uint32_t positive(const char* text, const char* what) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end != '\0' || value == 0 || value > 1'000'000) {
    throw std::invalid_argument(std::string(what) + ": '" + text + "' is not a number between 1 and 1000000");
  }
  return static_cast<std::uint32_t>(value);
}

Settings read_settings(int argc, char** argv) {
  Settings settings;
  if (argc > 1) {
    settings.model = argv[1];
  }
  std::uint32_t* const numbers[] = {&settings.slots, &settings.examples, &settings.threads, &settings.seconds};
  const char* const names[] = {"SLOTS", "EXAMPLES_PER_SLOT", "THREADS", "SECONDS"};
  if (argc > 7) {
    throw std::invalid_argument("too many arguments: MODEL SLOTS EXAMPLES_PER_SLOT THREADS SECONDS BACKEND are all");
  }
  if (argc > 6) {
    settings.backend = argv[6];
  }
  for (int i = 2; i < argc && i < 6; ++i) {
    *numbers[i - 2] = positive(argv[i], names[i - 2]);
  }
  return settings;
}

ballast::ModelSpec model_spec(const std::string& name) {
  ballast::ModelSpec spec;
  const bool network = name == "mlp" || name == "lenet5";
  spec.name = network ? name : "emulated";
  const std::size_t colon = name.find(':');
  spec.preset = network ? "" : name.substr(0, colon);
  spec.gradient = colon == std::string::npos ? spec.gradient : name.substr(colon + 1);
  return spec;
}

void draw_weights(const Arena& arena, std::span<float> weights) {
  for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
    const auto [offset, elements] = arena.extents[i];
    ballast::fill_initial(weights.subspan(offset, elements), arena.parameters[i].initial, 1, i, 0);
  }
}

void measure(const Settings& settings) {
  const ballast::ModelSpec spec = model_spec(settings.model);
  const ExampleShape shape = spec.name == "emulated" ? ExampleShape{} : ExampleShape{1, 28, 28, 10};
  const Arena arena = ballast::lay_out(ballast::declare_parameters(spec, shape));
  const ballast::HostArena weights_arena(arena.elements);
  const ballast::HostArena gradients_arena(arena.elements);
  const std::span<float> weights = weights_arena.values();
  const std::span<float> gradients = gradients_arena.values();
  draw_weights(arena, weights);
  const auto model = ballast::make_model(spec, shape, arena, [&] {
    return ballast::make_backend({settings.backend, 0, settings.threads}, ballast::find_cuda_files(),
                                 [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  });
  model->pin(weights);
  model->pin(gradients);
  std::vector<float> features(settings.examples * shape.features());
  const ballast::RandomStream random({1, ballast::Purpose::probe, 0, 0});
  for (std::size_t i = 0; i < features.size(); ++i) {
    features[i] = random.uniform(i);
  }
  const std::vector<std::int32_t> labels(settings.examples, 3);
  const ballast::Batch batch{settings.examples, features, labels};

  using Clock = std::chrono::steady_clock;
  ballast::ComputeTimes fastest{1'000'000'000, 1'000'000'000};
  const auto train_step = [&](std::uint64_t step) {
    for (std::uint32_t slot = 0; slot < settings.slots; ++slot) {
      model->train({step, slot, settings.slots * settings.examples, 1}, batch, weights, gradients, [](std::size_t) {});
      const ballast::ComputeTimes times = model->last_times();
      if (times.forward_us + times.backward_us < fastest.forward_us + fastest.backward_us) {
        fastest = times;
      }
    }
  };
  train_step(0);
  std::uint64_t steps = 0;
  const auto begin = Clock::now();
  double seconds = 0;
  while (seconds < settings.seconds) {
    train_step(++steps);
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  const double rate = static_cast<double>(steps) / seconds;
  std::printf(
      R"({"model": "%s", "slots": %u, "examples_per_slot": %u, "backend": "%s", "threads": %u, "steps_per_s": %.2f, )"
      R"("examples_per_s": %.0f, "fastest_forward_us": %llu, "fastest_backward_us": %llu})"
      "\n",
      settings.model.c_str(), settings.slots, settings.examples, settings.backend.c_str(), settings.threads, rate,
      rate * settings.slots * settings.examples, static_cast<unsigned long long>(fastest.forward_us),
      static_cast<unsigned long long>(fastest.backward_us));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(read_settings(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model-speed: %s\n", error.what());
    return 1;
  }
}

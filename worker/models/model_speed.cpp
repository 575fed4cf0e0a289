// Measures how fast one worker's model trains, without data, network or servers: the ceiling of a cluster's speed.
//
//   model-speed [MODEL [SLOTS [EXAMPLES_PER_SLOT [THREADS [SECONDS [BACKEND [PRECISION]]]]]]]
//                                                                             defaults: lenet5 8 16 1 3 cpu float32
//
// MODEL is lenet5, mlp, which may have its hidden layers (mlp:512,256), or a preset of the emulated model, with its
// kind of gradient: resnet50:fixed. Prints one line of JSON; a step is SLOTS slots. The fastest slot's times tell what
// the model can do on a machine that is busy with other things; its first and last gradient's, counted from the slot's
// begin, whether gradients leave while the backward pass runs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arena/initial.h"
#include "common/numeric/philox.h"
#include "worker/compute/choose.h"
#include "worker/compute/host_arena.h"
#include "worker/models/model.h"

namespace {

using ballast::Arena;
using ballast::ExampleShape;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string model = "lenet5";
  std::uint32_t slots = 8;
  std::uint32_t examples = 16;
  std::uint32_t threads = 1;
  std::uint32_t seconds = 3;
  std::string backend = "cpu";
  std::string precision = "float32";
};

// Of one slot.
struct SlotTimes {
  ballast::ComputeTimes compute;
  std::uint64_t first_gradient_us = 0;
  std::uint64_t last_gradient_us = 0;

  [[nodiscard]] std::uint64_t total_us() const { return compute.forward_us + compute.backward_us; }
};

std::uint64_t microseconds_since(Clock::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
}

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
  if (argc > 8) {
    throw std::invalid_argument(
        "too many arguments: MODEL SLOTS EXAMPLES_PER_SLOT THREADS SECONDS BACKEND PRECISION are all");
  }
  if (argc > 6) {
    settings.backend = argv[6];
  }
  if (argc > 7) {
    settings.precision = argv[7];
  }
  for (int i = 2; i < argc && i < 6; ++i) {
    *numbers[i - 2] = positive(argv[i], names[i - 2]);
  }
  return settings;
}

// "512,256"
std::vector<std::uint32_t> widths(const std::string& text) {
  std::vector<std::uint32_t> hidden;
  std::stringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    hidden.push_back(positive(word.c_str(), "a hidden layer"));
  }
  return hidden;
}

ballast::ModelSpec model_spec(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string model = name.substr(0, colon);
  const std::string detail = colon == std::string::npos ? "" : name.substr(colon + 1);
  ballast::ModelSpec spec;
  spec.name = model == "mlp" || model == "lenet5" ? model : "emulated";
  if (model == "mlp") {
    spec.hidden = detail.empty() ? spec.hidden : widths(detail);
  } else if (spec.name == "emulated") {
    spec.preset = model;
    spec.gradient = detail.empty() ? spec.gradient : detail;
  }
  return spec;
}

void draw_weights(const Arena& arena, std::span<float> weights) {
  for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
    const auto [offset, elements] = arena.extents[i];
    ballast::fill_initial(weights.subspan(offset, elements), arena.parameters[i].initial, 1, i, 0);
  }
}

// What trains, and what it trains on.
class Subject {
 public:
  explicit Subject(const Settings& settings)
      : settings_(settings),
        spec_(model_spec(settings.model)),
        shape_(spec_.name == "emulated" ? ExampleShape{} : ExampleShape{1, 28, 28, 10}),
        arena_(ballast::lay_out(ballast::declare_parameters(spec_, shape_))),
        weights_(arena_.elements),
        gradients_(arena_.elements),
        features_(settings.examples * shape_.features()),
        labels_(settings.examples, 3) {
    draw_weights(arena_, weights_.values());
    const ballast::RandomStream random({1, ballast::Purpose::probe, 0, 0});
    for (std::size_t i = 0; i < features_.size(); ++i) {
      features_[i] = random.uniform(i);
    }
    const ballast::BackendRequest request{settings.backend, 0, settings.threads,
                                          ballast::precision_named(settings.precision)};
    model_ = ballast::make_model(spec_, shape_, arena_, [&] {
      return ballast::make_backend(request, ballast::find_cuda_files(),
                                   [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
    });
    model_->pin(weights_.values());
    model_->pin(gradients_.values());
  }

  SlotTimes train(std::uint64_t step, std::uint32_t slot) {
    SlotTimes times;
    bool any = false;
    const auto begin = Clock::now();
    const ballast::SlotTask task{step, slot, settings_.slots * settings_.examples, 1};
    const ballast::Batch batch{settings_.examples, features_, labels_};
    model_->train(task, batch, {weights_.values(), step + 1}, gradients_.values(), [&](std::size_t) {
      times.last_gradient_us = microseconds_since(begin);
      times.first_gradient_us = any ? times.first_gradient_us : times.last_gradient_us;
      any = true;
    });
    times.compute = model_->last_times();
    return times;
  }

 private:
  const Settings& settings_;
  ballast::ModelSpec spec_;
  ExampleShape shape_;
  Arena arena_;
  ballast::HostArena weights_;
  ballast::HostArena gradients_;
  std::vector<float> features_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<ballast::Model> model_;
};

void print(const Settings& settings, double steps_per_second, const SlotTimes& fastest) {
  nlohmann::ordered_json json;
  json["model"] = settings.model;
  json["slots"] = settings.slots;
  json["examples_per_slot"] = settings.examples;
  json["backend"] = settings.backend;
  json["precision"] = settings.precision;
  json["threads"] = settings.threads;
  json["steps_per_s"] = steps_per_second;
  json["examples_per_s"] = steps_per_second * settings.slots * settings.examples;
  json["fastest_forward_us"] = fastest.compute.forward_us;
  json["fastest_backward_us"] = fastest.compute.backward_us;
  json["first_gradient_us"] = fastest.first_gradient_us;
  json["last_gradient_us"] = fastest.last_gradient_us;
  std::puts(json.dump().c_str());
}

void measure(const Settings& settings) {
  Subject subject(settings);
  SlotTimes fastest{{1'000'000'000, 1'000'000'000}, 0, 0};
  const auto train_step = [&](std::uint64_t step) {
    for (std::uint32_t slot = 0; slot < settings.slots; ++slot) {
      const SlotTimes times = subject.train(step, slot);
      fastest = times.total_us() < fastest.total_us() ? times : fastest;
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
  print(settings, static_cast<double>(steps) / seconds, fastest);
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

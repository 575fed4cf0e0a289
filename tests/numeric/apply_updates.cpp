// Takes a job's updates one after the other, for another framework to repeat:  apply-updates JOB FOLDER
//
//   read     weights.f32     n floats
//            gradients.f32   n floats for each step of the job
//   written  after.f32       n floats for each step: the weights after it
//            rates.f32       the learning rate of each step
//            averages.f32    n floats for each step: the moving average of the weights, if the job has one
//
// The n weights are those of the model's parameters, one after the other.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/job/descents.h"
#include "common/job/load.h"
#include "common/job/model_parameters.h"
#include "common/job/schedule.h"

namespace ballast {
namespace {

std::vector<float> read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty() || bytes.size() % sizeof(float) != 0) {
    throw std::runtime_error(path + ": no floats");
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  bytes.copy(reinterpret_cast<char*>(values.data()), bytes.size());
  return values;
}

void write_floats(const std::string& path, const std::vector<float>& values) {
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

float ratio_of(const Descent& descent, const StepScalars& scalars, std::span<const float> weights,
               std::span<const float> gradient, const std::vector<std::span<float>>& state) {
  if (!has_trust_ratios(descent.optimizer.kind)) {
    return 1;
  }
  const std::vector<std::span<const float>> read(state.begin(), state.end());
  return trust_ratio(descent.optimizer,
                     trust_sums(descent.optimizer, descent.scalars(scalars), weights, gradient, read));
}

void run(const std::string& job, const std::string& folder) {
  const auto spec = load_job(job);
  const auto& training = spec.training;
  const Step steps = training.max_steps.value_or(0);
  const auto parameters = declare_parameters(spec.model, {});
  const auto descents = ballast::descents(training, parameters);
  auto weights = read_floats(folder + "/weights.f32");
  const auto gradients = read_floats(folder + "/gradients.f32");
  if (gradients.size() != weights.size() * steps) {
    throw std::runtime_error(folder + "/gradients.f32 does not hold a gradient for each step");
  }
  std::vector<std::vector<float>> state;
  for (const auto& tensor : state_tensors(descents.of(0).optimizer)) {
    state.emplace_back(weights.size(), tensor.initial);
  }
  std::vector<float> next(weights.size());
  std::vector<float> after;
  std::vector<float> rates;
  const auto& rule = training.weight_average;
  auto average = weights;
  std::vector<float> averages;
  for (Step step = 0; step < steps; ++step) {
    const auto factors = step_factors(training, steps, step, step);
    const auto gradient = std::span(gradients).subspan(step * weights.size(), weights.size());
    const StepScalars scalars{factors.learning_rate, factors.step_size, factors.second_moment_root};
    std::size_t begin = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto elements = parameters[i].elements();
      std::vector<std::span<float>> spans;
      for (auto& tensor : state) {
        spans.push_back(std::span(tensor).subspan(begin, elements));
      }
      const auto& descent = descents.of(i);
      const float ratio = ratio_of(descent, scalars, std::span(weights).subspan(begin, elements),
                                   gradient.subspan(begin, elements), spans);
      optimizer_step(descent.optimizer, descent.scalars(scalars), ratio, std::span(weights).subspan(begin, elements),
                     gradient.subspan(begin, elements), spans, std::span(next).subspan(begin, elements));
      begin += elements;
    }
    weights.swap(next);
    after.insert(after.end(), weights.begin(), weights.end());
    rates.push_back(factors.learning_rate);
    if (rule.decay && step + 1 > rule.begins_at_step.value_or(1)) {
      average_weights(weights, *rule.decay, average);
    } else {
      average = weights;
    }
    averages.insert(averages.end(), average.begin(), average.end());
  }
  write_floats(folder + "/after.f32", after);
  write_floats(folder + "/rates.f32", rates);
  if (rule.decay) {
    write_floats(folder + "/averages.f32", averages);
  }
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
    std::fprintf(stderr, "apply-updates: %s\n", error.what());
    return 1;
  }
}

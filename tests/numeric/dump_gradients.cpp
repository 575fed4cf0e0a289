// Writes one slot's computation for another framework to repeat:  dump-gradients MODEL FOLDER
//
//   layout.txt                          one line for each parameter: name, offset, then its shape
//   weights.f32 gradients.f32           whole arenas
//   features.f32 labels.i32             the examples, NCHW
//   loss.txt                            the sum of the losses; the gradients are of their mean
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/numeric/setup.h"

namespace ballast {
namespace {

constexpr std::uint32_t kExamples = 16;

std::ofstream open(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return file;
}

template <typename T>
void write_values(const std::string& path, const std::vector<T>& values) {
  open(path).write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * sizeof(T)));
}

void write_layout(const std::string& path, const Arena& arena) {
  std::ofstream file = open(path);
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    file << arena.parameters[i].name << ' ' << arena.extents[i].offset;
    for (const std::uint32_t extent : arena.parameters[i].shape) {
      file << ' ' << extent;
    }
    file << '\n';
  }
}

void dump(const std::string& name, const std::string& folder) {
  const Setup setup(model_named(name), kImages);
  const Examples examples = draw_examples(setup.shape, kExamples, 21);
  std::vector<float> gradients(setup.arena.elements);
  const auto model = setup.make();
  const BatchResult result =
      model->train({0, 0, kExamples, 1}, examples.batch(), setup.weights, gradients, [](std::size_t) {});
  write_layout(folder + "/layout.txt", setup.arena);
  write_values(folder + "/weights.f32", setup.weights);
  write_values(folder + "/gradients.f32", gradients);
  write_values(folder + "/features.f32", examples.features);
  write_values(folder + "/labels.i32", examples.labels);
  open(folder + "/loss.txt") << result.loss_sum << '\n';
}

}  // namespace
}  // namespace ballast

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      throw std::invalid_argument("two arguments are needed: MODEL FOLDER");
    }
    ballast::dump(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump-gradients: %s\n", error.what());
    return 1;
  }
}

#include "cli/before/shapes.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "cli/before/check.h"
#include "common/models/models.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

void write_job(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << "job: own\n" << text;
}

TEST_CASE("the table has a line for each layer and their sums") {
  CHECK(shapes_text(lenet5({1, 28, 28, 10})) ==
        "layer         kind        reads         output        parameters  multiplications\n"
        "example                                 1 x 28 x 28\n"
        "conv1         conv2d      example       6 x 28 x 28          156          117,600\n"
        "max_pool2d_1  max_pool2d  conv1         6 x 14 x 14\n"
        "relu1         relu        max_pool2d_1  6 x 14 x 14\n"
        "conv2         conv2d      relu1         16 x 10 x 10       2,416          240,000\n"
        "max_pool2d_2  max_pool2d  conv2         16 x 5 x 5\n"
        "relu2         relu        max_pool2d_2  16 x 5 x 5\n"
        "fc1           linear      relu2         120               48,120           48,000\n"
        "relu3         relu        fc1           120\n"
        "fc2           linear      relu3         84                10,164           10,080\n"
        "relu4         relu        fc2           84\n"
        "fc3           linear      relu4         10                   850              840\n"
        "sum                                                       61,706          416,520\n");
}

TEST_CASE("running statistics are no parameters, and a shared weight counts once") {
  CHECK(shapes_text(resnet_of_cifar({3, 32, 32, 10}, 1)).ends_with("and 672 floats of running statistics\n"));
  const ExampleShape characters = {.classes = 65, .vocabulary = 65, .steps = 128, .labels = Labels::steps};
  const auto table = shapes_text(gpt(characters, {.width = 8, .depth = 1, .heads = 1, .dropout = 0}));
  CHECK(table.find("128 steps of tokens\n") != std::string::npos);
  CHECK(table.ends_with("       2,432          427,008\n"));
}

TEST_CASE("check --shapes prints the table of the job's network, and refuses what has none") {
  const TemporaryFolder folder;
  const auto job = (folder.path() / "job.yaml").string();
  write_job(job, "model: {name: layers, layers: [linear: 10]}\ndata: {name: glyphs}\ntraining: {epochs: 1}\n");
  const auto table = captured([&] { CHECK(check_shapes(job, {}) == 0); });
  CHECK(table.find("linear1") != std::string::npos);
  CHECK(table.find("7,850") != std::string::npos);
  CHECK(check_shapes(job, {"model.layers=[linear: 9]"}) == 2);
  write_job(job, "model: {name: emulated, preset: resnet50}\ndata: {name: none}\ntraining: {max_steps: 1}\n");
  CHECK(check_shapes(job, {}) == 2);
}

}  // namespace
}  // namespace ballast

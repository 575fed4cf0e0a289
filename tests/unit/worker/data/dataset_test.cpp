#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "common/job/model_parameters.h"
#include "common/job/steps.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using namespace testing;

constexpr std::uint32_t kTrainImages = 25;
constexpr std::uint32_t kTestImages = 12;

void write_set(const TemporaryFolder& folder, const std::string& where, bool packed) {
  const auto put = [&](const std::string& name, const Bytes& bytes) {
    folder.write(where + name + (packed ? ".gz" : ""), packed ? gzip(bytes) : bytes);
  };
  put("train-images-idx3-ubyte", idx({kTrainImages, 28, 28}, image_values(kTrainImages)));
  put("train-labels-idx1-ubyte", idx({kTrainImages}, label_values(kTrainImages)));
  put("t10k-images-idx3-ubyte", idx({kTestImages, 28, 28}, image_values(kTestImages)));
  put("t10k-labels-idx1-ubyte", idx({kTestImages}, label_values(kTestImages)));
}

DataSpec mnist_spec(const std::string& path) {
  DataSpec spec;
  spec.name = "mnist";
  spec.path = path;
  spec.train_examples = kTrainImages;
  spec.test_examples = kTestImages;
  return spec;
}

// No test may find the machine's own data.
struct Isolated {
  TemporaryFolder home;
  Environment data{"BALLAST_DATA", ""};
  Environment cache{"XDG_CACHE_HOME", ""};
  Environment own_home{"HOME", home.path().string()};
};

TEST_CASE("mnist is found at the worker's path, the job's path, $BALLAST_DATA and the cache") {
  const Isolated isolated;
  const TemporaryFolder folder;
  for (const bool packed : {false, true}) {
    const std::string base = packed ? "packed/" : "plain/";
    write_set(folder, base + "mnist/", packed);
    const std::string root = (folder.path() / base).string();
    CHECK(open_dataset(mnist_spec(""), root + "mnist")->size(DataSplit::train) == kTrainImages);
    CHECK(open_dataset(mnist_spec(root + "mnist"), "")->size(DataSplit::test) == kTestImages);
    // Somebody who names a folder does not mean another one.
    const auto error = error_of([&] { open_dataset(mnist_spec(root + "mnist"), root + "elsewhere"); });
    CHECK(contains(error, "the worker's data path is " + root + "elsewhere, which is no folder"));
    // Nor does a job that names one, wherever else the files lie.
    const Environment elsewhere("BALLAST_DATA", root);
    CHECK(contains(error_of([&] { open_dataset(mnist_spec(root), ""); }),
                   "were not found in " + root + ", and no other folder is searched where one is named"));
    CHECK(contains(error_of([&] { open_dataset(mnist_spec(root + "missing"), ""); }),
                   "data.path is " + root + "missing"));
    for (const std::string& data : {root, root + "mnist"}) {
      const Environment set("BALLAST_DATA", data);
      CHECK(open_dataset(mnist_spec(""), "")->size(DataSplit::train) == kTrainImages);
    }
  }
  write_set(isolated.home, ".cache/ballast/mnist/", true);
  CHECK(open_dataset(mnist_spec(""), "")->size(DataSplit::train) == kTrainImages);
  const Environment cache("XDG_CACHE_HOME", (folder.path() / "cache").string());
  CHECK_THROWS_AS(open_dataset(mnist_spec(""), ""), std::runtime_error);
  write_set(folder, "cache/ballast/mnist/", false);
  CHECK(open_dataset(mnist_spec(""), "")->size(DataSplit::train) == kTrainImages);
}

TEST_CASE("a data set that is nowhere names every place looked at and the way out") {
  const Isolated isolated;
  const Environment data("BALLAST_DATA", "/nonexistent/data");
  const std::string error = error_of([] { open_dataset(mnist_spec(""), ""); });
  CHECK(contains(error, "/nonexistent/data, /nonexistent/data/mnist, " +
                            (isolated.home.path() / ".cache/ballast/mnist").string()));
  CHECK(contains(error, "set data.path or $BALLAST_DATA"));
  CHECK(contains(error, "glyphs"));
}

TEST_CASE("an incomplete set names what is missing") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "", true);
  std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte.gz");
  const std::string error = error_of([&] { open_dataset(mnist_spec(folder.path()), ""); });
  CHECK(contains(error, folder.path().string() + " holds only a part"));
  CHECK(contains(error, "add t10k-labels-idx1-ubyte[.gz]"));
}

TEST_CASE("a damaged file is told of, not skipped for another place") {
  const Isolated isolated;
  const TemporaryFolder good;
  const TemporaryFolder bad;
  write_set(good, "", false);
  write_set(bad, "", false);
  const auto path = bad.write("train-labels-idx1-ubyte", Bytes{0, 0});
  const Environment data("BALLAST_DATA", good.path().string());
  CHECK(contains(error_of([&] { open_dataset(mnist_spec(bad.path()), ""); }), path.string()));
}

TEST_CASE("mnist examples are normalised pixels and labels") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "", true);
  const auto dataset = open_dataset(mnist_spec(folder.path()), "");
  CHECK(dataset->shape().features() == 784);
  CHECK(dataset->shape().classes == 10);
  const auto one = read_examples(*dataset, DataSplit::train, 13, 1);
  CHECK(one.labels[0] == 3);
  const Bytes pixels = image_values(14);
  for (std::size_t i = 0; i < 784; ++i) {
    const float expected = (static_cast<float>(pixels[13 * 784 + i]) / 255.0F - 0.1307F) / 0.3081F;
    REQUIRE(one.features[i] == expected);
  }
}

TEST_CASE("example counts cut the set or are refused") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "", false);
  DataSpec spec = mnist_spec(folder.path());
  spec.train_examples = 7;
  CHECK(open_dataset(spec, "")->size(DataSplit::train) == 7);
  spec.train_examples = kTrainImages + 1;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "holds 25 examples where data.train_examples asks for 26"));
  spec.train_examples = 0;  // all means MNIST's number, which the rest of the cluster assumes
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "holds 25 examples where all of MNIST's 60000"));
}

TEST_CASE("mnist's validation examples are the last of those that the job counts, and part of the digest") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "", false);
  DataSpec spec = mnist_spec(folder.path());
  spec.train_examples = 20;
  const auto whole = open_dataset(spec, "");
  spec.validation_examples = 6;
  const auto dataset = open_dataset(spec, "");
  CHECK(dataset->size(DataSplit::train) == 14);
  CHECK(dataset->size(DataSplit::validation) == 6);
  CHECK(dataset->digest() == whole->digest());
  const auto found = read_examples(*dataset, DataSplit::validation, 0, 6);
  const auto expected = read_examples(*whole, DataSplit::train, 14, 6);
  CHECK(found.labels == expected.labels);
  CHECK(found.features == expected.features);
  Bytes labels = label_values(kTrainImages);
  labels[17] = 9;
  folder.write("train-labels-idx1-ubyte", idx({kTrainImages}, labels));
  CHECK(open_dataset(spec, "")->digest() != whole->digest());
}

TEST_CASE("the digest tells the content, not its packing") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "plain/", false);
  write_set(folder, "packed/", true);
  DataSpec spec = mnist_spec(folder.path() / "plain");
  const std::string digest = open_dataset(spec, "")->digest();
  CHECK(digest == open_dataset(mnist_spec(folder.path() / "packed"), "")->digest());
  spec.train_examples = kTrainImages - 1;
  CHECK(digest != open_dataset(spec, "")->digest());
  Bytes labels = label_values(kTestImages);
  labels[3] = 9;
  folder.write("plain/t10k-labels-idx1-ubyte", idx({kTestImages}, labels));
  CHECK(digest != open_dataset(mnist_spec(folder.path() / "plain"), "")->digest());
}

TEST_CASE("none has labels without features") {
  DataSpec spec;
  spec.name = "none";
  spec.train_examples = 1281167;
  const auto dataset = open_dataset(spec, "");
  CHECK(dataset->size(DataSplit::train) == 1281167);
  CHECK(dataset->size(DataSplit::validation) == 0);
  CHECK(dataset->size(DataSplit::test) == 0);
  CHECK(dataset->shape().features() == 0);
  const auto one = read_examples(*dataset, DataSplit::train, 5, 1);
  CHECK(one.labels == std::vector<std::int32_t>{0});
  CHECK(one.features.empty());
}

TEST_CASE("data sets have the sizes and shapes by which the cluster plans, known without reading them") {
  const Isolated isolated;
  const TemporaryFolder folder;
  write_set(folder, "", true);
  DataSpec glyphs;
  glyphs.name = "glyphs";
  DataSpec none;
  none.name = "none";
  for (const DataSpec& spec : {mnist_spec(folder.path()), glyphs, none}) {
    const auto dataset = open_dataset(spec, "");
    const ExampleShape shape = example_shape(spec);
    CHECK(dataset->size(DataSplit::train) == split_sizes(spec).train);
    CHECK(dataset->size(DataSplit::test) == split_sizes(spec).test);
    CHECK(dataset->shape().features() == shape.features());
    CHECK(dataset->shape().classes == shape.classes);
  }
}

TEST_CASE("an unknown data set is refused with the known ones") {
  DataSpec spec;
  spec.name = "imagenet";
  CHECK(contains(
      error_of([&] { open_dataset(spec, ""); }),
      "\"imagenet\"; known are mnist, glyphs, idx, cifar10, images, text, characters, trees, csv, npy and none"));
}

}  // namespace
}  // namespace ballast

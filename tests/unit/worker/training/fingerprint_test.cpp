#include "worker/training/fingerprint.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "worker/compute/backend.h"

namespace ballast {
namespace {

Job data_job(const std::string& more = "batch: 16", const std::string& train = "100") {
  return make_job(
      parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\ndata: {name: glyphs, "
                "test_examples: 30, train_examples: " +
                    train +
                    "}\ntraining: {slots: 4, epochs: 1, optimizer: {name: sgd, learning_rate: "
                    "0.1}, " +
                    more + "}\n",
                "the test's job"));
}

std::string arithmetic_of(const Job& job) {
  const auto model = make_model(job.spec.model, job.shape, job.arena, [] { return make_cpu_backend(1); });
  std::vector<float> weights(job.arena.elements);
  return arithmetic_digest(job, *model, weights);
}

std::string data_of(const Job& job) { return data_digest(*open_dataset(job.spec.data, "")); }

// The same set, which says so, decoded otherwise.
class DecodedDataset : public Dataset {
 public:
  using Decode = std::function<void(DataSplit, std::uint32_t, std::span<float>)>;
  DecodedDataset(const Dataset& whole, Decode decode) : whole_(whole), decode_(std::move(decode)) {}
  [[nodiscard]] std::uint32_t size(DataSplit split) const override { return whole_.size(split); }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    whole_.read(split, index, room);
    decode_(split, index, room.features);
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return whole_.label(split, index);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return whole_.shape(); }
  [[nodiscard]] std::string digest() const override { return whole_.digest(); }

 private:
  const Dataset& whole_;
  Decode decode_;
};

TEST_CASE("arithmetic is told apart from data and seed") {
  const auto one = arithmetic_of(data_job());
  CHECK(one.size() == 16);
  CHECK(arithmetic_of(data_job("batch: 16, seed: 9")) == one);
  CHECK(arithmetic_of(data_job("batch: 16", "100, validation_examples: 20")) == one);
  CHECK(arithmetic_of(data_job("batch: 16", "90")) == one);
  CHECK(arithmetic_of(data_job("batch: 32")) != one);  // slots of another size are computed otherwise
}

TEST_CASE("data are the same whatever of them is held out, and whatever the seed") {
  const auto one = data_of(data_job());
  CHECK(one.size() == 32);
  CHECK(data_of(data_job("batch: 16, seed: 9")) == one);
  CHECK(data_of(data_job("batch: 16", "100, validation_examples: 20")) == one);
  CHECK(data_of(data_job("batch: 16", "90")) != one);
}

TEST_CASE("the same files decoded otherwise are other data") {
  const auto job = data_job("batch: 16", "100, validation_examples: 20");
  const auto whole = open_dataset(job.spec.data, "");
  const auto digest = data_digest(*whole);
  const auto with = [&](DecodedDataset::Decode decode) {
    return data_digest(DecodedDataset(*whole, std::move(decode)));
  };
  CHECK(with([](DataSplit, std::uint32_t, std::span<float>) {}) == digest);
  for (const auto split : {DataSplit::train, DataSplit::validation, DataSplit::test}) {
    CHECK(with([split](DataSplit read, std::uint32_t, std::span<float> features) {
            features[300] += read == split ? 0x1p-20F : 0;
          }) != digest);
  }
}

}  // namespace
}  // namespace ballast

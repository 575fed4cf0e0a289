#include "worker/training/arriving_weights.h"

#include <doctest/doctest.h>

#include "common/job/job.h"
#include "common/job/load.h"

namespace ballast {
namespace {

TEST_CASE("few weights wait for the job that needs them, many are written before") {
  const std::vector<std::byte> half(ArrivingWeights::kWriteFrom / 2);
  ArrivingWeights weights;
  weights.put({0, half, nullptr});
  CHECK_FALSE(weights.are_many());
  weights.put({1, half, nullptr});
  CHECK(weights.are_many());
  CHECK(weights.take().size() == 2);
  CHECK_FALSE(weights.are_many());
  CHECK(weights.stored() == 2);
  weights.put({0, half, nullptr});
  CHECK(weights.stored() == 3);
}

TEST_CASE("a chunk is written where it belongs, and whoever kept its bytes is free") {
  const auto job = make_job(parse_job(R"(
job: arriving
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, max_steps: 9}
)",
                                      "test"));
  const auto& last = job.arena.chunks.back();
  std::vector<float> arena(job.arena.elements);
  auto values = std::make_shared<std::vector<float>>(last.elements, 0.5F);
  const std::weak_ptr<std::vector<float>> kept = values;
  ArrivingWeights weights;
  weights.put({last.id, std::as_bytes(std::span(*values)), std::move(values)});
  CHECK_FALSE(kept.expired());
  write(job.arena, weights.take(), arena);
  CHECK(arena[last.offset] == 0.5F);
  CHECK(arena[last.offset + last.elements - 1] == 0.5F);
  CHECK(arena.front() == 0.0F);
  CHECK(kept.expired());
}

}  // namespace
}  // namespace ballast

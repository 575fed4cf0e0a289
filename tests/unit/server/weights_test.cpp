// LaneWeights: which settings, scales and state each part of a chunk gets, and who may still read what.
#include "server/weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/job/clip_norms.h"
#include "common/job/load.h"
#include "common/job/optimizer_settings.h"
#include "tests/unit/common/numeric/samples.h"
#include "tests/unit/server/weights_support.h"

namespace ballast {
namespace {

TEST_CASE("each piece of a chunk is descended with its group's decay and its parameter's scale") {
  const Job job = job_of("optimizer: {name: adam, learning_rate: 0.1, weight_decay: 0.01}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  StepFactors factors{0.1F, 0.2F, 0.3F, false, {}};
  for (std::size_t i = 0; i < job.arena.parameters.size(); ++i) {
    factors.scales.push_back(0.25F + 0.5F * static_cast<float>(i));
  }
  for (const auto& chunk : job.arena.chunks) {
    CAPTURE(chunk.id);
    const Floats before = copy(weights.newest(chunk.id));
    const Floats root = root_of(job, chunk.id, 3);
    weights.apply(chunk.id, 0, root, factors);
    const Floats after = copy(weights.newest(chunk.id));
    CHECK(weights.version(chunk.id) == 1);
    if (chunk.id == job.arena.statistics().id) {
      CHECK(weights.state(chunk.id).empty());
      CHECK(same_bits(after, root));
      continue;
    }
    Floats expected(before.size(), 0.0F);  // padding stays zero
    for (const auto& piece : pieces_of(job.arena, chunk)) {
      const auto settings = optimizer_settings(job.spec.training, chunk.group);
      CHECK((settings.weight_decay == 0) == job.arena.parameters[piece.parameter].name.ends_with("bias"));
      Floats first(piece.elements);
      Floats second(piece.elements);
      const std::vector<std::span<float>> state = {first, second};
      optimizer_step(settings, {0.1F, 0.2F, 0.3F}, factors.scales[piece.parameter],
                     std::span(before).subspan(piece.offset, piece.elements),
                     std::span(root).subspan(piece.offset, piece.elements), state,
                     std::span(expected).subspan(piece.offset, piece.elements));
      const auto kept = weights.state(chunk.id);
      REQUIRE(kept.size() == 2);
      CHECK(same_bits(copy(kept[0].subspan(piece.offset, piece.elements)), first));
      CHECK(same_bits(copy(kept[1].subspan(piece.offset, piece.elements)), second));
    }
    CHECK(same_bits(after, expected));
  }
}

TEST_CASE("one scale is that of every parameter") {
  const Job job = job_of("optimizer: {name: rmsprop, momentum: 0.9}");
  LaneWeights one(job, all_chunks(job));
  LaneWeights each(job, all_chunks(job));
  one.initialize();
  each.initialize();
  for (const auto& chunk : job.arena.chunks) {
    const Floats root = root_of(job, chunk.id, 4);
    one.apply(chunk.id, 0, root, {0.1F, 0.1F, 1.0F, false, {0.375F}});
    each.apply(chunk.id, 0, root, {0.1F, 0.1F, 1.0F, false, Floats(job.arena.parameters.size(), 0.375F)});
    CHECK(same_bits(copy(one.newest(chunk.id)), copy(each.newest(chunk.id))));
  }
}

TEST_CASE("a skipped step leaves weights and state as they are, whatever its root") {
  const Job job = job_of("optimizer: {name: adagrad, initial_accumulator: 0.5}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  for (const auto& chunk : job.arena.chunks) {
    weights.apply(chunk.id, 0, root_of(job, chunk.id, 5), {0.1F, 0.1F, 1.0F, false, {}});
    const Floats before = copy(weights.newest(chunk.id));
    std::vector<Floats> state;
    for (const auto tensor : weights.state(chunk.id)) {
      state.push_back(copy(tensor));
    }
    const Floats bad(before.size(), std::numeric_limits<float>::quiet_NaN());
    weights.apply(chunk.id, 1, bad, {0.1F, 0.1F, 1.0F, true, {}});
    CHECK(weights.version(chunk.id) == 2);
    CHECK(same_bits(copy(weights.newest(chunk.id)), before));
    for (std::size_t i = 0; i < state.size(); ++i) {
      CHECK(same_bits(copy(weights.state(chunk.id)[i]), state[i]));
    }
  }
}

TEST_CASE("state begins as the optimizer says, and again when the job begins again") {
  const Job job = job_of("optimizer: {name: adagrad, initial_accumulator: 0.5}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  const Floats first = copy(weights.newest(0));
  const auto bytes = weights.bytes();
  REQUIRE(weights.state(0).size() == 1);
  CHECK(copy(weights.state(0)[0]) == Floats(first.size(), 0.5F));
  weights.apply(0, 0, root_of(job, 0, 6), {0.1F, 0.1F, 1.0F, false, {}});
  CHECK_FALSE(same_bits(copy(weights.newest(0)), first));
  weights.initialize();
  CHECK(weights.version(0) == 0);
  CHECK(same_bits(copy(weights.newest(0)), first));
  CHECK(copy(weights.state(0)[0]) == Floats(first.size(), 0.5F));
  CHECK(weights.bytes() == bytes + job.arena.chunks[0].bytes());  // the second version's buffer, and no more
}

TEST_CASE("what a reader holds stays as it is through updates and new beginnings") {
  const Job job = job_of("optimizer: {name: sgd}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  auto* held = weights.read(0, 0);
  const Floats values = copy(held->values);
  for (Step step = 0; step < 4; ++step) {
    weights.apply(0, step, root_of(job, 0, 7), {0.5F, 0.5F, 1.0F, false, {}});
  }
  auto* newest = weights.read(0, 4);
  const Floats newest_values = copy(newest->values);
  weights.begin(0);
  weights.initialize();
  weights.apply(0, 0, root_of(job, 0, 8), {0.5F, 0.5F, 1.0F, false, {}});
  CHECK(copy(held->values) == values);
  CHECK(copy(newest->values) == newest_values);
  CHECK(weights.newest(0).data() != newest->values.data());
  weights.release(0, held);
  weights.release(0, newest);
  const auto bytes = weights.bytes();
  for (Step step = 1; step < 9; ++step) {  // the buffers let go are used again
    weights.apply(0, step, root_of(job, 0, 9), {0.5F, 0.5F, 1.0F, false, {}});
  }
  CHECK(weights.bytes() == bytes);
}

TEST_CASE("nothing is allocated before a chunk is drawn or restored, and then one chunk at a time") {
  const Job job = job_of("optimizer: {name: adam}");
  LaneWeights weights(job, all_chunks(job));
  CHECK(weights.bytes() == 0);
  CHECK(weights.state_count(0) == 2);
  weights.begin(7);
  const auto statistics = job.arena.chunks[job.arena.statistics().id].bytes();
  CHECK(weights.bytes() == statistics);
  CHECK(copy(weights.newest(job.arena.statistics().id)) == Floats(kStatisticsFloats, 0.0F));
  const auto& chunk = job.arena.chunks[0];
  weights.restore(0, 7, Floats(chunk.elements), {2, Floats(chunk.elements)});
  CHECK(weights.bytes() == statistics + 3 * chunk.bytes());
  weights.begin_drawn();
  std::uint64_t drawn = 0;
  std::size_t chunks = 0;
  while (weights.has_to_draw()) {
    const auto bytes = weights.draw_next();
    CHECK(bytes <= 3U << 20U);
    drawn += bytes;
    ++chunks;
  }
  CHECK(chunks == job.arena.chunks.size());
  CHECK(weights.bytes() == drawn);
}

TEST_CASE(
    "a snapshot's state stays as it was taken, and is copied only for a chunk that is updated before it is written") {
  const Job job = job_of("optimizer: {name: adam}");
  LaneWeights weights(job, all_chunks(job));
  LaneWeights unread(job, all_chunks(job));
  weights.initialize();
  unread.initialize();
  const StepFactors factors{0.1F, 0.1F, 0.5F, false, {}};
  const auto update = [&](Step step) {
    weights.apply(0, step, root_of(job, 0, 30), factors);
    unread.apply(0, step, root_of(job, 0, 30), factors);
  };
  update(0);
  update(1);
  const auto bytes = weights.bytes();
  const auto taken = weights.read_state(0);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0]->values.data() == weights.state(0)[0].data());
  CHECK(weights.bytes() == bytes);
  const std::vector<Floats> as_taken = {copy(taken[0]->values), copy(taken[1]->values)};
  update(2);
  update(3);
  CHECK(weights.bytes() == bytes + 2 * job.arena.chunks[0].bytes());  // once, not at each update
  weights.begin(0);                                                   // nor does a new beginning take it
  weights.initialize();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(same_bits(copy(taken[i]->values), as_taken[i]));
    weights.release(0, taken[i]);
  }
  const auto all = weights.bytes();
  unread.initialize();
  for (Step step = 0; step < 4; ++step) {
    update(step);
  }
  CHECK(weights.bytes() == all);  // what was let go is used again
  CHECK(same_bits(copy(weights.newest(0)), copy(unread.newest(0))));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(same_bits(copy(weights.state(0)[i]), copy(unread.state(0)[i])));
  }
}

TEST_CASE("restored from its own bytes, a chunk goes on with the same bits") {
  const Job job = job_of("optimizer: {name: adam}");
  LaneWeights original(job, all_chunks(job));
  original.initialize();
  for (Step step = 0; step < 3; ++step) {
    original.apply(0, step, root_of(job, 0, 20), {0.1F, 0.1F, 0.5F, false, {}});
  }
  std::vector<Floats> state;
  for (const auto tensor : original.state(0)) {
    state.push_back(copy(tensor));
  }
  LaneWeights restored(job, all_chunks(job));
  restored.begin(3);
  CHECK(restored.version(0) == 3);
  restored.restore(0, 3, original.newest(0), state);
  for (Step step = 3; step < 6; ++step) {
    original.apply(0, step, root_of(job, 0, 21), {0.1F, 0.1F, 0.5F, false, {}});
    restored.apply(0, step, root_of(job, 0, 21), {0.1F, 0.1F, 0.5F, false, {}});
  }
  CHECK(restored.version(0) == 6);
  CHECK(same_bits(copy(restored.newest(0)), copy(original.newest(0))));

  const Floats before = copy(restored.newest(0));
  CHECK_THROWS_AS(restored.restore(0, 1, Floats(3), state), std::invalid_argument);
  CHECK_THROWS_AS(restored.restore(0, 1, before, {state[0]}), std::invalid_argument);
  CHECK_THROWS_AS(restored.restore(0, 1, before, {state[0], Floats(3)}), std::invalid_argument);
  CHECK(restored.version(0) == 6);
  CHECK(same_bits(copy(restored.newest(0)), before));
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) {
    sum += value;
  }
  return sum;
}

TEST_CASE("what is measured is what the norms are made of") {
  for (const std::string clip : {"global_norm: 1", "tensor_norm: 1", ""}) {
    CAPTURE(clip);
    const Job job = job_of("clip: {" + clip + "}");
    const auto norms = clip_norms(job.spec.training.clip, job.arena);
    CHECK(norms.of_chunk.empty() == clip.empty());
    LaneWeights weights(job, all_chunks(job));
    for (const auto& chunk : job.arena.chunks) {
      const Floats root = root_of(job, chunk.id, 11);
      const auto measured = weights.measure(chunk.id, root);
      CHECK(measured.finite);
      CHECK(measured.sums.size() == (clip.empty() ? 0 : norms.of_chunk[chunk.id].size()));
      if (!measured.sums.empty()) {
        double expected = 0;
        for (const auto value : root) {
          expected += static_cast<double>(value) * static_cast<double>(value);
        }
        CHECK(sum_of(measured.sums) == doctest::Approx(expected).epsilon(1e-12));
      }
    }
    CHECK(weights.measure(job.arena.statistics().id, Floats(kStatisticsFloats, 1.0F)).sums.empty());
  }
}

TEST_CASE("a gradient that is not finite is found with its parameter") {
  for (const std::string clip : {"global_norm: 1", "tensor_norm: 1", ""}) {
    const Job job = job_of("clip: {" + clip + "}");
    LaneWeights weights(job, all_chunks(job));
    for (const auto& chunk : job.arena.chunks) {
      for (const auto& piece : pieces_of(job.arena, chunk)) {
        for (const auto at : {piece.offset, piece.offset + piece.elements - 1}) {
          Floats root = root_of(job, chunk.id, 12);
          root[at] = -std::numeric_limits<float>::infinity();
          const auto measured = weights.measure(chunk.id, root);
          CHECK_FALSE(measured.finite);
          CHECK(measured.parameter == piece.parameter);
          root[at] = 0;
          CHECK(weights.measure(chunk.id, root).finite);
          CHECK(weights.measure(chunk.id, root, true).sums == weights.measure(chunk.id, root).sums);
        }
      }
    }
    // What a worker's loss is, is for the statistics.
    CHECK(weights.measure(job.arena.statistics().id, Floats(kStatisticsFloats, NAN)).finite);
  }
}

TEST_CASE("norms of chunks and parameters, and the factor they give") {
  const Job job = job_of("optimizer: {name: sgd}");
  const auto global = clip_norms({.value = {}, .tensor_norm = {}, .global_norm = 2.5}, job.arena);
  CHECK(global.count == 1);
  CHECK(global.limit == 2.5);
  const auto by_tensor = clip_norms({.value = {}, .tensor_norm = 0.5, .global_norm = {}}, job.arena);
  CHECK(by_tensor.count == 5);
  CHECK(by_tensor.limit == 0.5);
  std::vector<std::uint32_t> seen;
  for (const auto& chunk : job.arena.chunks) {
    const bool statistics = chunk.id == job.arena.statistics().id;
    CHECK(global.of_chunk[chunk.id].size() == (statistics ? 0 : 1));
    seen.insert(seen.end(), by_tensor.of_chunk[chunk.id].begin(), by_tensor.of_chunk[chunk.id].end());
  }
  // The first chunk has the first two weights and the beginning of the large one, the next one the biases.
  std::vector<std::uint32_t> expected = {0, 1, 4, 2, 3};
  CHECK(seen.size() > expected.size());
  expected.resize(seen.size(), 4);
  CHECK(seen == expected);
  CHECK(clip_norms({.value = 1, .tensor_norm = {}, .global_norm = {}}, job.arena).of_chunk.empty());

  CHECK(clip_scale(10, 25) == 1.0F);
  CHECK(clip_scale(2.5, 25) == static_cast<float>(2.5 / (5 + 1e-6)));
  CHECK(clip_scale(1, 0) == 1.0F);
  CHECK(clip_scale(1, 1e77) == doctest::Approx(std::sqrt(1e-77)));
}

TEST_CASE("pieces cover every parameter once, in order") {
  const Job job = job_of("optimizer: {name: sgd}");
  std::vector<std::uint64_t> covered(job.arena.parameters.size());
  for (const auto& chunk : job.arena.chunks) {
    for (const auto& piece : pieces_of(job.arena, chunk)) {
      CHECK(piece.first == covered[piece.parameter]);
      CHECK(chunk.offset + piece.offset == job.arena.extents[piece.parameter].offset + piece.first);
      CHECK(piece.offset + piece.elements <= chunk.elements);
      covered[piece.parameter] += piece.elements;
    }
  }
  for (std::size_t i = 0; i < covered.size(); ++i) {
    CHECK(covered[i] == job.arena.extents[i].elements);
  }
  CHECK(pieces_of(job.arena, job.arena.statistics()).empty());
}

}  // namespace
}  // namespace ballast

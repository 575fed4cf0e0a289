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

namespace ballast {
namespace {

using Floats = std::vector<float>;

// Weights (decay) and biases (no_decay) of sizes that leave padding; big.weight takes several chunks.
Job job_of(const std::string& training) {
  return make_job(parse_job(
      "job: weights\nmodel:\n  name: emulated\n  parameters:\n"
      "    - {name: a.weight, shape: [3, 5]}\n    - {name: b.weight, shape: [7, 2]}\n    - {name: c.bias, shape: [9]}\n"
      "    - {name: d.bias, shape: [4]}\n    - {name: big.weight, shape: [700, 1000]}\n"
      "data: {name: none}\ntraining: {max_steps: 9, " +
          training + "}\n",
      "job.yaml"));
}

std::vector<ChunkId> all_chunks(const Job& job) {
  std::vector<ChunkId> ids;
  for (const auto& chunk : job.arena.chunks) {
    ids.push_back(chunk.id);
  }
  return ids;
}

Floats root_of(const Job& job, ChunkId chunk, std::uint32_t which) {
  auto root = sample(job.arena.chunks[chunk].elements, which);
  const auto pieces = pieces_of(job.arena, job.arena.chunks[chunk]);
  Floats padded(root.size(), 0.0F);
  for (const auto& piece : pieces) {
    std::copy_n(root.begin() + static_cast<std::ptrdiff_t>(piece.offset), piece.elements,
                padded.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  }
  return padded;
}

Floats copy(std::span<const float> values) { return {values.begin(), values.end()}; }

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

TEST_CASE(
    "state changes by the root whatever clips gradients, less where the root is stale, and has no optimizer's state") {
  const Job job =
      make_job(parse_job("job: test\nmodel: {name: emulated, parameters: [{name: w, shape: [40]}, {name: mean, shape: "
                         "[30], group: state}]}\n"
                         "data: {name: none}\ntraining: {slots: 2, batch: 2, max_steps: 10, optimizer: {name: adam}}\n",
                         "test"));
  const ChunkId chunk = 1;
  for (const std::uint64_t staleness : {0, 1, 3}) {
    LaneWeights weights(job, all_chunks(job));
    weights.initialize();
    weights.apply(chunk, 0, root_of(job, chunk, 40), {0.1F, 0.1F, 1.0F, false, {}});
    const Floats before = copy(weights.newest(chunk));
    const Floats root = root_of(job, chunk, 41);
    weights.apply(chunk, 1, root, {0.1F, 0.1F, 1.0F, false, {0.375F}}, {0, 0, staleness});
    const auto after = weights.newest(chunk);
    const float share = 1.0F / static_cast<float>(std::max<std::uint64_t>(staleness, 1));
    for (std::size_t i = 0; i < before.size(); ++i) {
      REQUIRE(after[i] == before[i] + share * root[i]);
    }
  }
}

// Two running statistics around a buffer, of sizes that leave padding; the last step of an epoch has examples for the
// first of its two slots alone.
Job job_with_statistics(const std::string& mode) {
  return make_job(
      parse_job("job: test\nmodel: {name: emulated, parameters: [{name: w, shape: [40]}, "
                "{name: mean, shape: [9], group: state, momentum: 0.1}, {name: count, shape: [3], group: state}, "
                "{name: variance, shape: [21], group: state, momentum: 0.25}]}\n"
                "data: {name: none, train_examples: 10}\ntraining: {mode: " +
                    mode + ", slots: 2, batch: 4, max_steps: 10}\n",
                "test"));
}

TEST_CASE("in item mode statistics are blended into the newest values, and changes divided by their staleness") {
  const Job job = job_with_statistics("async");
  const ChunkId chunk = 1;
  REQUIRE(job.arena.chunks[chunk].group == Group::state);
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  for (const std::uint64_t staleness : {0, 1, 3}) {
    const auto version = weights.version(chunk);
    const Floats before = copy(weights.newest(chunk));
    const Floats sent = root_of(job, chunk, 50 + static_cast<std::uint32_t>(staleness));
    weights.apply(chunk, version, sent, {0.1F, 0.1F, 1.0F, false, {}}, {0, 1, staleness});
    Floats expected(before.size(), 0.0F);
    for (const auto& piece : pieces_of(job.arena, job.arena.chunks[chunk])) {
      const float momentum = job.arena.parameters[piece.parameter].momentum;
      const float share = 1.0F / static_cast<float>(std::max<std::uint64_t>(staleness, 1));
      for (auto i = piece.offset; i < piece.offset + piece.elements; ++i) {
        expected[i] = before[i] + (momentum != 0 ? momentum * (sent[i] - before[i]) : share * sent[i]);
      }
    }
    CHECK(same_bits(copy(weights.newest(chunk)), expected));
  }
}

TEST_CASE("an item without examples changes no state, and all else as before") {
  const Job job = job_with_statistics("async");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  weights.apply(1, 0, root_of(job, 1, 60), {0.1F, 0.1F, 1.0F, false, {}}, {2, 0, 0});
  const Floats before = copy(weights.newest(1));
  CHECK_FALSE(same_bits(before, Floats(before.size(), 0.0F)));
  const Floats nothing(before.size(), 0.0F);
  weights.apply(1, 1, nothing, {0.1F, 0.1F, 1.0F, false, {}}, {2, 1, 4});
  CHECK(same_bits(copy(weights.newest(1)), before));
  CHECK(weights.version(1) == 2);
  weights.apply(1, 2, nothing, {0.1F, 0.1F, 1.0F, false, {}}, {3, 1, 4});  // has examples: its statistics are zero
  CHECK_FALSE(same_bits(copy(weights.newest(1)), before));
}

TEST_CASE("in rounds statistics are changed by the root like all state") {
  for (const std::string mode : {"sync", "local, local: {steps: 1}"}) {
    const Job job = job_with_statistics(mode);
    LaneWeights weights(job, all_chunks(job));
    weights.initialize();
    const Floats before = copy(weights.newest(1));
    const Floats root = root_of(job, 1, 70);
    weights.apply(1, 0, root, {0.1F, 0.1F, 1.0F, false, {}});
    for (std::size_t i = 0; i < before.size(); ++i) {
      REQUIRE(weights.newest(1)[i] == before[i] + root[i]);
    }
  }
}

TEST_CASE("parameters of a group have its rate and decay, whatever shares their chunks, clipped by tensor or not") {
  for (const std::string optimizer : {"sgd, momentum: 0.9", "adam", "adamw", "adagrad", "rmsprop"}) {
    const Job job = job_of("optimizer: {name: " + optimizer +
                           ", weight_decay: 0.01}, parameter_groups: [{match: b.*, learning_rate: 0.5}, "
                           "{match: '*.bias', learning_rate: 2, weight_decay: 0.125}, {match: big*, weight_decay: 0}]");
    struct Own {
      float rate;
      double decay;
    };
    const std::vector<Own> own = {{1, 0.01}, {0.5, 0.01}, {2, 0.125}, {2, 0.125}, {1, 0}};
    LaneWeights weights(job, all_chunks(job));
    LaneWeights scaled(job, all_chunks(job));
    weights.initialize();
    scaled.initialize();
    for (const auto& chunk : job.arena.chunks) {
      if (chunk.group == Group::statistics) {
        continue;
      }
      const Floats before = copy(weights.newest(chunk.id));
      const Floats root = root_of(job, chunk.id, 80);
      weights.apply(chunk.id, 0, root, {0.1F, 0.2F, 0.3F, false, {}});
      scaled.apply(chunk.id, 0, root, {0.1F, 0.2F, 0.3F, false, Floats(job.arena.parameters.size(), 1.0F)});
      Floats expected(before.size(), 0.0F);
      for (const auto& piece : pieces_of(job.arena, chunk)) {
        auto settings = optimizer_settings(job.spec.training, Group::decay);
        settings.weight_decay = own[piece.parameter].decay;
        const float rate = own[piece.parameter].rate;
        std::vector<Floats> tensors;
        std::vector<std::span<float>> state;
        for (const auto& tensor : state_tensors(settings)) {
          tensors.emplace_back(piece.elements, tensor.initial);
        }
        state.assign(tensors.begin(), tensors.end());
        optimizer_step(settings, {0.1F * rate, 0.2F * rate, 0.3F}, 1.0F,
                       std::span(before).subspan(piece.offset, piece.elements),
                       std::span(root).subspan(piece.offset, piece.elements), state,
                       std::span(expected).subspan(piece.offset, piece.elements));
      }
      CHECK(same_bits(copy(weights.newest(chunk.id)), expected));
      CHECK(same_bits(copy(scaled.newest(chunk.id)), expected));
    }
  }
}

TEST_CASE("a group with a rate of 0 stays as it is") {
  const Job job = job_of("optimizer: {name: adam}, parameter_groups: [{match: '*', learning_rate: 0}]");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  const Floats before = copy(weights.newest(0));
  weights.apply(0, 0, root_of(job, 0, 90), {0.1F, 0.2F, 0.3F, false, {}});
  CHECK(same_bits(copy(weights.newest(0)), before));
}

TEST_CASE("with local steps groups are those of the inner optimizer alone") {
  const Job job = job_of(
      "mode: local, slots: 8, batch: 8, local: {steps: 1}, optimizer: {name: sgd, learning_rate: 1}, parameter_groups: "
      "[{match: '*', learning_rate: 0.5, weight_decay: 0.5}]");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  const Floats before = copy(weights.newest(0));
  const Floats root = root_of(job, 0, 91);
  weights.apply(0, 0, root, {1.0F, 1.0F, 1.0F, false, {}});
  for (std::size_t i = 0; i < before.size(); ++i) {
    REQUIRE(weights.newest(0)[i] == before[i] - root[i]);
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

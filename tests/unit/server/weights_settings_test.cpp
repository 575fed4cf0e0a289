// LaneWeights: what becomes of state, and of parameters with settings of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "common/job/optimizer_settings.h"
#include "common/job/trust_ratios.h"
#include "server/weights.h"
#include "tests/unit/common/numeric/samples.h"
#include "tests/unit/server/weights_support.h"

namespace ballast {
namespace {

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

TEST_CASE("the average follows the weights after each update that changed them, and is the weights until it begins") {
  for (const std::string optimizer : {"sgd", "lamb"}) {
    for (const std::uint64_t begins : {0, 1, 3}) {
      CAPTURE(optimizer);
      CAPTURE(begins);
      const Job job = job_of("optimizer: {name: " + optimizer +
                             ", learning_rate: 0.1}, weight_average: {decay: 0.75, "
                             "begins_at_step: " +
                             std::to_string(begins) + "}");
      LaneWeights weights(job, all_chunks(job));
      weights.initialize();
      for (const auto& chunk : job.arena.chunks) {
        if (chunk.group == Group::statistics) {
          CHECK(weights.state_count(chunk.id) == 0);
          CHECK(weights.read_average(chunk.id)->values.data() == weights.newest(chunk.id).data());
          continue;
        }
        REQUIRE(weights.state_count(chunk.id) == (optimizer == "sgd" ? 1 : 3));
        Floats expected = copy(weights.newest(chunk.id));
        CHECK(same_bits(copy(weights.state(chunk.id).back()), expected));
        for (Step step = 0; step < 5; ++step) {
          const bool skips = step == 2;
          weights.apply(chunk.id, step, root_of(job, chunk.id, 50), {0.1F, 0.1F, 0.5F, skips, {}});
          if (step + 1 <= begins) {
            expected = copy(weights.newest(chunk.id));
          } else if (!skips) {
            average_weights(weights.newest(chunk.id), 0.75, expected);
          }
          CHECK(same_bits(copy(weights.state(chunk.id).back()), expected));
        }
        CHECK_FALSE(same_bits(copy(weights.newest(chunk.id)), expected));
      }
    }
  }
}

TEST_CASE("an average begins after the first step by itself, and is no part of the optimizer's arithmetic") {
  const Job plain = job_of("optimizer: {name: adam}");
  const Job averaged = job_of("optimizer: {name: adam}, weight_average: {decay: 0.5}");
  LaneWeights without(plain, all_chunks(plain));
  LaneWeights with(averaged, all_chunks(averaged));
  without.initialize();
  with.initialize();
  for (Step step = 0; step < 3; ++step) {
    without.apply(0, step, root_of(plain, 0, 51), {0.1F, 0.1F, 0.5F, false, {}});
    with.apply(0, step, root_of(plain, 0, 51), {0.1F, 0.1F, 0.5F, false, {}});
    CHECK(same_bits(copy(with.newest(0)), copy(without.newest(0))));
    CHECK(same_bits(copy(with.state(0)[1]), copy(without.state(0)[1])));
    CHECK(same_bits(copy(with.state(0)[2]), copy(with.newest(0))) == (step == 0));
  }
}

TEST_CASE("an average that is being sent stays as it is through updates, and comes back with what is restored") {
  const Job job = job_of("optimizer: {name: sgd, momentum: 0.9}, weight_average: {decay: 0.9}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  const StepFactors factors{0.1F, 0.1F, 0.5F, false, {}};
  weights.apply(0, 0, root_of(job, 0, 52), factors);
  weights.apply(0, 1, root_of(job, 0, 53), factors);
  auto* sent = weights.read_average(0);
  const Floats values = copy(sent->values);
  CHECK(same_bits(values, copy(weights.state(0)[1])));
  const Floats newest = copy(weights.newest(0));
  const Floats momentum = copy(weights.state(0)[0]);
  weights.apply(0, 2, root_of(job, 0, 54), factors);
  CHECK(same_bits(copy(sent->values), values));
  const Floats third = copy(weights.state(0)[1]);
  CHECK_FALSE(same_bits(third, values));
  weights.release(0, sent);
  weights.restore(0, 2, newest, {momentum, values});
  weights.apply(0, 2, root_of(job, 0, 54), factors);
  CHECK(same_bits(copy(weights.state(0)[1]), third));
  CHECK_THROWS_AS(weights.restore(0, 2, newest, {momentum}), std::invalid_argument);
}

TEST_CASE("trust ratios: measures are of the weights and the update to come, which takes each parameter's ratio") {
  for (const std::string optimizer : {"lars, momentum: 0.9", "lamb"}) {
    CAPTURE(optimizer);
    const Job job = job_of("optimizer: {name: " + optimizer +
                           ", weight_decay: 0.01}, clip: {value: 3}, parameter_groups: [{match: 'b.*', learning_rate: "
                           "0.5}, {match: '*.bias', trust_ratio: false}]");
    const auto own = descents(job.spec.training, job.arena.parameters);
    const auto norms = trust_norms(own, job.arena);
    LaneWeights weights(job, all_chunks(job));
    weights.initialize();
    const Floats ratios = {0.5F, 2.0F, 1.0F, 1.0F, 0.25F};
    for (Version version = 0; version < 2; ++version) {
      const Prospect prospect{1.5F + static_cast<float>(version), 0.25F};
      for (const auto& chunk : job.arena.chunks) {
        if (chunk.group == Group::statistics) {
          CHECK(weights.measure(chunk.id, Floats(chunk.elements), true, prospect).sums.empty());
          continue;
        }
        const Floats root = root_of(job, chunk.id, 85);
        const Floats before = copy(weights.newest(chunk.id));
        std::vector<Floats> kept;
        for (const auto& tensor : weights.state(chunk.id)) {
          kept.push_back(copy(tensor));
        }
        const auto measured = weights.measure(chunk.id, root, true, prospect);
        CHECK(measured.finite);
        CHECK(same_bits(copy(weights.newest(chunk.id)), before));
        weights.apply(chunk.id, version, root, {0.1F, prospect.step_size, prospect.second_moment_root, false, ratios});
        std::vector<double> sums;
        Floats expected(before.size(), 0.0F);
        for (const auto& piece : pieces_of(job.arena, chunk)) {
          const auto& descent = own.of(piece.parameter);
          const auto part = [&](std::span<const float> of) { return of.subspan(piece.offset, piece.elements); };
          std::vector<std::span<const float>> read;
          std::vector<std::span<float>> written;
          for (auto& tensor : kept) {
            read.push_back(part(tensor));
            written.push_back(std::span(tensor).subspan(piece.offset, piece.elements));
          }
          const StepScalars scalars = descent.scalars({0.1F, prospect.step_size, prospect.second_moment_root});
          CHECK(scalars.step_size == (descent.optimizer.kind == OptimizerKind::lamb || descent.rate == 1
                                          ? prospect.step_size
                                          : 0.5F * prospect.step_size));
          if (has_trust_ratio(descent)) {
            const auto found = trust_sums(descent.optimizer, scalars, part(before), part(root), read);
            sums.push_back(found.weights);
            sums.push_back(found.update);
          }
          optimizer_step(descent.optimizer, scalars, ratios[piece.parameter], part(before), part(root), written,
                         std::span(expected).subspan(piece.offset, piece.elements));
        }
        CHECK(measured.sums == sums);
        CHECK(measured.sums.size() == norms.of_chunk[chunk.id].size());
        CHECK(same_bits(copy(weights.newest(chunk.id)), expected));
      }
    }
  }
}

TEST_CASE("trust ratios: a root that is not finite has as many sums, and names its parameter") {
  const Job job = job_of("optimizer: {name: lamb}");
  LaneWeights weights(job, all_chunks(job));
  weights.initialize();
  Floats root = root_of(job, 0, 86);
  root[0] = NAN;
  const auto measured = weights.measure(0, root, false, {1, 1});
  CHECK_FALSE(measured.finite);
  CHECK(measured.sums.size() == weights.measure(0, root_of(job, 0, 86), false, {1, 1}).sums.size());
}

TEST_CASE("trust ratios are made of all pieces of a parameter, and are 1 where it has none") {
  const Job job = job_of("optimizer: {name: lamb}, parameter_groups: [{match: '*.bias', trust_ratio: false}]");
  const auto own = descents(job.spec.training, job.arena.parameters);
  const auto norms = trust_norms(own, job.arena);
  CHECK(norms.count == 10);
  std::vector<std::size_t> pieces(norms.count);
  for (const auto& chunk : norms.of_chunk) {
    for (const auto norm : chunk) {
      ++pieces[norm];
    }
  }
  CHECK(pieces[0] == 1);
  CHECK(pieces[1] == 1);
  CHECK(pieces[4] + pieces[5] + pieces[6] + pieces[7] == 0);
  CHECK(pieces[8] > 1);
  CHECK(pieces[8] == pieces[9]);
  CHECK(trust_ratios(own, {16, 4, 0, 4, 16, 4, 16, 4, 4, 16}) == Floats{2, 1, 1, 1, 0.5F});
  CHECK(trust_norms(descents(job_of("optimizer: {name: adam}").spec.training, job.arena.parameters), job.arena)
            .of_chunk.empty());
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

}  // namespace
}  // namespace ballast

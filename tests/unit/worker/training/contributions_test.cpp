#include "worker/training/contributions.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/load.h"
#include "worker/compute/backend.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

// `group`: of the second parameter, and what else is said of it.
Job job_of(const std::string& mode, const std::string& group) {
  return make_job(parse_job(
      "job: test\nmodel: {name: emulated, parameters: [{name: w, shape: [5]}, {name: mean, shape: "
      "[20], group: " +
          group + "}]}\ndata: {name: none}\ntraining: {mode: " + mode + ", batch: 12, slots: 3, max_steps: 4}\n",
      "test"));
}

// What the slot of so many examples writes, from weights of 100000, at which rounding shows.
Floats trained(Model& model, const Job& job, std::uint32_t count, std::uint32_t step_examples) {
  const Floats weights(job.arena.elements, 100000.0F);
  Floats written(job.arena.elements, 7.0F);
  const std::vector<std::int32_t> labels(count);
  model.train({2, 1, step_examples, 1}, {count, {}, labels}, weights, written, [](std::size_t) {});
  return written;
}

TEST_CASE("of state a slot contributes its change by its share, of all else what the model writes") {
  for (const std::string mode : {"sync", "async"}) {
    const auto job = job_of(mode, "state");
    const auto plain = make_model(job.spec.model, job.shape, job.arena, on_cpu(1));
    const auto model = contributions_of(make_model(job.spec.model, job.shape, job.arena, on_cpu(1)), job).model;
    const auto made = trained(*plain, job, 3, 12);
    const auto sent = trained(*model, job, 3, 12);
    for (std::size_t p = 0; p < 2; ++p) {
      const auto& [offset, elements] = job.arena.extents[p];
      for (auto i = offset; i < offset + elements; ++i) {
        REQUIRE(sent[i] == (p == 0 ? made[i] : 0.25F * (made[i] - 100000.0F)));
      }
    }
  }
}

TEST_CASE("a slot's part of an update, undone, is a mean over its examples, and of local steps the whole change") {
  const auto undone = [](const Job& job, std::uint32_t counted, std::uint32_t examples) {
    return contributions_of(make_model(job.spec.model, job.shape, job.arena, on_cpu(1)), job)
        .undone.of(counted, examples);
  };
  CHECK(undone(job_of("sync", "state"), 12, 3) == 4);
  CHECK(undone(job_of("async", "state"), 3, 3) == 1);
  CHECK(undone(job_of("local, local: {steps: 2}", "decay"), 12, 3) == 3);  // slots
}

TEST_CASE("a slot without examples changes no state") {
  for (const std::string group : {"state", "state, momentum: 0.1"}) {
    const auto job = job_of("sync", group);
    const auto model = contributions_of(make_model(job.spec.model, job.shape, job.arena, on_cpu(1)), job).model;
    const auto sent = trained(*model, job, 0, 12);
    const auto& [offset, elements] = job.arena.extents[1];
    for (auto i = offset; i < offset + elements; ++i) {
      REQUIRE(sent[i] == 0.0F);
    }
  }
}

TEST_CASE("of a running statistic a slot contributes the change of its blend; in item mode the statistic itself") {
  for (const std::string mode : {"sync", "async", "ssp, staleness: {bound: 4}"}) {
    const auto job = job_of(mode, "state, momentum: 0.125");
    const auto plain = make_model(job.spec.model, job.shape, job.arena, on_cpu(1));
    const auto model = contributions_of(make_model(job.spec.model, job.shape, job.arena, on_cpu(1)), job).model;
    const auto made = trained(*plain, job, 3, 12);
    const auto sent = trained(*model, job, 3, 12);
    const auto& [offset, elements] = job.arena.extents[1];
    for (auto i = offset; i < offset + elements; ++i) {
      REQUIRE(sent[i] == (mode == "sync" ? 0.25F * (0.125F * (made[i] - 100000.0F)) : made[i]));
    }
  }
}

TEST_CASE("a model without state contributes what it writes") {
  const auto job = job_of("sync", "no_decay");
  auto model = make_model(job.spec.model, job.shape, job.arena, on_cpu(1));
  const Model* same = model.get();
  CHECK(contributions_of(std::move(model), job).model.get() == same);
}

}  // namespace
}  // namespace ballast

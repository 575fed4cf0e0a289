#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/numeric/setup.h"
#include "worker/models/hashed_gradient.h"

namespace ballast {
namespace {

// The share of parameter elements that differ between two arenas.
double share_different(const Setup& setup, std::span<const float> a, std::span<const float> b) {
  std::size_t different = 0;
  std::size_t all = 0;
  for (const auto& [offset, elements] : setup.arena.extents) {
    for (std::size_t i = offset; i < offset + elements; ++i) {
      different += a[i] == b[i] ? 0 : 1;
    }
    all += elements;
  }
  return static_cast<double>(different) / static_cast<double>(all);
}

TEST_CASE("emulated: hashed gradients differ with step, slot, seed and weights") {
  Setup setup(small_emulated("hashed"), {});
  const auto model = setup.make();
  const std::vector<std::int32_t> labels(4);
  const Batch batch{4, {}, labels};
  const auto base = setup.gradients(*model, {5, 6, 8, 7}, batch);
  CHECK(share_different(setup, base, setup.gradients(*model, {6, 6, 8, 7}, batch)) > 0.99);
  CHECK(share_different(setup, base, setup.gradients(*model, {5, 7, 8, 7}, batch)) > 0.99);
  CHECK(share_different(setup, base, setup.gradients(*model, {5, 6, 8, 8}, batch)) > 0.99);
  CHECK(share_different(setup, base, setup.gradients(*model, {5, 6, 8, 7}, batch)) == 0);
  const std::size_t changed = setup.arena.extents[0].offset + 17;
  setup.weights[changed] = std::nextafter(setup.weights[changed], 1.0F);
  const auto after = setup.gradients(*model, {5, 6, 8, 7}, batch);
  CHECK(after[changed] != base[changed]);
  CHECK(after[changed + 1] == base[changed + 1]);
}

TEST_CASE("emulated: gradients are spread over [-0.001, 0.001)") {
  std::vector<float> gradient(100'000);
  write_fixed(42, gradient);
  double sum = 0;
  double squares = 0;
  for (const float value : gradient) {
    CHECK_MESSAGE(std::abs(value) <= 0.001F, value);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  // Uniform values: mean 0 with a deviation of 0.001 / sqrt(3 n), variance 1e-6 / 3.
  CHECK(std::abs(sum / 1e5) < 5 * 0.001 / std::sqrt(3e5));
  CHECK(squares / 1e5 == doctest::Approx(1e-6 / 3).epsilon(0.02));
}

TEST_CASE("emulated: the loops give the values of the definition") {
  for (const std::size_t n : {1U, 7U, 16U, 1000U}) {
    std::vector<float> weights(n, 0.75F);
    std::vector<float> hashed(n);
    std::vector<float> fixed(n);
    write_hashed(99, weights, hashed);
    write_fixed(99, fixed);
    for (std::uint32_t i = 0; i < n; ++i) {
      CHECK(hashed[i] == hashed_value(99, i, 0x3F400000U));
      CHECK(fixed[i] == hashed_value(99, i, 0));
    }
  }
}

TEST_CASE("emulated: a fixed gradient is written only where it is missing") {
  const Setup setup(small_emulated("fixed"), {});
  const auto model = setup.make();
  const std::vector<std::int32_t> labels(4);
  const Batch batch{4, {}, labels};
  std::vector<float> gradients(setup.arena.elements);
  const auto train = [&](std::uint64_t step, std::uint32_t slot) {
    model->train({step, slot, 8, step}, batch, setup.weights, gradients, [](std::size_t) {});
  };
  train(0, 1);
  const auto first = gradients;
  // A mark beside the probed elements tells whether the buffer was written: it lives on with the same slot...
  const std::size_t mark = setup.arena.extents[0].offset + 1;
  gradients[mark] = 5.0F;
  train(1, 1);
  CHECK(gradients[mark] == 5.0F);
  // ... and is gone when another slot's gradient was needed, or when the buffer became a sum.
  train(2, 2);
  CHECK(share_different(setup, first, gradients) > 0.99);
  train(3, 1);
  CHECK(share_different(setup, first, gradients) == 0);
  std::ranges::for_each(gradients, [](float& value) { value += 0.5F; });
  train(4, 1);
  CHECK(share_different(setup, first, gradients) == 0);
}

TEST_CASE("emulated: the probes see both ends and every sixteen-thousandth element") {
  std::vector<float> gradient(40'000);
  write_fixed(3, gradient);
  CHECK(holds_fixed(3, gradient));
  CHECK_FALSE(holds_fixed(4, gradient));
  for (const std::size_t i : {std::size_t{0}, std::size_t{16'384}, std::size_t{32'768}, gradient.size() - 1}) {
    const float value = gradient[i];
    gradient[i] = std::nextafter(value, 1.0F);
    CHECK_FALSE(holds_fixed(3, gradient));
    gradient[i] = value;
  }
  CHECK(holds_fixed(3, {}));
}

TEST_CASE("emulated: settings that make no sense are refused") {
  const Arena arena = lay_out(declare_parameters(small_emulated("fixed"), {}));
  const auto refused = [&](const ModelSpec& spec) {
    CHECK_THROWS_AS(make_model(spec, {}, arena, on_cpu(1)), std::invalid_argument);
  };
  refused(small_emulated("random"));
  for (const double compute_ms : {-1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    ModelSpec spec = small_emulated("fixed");
    spec.compute_ms = compute_ms;
    refused(spec);
  }
}

// Only a lower bound: a busy machine may take longer, never less.
TEST_CASE("emulated: a slot takes at least its compute time") {
  ModelSpec spec = small_emulated("fixed");
  spec.compute_ms = 30;
  const Setup setup(spec, {});
  const auto model = setup.make();
  const std::vector<std::int32_t> labels(4);
  setup.gradients(*model, {0, 0, 8, 1}, {4, {}, labels});
  const ComputeTimes times = model->last_times();
  CHECK(times.forward_us >= 9'999);
  CHECK(times.forward_us + times.backward_us >= 29'998);
}

}  // namespace
}  // namespace ballast

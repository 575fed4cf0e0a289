// Every operation of every backend against the reference in double, on drawn shapes; one tolerance for each operation.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/numeric/backends.h"
#include "tests/numeric/draw.h"
#include "tests/numeric/reference.h"

namespace ballast {
namespace {

constexpr int kCases = 24;

// Largest difference allowed, over the largest value of the reference.
constexpr double kConv2dTolerance = 3e-6;
constexpr double kLinearTolerance = 3e-6;
constexpr double kSoftmaxTolerance = 1e-6;
constexpr double kExact = 0;  // relu and max_pool2d only choose values; max_pool2d's gradient sums few of them

void check_close(std::span<const float> actual, const std::vector<double>& expected, double tolerance,
                 const char* what) {
  CAPTURE(what);
  REQUIRE(actual.size() == expected.size());
  double largest = 0;
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
  }
  // Counted rather than maximised, so that what is not a number counts as wrong.
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    wrong += std::abs(static_cast<double>(actual[i]) - expected[i]) <= tolerance * largest ? 0 : 1;
  }
  CHECK(wrong == 0);
}

// One layer with parameters in arenas of its own, which begin with the weights; values outside must not be touched. The
// bias begins where it may in every arena.
struct Arenas {
  Arenas(std::size_t weights_count, std::size_t bias_count, Draw& draw)
      : weights{0, weights_count},
        bias{(weights_count / kAligned + 2) * kAligned, bias_count},
        arena(draw.values<float>(bias.offset + bias_count + 16)),
        gradients(arena.size(), std::numeric_limits<float>::quiet_NaN()) {}

  [[nodiscard]] std::vector<double> doubles(const Extent& extent) const {
    return {arena.begin() + static_cast<std::ptrdiff_t>(extent.offset),
            arena.begin() + static_cast<std::ptrdiff_t>(extent.offset + extent.elements)};
  }
  [[nodiscard]] std::span<const float> gradient(const Extent& extent) const {
    return std::span(gradients).subspan(extent.offset, extent.elements);
  }
  void check_rest_untouched() const {
    for (std::size_t i = weights.elements; i < bias.offset; ++i) {
      CHECK(std::isnan(gradients[i]));
    }
    for (std::size_t i = bias.offset + bias.elements; i < gradients.size(); ++i) {
      CHECK(std::isnan(gradients[i]));
    }
  }

  static constexpr std::size_t kAligned = kArenaAlignment / sizeof(float);

  Extent weights;
  Extent bias;
  std::vector<float> arena;
  std::vector<float> gradients;
};

std::vector<float> read(Backend& backend, const Tensor& tensor) {
  std::vector<float> values(tensor.shape().elements());
  backend.read(tensor, values);
  return values;
}

std::vector<float> read_gradient(Backend& backend, const Tensor& tensor) {
  std::vector<float> values(tensor.shape().elements());
  backend.read_gradient(tensor, values);
  return values;
}

Prepared prepare(Backend& backend, Tensor& x, const Layer& layer, const std::vector<Extent>& parameters = {},
                 bool in_place = false) {
  Tensor* const input = &x;
  std::vector<ParameterPlace> places;
  for (const Extent& extent : parameters) {
    places.push_back({extent});
  }
  return backend.prepare({layer, {&input, 1}, places, in_place});
}

Prepared prepare_relu(Backend& backend, Tensor& x) {
  return prepare(backend, x, Activation{Activation::Kind::relu}, {}, true);
}

std::unique_ptr<LossOperation> prepare_softmax(Backend& backend, Tensor& logits) {
  return backend.prepare_loss(SoftmaxCrossEntropy{}, logits, {});
}

// The pass of examples with these labels.
Pass labelled(std::span<const std::int32_t> labels) {
  Pass pass;
  pass.batch.count = static_cast<std::uint32_t>(labels.size());
  pass.batch.labels = labels;
  pass.training = true;
  return pass;
}

LossSums forward(Backend& backend, LossOperation& loss, const std::vector<std::int32_t>& labels) {
  const Pass pass = labelled(labels);
  backend.begin(pass);
  loss.forward();
  return loss.sums();
}

// What one operation computes from x, the bound weights and y's gradient.
struct Outcome {
  std::vector<float> y;
  std::vector<float> x_gradient;
};

Outcome run(Backend& backend, Tensor& x, const Prepared& prepared, const std::vector<double>& x_values,
            const std::vector<double>& y_gradient, const std::vector<Extent>& parameters = {}) {
  Outcome outcome;
  backend.write(x, to_float(x_values));
  prepared.operation->forward();
  outcome.y = read(backend, *prepared.output);
  backend.write_gradient(*prepared.output, to_float(y_gradient));
  prepared.operation->backward_parameters();
  std::size_t on_their_way = 0;
  for (const Extent& parameter : parameters) {
    on_their_way += backend.deliver(parameter) ? 0 : 1;
  }
  prepared.operation->backward_input();
  for (; on_their_way > 0; --on_their_way) {
    backend.await_delivery();
  }
  outcome.x_gradient = read_gradient(backend, x);
  return outcome;
}

reference::Tensor<double> drawn(Draw& draw, const Shape& shape) {
  reference::Tensor<double> tensor(shape);
  tensor.values = draw.values<double>(shape.elements());
  return tensor;
}

void check_conv2d(Backend& backend, Draw draw, double looseness) {
  constexpr std::uint32_t kChannels[] = {1, 3, 6, 8, 16, 20, 32};
  const Shape shape{draw.between(1, 5), kChannels[draw.between(0, 6)], draw.between(5, 17), draw.between(5, 17)};
  const Conv2d conv{.channels = kChannels[draw.between(0, 6)],
                    .kernel = draw.between(1, 5),
                    .stride = draw.between(1, 2),
                    .padding = draw.between(0, 2)};
  CAPTURE(to_string(shape));
  CAPTURE(conv.channels);
  CAPTURE(conv.kernel.h);
  CAPTURE(conv.stride.h);
  CAPTURE(conv.padding.h);
  const auto x_values = drawn(draw, shape);
  const auto y_gradient = drawn(draw, reference::conv2d_shape(shape, conv));
  Arenas layer(std::size_t{conv.channels} * shape.c * conv.kernel.h * conv.kernel.w, conv.channels, draw);
  const auto weights = layer.doubles(layer.weights);

  const auto x = backend.input(shape, true);
  const Prepared prepared = prepare(backend, *x, conv, {layer.weights, layer.bias});
  backend.bind_weights(layer.arena);
  backend.bind_gradients(layer.gradients);
  const Outcome outcome = run(backend, *x, prepared, x_values.values, y_gradient.values, {layer.bias, layer.weights});

  const auto y = reference::conv2d<double>(x_values, conv, weights, layer.doubles(layer.bias));
  const auto gradients = reference::conv2d_backward<double>(x_values, conv, weights, y_gradient);
  CHECK(prepared.output->shape() == y.shape);
  check_close(outcome.y, y.values, looseness * kConv2dTolerance, "y");
  check_close(outcome.x_gradient, gradients.x.values, looseness * kConv2dTolerance, "gradient of x");
  check_close(layer.gradient(layer.weights), gradients.weights, looseness * kConv2dTolerance,
              "gradient of the weights");
  check_close(layer.gradient(layer.bias), gradients.bias, looseness * kConv2dTolerance, "gradient of the bias");
  layer.check_rest_untouched();
}

void check_linear(Backend& backend, Draw draw, double looseness) {
  const Shape shape{draw.between(1, 20), draw.between(1, 40), draw.between(1, 4), draw.between(1, 4)};
  const std::uint32_t units = draw.between(1, 50);
  CAPTURE(to_string(shape));
  CAPTURE(units);
  const auto x_values = drawn(draw, shape);
  const auto y_gradient = drawn(draw, {shape.n, units, 1, 1});
  Arenas layer(units * shape.features(), units, draw);
  const auto weights = layer.doubles(layer.weights);

  const auto x = backend.input(shape, true);
  const Prepared prepared = prepare(backend, *x, Linear{units}, {layer.weights, layer.bias});
  backend.bind_weights(layer.arena);
  backend.bind_gradients(layer.gradients);
  const Outcome outcome = run(backend, *x, prepared, x_values.values, y_gradient.values, {layer.bias, layer.weights});

  const auto y = reference::linear<double>(x_values, units, weights, layer.doubles(layer.bias));
  const auto gradients = reference::linear_backward<double>(x_values, weights, y_gradient);
  check_close(outcome.y, y.values, looseness * kLinearTolerance, "y");
  check_close(outcome.x_gradient, gradients.x.values, looseness * kLinearTolerance, "gradient of x");
  check_close(layer.gradient(layer.weights), gradients.weights, looseness * kLinearTolerance,
              "gradient of the weights");
  check_close(layer.gradient(layer.bias), gradients.bias, looseness * kLinearTolerance, "gradient of the bias");
  layer.check_rest_untouched();
}

void check_relu(Backend& backend, Draw draw, double /*looseness*/) {
  const Shape shape{draw.between(1, 5), draw.between(1, 20), draw.between(1, 9), draw.between(1, 9)};
  CAPTURE(to_string(shape));
  auto x_values = drawn(draw, shape);
  x_values.values[0] = 0;  // where the derivative is defined to be 0
  const auto y_gradient = drawn(draw, shape);
  const auto x = backend.input(shape, true);
  const Outcome outcome = run(backend, *x, prepare_relu(backend, *x), x_values.values, y_gradient.values);
  check_close(outcome.y, reference::relu(x_values).values, kExact, "y");
  check_close(outcome.x_gradient, reference::relu_backward(x_values, y_gradient).values, kExact, "gradient of x");
}

// Small whole numbers, so that most windows have several largest values and sums of gradients are exact.
void check_max_pool2d(Backend& backend, Draw draw, double /*looseness*/) {
  const Shape shape{draw.between(1, 5), draw.between(1, 20), draw.between(4, 13), draw.between(4, 13)};
  const MaxPool2d pool{draw.between(1, 4), draw.between(1, 3)};
  CAPTURE(to_string(shape));
  CAPTURE(pool.window.h);
  CAPTURE(pool.stride.h);
  reference::Tensor<double> x_values(shape);
  x_values.values = draw.whole_values<double>(shape.elements(), 3);
  const auto y = reference::max_pool2d(x_values, pool);
  reference::Tensor<double> y_gradient(y.shape);
  y_gradient.values = draw.whole_values<double>(y.shape.elements(), 100);
  const auto x = backend.input(shape, true);
  const Outcome outcome = run(backend, *x, prepare(backend, *x, pool), x_values.values, y_gradient.values);
  check_close(outcome.y, y.values, kExact, "y");
  check_close(outcome.x_gradient, reference::max_pool2d_backward(x_values, pool, y_gradient).values, kExact,
              "gradient of x");
}

// The same behind a convolution, which leaves its output in a layout of the backend's choice; whole weights make ties.
void check_max_pool2d_of_conv2d(Backend& backend, Draw draw, double /*looseness*/) {
  constexpr std::uint32_t kChannels[] = {1, 6, 8, 16, 20, 32};
  const Shape shape{draw.between(1, 3), kChannels[draw.between(0, 5)], draw.between(5, 11), draw.between(5, 11)};
  const Conv2d conv{.channels = kChannels[draw.between(0, 5)]};
  const MaxPool2d pool{draw.between(2, 3), draw.between(1, 3)};
  CAPTURE(to_string(shape));
  CAPTURE(conv.channels);
  CAPTURE(pool.window.h);
  CAPTURE(pool.stride.h);
  Arenas layer(std::size_t{conv.channels} * shape.c, conv.channels, draw);
  layer.arena = draw.whole_values<float>(layer.arena.size(), 1);
  const auto x = backend.input(shape);
  const Prepared convolved = prepare(backend, *x, conv, {layer.weights, layer.bias});
  const Prepared pooled = prepare(backend, *convolved.output, pool);
  backend.bind_weights(layer.arena);
  backend.write(*x, draw.whole_values<float>(shape.elements(), 2));
  convolved.operation->forward();
  pooled.operation->forward();

  reference::Tensor<double> pool_input(convolved.output->shape());
  std::ranges::copy(read(backend, *convolved.output), pool_input.values.begin());
  const auto y = reference::max_pool2d(pool_input, pool);
  reference::Tensor<double> y_gradient(y.shape);
  y_gradient.values = draw.whole_values<double>(y.shape.elements(), 100);
  backend.write_gradient(*pooled.output, to_float(y_gradient.values));
  pooled.operation->backward_input();
  check_close(read(backend, *pooled.output), y.values, kExact, "y");
  check_close(read_gradient(backend, *convolved.output),
              reference::max_pool2d_backward(pool_input, pool, y_gradient).values, kExact, "gradient of x");
}

void check_softmax_cross_entropy(Backend& backend, Draw draw, double /*looseness*/) {
  const Shape shape{draw.between(1, 20), draw.between(2, 30), 1, 1};
  CAPTURE(to_string(shape));
  const auto logits_values = drawn(draw, shape);
  const auto labels = draw.labels(shape.n, shape.c);
  const auto logits = backend.input(shape, true);
  const auto loss = prepare_softmax(backend, *logits);
  const Pass pass = labelled(labels);
  backend.begin(pass);
  backend.write(*logits, to_float(logits_values.values));
  loss->forward();
  loss->backward(0.125F);
  const LossSums sums = loss->sums();
  CHECK(sums.loss_sum ==
        doctest::Approx(reference::softmax_cross_entropy<double>(logits_values, labels)).epsilon(kSoftmaxTolerance));
  check_close(read_gradient(backend, *logits),
              reference::softmax_cross_entropy_backward<double>(logits_values, labels, 0.125).values, kSoftmaxTolerance,
              "gradient of the logits");
}

template <typename Check>
void for_each_backend_and_case(const Check& check) {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto backend = named.make();
    for (int i = 0; i < kCases; ++i) {
      check(*backend, Draw(static_cast<std::uint64_t>(i)), named.looseness);
    }
  }
}

TEST_CASE("operations: conv2d") { for_each_backend_and_case(check_conv2d); }
TEST_CASE("operations: linear") { for_each_backend_and_case(check_linear); }
// What is left then are the sums: float32 in every precision.
TEST_CASE("operations: products of factors that no precision rounds") {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto backend = named.make();
    for (int i = 0; i < kCases; ++i) {
      const Draw draw(static_cast<std::uint64_t>(i), Draw::Values::short_ones);
      check_conv2d(*backend, draw, named.short_conv2d_looseness);
      check_linear(*backend, draw, named.short_looseness);
    }
  }
}

TEST_CASE("operations: relu") { for_each_backend_and_case(check_relu); }
TEST_CASE("operations: max_pool2d") { for_each_backend_and_case(check_max_pool2d); }
TEST_CASE("operations: max_pool2d of conv2d") { for_each_backend_and_case(check_max_pool2d_of_conv2d); }
TEST_CASE("operations: softmax_cross_entropy") { for_each_backend_and_case(check_softmax_cross_entropy); }

TEST_CASE("operations: what is not finite stays visible") {
  constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto made = named.make();
    Backend& backend = *made;
    const Shape shape{1, 2, 4, 4};
    std::vector<float> values(shape.elements(), 1.0F);
    values[5] = kNotANumber;
    const auto x = backend.input(shape, true);
    backend.write(*x, values);
    const Prepared relu = prepare_relu(backend, *x);
    relu.operation->forward();
    CHECK(std::isnan(read(backend, *relu.output)[5]));
    const auto z = backend.input(shape, true);
    backend.write(*z, values);
    const Prepared pool = prepare(backend, *z, MaxPool2d{2, 2});
    pool.operation->forward();
    CHECK(std::isnan(read(backend, *pool.output)[0]));
  }
}

TEST_CASE("operations: large logits neither overflow nor lose the label") {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto backend = named.make();
    const auto logits = backend->input({2, 3, 1, 1}, true);
    const auto loss = prepare_softmax(*backend, *logits);
    backend->write(*logits, std::vector<float>{1e4F, -1e4F, 0, 1e4F, -1e4F, 0});
    const LossSums sums = forward(*backend, *loss, {0, 1});
    CHECK(sums.loss_sum == doctest::Approx(2e4));
    CHECK(sums.correct == 1);
  }
}

TEST_CASE("operations: equal logits count as the lowest class") {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto backend = named.make();
    const auto logits = backend->input({2, 3, 1, 1}, true);
    const auto loss = prepare_softmax(*backend, *logits);
    backend->write(*logits, std::vector<float>{1, 2, 2, 1, 2, 2});
    CHECK(forward(*backend, *loss, {1, 2}).correct == 1);
  }
}

TEST_CASE("operations: what does not fit is refused") {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    const auto made = named.make();
    Backend& backend = *made;
    const auto x = backend.input({1, 2, 4, 5}, true);
    CHECK_THROWS_AS(prepare(backend, *x, Conv2d{1, 5, 1}, {{0, 50}, {50, 1}}), std::invalid_argument);
    CHECK_THROWS_AS(prepare(backend, *x, Conv2d{1, 3, 0}, {{0, 18}, {18, 1}}), std::invalid_argument);
    CHECK_THROWS_AS(prepare(backend, *x, Conv2d{1, 3, 1}, {{0, 17}, {18, 1}}), std::invalid_argument);
    CHECK_THROWS_AS(prepare(backend, *x, Linear{3}, {{0, 119}, {120, 3}}), std::invalid_argument);
    CHECK_THROWS_AS(prepare(backend, *x, MaxPool2d{5, 1}), std::invalid_argument);
    CHECK_THROWS_AS(backend.input({0, 2, 4, 5}), std::invalid_argument);
    const auto loss = prepare_softmax(backend, *x);
    CHECK_THROWS_WITH_AS(forward(backend, *loss, {40}), doctest::Contains("label 40"), std::invalid_argument);
    CHECK_THROWS_AS(forward(backend, *loss, {-1}), std::invalid_argument);
    CHECK_THROWS_AS(forward(backend, *loss, {1, 1}), std::invalid_argument);
  }
  CHECK_THROWS_AS(make_cpu_backend(0), std::invalid_argument);
}

}  // namespace
}  // namespace ballast

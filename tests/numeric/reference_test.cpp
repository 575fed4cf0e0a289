// The reference judges the backends, so it is judged first: its gradients against finite differences of its values.
#include "tests/numeric/reference.h"

#include <doctest/doctest.h>

#include "tests/numeric/draw.h"
#include "tests/numeric/finite_difference.h"

namespace ballast {
namespace {

using reference::Tensor;

// The values are of order 1; the error of the difference is of order 1e-10.
constexpr double kReferenceTolerance = 1e-7;
constexpr int kReferenceCases = 8;

Tensor<double> drawn_tensor(Draw& draw, const Shape& shape) {
  Tensor<double> tensor(shape);
  tensor.values = draw.values<double>(shape.elements());
  return tensor;
}

// Every element of `gradient` against the difference of value() by the same element of `variables`.
template <typename Value>
void check_gradient(std::vector<double>& variables, const std::vector<double>& gradient, const Value& value) {
  REQUIRE(variables.size() == gradient.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    CHECK(gradient[i] ==
          doctest::Approx(central_difference(variables[i], value)).epsilon(kReferenceTolerance).scale(1));
  }
}

Shape small_shape(Draw& draw) {
  return {draw.between(1, 2), draw.between(1, 3), draw.between(4, 6), draw.between(4, 7)};
}

TEST_CASE("reference gradients: conv2d") {
  for (int i = 0; i < kReferenceCases; ++i) {
    Draw draw(static_cast<std::uint64_t>(i));
    Tensor<double> x = drawn_tensor(draw, small_shape(draw));
    Conv2d conv{.channels = draw.between(1, 3),
                .kernel = draw.between(1, 4),
                .stride = draw.between(1, 2),
                .padding = draw.between(0, 2)};
    auto weights = draw.values<double>(std::size_t{conv.channels} * x.shape.c * conv.kernel.h * conv.kernel.w);
    auto bias = draw.values<double>(conv.channels);
    const Tensor<double> probe = drawn_tensor(draw, reference::conv2d_shape(x.shape, conv));
    const auto value = [&] { return dot(reference::conv2d<double>(x, conv, weights, bias).values, probe.values); };
    const auto gradients = reference::conv2d_backward<double>(x, conv, weights, probe);
    check_gradient(x.values, gradients.x.values, value);
    check_gradient(weights, gradients.weights, value);
    check_gradient(bias, gradients.bias, value);
  }
}

TEST_CASE("reference gradients: linear") {
  for (int i = 0; i < kReferenceCases; ++i) {
    Draw draw(static_cast<std::uint64_t>(i));
    Tensor<double> x = drawn_tensor(draw, small_shape(draw));
    const std::uint32_t units = draw.between(1, 5);
    auto weights = draw.values<double>(units * x.shape.features());
    auto bias = draw.values<double>(units);
    const Tensor<double> probe = drawn_tensor(draw, {x.shape.n, units, 1, 1});
    const auto value = [&] { return dot(reference::linear<double>(x, units, weights, bias).values, probe.values); };
    const auto gradients = reference::linear_backward<double>(x, weights, probe);
    check_gradient(x.values, gradients.x.values, value);
    check_gradient(weights, gradients.weights, value);
    check_gradient(bias, gradients.bias, value);
  }
}

// Away from 0, where ReLU has no derivative.
TEST_CASE("reference gradients: relu") {
  Draw draw(1);
  Tensor<double> x = drawn_tensor(draw, {3, 4, 5, 6});
  for (double& value : x.values) {
    value += value < 0 ? -0.001 : 0.001;
  }
  const Tensor<double> probe = drawn_tensor(draw, x.shape);
  check_gradient(x.values, reference::relu_backward(x, probe).values,
                 [&] { return dot(reference::relu(x).values, probe.values); });
}

TEST_CASE("reference gradients: max_pool2d") {
  for (int i = 0; i < kReferenceCases; ++i) {
    Draw draw(static_cast<std::uint64_t>(i));
    Tensor<double> x = drawn_tensor(draw, small_shape(draw));
    // All different by far more than the finite difference's distance.
    for (std::size_t j = 0; j < x.values.size(); ++j) {
      x.values[j] = std::round(x.values[j] * 50) + 0.001 * static_cast<double>(j);
    }
    const MaxPool2d pool{draw.between(1, 4), draw.between(1, 3)};
    const Tensor<double> probe = drawn_tensor(draw, reference::max_pool2d(x, pool).shape);
    check_gradient(x.values, reference::max_pool2d_backward(x, pool, probe).values,
                   [&] { return dot(reference::max_pool2d(x, pool).values, probe.values); });
  }
}

TEST_CASE("reference gradients: softmax_cross_entropy") {
  for (int i = 0; i < kReferenceCases; ++i) {
    Draw draw(static_cast<std::uint64_t>(i));
    Tensor<double> logits = drawn_tensor(draw, {draw.between(1, 6), draw.between(2, 12), 1, 1});
    const auto labels = draw.labels(logits.shape.n, logits.shape.c);
    check_gradient(logits.values, reference::softmax_cross_entropy_backward<double>(logits, labels, 0.25).values,
                   [&] { return 0.25 * reference::softmax_cross_entropy<double>(logits, labels); });
  }
}

}  // namespace
}  // namespace ballast

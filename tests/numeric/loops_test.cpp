// Loops of the cpu backend by themselves: how exact our functions are, and products of matrices in pieces.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/numeric/draw.h"
#include "worker/compute/cpu/activation_loops.h"
#include "worker/compute/cpu/dropout_loops.h"
#include "worker/compute/cpu/gemm.h"
#include "worker/compute/cpu/softmax_loops.h"

namespace ballast::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLoopNan = std::numeric_limits<float>::quiet_NaN();

// Every so many-th float of either sign from the smallest normal one to `largest`.
std::vector<float> many_floats(float largest) {
  constexpr std::uint32_t kStride = 9973;
  std::vector<float> floats = {0.0F};
  for (auto bits = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::min());
       bits < std::bit_cast<std::uint32_t>(largest); bits += kStride) {
    floats.push_back(std::bit_cast<float>(bits));
    floats.push_back(-floats.back());
  }
  return floats;
}

std::vector<float> activated(Activation::Kind kind, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  activate({kind}, x.data(), y.data(), x.size(), 1);
  return y;
}

double last_place(double value) {
  const auto above = std::nextafter(static_cast<float>(std::abs(value)), kInfinity);
  return static_cast<double>(above) - static_cast<double>(static_cast<float>(std::abs(value)));
}

// The largest distance from what `exact` returns, in units of its last place, where that is a normal float.
template <typename Exact>
double largest_error(const std::vector<float>& x, const std::vector<float>& y, const Exact& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x[i]));
    if (std::abs(expected) > 1e-37) {
      largest = std::max(largest, std::abs(static_cast<double>(y[i]) - expected) / last_place(expected));
    }
  }
  return largest;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_CASE("loops: exp, tanh and the sigmoid are exact to a few units of the last place") {
  const auto x = many_floats(86.0F);
  std::vector<float> exponentials(x.size());
  const float largest = exponentials_of_row(x.data(), x.size(), exponentials.data()).largest;
  const auto exponential = [&](double value) {
    return std::exp(static_cast<double>(static_cast<float>(value) - largest));
  };
  CHECK(largest_error(x, exponentials, exponential) < 2);
  CHECK(largest_error(x, activated(Activation::Kind::tanh, x), [](double v) { return std::tanh(v); }) < 3);
  CHECK(largest_error(x, activated(Activation::Kind::sigmoid, x), sigmoid) < 3);
}

TEST_CASE("loops: gelu is exact to 3e-7 of its argument") {
  const auto x = many_floats(1e4F);
  const auto y = activated(Activation::Kind::gelu, x);
  double largest = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const auto value = static_cast<double>(x[i]);
    const double expected = 0.5 * value * std::erfc(-value / std::numbers::sqrt2);
    largest = std::max(largest, std::abs((static_cast<double>(y[i]) - expected) / value));
  }
  CHECK(largest < 3e-7);
}

TEST_CASE("loops: functions end where they should, and what is not a number stays") {
  const std::vector<float> x = {-kInfinity, -1e30F, -100, 100, 1e30F, kInfinity, kLoopNan};
  const auto tanh = activated(Activation::Kind::tanh, x);
  const auto sigmoid = activated(Activation::Kind::sigmoid, x);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(tanh[i] == -1);
    CHECK(tanh[3 + i] == 1);
    CHECK(sigmoid[i] == 0);
    CHECK(sigmoid[3 + i] == 1);
  }
  for (const auto kind : {Activation::Kind::relu, Activation::Kind::leaky_relu, Activation::Kind::gelu,
                          Activation::Kind::tanh, Activation::Kind::sigmoid}) {
    CHECK(std::isnan(activated(kind, x).back()));
  }
}

TEST_CASE("loops: a softmax of large values overflows nowhere, and one of what is not a number is none") {
  std::vector<float> row = {1e30F, -1e30F, 1e30F, 0};
  softmax_row(row.data(), row.size());
  CHECK(row == std::vector<float>{0.5F, 0, 0.5F, 0});
  for (const float wrong : {kLoopNan, kInfinity}) {
    std::vector<float> values(11, 1.0F);
    values[9] = wrong;
    softmax_row(values.data(), values.size());
    CHECK(std::ranges::all_of(values, [](float value) { return std::isnan(value); }));
  }
}

TEST_CASE("loops: what is dropped does not depend on where pieces and threads begin") {
  const RandomStream stream({7, Purpose::dropout, 3, 1});
  constexpr std::uint64_t kFirst = std::uint64_t{5} << 40U;
  constexpr std::size_t kCount = 3 * 16384 + 13;
  for (const float rate : {0.0F, 0.1F, 0.5F, 0.999F}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      std::vector<float> factors(kCount);
      draw_factors(stream, kFirst, rate, factors.data(), kCount, threads);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        const float expected = stream.uniform(kFirst + i) < rate ? 0.0F : 1.0F / (1.0F - rate);
        wrong += factors[i] == expected ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}

// A product of drawn matrices with gaps between rows, and of all that is wrong with it.
struct DrawnProduct {
  DrawnProduct(const ProductSize& of, bool left_transposed, bool right_transposed)
      : size(of),
        left(matrix(of.rows, of.depth, left_transposed)),
        right(matrix(of.depth, of.columns, right_transposed)) {}

  static constexpr std::size_t kGap = 3;

  struct Matrix {
    std::vector<float> values;
    std::size_t stride;
    bool transposed;

    [[nodiscard]] Factor factor() const { return {values.data(), stride, transposed}; }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const {
      return static_cast<double>(transposed ? values[column * stride + row] : values[row * stride + column]);
    }
  };

  Matrix matrix(std::size_t rows, std::size_t columns, bool transposed) {
    const std::size_t stride = (transposed ? rows : columns) + kGap;
    return {draw.values<float>((transposed ? columns : rows) * stride), stride, transposed};
  }

  [[nodiscard]] std::vector<float> computed(Into into, std::uint32_t threads) const {
    std::vector<float> to(size.rows * (size.columns + kGap), 2.0F);
    multiply(size, left.factor(), right.factor(), to.data(), size.columns + kGap, into, threads, 0.5F);
    return to;
  }

  [[nodiscard]] std::size_t wrong_values(const std::vector<float>& to, double before) const {
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < size.rows; ++row) {
      for (std::size_t column = 0; column < size.columns + kGap; ++column) {
        double expected = column < size.columns ? before : 2;
        for (std::size_t k = 0; k < size.depth && column < size.columns; ++k) {
          expected += 0.5 * left.at(row, k) * right.at(k, column);
        }
        const auto actual = static_cast<double>(to[row * (size.columns + kGap) + column]);
        wrong += std::abs(actual - expected) < 1e-4 ? 0 : 1;
      }
    }
    return wrong;
  }

  Draw draw{3};
  ProductSize size;
  Matrix left;
  Matrix right;
};

TEST_CASE("loops: products in pieces are whole, with the same bytes for any number of threads") {
  for (const ProductSize& size :
       {ProductSize{1, 1, 1}, {5, 700, 9}, {2500, 7, 33}, {300, 301, 40}, {16, 24, 3000}, {3, 5, 0}}) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        const DrawnProduct product(size, left, right);
        const auto replaced = product.computed(Into::replace, 1);
        const auto added = product.computed(Into::add, 1);
        CHECK(product.wrong_values(replaced, 0) == 0);
        CHECK(product.wrong_values(added, 2) == 0);
        CHECK(product.computed(Into::replace, 2) == replaced);
        CHECK(product.computed(Into::add, 3) == added);
      }
    }
  }
}

}  // namespace
}  // namespace ballast::cpu

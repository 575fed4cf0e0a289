// add_into, sgd_step and average_state against plain scalar loops that the compiler may not vectorise, bit for bit.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/numeric/philox.h"
#include "common/numeric/sgd.h"
#include "common/numeric/vector.h"

namespace ballast {
namespace {

// Values of very different magnitudes and both signs, so that another order or rounding would show.
std::vector<float> sample(std::size_t count, std::uint32_t which) {
  const RandomStream stream({99, Purpose::probe, 0, which});
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::ldexp(stream.uniform(2 * i) - 0.5F, static_cast<int>(stream.bounded(2 * i + 1, 40)) - 20);
  }
  return values;
}

bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

// Each intermediate goes through memory: neither vectors nor contraction.
void reference_step(const std::vector<float>& weights, const std::vector<float>& gradient, std::vector<float>& buffer,
                    std::vector<float>& new_weights, const SgdFactors& factors) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    volatile float descent = gradient[i];
    if (factors.weight_decay != 0.0F) {
      volatile float decay = factors.weight_decay * weights[i];
      descent = descent + decay;
    }
    if (factors.momentum != 0.0F) {
      volatile float kept = factors.momentum * buffer[i];
      descent = kept + descent;
      buffer[i] = descent;
    }
    volatile float change = factors.learning_rate * descent;
    new_weights[i] = weights[i] - change;
  }
}

constexpr std::size_t kSizes[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 64, 1000, 4099};

// A copy of `values` that begins `shift` bytes behind an aligned address.
class Shifted {
 public:
  Shifted(const std::vector<float>& values, std::size_t shift)
      : bytes_(values.size() * sizeof(float) + 128), count_(values.size()) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = bytes_.data() + (64 - address % 64) % 64 + shift;
    if (!values.empty()) {
      std::memcpy(begin_, values.data(), values.size() * sizeof(float));
    }
  }
  [[nodiscard]] float* data() { return reinterpret_cast<float*>(begin_); }
  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> copy(count_);
    if (count_ > 0) {
      std::memcpy(copy.data(), begin_, count_ * sizeof(float));
    }
    return copy;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
  std::byte* begin_ = nullptr;
};

TEST_CASE("add_into gives the scalar sum's bits at any alignment and size") {
  for (const std::size_t size : kSizes) {
    const std::vector<float> left = sample(size, 0);
    const std::vector<float> right = sample(size, 1);
    std::vector<float> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      volatile float sum = left[i] + right[i];
      expected[i] = sum;
    }
    for (const std::size_t shift : {0U, 1U, 3U, 4U, 17U}) {
      Shifted sums(left, shift);
      Shifted addends(right, shift / 2);
      add_into(sums.data(), addends.data(), size);
      CHECK(same_bits(sums.values(), expected));
    }
  }
}

TEST_CASE("sgd_step gives the scalar definition's bits") {
  const SgdFactors cases[] = {{0.1F, 0, 0}, {0.1F, 0, 1e-4F}, {0.1F, 0.9F, 0}, {0.1F, 0.9F, 1e-4F}, {0.0F, 0.9F, 0.5F}};
  for (const SgdFactors& factors : cases) {
    for (const std::size_t size : kSizes) {
      const std::vector<float> weights = sample(size, 2);
      const std::vector<float> gradient = sample(size, 3);
      std::vector<float> expected_buffer = sample(size, 4);
      std::vector<float> buffer = expected_buffer;
      std::vector<float> expected(size);
      std::vector<float> actual(size);
      reference_step(weights, gradient, expected_buffer, expected, factors);
      Shifted received(gradient, 3);
      sgd_step(weights, {received.data(), size}, buffer, actual, factors);
      CHECK(same_bits(actual, expected));
      CHECK(same_bits(buffer, expected_buffer));
    }
  }
}

TEST_CASE("sgd_step agrees with hand-computed PyTorch steps") {
  // lr 0.5, momentum 0.5, weight decay 0.25, two steps: all values are exact in binary.
  std::vector<float> weights = {2.0F};
  std::vector<float> buffer = {0.0F};
  std::vector<float> next(1);
  sgd_step(weights, std::vector<float>{1.0F}, buffer, next, {0.5F, 0.5F, 0.25F});
  CHECK(buffer[0] == 1.5F);
  CHECK(next[0] == 1.25F);
  weights = next;
  sgd_step(weights, std::vector<float>{-1.0F}, buffer, next, {0.5F, 0.5F, 0.25F});
  CHECK(buffer[0] == 0.0625F);
  CHECK(next[0] == 1.21875F);
}

TEST_CASE("without momentum the buffer stays as it is and may be missing") {
  const std::vector<float> weights = {1.0F, 2.0F};
  const std::vector<float> gradient = {1.0F, -1.0F};
  std::vector<float> buffer = {0.0F, 0.0F};
  std::vector<float> next(2);
  sgd_step(weights, gradient, buffer, next, {0.5F, 0, 0});
  CHECK(buffer == std::vector<float>{0.0F, 0.0F});
  CHECK(next == std::vector<float>{0.5F, 2.5F});
  std::vector<float> again(2);
  sgd_step(weights, gradient, {}, again, {0.5F, 0, 0});
  CHECK(again == next);
}

TEST_CASE("non-finite gradients pass through and concern their element only") {
  const std::vector<float> weights = {1.0F, 1.0F, 1.0F};
  const std::vector<float> gradient = {std::numeric_limits<float>::quiet_NaN(), 1.0F,
                                       std::numeric_limits<float>::infinity()};
  std::vector<float> buffer(3, 0.0F);
  std::vector<float> next(3);
  sgd_step(weights, gradient, buffer, next, {0.5F, 0.5F, 0});
  CHECK(std::isnan(next[0]));
  CHECK(next[1] == 0.5F);
  CHECK(std::isinf(next[2]));
}

TEST_CASE("unequal sizes are refused before anything is written") {
  const std::vector<float> weights(4, 1.0F);
  const std::vector<float> gradient(3, 1.0F);
  std::vector<float> buffer(4, 5.0F);
  std::vector<float> next(4, 6.0F);
  CHECK_THROWS_AS(sgd_step(weights, gradient, buffer, next, {0.5F, 0.5F, 0}), std::invalid_argument);
  CHECK_THROWS_AS(sgd_step(weights, weights, {}, next, {0.5F, 0.5F, 0}), std::invalid_argument);
  CHECK_THROWS_AS(average_state(gradient, next), std::invalid_argument);
  CHECK(buffer == std::vector<float>(4, 5.0F));
  CHECK(next == std::vector<float>(4, 6.0F));
}

TEST_CASE("state is replaced by the root") {
  const std::vector<float> root = sample(100, 5);
  std::vector<float> state(100, 1.0F);
  average_state(root, state);
  CHECK(same_bits(state, root));
  average_state({}, {});
}

}  // namespace
}  // namespace ballast

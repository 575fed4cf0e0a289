#include "server/payloads.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace ballast {
namespace {

Frame frame(const std::vector<float>& values) {
  zmq::message_t message(values.size() * sizeof(float));
  std::memcpy(message.data(), values.data(), message.size());
  return Frame(std::move(message));
}

std::vector<float> values_of(const Payloads& payloads, PayloadId payload) {
  const auto values = payloads.values(payload);
  return {values.begin(), values.end()};
}

TEST_CASE("a sum lies where the first payload lay, and the other is forgotten") {
  Payloads payloads;
  const auto into = payloads.add(frame({1, 2}));
  const auto with = payloads.add(frame({3, 4}));
  const auto* const at = payloads.values(into).data();
  payloads.sum(into, with, false);
  CHECK(payloads.values(into).data() == at);
  CHECK(values_of(payloads, into) == std::vector<float>{4, 6});
  CHECK(payloads.size() == 1);
  payloads.drop(into);
  CHECK(payloads.size() == 0);
}

TEST_CASE("a payload knows who has sent it, a sum who has sent what the others were added to") {
  Payloads payloads;
  const auto into = payloads.add(frame({1}), 7);
  payloads.sum(into, payloads.add(frame({2}), 8), true);
  CHECK(payloads.sender(into) == 7);
}

TEST_CASE("of the last root it is known whether it is finite, once, and of nothing else") {
  Payloads payloads;
  const auto root = payloads.add(frame({1, 2}));
  payloads.sum(root, payloads.add(frame({3, 4})), false);
  CHECK_FALSE(payloads.is_known_finite(root));
  payloads.sum(root, payloads.add(frame({5, 6})), true);
  CHECK(payloads.is_known_finite(root));
  CHECK_FALSE(payloads.is_known_finite(root));
  payloads.sum(root, payloads.add(frame({7, 8})), true);
  CHECK_FALSE(payloads.is_known_finite(root + 1));
}

TEST_CASE("a root that is not finite is not known to be") {
  Payloads payloads;
  const auto root = payloads.add(frame({1, 2}));
  payloads.sum(root, payloads.add(frame({std::numeric_limits<float>::infinity(), 0})), true);
  CHECK_FALSE(payloads.is_known_finite(root));
}

TEST_CASE("a payload that somebody shares stays though the lane drops it") {
  Payloads payloads;
  const auto payload = payloads.add(frame({1}));
  const auto shared = payloads.share(payload);
  payloads.drop(payload);
  CHECK(payloads.size() == 0);
  CHECK(shared->size() == sizeof(float));
}

}  // namespace
}  // namespace ballast

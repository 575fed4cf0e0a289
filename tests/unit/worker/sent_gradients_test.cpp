#include "worker/sent_gradients.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("a gradient is free when the core has released it and every copy has left") {
  SentGradients gradients(4);
  gradients.ready(2);
  gradients.sent(2);
  gradients.sent(2);  // again: its receipt was late
  CHECK_FALSE(gradients.let_go(2));
  CHECK_FALSE(gradients.released(2));
  CHECK(gradients.let_go(2));
}

TEST_CASE("a gradient whose copies have left is free as soon as the core releases it") {
  SentGradients gradients(4);
  gradients.ready(1);
  gradients.sent(1);
  CHECK_FALSE(gradients.let_go(1));
  CHECK(gradients.released(1));
}

TEST_CASE("a gradient that was never sent is free when it is released, once for each time that it was ready") {
  SentGradients gradients(4);
  gradients.ready(3);
  CHECK(gradients.released(3));
  gradients.ready(3);
  gradients.sent(3);
  CHECK_FALSE(gradients.let_go(3));
  CHECK(gradients.released(3));
}

}  // namespace
}  // namespace ballast

#include "server/load_window.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace ballast {
namespace {

TEST_CASE("who reads ahead waits until the lane has taken enough") {
  LoadWindow window(100);
  CHECK(window.take(60));
  CHECK(window.take(300));  // there was room: an update larger than the window goes alone
  std::atomic<bool> taken = false;
  std::jthread reader([&] { taken = window.take(1); });
  window.give_back(60);
  CHECK_FALSE(taken);  // 200 bytes too many are still with the lane
  window.give_back(300);
  reader.join();
  CHECK(taken);
  CHECK(window.taken() == 1);
}

TEST_CASE("one at a time goes through a window of no size") {
  LoadWindow window(0);
  CHECK(window.take(5));
  window.give_back(5);
  CHECK(window.take(1));
  CHECK(window.taken() == 1);
}

TEST_CASE("a lane that ends lets the reader go") {
  LoadWindow window(1);
  CHECK(window.take(2));
  bool taken = true;
  std::jthread reader([&] { taken = window.take(1); });
  window.close();
  reader.join();
  CHECK_FALSE(taken);
  CHECK_FALSE(window.take(1));
}

}  // namespace
}  // namespace ballast

// Fails in each way in which a test can.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

TEST_CASE("a check that does not hold") {
  const int two = 2;
  CHECK(two == 3);
  WARN(two == 4);
  MESSAGE("no failure");
}

TEST_CASE("it throws") { throw std::runtime_error("the reason"); }

TEST_CASE("many fail") {
  for (int i = 0; i < 100; ++i) {
    CHECK(i < 0);
  }
  for (int i = 0; i < 200; ++i) {
    std::cerr << "a line of the log\n";
  }
}

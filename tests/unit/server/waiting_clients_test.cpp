#include "server/waiting_clients.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

constexpr Micros kPatience = WaitingClients::kPatience;

TEST_CASE("a client is waited for until it has asked for the last time, whatever others have seen") {
  WaitingClients clients;
  CHECK_FALSE(clients.any(10, 10));
  clients.note("one", false, 10);
  clients.note("two", false, 10);
  clients.note("one", true, 20);
  CHECK(clients.any(20, 20));
  clients.note("two", true, 20);
  CHECK_FALSE(clients.any(20, 20));
}

TEST_CASE("a client that is not seen any more is not waited for") {
  WaitingClients clients;
  clients.note("gone", false, 10);
  CHECK(clients.any(20, 9 + kPatience));
  CHECK_FALSE(clients.any(20, 10 + kPatience));
}

TEST_CASE("a client that asks for ever does not keep the lead for ever") {
  WaitingClients clients;
  for (Micros now = 10; now < 3 * kPatience; now += kPatience / 2) {
    clients.note("for ever", false, now);
    CHECK(clients.any(10, now) == (now - 10 < kPatience));
  }
}

TEST_CASE("so many clients are waited for at most, and the places of those who went are free again") {
  WaitingClients clients;
  for (std::size_t i = 0; i <= WaitingClients::kMost; ++i) {
    clients.note(std::to_string(i), false, 10);
  }
  for (std::size_t i = 0; i < WaitingClients::kMost; ++i) {
    clients.note(std::to_string(i), true, 20);
  }
  CHECK_FALSE(clients.any(20, 20));
  for (std::size_t i = 0; i < WaitingClients::kMost; ++i) {
    clients.note(std::to_string(i), false, 30);
  }
  clients.note("later", false, 30 + kPatience);
  CHECK(clients.any(30 + kPatience, 30 + kPatience));
}

}  // namespace
}  // namespace ballast

#include "common/net/mailbox.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <memory>
#include <thread>
#include <vector>

#include "common/net/socket.h"

namespace ballast {
namespace {

bool readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, 0) == 1;
}

TEST_CASE("what is put comes out in order, and the descriptor is readable exactly while there is something") {
  Mailbox<std::unique_ptr<int>> mailbox;
  CHECK_FALSE(readable(mailbox.fd()));
  CHECK(mailbox.take().empty());
  mailbox.put(std::make_unique<int>(1));
  mailbox.put(std::make_unique<int>(2));
  CHECK(readable(mailbox.fd()));
  const auto items = mailbox.take();
  REQUIRE(items.size() == 2);
  CHECK(*items[0] == 1);
  CHECK(*items[1] == 2);
  CHECK_FALSE(readable(mailbox.fd()));
  mailbox.put(nullptr);
  CHECK(readable(mailbox.fd()));
}

TEST_CASE("what is put while it is quiet wakes nobody, and is told of once it is not") {
  Mailbox<int> mailbox;
  mailbox.be_quiet(true);
  mailbox.put(1);
  CHECK_FALSE(readable(mailbox.fd()));
  mailbox.be_quiet(false);
  CHECK(readable(mailbox.fd()));
  mailbox.put(2);
  mailbox.be_quiet(true);
  CHECK(readable(mailbox.fd()));  // as it was told
  CHECK(mailbox.take() == std::vector{1, 2});
  CHECK_FALSE(readable(mailbox.fd()));
  mailbox.put(3);
  CHECK(mailbox.take() == std::vector{3});
  mailbox.be_quiet(false);
  CHECK_FALSE(readable(mailbox.fd()));
}

TEST_CASE("a loop that only waits on the descriptor misses nothing from several threads") {
  constexpr int kThreads = 3;
  constexpr int kItems = 5000;
  Mailbox<std::pair<int, int>> mailbox;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&mailbox, thread] {
      for (int item = 0; item < kItems; ++item) {
        mailbox.put({thread, item});
      }
    });
  }
  std::vector<int> next(kThreads);
  int received = 0;
  bool in_order = true;
  Poll poll;
  poll.add(mailbox.fd());
  while (received < kThreads * kItems) {
    REQUIRE(poll.wait(30'000));
    REQUIRE(poll.ready(0));
    for (const auto& [thread, item] : mailbox.take()) {
      in_order = in_order && next[static_cast<std::size_t>(thread)]++ == item;
      ++received;
    }
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(in_order);
  CHECK_FALSE(poll.wait(0));
}

TEST_CASE("a wakeup stays until it is cleared, however often it was signalled") {
  const Wakeup wakeup;
  wakeup.clear();
  CHECK_FALSE(readable(wakeup.fd()));
  wakeup.signal();
  wakeup.signal();
  CHECK(readable(wakeup.fd()));
  wakeup.clear();
  CHECK_FALSE(readable(wakeup.fd()));
}

}  // namespace
}  // namespace ballast

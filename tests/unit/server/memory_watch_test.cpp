#include "server/memory_watch.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace ballast {
namespace {

constexpr std::uint64_t kMore = 300U << 20U;  // than may be allocated beside the account

using Block = std::unique_ptr<void, decltype(&std::free)>;

// Hardly touched: it counts as allocated, and takes a page.
Block block() {
  Block made(std::malloc(kMore), &std::free);
  REQUIRE(made);
  *static_cast<volatile char*>(made.get()) = 1;  // a compiler may leave out what nobody uses
  return made;
}

// Sanitizers have heaps of their own.
bool is_heap_told() {
  const auto bytes = [] {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  const auto before = bytes();
  const auto more = block();
  return bytes() >= before + kMore;
}

bool is_ordered_within(LoopMemory& loop, std::chrono::milliseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    if (loop.takes_order()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST_CASE("a watch that has ended asks nobody any more") {
  std::atomic<int> asked = 0;
  MemoryWatch watch;
  watch.count([&asked] {
    ++asked;
    return std::uint64_t{0};
  });
  watch.begin();
  while (asked == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  watch.end();
  const int before = asked;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(asked == before);
}

TEST_CASE("what the database says that it has is nobody's flood, and what it does not have is") {
  if (!is_heap_told()) {
    return;
  }
  std::atomic<std::uint64_t> counted = 0;
  MemoryWatch watch;
  const auto loop = watch.open();
  watch.count([&counted] { return counted.load(); });
  watch.begin();
  REQUIRE_FALSE(is_ordered_within(*loop, std::chrono::milliseconds(500)));  // it has looked by then
  counted = kMore;
  const auto more = block();
  CHECK_FALSE(is_ordered_within(*loop, std::chrono::seconds(1)));
  counted = 0;
  CHECK(is_ordered_within(*loop, std::chrono::seconds(20)));
}

}  // namespace
}  // namespace ballast

#include "worker/compute/host_arena.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ballast {
namespace {

// Pages of the arena that take memory.
std::size_t resident(const HostArena& arena) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((arena.values().size_bytes() + page - 1) / page);
  REQUIRE(::mincore(arena.values().data(), arena.values().size_bytes(), pages.data()) == 0);
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto in) { return (in & 1U) != 0; }));
}

TEST_CASE("an arena is zero, and takes no memory before it is written") {
  HostArena arena(std::size_t{64} << 20U);  // 256 MiB
  CHECK(resident(arena) == 0);
  CHECK(std::all_of(arena.values().begin(), arena.values().begin() + 5000, [](float value) { return value == 0; }));
  arena.values()[arena.values().size() - 1] = 3;
  CHECK(resident(arena) < 2048);  // even in huge pages
  const auto moved = std::move(arena);
  CHECK(moved.values().back() == 3);
  CHECK(HostArena(0).values().empty());
}

}  // namespace
}  // namespace ballast

#include "storage/journal/disk_wait.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

namespace ballast {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a journal's wait for its disk is what its calls wait, of which syncs are told apart") {
  DiskWait disk;
  disk.begin();
  const auto waits = [](milliseconds span) {
    return [span] {
      std::this_thread::sleep_for(span);
      return 7;
    };
  };
  CHECK(disk.measure(waits(milliseconds(60)), false) == 7);
  CHECK(disk.so_far().waited >= milliseconds(50));
  CHECK(disk.so_far().syncing == milliseconds(0));
  disk.measure(waits(milliseconds(40)), true);
  CHECK(disk.so_far().waited >= milliseconds(90));
  CHECK(disk.so_far().syncing >= milliseconds(35));
  CHECK(disk.so_far().syncing <= disk.so_far().waited - milliseconds(50));
}

TEST_CASE("what a journal's thread computes in its calls is no wait for its disk") {
  DiskWait disk;
  disk.begin();
  disk.measure(
      [] {
        const auto begun = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() < begun + milliseconds(200)) {
        }
        return 0;
      },
      false);
  CHECK(disk.so_far().waited < milliseconds(100));
}

}  // namespace
}  // namespace ballast

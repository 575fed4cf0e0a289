#include "tests/device_model/warp.h"

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <string>

#include "tests/device_model/misuse.h"

namespace ballast::device_model {
namespace {

constexpr std::size_t kStack = std::size_t{64} << 10U;

struct Lane {
  ucontext_t place{};
  std::array<std::byte, kStack> stack{};
  bool ended = false;
  std::size_t shuffles = 0;
  // Of the last two shuffles: those who run early in a turn are one ahead of the others.
  std::array<std::uint64_t, 2> handed_in{};
};

struct Warp {
  ucontext_t scheduler{};
  std::array<Lane, kWarp> lanes{};
  unsigned current = 0;
  const std::function<void(unsigned)>* body = nullptr;
};

// One for all: work runs one piece at a time.
Warp& warp() {
  static Warp only;
  return only;
}

// Where a lane begins.
void run_lane() {
  Warp& all = warp();
  (*all.body)(all.current);
  all.lanes[all.current].ended = true;
}

void begin(Lane& lane) {
  lane.ended = false;
  lane.shuffles = 0;
  getcontext(&lane.place);
  lane.place.uc_stack.ss_sp = lane.stack.data();
  lane.place.uc_stack.ss_size = lane.stack.size();
  lane.place.uc_link = &warp().scheduler;
  makecontext(&lane.place, run_lane, 0);
}

// Returns whether any lane still has something to do.
bool take_turns() {
  Warp& all = warp();
  bool more = false;
  for (all.current = 0; all.current < kWarp; ++all.current) {
    Lane& lane = all.lanes[all.current];
    if (!lane.ended) {
      swapcontext(&all.scheduler, &lane.place);
      more = more || !lane.ended;
    }
  }
  return more;
}

}  // namespace

void run_warp(const std::function<void(unsigned)>& body) {
  Warp& all = warp();
  all.body = &body;
  for (Lane& lane : all.lanes) {
    begin(lane);
  }
  while (take_turns()) {
  }
}

unsigned current_lane() { return warp().current; }

std::uint64_t exchange(std::uint64_t bits, unsigned from) {
  Warp& all = warp();
  Lane& lane = all.lanes[all.current];
  const std::size_t shuffle = lane.shuffles++;
  lane.handed_in[shuffle % 2] = bits;
  swapcontext(&lane.place, &all.scheduler);
  const Lane& other = all.lanes[from % kWarp];
  if (other.shuffles <= shuffle) {
    misuse("a kernel", "lane " + std::to_string(all.current) + " shuffles with lane " + std::to_string(from % kWarp) +
                           ", which has ended");
  }
  return other.handed_in[shuffle % 2];
}

}  // namespace ballast::device_model

#include "server/memory_watch.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "common/log/log.h"
#include "common/machine/processor_time.h"
#include "common/net/clock.h"
#include "server/authenticator.h"
#include "server/unended_messages.h"

namespace ballast {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kLookEvery = std::chrono::milliseconds(100);
constexpr nanoseconds kLookAtLeastEvery = std::chrono::seconds(1);
constexpr int kShare = 50;  // of a processor's time that looks may take: one in so many

// Freed memory stays with the process (common/net/message_memory.h), so what is resident tells nothing.
std::uint64_t allocated_bytes() {
#if defined(__GLIBC__)
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
#else
  return 0;
#endif
}

}  // namespace

MemoryWatch::MemoryWatch() = default;

void MemoryWatch::end() {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::shared_ptr<LoopMemory> MemoryWatch::open() {
  const std::scoped_lock lock(mutex_);
  return loops_.emplace_back(std::make_shared<LoopMemory>());
}

void MemoryWatch::begin(Authenticator* keys) {
  keys_ = keys;
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void MemoryWatch::work(const std::stop_token& stop) {
  set_log_prefix("memory: ");
  while (!stop.stop_requested()) {
    const auto before = processor_time();  // the wall's would let the next look wait the longer, the busier the machine
    look();
    const auto pause = std::clamp(kShare * (processor_time() - before), kLookEvery, kLookAtLeastEvery);
    std::unique_lock lock(mutex_);
    ending_.wait_for(lock, stop, pause, [] { return false; });
  }
}

void MemoryWatch::look() {
  std::uint64_t accounted = counted_ ? counted_() : 0;
  const auto allocated = allocated_bytes();
  const std::scoped_lock lock(mutex_);
  for (const auto& loop : loops_) {
    accounted += loop->held_ + loop->waiting_;
  }
  const auto verdict = account_.look(allocated, accounted, monotonic_micros());
  if (verdict == MemoryAccount::Verdict::beyond) {
    log_warn(
        "{} MiB are allocated, {} more than this server's own {}: somebody sends what never ends{}. All who are "
        "connected are cut, and come again",
        allocated >> 20U, account_.excess() >> 20U, (allocated - account_.excess()) >> 20U, blamed());
    for (const auto& loop : loops_) {
      loop->ordered_ = true;
    }
  } else if (verdict == MemoryAccount::Verdict::not_the_sockets) {
    log_warn("{} MiB are allocated, and are not the connections': they are taken for this server's own",
             allocated >> 20U);
  }
}

// Before the sockets are made anew: then nobody can tell any more. Of a loop that does not keep up whole messages wait
// as well.
std::string MemoryWatch::blamed() {
  if (keys_ == nullptr) {
    return {};
  }
  std::vector<Intake::Rest> all;
  Unheard unheard;
  for (const auto& loop : loops_) {
    if (loop->is_over_) {
      continue;  // its socket is closed
    }
    const auto life = loop->intake_->life();
    const auto let_in = keys_->let_in(life);
    const auto heard = loop->intake_->heard();
    auto rests = loop->intake_->rests();
    if (!let_in || !heard || loop->intake_->life() != life) {
      return {};
    }
    count_unheard(unheard, rests, *let_in, *heard);
    name_silent(rests, *let_in, *heard);
    for (auto& rest : rests) {
      rest.bytes -= std::min<std::uint64_t>(rest.bytes, loop->waiting_of_one_);
      all.push_back(std::move(rest));
    }
  }
  if (const auto key = sole_sender(all)) {
    return ", with " + keys_->blame(*key);
  }
  if (const auto key = most_unheard(unheard); key && !has_much(all)) {
    return ", over connections that nobody reads, with " + keys_->blame(*key);
  }
  return {};
}

}  // namespace ballast

#include "common/metrics/each_second.h"

#include <chrono>
#include <exception>
#include <utility>

namespace ballast {

EachSecond::EachSecond(std::function<void()> read) : read_(std::move(read)), thread_([this] { run(); }) {}

EachSecond::~EachSecond() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void EachSecond::run() {
  constexpr std::chrono::seconds kPeriod{1};
  std::unique_lock lock(mutex_);
  while (!closed_) {
    lock.unlock();
    try {
      read_();
    } catch (const std::exception&) {  // what nobody can read now, another second may
    }
    lock.lock();
    wake_.wait_for(lock, kPeriod, [&] { return closed_; });
  }
}

}  // namespace ballast

#include "common/net/doorkeeper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/net/descriptors.h"

namespace ballast {

namespace {

constexpr std::chrono::milliseconds kTurn{50};
constexpr std::chrono::milliseconds kBreath{5};  // who knocks without end is not answered without end
constexpr std::chrono::milliseconds kLeastShut{1000};
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::size_t kFreeBeside = 32;  // the reserve, before the gates are opened: or they would be shut at once

}  // namespace

Doorkeeper::Doorkeeper(std::size_t reserve, Told told)
    : reserve_(reserve), told_(std::move(told)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

Doorkeeper::~Doorkeeper() {
  thread_.request_stop();
  thread_.join();
  for (const auto& gate : gates()) {
    gate->open();
  }
  release_reserve();
}

void Doorkeeper::guard(const std::shared_ptr<Gate>& gate) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(gates_, [](const auto& known) { return known.expired(); });
  gates_.push_back(gate);
  if (gate && shut_) {
    gate->shut();
  }
}

std::vector<std::shared_ptr<Gate>> Doorkeeper::gates() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Gate>> gates;
  for (const auto& known : gates_) {
    if (auto gate = known.lock()) {
      gates.push_back(std::move(gate));
    }
  }
  return gates;
}

void Doorkeeper::work(const std::stop_token& stop) {
  take_reserve();
  while (!stop.stop_requested()) {
    if (shut_) {
      tend();
      continue;
    }
    if (!is_descriptor_free()) {
      shut();
      continue;
    }
    std::unique_lock lock(mutex_);
    ending_.wait_for(lock, stop, kTurn, [] { return false; });
  }
}

void Doorkeeper::shut() {
  for (const auto& gate : gates()) {
    gate->shut();
  }
  shut_ = true;
  look_at_ = std::chrono::steady_clock::now() + kLeastShut;
  turn_away();
  release_reserve();
  told_(true);
}

// ZeroMQ, which wakes up for the same connections, may take the descriptor that this needs: then it has the connection.
void Doorkeeper::turn_away() {
  for (const auto& gate : gates()) {
    while (!gate->turn_away() && !held_.empty()) {
      ::close(held_.back());
      held_.pop_back();
    }
  }
}

void Doorkeeper::tend() {
  std::vector<pollfd> knocking;
  for (const auto& gate : gates()) {
    knocking.push_back({gate->fd(), POLLIN, 0});
  }
  if (::poll(knocking.data(), knocking.size(), static_cast<int>(kTurn.count())) > 0) {
    turn_away();
    std::this_thread::sleep_for(kBreath);
  }
  const auto now = std::chrono::steady_clock::now();
  if (now >= look_at_) {
    look_at_ = now + kLookEvery;
    open_if_room();
  }
}

void Doorkeeper::open_if_room() {
  const auto limit = descriptor_limit();
  if (limit - std::min(limit, open_descriptors()) < reserve_ + kFreeBeside || !take_reserve()) {
    return;
  }
  for (const auto& gate : gates()) {
    gate->open();
  }
  shut_ = false;
  told_(false);
}

bool Doorkeeper::take_reserve() {
  while (held_.size() < reserve_) {
    const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      release_reserve();
      return false;
    }
    held_.push_back(descriptor);
  }
  return true;
}

void Doorkeeper::release_reserve() {
  for (const int descriptor : held_) {
    ::close(descriptor);
  }
  held_.clear();
}

}  // namespace ballast

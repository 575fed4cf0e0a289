// What needs no knowledge of the job: hellos of whoever, and bytes for connections that others make.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "common/net/peer.h"
#include "tests/cluster/hostile/hostile.h"
#include "tests/cluster/hostile/talker.h"
#include "tests/cluster/malformed/probe.h"

namespace ballast::hostile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kAtOnce = 200;
constexpr auto kPatience = std::chrono::seconds(20);
constexpr auto kPause = std::chrono::milliseconds(1);

bool is_welcomed(Talker& talker) {
  const auto until = Clock::now() + kPatience;
  while (Clock::now() < until) {
    if (const auto answer = talker.next()) {
      return std::holds_alternative<WorkerWelcome>(*answer);
    }
    std::this_thread::sleep_for(kPause);
  }
  throw std::runtime_error("the lead does not answer a hello");
}

std::string name_of(std::size_t number, std::size_t bytes) {
  auto name = std::to_string(number) + " ";
  name.resize(bytes, 'x');
  return name;
}

}  // namespace

void say_names(zmq::context_t& context, const std::string& lead, std::size_t count, std::size_t bytes) {
  std::mt19937_64 random(std::random_device{}());
  std::size_t welcomed = 0;
  for (std::size_t said = 0; said < count;) {
    std::vector<Talker> talkers;
    talkers.reserve(kAtOnce);
    for (; said < count && talkers.size() < kAtOnce; ++said) {
      auto& talker = talkers.emplace_back(context, lead, session_routing_id(1 + (random() >> 1U)), nullptr);
      talker.send(WorkerHello{name_of(said, bytes)});
    }
    welcomed += static_cast<std::size_t>(std::ranges::count_if(talkers, is_welcomed));
  }
  std::printf("%zu welcomed\n", welcomed);
}

void print_pull() {
  for (const auto byte : malformed::encoded(Pull{1, 0, {0}})) {
    std::printf("%02x", std::to_integer<unsigned>(byte));
  }
  std::printf("\n");
}

}  // namespace ballast::hostile

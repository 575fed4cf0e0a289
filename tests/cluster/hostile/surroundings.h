// What hostile sessions know of the job beside which they live.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "common/job/job.h"
#include "common/keys/client_keys.h"
#include "protocol/messages.h"
#include "tests/cluster/hostile/talker.h"

namespace ballast::hostile {

struct LaneOf {
  std::string address;
  std::vector<Chunk> chunks;
};

struct Surroundings {
  zmq::context_t& context;
  Job job;
  Timeline timeline = 0;
  std::vector<LaneOf> lanes;
};

// As a worker learns it from the lead. Throws if it is not let in.
Surroundings look_around(zmq::context_t& context, const std::string& lead, const std::filesystem::path& key);

// Asks a lane how far the job is: for a version that is gone the lane says which it has, and for the next one it waits.
// Whoever it stands for is known by more than that, so it pays what it owes: bytes that it is given it gives back.
class Watcher {
 public:
  Watcher(const Surroundings& around, const std::filesystem::path& key);
  void look();
  // The newest version of a chunk.
  [[nodiscard]] Version newest() const { return newest_; }

 private:
  using Clock = std::chrono::steady_clock;

  void say_hello();

  const Surroundings& around_;
  ClientKeys keys_;
  Talker talker_;
  Version newest_ = 0;
  std::uint64_t ahead_ = 0;
  Clock::time_point asks_again_at_ = {};
};

}  // namespace ballast::hostile

// Judges whom a lane answers: only those who asked, and within their windows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/worker/worker_target.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class RepliesJudge {
 public:
  explicit RepliesJudge(const LifeSpec& life) : life_(life) {}

  void asked(SessionId session, ChunkId chunk, WeightsKey what) { ++asked_[{session, chunk, what}]; }
  // By a lane's process.
  void sent(SessionId session, std::uint32_t process, const Weights& header, std::uint64_t bytes);
  void released(SessionId session, std::uint32_t process, std::uint64_t bytes);
  static void refused(const Refused& refused);

 private:
  const LifeSpec& life_;
  std::map<std::tuple<SessionId, ChunkId, WeightsKey>, std::uint32_t> asked_;  // and not answered yet
  std::map<std::pair<SessionId, std::uint32_t>, std::uint64_t> bytes_;         // by session and lane's process
  std::map<std::uint32_t, std::uint64_t> of_all_;                              // of sessions, by lane's process
};

// What a violation calls them.
std::string words_of(const Weights& header);

}  // namespace ballast::simulation

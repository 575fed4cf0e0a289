// Questions of command lines about what workers and lanes have measured, on their way through the lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "protocol/messages/trace.h"

namespace ballast {

// Who asked whom for what: the lead keeps no part of an answer. Who asks faster than others answer loses the oldest
// question, and asks again. One thread.
class TraceRelay {
 public:
  static constexpr std::size_t kMost = 256;  // questions that are not answered

  // The question of a client that is known by `client`, as it is passed on: `asked.source` must be there.
  TraceAsked pass_on(const std::string& client, const TraceAsked& asked);

  struct Answer {
    std::string client;
    TracePart part;
  };
  // What `source` has answered, as it is passed on; nothing if nobody has asked that one for it.
  std::optional<Answer> answered(const TraceSource& source, const TracePart& part);

 private:
  struct Question {
    std::uint64_t number = 0;
    std::string client;
    std::uint64_t of_client = 0;
    TraceSource source;
  };

  std::uint64_t last_ = 0;
  std::deque<Question> open_;
};

}  // namespace ballast

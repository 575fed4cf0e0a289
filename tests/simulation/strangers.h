// Messages that no honest worker sends: each must be answered with a refusal, and must change nothing.
#pragma once

#include "protocol/messages.h"
#include "tests/simulation/life.h"
#include "tests/simulation/random.h"

namespace ballast::simulation {

// Sessions from here on are strangers'.
inline constexpr SessionId kFirstStranger = 1'000'000;

// And from here on those of sessions that say hello, and then what only another could say.
inline constexpr SessionId kFirstImpostor = 2'000'000;

struct StrangeMessage {
  Message message;
  std::uint64_t payload_bytes = 0;
};

// To a lane that serves `timeline`; never a hello.
StrangeMessage strange_to_lane(Random& random, const LifeSpec& life, std::uint32_t lane, Timeline timeline);
Message strange_to_lead(Random& random);

}  // namespace ballast::simulation

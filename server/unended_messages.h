// Whose messages do not end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/net/intake.h"

namespace ballast {

// Beside whole messages so many bytes are much: no honest peer has as many on their way within one message.
inline constexpr std::uint64_t kMuchUnended = 64U << 20U;

// Of one socket: names the key of each connection by which no whole message has come, where that can be told; an empty
// key where it cannot. `let_in` and `heard`: its connections as they were let in, and those by which a whole message
// has come. Such a connection has the key that was let in more often from its address than it was heard from there;
// with two such keys it may be of either.
void name_silent(std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in, const ConnectionCounts& heard);

// The key with which alone much has come that is of no whole message, by whichever sockets; nothing if there is none,
// if there are several, or if that cannot be told. `rests`: all have keys, or empty ones.
std::optional<std::string> sole_sender(const std::vector<Intake::Rest>& rests);

}  // namespace ballast

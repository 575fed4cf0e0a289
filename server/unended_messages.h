// Whose messages do not end, or are read by nobody.
#pragma once

#include <cstdint>
#include <map>
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
// Whether some key has as much, or connections of which that cannot be told.
bool has_much(const std::vector<Intake::Rest>& rests);

// Connections by key.
using Unheard = std::map<std::string, std::uint64_t>;

// Of one socket those that are over and by which no whole message has come, added to `unheard`; those of an address
// that stand may be any key's. ZeroMQ passes over a connection whose name another one has, and keeps what came by it
// until the socket is made anew. `rests`: those that stand, not named yet.
void count_unheard(Unheard& unheard, const std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in,
                   const ConnectionCounts& heard);

// The key that three quarters of them or more had; nothing if there is none, or these are fewer than kManyUnheard. An
// honest peer may have one now and then: one that went as soon as it had come.
inline constexpr std::uint64_t kManyUnheard = 3;
std::optional<std::string> most_unheard(const Unheard& unheard);

}  // namespace ballast

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

// The key with which alone much has come that is of no whole message; nothing if there is none, if there are several,
// or if that cannot be told. `let_in` and `heard`: connections as they were let in, and those by which a whole message
// has come. One by which none has come has the key that was let in more often from its address than it was heard from
// there; with two such keys it may be of either.
std::optional<std::string> sole_sender(const std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in,
                                       const ConnectionCounts& heard);

}  // namespace ballast

// The rules that a message's numbers keep whatever the job.
#pragma once

#include <optional>

#include "protocol/messages.h"

namespace ballast::wire {

// What is wrong with the message, naming field, value and what is allowed; nothing if all is well.
std::optional<Refused> check(const Message& message);

}  // namespace ballast::wire

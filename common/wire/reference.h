// docs/messages.md, written from the table of messages.
#pragma once

#include <string>

namespace ballast {

// The whole page.
std::string messages_reference();

}  // namespace ballast

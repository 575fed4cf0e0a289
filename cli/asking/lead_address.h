// Where a running job's lead is, from what a person types.
#pragma once

#include <string>

namespace ballast {

// `where` is an address (tcp://HOST:PORT, ipc://PATH) or the folder of a run, which says where its lead is. Throws
// std::runtime_error if it is neither, or if no process of the folder's run lives.
std::string lead_address(const std::string& where);

}  // namespace ballast

// The keys with which a command asks a lead.
#pragma once

#include <memory>
#include <string>

#include "common/keys/client_keys.h"

namespace ballast {

// From the file that was given, else those that the run in the folder `where` has made for itself; null if there are
// none. Throws UsageError.
std::unique_ptr<ClientKeys> operator_keys(const std::string& where, const std::string& given);

}  // namespace ballast

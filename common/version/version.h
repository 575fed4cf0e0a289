// Which Ballast this is.
#pragma once

#include <string>

namespace ballast {

// "0.1.0 (commit 33c3b4f0a1b2)"; with "+" behind the commit if the sources differed from it, and "unknown" in its place
// if the build could not tell.
std::string version();
// Of these, the commit.
std::string commit();

}  // namespace ballast

#include "common/version/version.h"

#include "common/version/commit_of_build.h"

namespace ballast {

std::string version() { return std::string(BALLAST_VERSION) + " (commit " + commit() + ")"; }

std::string commit() { return kCommitOfBuild; }

}  // namespace ballast

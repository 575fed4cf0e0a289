// A file that several servers offer: the first good copy is taken.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/download/download.h"

namespace ballast {

struct MirroredFile {
  std::string name;              // below each mirror's address
  std::filesystem::path target;  // where it goes, in a folder that exists
  DownloadLimits limits;
  // What is wrong with a downloaded file; empty if it is the one wanted.
  std::function<std::string(const std::filesystem::path&)> problem;
};

struct MirrorFailure {
  std::string mirror;
  std::string reason;
};

struct MirrorOutcome {
  std::string mirror;                   // that had it; empty: none of them
  std::vector<MirrorFailure> failures;  // of those tried before it, in order
};

// "ADDRESS/NAME", whether or not the address ends in a slash.
std::string mirror_url(const std::string& mirror, const std::string& name);

// Tries the mirrors in turn, each a few times as long as more of the file arrives. A broken transfer goes on where it
// stopped, at the next attempt and at the next call too: what has come of a mirror's copy is kept beside the target
// under a name of its own, since two mirrors' copies may differ. `target` appears, or is replaced, in one step and only
// when nothing is wrong with it; then `before_replacing` (may be empty) is called first. Throws std::runtime_error
// naming the file that cannot be written. Only one call at a time for the same target.
MirrorOutcome fetch_from_mirrors(const MirroredFile& file, const std::vector<std::string>& mirrors,
                                 const DownloadProgress& progress, const std::function<void()>& before_replacing = {});

}  // namespace ballast

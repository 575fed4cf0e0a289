// What workers would compute on here: asked of ballast-worker itself, so that the answer is that of the workers to
// come.
#pragma once

#include <string>
#include <vector>

namespace ballast {

struct BackendProbe {
  bool available = false;          // a worker would start
  std::vector<std::string> lines;  // what it says of its backend, or why it has none
};

// `backend` and `precision` as files have them; on the first GPU that is shown, if on any. Starting one takes a second.
// Nothing available, and the reason, if ballast-worker cannot be run.
BackendProbe probe_backend(const std::string& backend, const std::string& precision);

// For the first lines of a run: what becomes of a precision other than float32, which not every machine has. None for
// float32.
std::vector<std::string> precision_notes(const std::string& backend, const std::string& precision);

}  // namespace ballast

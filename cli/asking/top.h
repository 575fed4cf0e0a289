// `ballast top`: a running job, live, in a terminal.
#pragma once

#include <string>

namespace ballast {

struct TopOptions {
  std::string where;  // a run's folder or the lead's address
  std::string keys;
  double every = 1;   // seconds between two looks
  bool once = false;  // one look, as plain lines
};

// Until it is ended by a key or a signal; the job goes on. The exit code: 1 if the lead did not answer at all. Throws
// UsageError where there is no terminal to draw in.
int top(const TopOptions& options);

}  // namespace ballast

// Who watches the job and has not seen its end yet.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "protocol/ids.h"

namespace ballast {

// The one who watches the job is told how it ended before the lead goes. Each client waits for itself: one that has
// seen the end does not speak for the others. One that asks again and again and never says that it is the last time
// (`ballast status` in a loop) must not keep the process for ever.
class WaitingClients {
 public:
  static constexpr Micros kPatience = 3'000'000;  // unseen for so long it has gone; nor does the lead stay longer
  static constexpr std::size_t kMost = 64;        // that are waited for; all are answered

  // It asks, for the last time if `done`.
  void note(const std::string& name, bool done, Micros now);
  // Whether the lead, which could have gone since `over`, stays for one of them.
  [[nodiscard]] bool any(Micros over, Micros now) const;

 private:
  std::map<std::string, Micros> asked_;  // when last
};

}  // namespace ballast

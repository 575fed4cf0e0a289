#include "server/waiting_clients.h"

#include <algorithm>

namespace ballast {

void WaitingClients::note(const std::string& name, bool done, Micros now) {
  std::erase_if(asked_, [now](const auto& client) { return now - client.second >= kPatience; });
  if (done) {
    asked_.erase(name);
  } else if (asked_.size() < kMost) {
    asked_[name] = now;
  }
}

bool WaitingClients::any(Micros over, Micros now) const {
  return now - over < kPatience && std::any_of(asked_.begin(), asked_.end(),
                                               [now](const auto& client) { return now - client.second < kPatience; });
}

}  // namespace ballast

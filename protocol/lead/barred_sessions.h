// Sessions of which nothing is taken any more, because they have sent what no honest one can have.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Kept as long as the lead lives; of more than kMaxBarred the newest. Pure and copyable.
class BarredSessions {
 public:
  // Whether that is new.
  bool bar(SessionId session) {
    if (contains(session)) {
      return false;
    }
    if (sessions_.size() == kMaxBarred) {
      sessions_.erase(sessions_.begin());
    }
    sessions_.push_back(session);
    return true;
  }
  [[nodiscard]] bool contains(SessionId session) const {
    return std::ranges::find(sessions_, session) != sessions_.end();
  }
  [[nodiscard]] const std::vector<SessionId>& sessions() const { return sessions_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(sessions_));
  }

 private:
  std::vector<SessionId> sessions_;
};

}  // namespace ballast

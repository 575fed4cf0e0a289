// Which sessions each work is of.
#pragma once

#include <map>
#include <set>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Who offers it, or is called for it; by work, the lowest first. Pure and copyable.
class WorkIndex {
 public:
  using Sessions = std::set<SessionId>;
  using Works = std::map<Work, Sessions>;

  void put(SessionId session, const Work& work) { works_[work].insert(session); }
  void put(SessionId session, const std::set<Work>& works) {
    for (const auto& work : works) {
      put(session, work);
    }
  }
  void take(SessionId session, const Work& work) {
    const auto found = works_.find(work);
    if (found != works_.end() && found->second.erase(session) > 0 && found->second.empty()) {
      works_.erase(found);
    }
  }
  void take(SessionId session, const std::set<Work>& works) {
    for (const auto& work : works) {
      take(session, work);
    }
  }
  void clear() { works_.clear(); }

  [[nodiscard]] bool empty() const { return works_.empty(); }
  [[nodiscard]] bool has(const Work& work) const { return works_.contains(work); }
  [[nodiscard]] bool has(const Work& work, SessionId session) const { return of(work).contains(session); }
  [[nodiscard]] const Sessions& of(const Work& work) const {
    static const Sessions nobody;
    const auto found = works_.find(work);
    return found == works_.end() ? nobody : found->second;
  }
  [[nodiscard]] const Works& works() const { return works_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(works_));
  }

 private:
  Works works_;
};

}  // namespace ballast

// Which sessions each work is of, by who answers for them.
#pragma once

#include <map>
#include <set>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Whoever looks at a work looks at as many payers as offer it: of each the first session may stand for all, however
// many it comes as. By work, the lowest first. Pure and copyable.
class PayerIndex {
 public:
  using Sessions = std::set<SessionId>;
  using Payers = std::map<PayerId, Sessions>;  // none is empty
  using Works = std::map<Work, Payers>;

  void put(SessionId session, PayerId payer, const std::set<Work>& works) {
    for (const auto& work : works) {
      works_[work][payer].insert(session);
    }
  }
  void take(SessionId session, PayerId payer, const Work& work) {
    const auto found = works_.find(work);
    const auto own = found == works_.end() ? Payers::iterator() : found->second.find(payer);
    if (found == works_.end() || own == found->second.end() || own->second.erase(session) == 0) {
      return;
    }
    if (own->second.empty()) {
      found->second.erase(own);
    }
    if (found->second.empty()) {
      works_.erase(found);
    }
  }
  void take(SessionId session, PayerId payer, const std::set<Work>& works) {
    for (const auto& work : works) {
      take(session, payer, work);
    }
  }
  void clear() { works_.clear(); }

  [[nodiscard]] bool empty() const { return works_.empty(); }
  // All sessions that the work is of.
  [[nodiscard]] Sessions of(const Work& work) const {
    Sessions all;
    if (const auto found = works_.find(work); found != works_.end()) {
      for (const auto& [payer, sessions] : found->second) {
        all.insert(sessions.begin(), sessions.end());
      }
    }
    return all;
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

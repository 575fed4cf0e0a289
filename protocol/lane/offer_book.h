// What sessions offer, by who answers for them.
#pragma once

#include <map>
#include <set>

#include "protocol/ids.h"
#include "protocol/lane/payer_index.h"
#include "protocol/lane/work_index.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// The offers of sessions in good standing and those of all others, apart. Pure and copyable.
class OfferBook {
 public:
  using Sessions = std::set<SessionId>;

  // This payer answers for the session from now on; what it offered before is forgotten.
  void enter(SessionId session, PayerId payer, bool is_good);
  void leave(SessionId session);
  // Takes the place of what it offered before.
  void offer(SessionId session, std::set<Work> works);
  void take(SessionId session, const Work& work);
  void clear(SessionId session);
  void clear();
  // All that sessions of the payer offer counts as what its standing says.
  void stands(PayerId payer, bool is_good);

  [[nodiscard]] const WorkIndex& good() const { return good_; }
  [[nodiscard]] const PayerIndex& others() const { return others_; }
  [[nodiscard]] const Sessions& sessions_of(PayerId payer) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(sessions_), listed::fixed(payers_, good_, others_));
  }

 private:
  struct Session {
    PayerId payer = 0;
    bool is_good = false;
    std::set<Work> works;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(payer), listed::plain(is_good, works));
    }
  };
  void put(SessionId session, const Session& own);
  void take_all(SessionId session, const Session& own);

  std::map<SessionId, Session> sessions_;
  // These follow from the sessions.
  std::map<PayerId, Sessions> payers_;
  WorkIndex good_;
  PayerIndex others_;
};

}  // namespace ballast

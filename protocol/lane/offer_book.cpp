#include "protocol/lane/offer_book.h"

#include <utility>

namespace ballast {

void OfferBook::enter(SessionId session, PayerId payer, bool is_good) {
  leave(session);
  sessions_[session] = {payer, is_good, {}};
  payers_[payer].insert(session);
}

void OfferBook::leave(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return;
  }
  clear(session);
  const auto payer = payers_.find(found->second.payer);
  if (payer->second.erase(session) > 0 && payer->second.empty()) {
    payers_.erase(payer);
  }
  sessions_.erase(found);
}

void OfferBook::offer(SessionId session, std::set<Work> works) {
  clear(session);
  auto& own = sessions_.at(session);
  own.works = std::move(works);
  put(session, own);
}

void OfferBook::take(SessionId session, const Work& work) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.works.erase(work) == 0) {
    return;
  }
  if (found->second.is_good) {
    good_.take(session, work);
  } else {
    others_.take(session, found->second.payer, work);
  }
}

void OfferBook::put(SessionId session, const Session& own) {
  if (own.is_good) {
    good_.put(session, own.works);
  } else {
    others_.put(session, own.payer, own.works);
  }
}

void OfferBook::take_all(SessionId session, const Session& own) {
  if (own.is_good) {
    good_.take(session, own.works);
  } else {
    others_.take(session, own.payer, own.works);
  }
}

void OfferBook::clear(SessionId session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) {
    take_all(session, found->second);
    found->second.works.clear();
  }
}

void OfferBook::clear() {
  good_.clear();
  others_.clear();
  for (auto& [id, session] : sessions_) {
    session.works.clear();
  }
}

void OfferBook::stands(PayerId payer, bool is_good) {
  for (const auto session : sessions_of(payer)) {
    auto& own = sessions_.at(session);
    if (own.is_good != is_good) {
      take_all(session, own);
      own.is_good = is_good;
      put(session, own);
    }
  }
}

const OfferBook::Sessions& OfferBook::sessions_of(PayerId payer) const {
  static const Sessions nobody;
  const auto found = payers_.find(payer);
  return found == payers_.end() ? nobody : found->second;
}

}  // namespace ballast

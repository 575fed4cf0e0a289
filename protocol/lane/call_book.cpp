#include "protocol/lane/call_book.h"

#include <algorithm>
#include <utility>

#include "protocol/tree.h"

namespace ballast {

using lane::Actions;

// ---- sessions

void CallBook::greet(SessionId session, ConnectionId connection, PayerId payer, bool is_new) {
  credits_.erase(session);
  sessions_.try_emplace(session);
  heard(session, connection, payer);
  if (is_new) {  // nothing of what it was asked before will come
    const Connection over{session, connection};
    no_longer_called(over);
    for (const auto& [number, call] : accounts_.ended(over)) {
      settled(over, number, call, false);
    }
  }
}

std::optional<std::uint64_t> CallBook::greet_with_credit(SessionId session, const LaneApplier& applier) {
  if (!credits_.contains(session) && !has_room(applier, 2 * limits_.largest)) {
    return std::nullopt;
  }
  forget(session);
  credits_.insert(session);
  return limits_.largest;
}

bool CallBook::has_room_for(const Work& work, std::uint64_t bytes, const LaneApplier& applier) const {
  if (has_room(applier, bytes)) {
    return true;
  }
  const auto wanted = applier.oldest_wanted();
  return !spine_ && wanted && work.step == wanted->step && work.chunk == wanted->chunk &&
         work.node.contains(wanted->slot);
}

void CallBook::heard(SessionId session, ConnectionId connection, PayerId payer) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || connection <= found->second.connection) {
    return;
  }
  auto& state = found->second;
  const Connection old{session, state.connection};
  no_longer_called(old);
  accounts_.give_up(old);
  clear_offers(session, state);
  leave_payer(session, state);
  state.connection = connection;
  state.payer = payer;
  state.is_dropped = false;
  payers_sessions_[payer].insert(session);
}

void CallBook::ended(SessionId session, ConnectionId connection) {
  const Connection over{session, connection};
  no_longer_called(over);
  for (const auto& [number, call] : accounts_.ended(over)) {
    settled(over, number, call, false);
  }
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && found->second.connection == connection) {
    clear_offers(session, found->second);
    found->second.is_dropped = true;
  }
}

void CallBook::forget(SessionId session) {
  credits_.erase(session);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return;
  }
  auto& state = found->second;
  no_longer_called({session, state.connection});
  accounts_.give_up({session, state.connection});
  clear_offers(session, state);
  leave_payer(session, state);
  served_ -= state.is_served ? 1 : 0;
  if (state.wants_ahead) {
    std::erase(wants_ahead_, session);
  }
  sessions_.erase(found);
}

void CallBook::leave_payer(SessionId id, const Session& session) {
  const auto payer = payers_sessions_.find(session.payer);
  if (payer != payers_sessions_.end() && payer->second.erase(id) > 0 && payer->second.empty()) {
    payers_sessions_.erase(payer);
  }
}

// ---- what sessions offer

void CallBook::put(Index& index, SessionId session, const std::set<Work>& works) {
  for (const auto& work : works) {
    index[work].insert(session);
  }
}

void CallBook::take(Index& index, SessionId session, const std::set<Work>& works) {
  for (const auto& work : works) {
    const auto found = index.find(work);
    if (found != index.end() && found->second.erase(session) > 0 && found->second.empty()) {
      index.erase(found);
    }
  }
}

void CallBook::clear_offers(SessionId id, Session& session) {
  take(index_of(session.payer), id, session.offers);
  session.offers.clear();
}

bool CallBook::offers(SessionId session, ConnectionId connection, const std::vector<Work>& works) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.connection != connection || found->second.is_dropped) {
    return false;
  }
  auto& state = found->second;
  clear_offers(session, state);
  for (const auto& work : works) {
    const auto called = called_.find(work);
    if (called == called_.end() || !called->second.contains(session)) {  // else it has not heard of the call yet
      state.offers.insert(work);
    }
  }
  put(index_of(state.payer), session, state.offers);
  return true;
}

void CallBook::forget_offers() {
  good_.clear();
  others_.clear();
  for (auto& [id, session] : sessions_) {
    session.offers.clear();
  }
}

void CallBook::move_offers(PayerId payer, Index& from, Index& to) {
  if (const auto found = payers_sessions_.find(payer); found != payers_sessions_.end()) {
    for (const auto id : found->second) {
      take(from, id, sessions_.at(id).offers);
      put(to, id, sessions_.at(id).offers);
    }
  }
}

void CallBook::fails(PayerId payer, bool taken_back) {
  if (payers_.fails(payer, now_, taken_back)) {
    move_offers(payer, good_, others_);
  }
}

// Of a key that many share, one alone may send nothing; and whoever sends nothing may come as another session.
CallBook::OutOfStanding CallBook::out_of_standing(std::size_t most) const {
  OutOfStanding out;
  for (const auto payer : payers_.out()) {
    const auto sessions = payers_sessions_.find(payer);
    if (sessions == payers_sessions_.end()) {
      continue;
    }
    for (const auto session : sessions->second) {
      if (out.all.size() == most) {
        return out;
      }
      out.all.push_back(session);
      if (payers_.pays_nothing(payer) || sessions_.at(session).taken_back >= Payers::kMostTakenBack) {
        out.unpaying.push_back(session);
      }
    }
  }
  return out;
}

// ---- what sessions bring

CallBook::Payment CallBook::pays(SessionId session, ConnectionId connection, const Push& push, std::uint64_t bytes) {
  const Connection over{session, connection};
  const Work work{push.step, push.chunk, push.node};
  if (const auto found = sessions_.find(session); found != sessions_.end()) {  // it is here
    take(index_of(found->second.payer), session, {work});
    found->second.offers.erase(work);
  }
  if (credits_.contains(session) && push.call == 0) {
    return Payment::paid;
  }
  if (push.call == 0) {
    if (!accounts_.spend(over, bytes)) {
      return Payment::unasked;
    }
    if (const auto found = sessions_.find(session); found != sessions_.end()) {
      want_ahead(session, found->second);  // it may have more
    }
    return Payment::paid;
  }
  const auto call = accounts_.settle(over, push.call, now_);
  if (!call) {
    return Payment::unasked;
  }
  settled(over, push.call, *call, true);
  if (call->work != work || call->bytes != bytes) {
    return Payment::unasked;
  }
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.taken_back = 0;
  }
  if (payers_.pays(call->payer)) {
    move_offers(call->payer, others_, good_);
  }
  return Payment::paid;
}

void CallBook::has_none(SessionId session, ConnectionId connection, std::uint64_t number, const LaneApplier& applier,
                        const FactorPlan& plan, Timeline timeline) {
  const Connection over{session, connection};
  const auto call = accounts_.settle(over, number, now_);
  if (!call) {
    return;
  }
  settled(over, number, *call, true);
  if (call->timeline == timeline && applier.want(call->work, plan) == Want::wanted) {
    fails(call->payer);
  }
}

bool CallBook::returns(SessionId session, ConnectionId connection, std::uint64_t number, std::uint64_t bytes) {
  if (!accounts_.returned({session, connection}, number, bytes, now_)) {
    return false;
  }
  // Weights of the next step may have been sent before it gave back what it had for the last one.
  if (const auto found = sessions_.find(session); found != sessions_.end() && found->second.owed_ahead) {
    want_ahead(session, found->second);
  }
  return true;
}

// Its calls stay in use, but wait in nobody's way any more.
void CallBook::no_longer_called(const Connection& connection) {
  const auto session = sessions_.find(connection.first);
  if (session == sessions_.end() || session->second.connection != connection.second || session->second.is_dropped) {
    return;
  }
  for (const auto& [number, call] : accounts_.calls(connection)) {
    take(called_, connection.first, {call.work});
  }
}

void CallBook::settled(const Connection& connection, std::uint64_t number, const OpenCall& call, bool is_answered) {
  if (const auto owing = owing_.find(call.payer); --owing->second == 0) {
    owing_.erase(owing);
  }
  const auto session = sessions_.find(connection.first);
  const bool stands = session != sessions_.end() && session->second.connection == connection.second &&
                      !session->second.is_dropped && is_answered;
  if (stands) {
    take(called_, connection.first, {call.work});
  }
  if (spine_ && spine_->connection == connection && spine_->number == number) {
    spine_->is_settled = true;
  }
}

void CallBook::served(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return;
  }
  served_ += std::exchange(found->second.is_served, true) ? 0 : 1;
  found->second.owed_ahead = true;
  want_ahead(session, found->second);
}

void CallBook::want_ahead(SessionId id, Session& session) {
  if (!std::exchange(session.wants_ahead, true)) {
    wants_ahead_.push_back(id);
  }
}

Actions CallBook::applied(Timeline timeline, const Work& applied) {
  const auto& [step, chunk, node] = applied;
  Actions actions;
  for (auto* index : {&good_, &others_}) {
    for (auto at = index->lower_bound({step, chunk, {node.begin, node.begin}});
         at != index->end() && at->first.step == step && at->first.chunk == chunk && node.contains(at->first.node);) {
      const auto [work, sessions] = *at;
      ++at;
      for (const auto session : sessions) {
        receipt(timeline, session, work, actions);
      }
    }
  }
  return actions;
}

void CallBook::receipt(Timeline timeline, SessionId session, const Work& work, Actions& actions) {
  auto& state = sessions_.at(session);
  take(index_of(state.payer), session, {work});
  state.offers.erase(work);
  actions.emplace_back(
      lane::SendToWorker{session, Receipt{timeline, work.step, work.chunk, work.node, ReceiptOutcome::duplicate}});
}

// ---- room

std::uint64_t CallBook::in_use(const LaneApplier& applier) const {
  return applier.held_bytes() + accounts_.bytes() + credits_.size() * 2 * limits_.largest;
}

std::uint64_t CallBook::outside(const LaneApplier& applier) const {
  const auto spine = applier.spine();
  return in_use(applier) - spine.held - spine.roots - (spine_ ? spine_->call.bytes : 0);
}

bool CallBook::has_room(const LaneApplier& applier, std::uint64_t bytes) const {
  return outside(applier) + bytes <= limits_.memory - limits_.reserve;
}

// ---- what is called

Actions CallBook::take_back(Micros read_up_at) {
  Actions actions;
  for (const auto& connection : accounts_.overdue(read_up_at)) {
    ++counters_.taken_back;
    actions.emplace_back(lane::DropConnection{connection.first, connection.second});
    const auto found = sessions_.find(connection.first);
    if (found == sessions_.end() || found->second.connection != connection.second) {
      continue;
    }
    no_longer_called(connection);
    clear_offers(connection.first, found->second);
    found->second.is_dropped = true;
    ++found->second.taken_back;
    fails(found->second.payer, true);
  }
  return actions;
}

Actions CallBook::turn(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan) {
  Actions actions;
  awaits_room_ = false;
  if (spine_ && spine_->is_settled && !applier.holds(spine_->call.work)) {
    spine_.reset();
  }
  if (!good_.empty() || !others_.empty()) {
    call_spine(timeline, applier, plan, actions);
    call_good(timeline, applier, plan, actions);
    call_others(timeline, applier, plan, actions);
  }
  counters_.waits += awaits_room_ ? 1 : 0;
  if (awaits_room_) {
    ask_back(actions);
  } else {
    give_ahead(applier, actions);
  }
  return actions;
}

void CallBook::call_spine(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, Actions& actions) {
  if (spine_) {
    return;
  }
  const auto oldest = oldest_offer(applier, plan);
  if (!oldest) {
    return;
  }
  ++counters_.spine_calls;
  const auto bytes = applier.served(oldest->work.chunk)->bytes;
  const auto number = call(timeline, oldest->session, oldest->work, bytes, actions);
  const auto connection = Connection{oldest->session, sessions_.at(oldest->session).connection};
  spine_ = Spine{connection, number, accounts_.calls(connection).at(number), false};
}

template <typename Look>
void CallBook::walk_to(const OldestWanted& wanted, Slot slots, Look&& look) {
  for (Node node{0, slots}; !look(Work{wanted.step, wanted.chunk, node}) && node.size() > 1;) {
    const auto split = tree::split(node);
    node = wanted.slot < split ? Node{node.begin, split} : Node{split, node.end};
  }
}

std::vector<SessionId> CallBook::bringers(const OldestWanted& wanted, Slot slots, std::size_t most) const {
  std::vector<SessionId> bringers;
  const auto take_from = [&](const Index& index, const Work& work) {
    const auto found = index.find(work);
    for (const auto session : found == index.end() ? std::set<SessionId>{} : found->second) {
      if (bringers.size() < most && payers_.is_good(sessions_.at(session).payer)) {
        bringers.push_back(session);
      }
    }
  };
  walk_to(wanted, slots, [&](const Work& work) {
    take_from(good_, work);
    take_from(called_, work);
    return false;
  });
  std::ranges::sort(bringers);
  return bringers;
}

// Of whom the spine is called: of those in good standing, else of whoever failed longest ago.
std::optional<CallBook::Candidate> CallBook::oldest_offer(const LaneApplier& applier, const FactorPlan& plan) const {
  const auto wanted = applier.oldest_wanted();
  std::optional<Candidate> last_resort;
  const auto look = [&](const Index::value_type& offer, bool is_good) -> std::optional<Candidate> {
    if (is_good) {
      return Candidate{*offer.second.begin(), offer.first};
    }
    for (const auto session : offer.second) {
      if (!payers_.may_be_called(sessions_.at(session).payer, now_)) {
        continue;
      }
      const auto failure = [&](SessionId id) { return payers_.last_failure(sessions_.at(id).payer); };
      if (!last_resort || failure(session) < failure(last_resort->session)) {
        last_resort = Candidate{session, offer.first};
      }
    }
    return std::nullopt;
  };
  for (const auto* index : {&good_, &others_}) {
    const bool is_good = index == &good_;
    if (applier.is_of_items()) {
      std::size_t looked = 0;
      for (const auto& offer : *index) {
        if (applier.want(offer.first, plan) == Want::wanted) {
          if (const auto found = look(offer, is_good); found || last_resort) {
            return found ? found : last_resort;
          }
        }
        if (++looked == kMostLookedAt) {
          break;
        }
      }
      continue;
    }
    if (!wanted) {
      return std::nullopt;
    }
    std::optional<Candidate> found;
    walk_to(*wanted, applier.slots(), [&](const Work& work) {
      const auto offer = index->find(work);
      found = offer == index->end() ? std::nullopt : look(*offer, is_good);
      return found.has_value();
    });
    if (found) {
      return found;
    }
  }
  return last_resort;
}

bool CallBook::is_called(const Work& work, Slot slots) const {
  if (called_.empty()) {
    return false;
  }
  for (auto node = std::optional(work.node); node;) {
    if (called_.contains({work.step, work.chunk, *node})) {
      return true;
    }
    const auto family = tree::family(*node, slots);
    node = family ? std::optional(family->parent) : std::nullopt;
  }
  return false;
}

// First what joins nodes that are held, for that makes room.
void CallBook::call_good(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, Actions& actions) {
  for (const bool joins : {true, false}) {
    std::size_t looked = 0;
    for (auto at = good_.begin(); at != good_.end() && looked < kMostLookedAt; ++looked) {
      const auto work = at->first;
      const auto session = *at->second.begin();
      const auto want = applier.want(work, plan);
      if (want == Want::covered) {
        const auto sessions = at->second;
        ++at;
        for (const auto each : sessions) {
          receipt(timeline, each, work, actions);
        }
        continue;
      }
      ++at;
      if (want != Want::wanted || is_called(work, applier.slots()) || (joins && !applier.joins(work))) {
        continue;
      }
      const auto bytes = applier.served(work.chunk)->bytes;
      if (!has_room(applier, bytes)) {
        awaits_room_ = true;
        break;
      }
      call(timeline, session, work, bytes, actions);
    }
  }
}

// One call at a time of whoever is out of good standing, for what nobody is called for.
void CallBook::call_others(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, Actions& actions) {
  std::size_t looked = 0;
  for (auto at = others_.begin(); at != others_.end() && looked < kMostLookedAt; ++looked) {
    const auto [work, sessions] = *at;
    ++at;
    const auto want = applier.want(work, plan);
    for (const auto session : sessions) {
      if (want == Want::covered) {
        receipt(timeline, session, work, actions);
      }
      const auto payer = sessions_.at(session).payer;
      const bool may_be_called = want == Want::wanted && !owing_.contains(payer) &&
                                 payers_.may_be_called(payer, now_) && !is_called(work, applier.slots());
      const auto bytes = applier.served(work.chunk)->bytes;
      if (may_be_called && !has_room(applier, bytes)) {
        awaits_room_ = true;
        return;
      }
      if (may_be_called) {
        call(timeline, session, work, bytes, actions);
      }
    }
  }
}

std::uint64_t CallBook::call(Timeline timeline, SessionId session, const Work& work, std::uint64_t bytes,
                             Actions& actions) {
  auto& state = sessions_.at(session);
  take(index_of(state.payer), session, {work});
  state.offers.erase(work);
  const auto number = next_number_++;
  accounts_.call({session, state.connection}, number, {timeline, work, bytes, state.payer}, now_);
  called_[work].insert(session);
  ++owing_[state.payer];
  ++counters_.calls;
  actions.emplace_back(lane::SendToWorker{session, Call{number, work}});
  return number;
}

// To each of those that compute with this lane's weights the same part of half of the room.
void CallBook::give_ahead(const LaneApplier& applier, Actions& actions) {
  const auto room = limits_.memory - limits_.reserve;
  const auto share = room / (2 * std::max<std::size_t>(served_, 1));
  while (!wants_ahead_.empty()) {
    const auto id = wants_ahead_.front();
    const auto found = sessions_.find(id);
    const bool may_have = found != sessions_.end() && share >= limits_.largest && !found->second.is_dropped &&
                          payers_.is_good(found->second.payer) && limits_.largest > 0 &&
                          !accounts_.is_asked_to_return({id, found->second.connection});
    const auto has = may_have ? accounts_.ahead_bytes({id, found->second.connection}) : 0;
    if (may_have && has <= share / 2) {
      const auto free = room - std::min(room, outside(applier));
      const auto amount = std::min(share - has, free);
      if (amount < limits_.largest) {
        return;  // in its turn, when there is room
      }
      accounts_.give_ahead({id, found->second.connection}, amount);
      found->second.owed_ahead = false;
      actions.emplace_back(lane::SendToWorker{id, BytesAhead{amount}});
    }
    wants_ahead_.pop_front();
    if (found != sessions_.end()) {
      found->second.wants_ahead = false;
    }
  }
}

void CallBook::ask_back(Actions& actions) {
  for (std::size_t i = 0; i < kMostReturns && !accounts_.returnable().empty(); ++i) {
    const auto connection = *accounts_.returnable().begin();
    const auto number = next_number_++;
    ++counters_.returns;
    accounts_.ask_return(connection, number, now_);
    actions.emplace_back(lane::SendToWorker{connection.first, ReturnAsked{number}});
  }
}

}  // namespace ballast

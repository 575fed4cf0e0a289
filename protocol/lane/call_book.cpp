#include "protocol/lane/call_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/tree.h"

namespace ballast {

using lane::Actions;

// ---- sessions

void CallBook::greet(SessionId session, ConnectionId connection, PayerId payer, bool is_new) {
  credits_.erase(session);
  sessions_.try_emplace(session);
  heard(session, connection, payer);  // known before, its message was heard already
  if (is_new) {                       // nothing of what it was asked before will come
    settle_all({session, connection});
  }
}

std::optional<std::uint64_t> CallBook::greet_with_credit(SessionId session, ConnectionId connection,
                                                         const LaneApplier& applier) {
  if (!credits_.contains(session) && !has_room(applier, 2 * limits_.largest)) {
    return std::nullopt;
  }
  credits_[session] = connection;
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

Actions CallBook::heard(SessionId session, ConnectionId connection, PayerId payer) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || connection <= found->second.connection) {
    return {};
  }
  auto& state = found->second;
  auto dropped = give_up({session, state.connection});
  state.connection = connection;
  state.payer = payer;
  state.is_dropped = false;
  offers_.enter(session, payer, payers_.is_good(payer));
  ahead_.stands(session, payers_.is_good(payer));
  return dropped;
}

Actions CallBook::give_up(const Connection& connection) {
  Actions actions;
  no_longer_called(connection);
  accounts_.give_up(connection);
  if (accounts_.owes(connection)) {
    actions.emplace_back(lane::DropConnection{connection.first, connection.second});
  }
  return actions;
}

// Of who is called and goes nothing can be taken back: if that happens again and again, it fails.
void CallBook::ended(SessionId session, ConnectionId connection) {
  const auto& calls = accounts_.calls({session, connection});
  const auto owed_by = calls.empty() ? std::nullopt : std::optional(calls.begin()->second.payer);
  settle_all({session, connection});
  if (owed_by) {
    useless(*owed_by);
  }
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && found->second.connection == connection) {
    offers_.clear(session);
    ahead_.forget(session);
    found->second.is_dropped = true;
  }
  if (const auto credit = credits_.find(session); credit != credits_.end() && credit->second == connection) {
    credits_.erase(credit);
  }
}

Actions CallBook::forget(SessionId session) {
  credits_.erase(session);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return {};
  }
  auto dropped = give_up({session, found->second.connection});
  offers_.leave(session);
  ahead_.forget(session);
  sessions_.erase(found);
  return dropped;
}

// ---- what sessions offer

bool CallBook::offers(SessionId session, ConnectionId connection, const std::vector<Work>& works) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.connection != connection || found->second.is_dropped) {
    return false;
  }
  std::set<Work> offered;
  for (const auto& work : works) {
    if (!called_.has(work, session)) {  // else it has not heard of the call yet
      offered.insert(work);
    }
  }
  offers_.offer(session, std::move(offered));
  return true;
}

void CallBook::forget_offers() { offers_.clear(); }

void CallBook::fails(PayerId payer, bool taken_back) {
  if (payers_.fails(payer, now_, taken_back)) {
    stands(payer, false);
  }
}

void CallBook::stands(PayerId payer, bool is_good) {
  offers_.stands(payer, is_good);
  for (const auto session : offers_.sessions_of(payer)) {
    ahead_.stands(session, is_good);
  }
}

// Of a key that many share, one alone may send nothing; and whoever sends nothing may come as another session.
CallBook::OutOfStanding CallBook::out_of_standing(std::size_t most) const {
  OutOfStanding out;
  for (const auto payer : payers_.out()) {
    for (const auto session : offers_.sessions_of(payer)) {
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
  using Kind = Payment::Kind;
  const Connection over{session, connection};
  const Work work{push.step, push.chunk, push.node};
  offers_.take(session, work);  // it is here
  if (credits_.contains(session) && push.call == 0) {
    return {Kind::paid};
  }
  if (push.call == 0) {
    if (!accounts_.spend(over, bytes)) {
      return {Kind::unasked};
    }
    ahead_.spent(session);
    return {Kind::paid};
  }
  const auto call = accounts_.settle(over, push.call, now_);
  if (!call) {
    return {Kind::unasked};
  }
  settled(over, push.call, *call, true);
  if (call->work != work || call->bytes != bytes) {
    useless(call->payer);
    return {Kind::unasked};
  }
  return {call->timeline == push.timeline ? Kind::paid : Kind::other_timeline, call->payer};
}

void CallBook::useful(SessionId session, PayerId payer) {
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.taken_back = 0;
  }
  if (payers_.pays(payer)) {
    stands(payer, true);
  }
}

void CallBook::useless(PayerId payer) {
  if (payers_.is_struck(payer)) {
    fails(payer);
  }
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
  ahead_.returned(session);
  return true;
}

// Its calls stay in use, but wait in nobody's way any more.
void CallBook::no_longer_called(const Connection& connection) {
  const auto session = sessions_.find(connection.first);
  if (session == sessions_.end() || session->second.connection != connection.second || session->second.is_dropped) {
    return;
  }
  for (const auto& [number, call] : accounts_.calls(connection)) {
    called_.take(connection.first, call.work);
  }
}

// Nothing more will come over it.
void CallBook::settle_all(const Connection& connection) {
  no_longer_called(connection);
  for (const auto& [number, call] : accounts_.ended(connection)) {
    settled(connection, number, call, false);
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
    called_.take(connection.first, call.work);
  }
  if (spine_ && spine_->connection == connection && spine_->number == number) {
    spine_->is_settled = true;
  }
}

void CallBook::served(SessionId session) {
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    ahead_.served(session, payers_.is_good(found->second.payer));
  }
}

Actions CallBook::applied(Timeline timeline, const Work& applied) {
  Actions actions;
  const auto is_applied = [&](const Work& work) {
    return work.step == applied.step && work.chunk == applied.chunk && applied.node.contains(work.node);
  };
  const auto each_of = [&](const auto& index, auto&& tell) {
    const auto& node = applied.node;
    for (auto at = index.lower_bound({applied.step, applied.chunk, {node.begin, node.begin}});
         at != index.end() && is_applied(at->first);) {
      const auto work = at->first;
      ++at;
      tell(work);
    }
  };
  each_of(offers_.good().works(), [&](const Work& work) {
    for (const auto sessions = offers_.good().of(work); const auto session : sessions) {
      receipt(timeline, session, work, actions);
    }
  });
  each_of(offers_.others().works(), [&](const Work& work) { receipts_of_others(timeline, work, actions); });
  return actions;
}

void CallBook::receipts_of_others(Timeline timeline, const Work& work, Actions& actions) {
  for (const auto session : offers_.others().of(work)) {
    receipt(timeline, session, work, actions);
  }
}

void CallBook::receipt(Timeline timeline, SessionId session, const Work& work, Actions& actions) {
  offers_.take(session, work);
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
  return outside(applier) + bytes <= room();
}

std::optional<CallBook::Awaited> CallBook::awaited() const {
  const bool is_late = spine_ && !spine_->is_settled && now_ - spine_since_ >= limits_.overdue;
  return is_late ? std::optional(Awaited{spine_->connection.first, spine_->call.work}) : std::nullopt;
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
    offers_.clear(connection.first);
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
    spine_since_ = 0;
  }
  if (!offers_.good().empty() || !offers_.others().empty()) {
    call_spine(timeline, applier, plan, actions);
    call_good(timeline, applier, plan, actions);
    call_statistics(timeline, applier, plan, actions);
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
  spine_since_ = now_;
}

template <typename Look>
void CallBook::walk_to(const OldestWanted& wanted, Slot slots, Look&& look) {
  for (Node node{0, slots}; !look(Work{wanted.step, wanted.chunk, node}) && node.size() > 1;) {
    const auto split = tree::split(node);
    node = wanted.slot < split ? Node{node.begin, split} : Node{split, node.end};
  }
}

// First one of each key: else sessions of one, which offer the widest node, would make others late that offer theirs.
std::vector<SessionId> CallBook::bringers(const OldestWanted& wanted, Slot slots, std::size_t most) const {
  std::vector<SessionId> bringers;
  std::set<PayerId> payers;
  std::set<SessionId> others;
  const auto take_from = [&](const WorkIndex& index, const Work& work) {
    for (const auto session : index.of(work)) {
      const auto payer = sessions_.at(session).payer;
      if (!payers_.is_good(payer) || bringers.size() == most) {
        continue;
      }
      if (payers.insert(payer).second) {
        bringers.push_back(session);
      } else if (others.size() < most && std::ranges::find(bringers, session) == bringers.end()) {
        others.insert(session);
      }
    }
  };
  walk_to(wanted, slots, [&](const Work& work) {
    take_from(offers_.good(), work);
    take_from(called_, work);
    return bringers.size() == most;
  });
  const auto more = std::min(most - bringers.size(), others.size());
  std::copy_n(others.begin(), more, std::back_inserter(bringers));
  std::ranges::sort(bringers);
  return bringers;
}

// Of whom the spine is called: of those in good standing, else of whoever failed longest ago.
std::optional<CallBook::Candidate> CallBook::oldest_offer(const LaneApplier& applier, const FactorPlan& plan) const {
  const auto wanted = applier.oldest_wanted();
  std::optional<Candidate> found;
  const auto of_good = [&](const WorkIndex::Works::value_type& offer) {
    const auto last_call = [&](SessionId id) { return sessions_.at(id).last_call; };
    found = Candidate{*std::ranges::min_element(offer.second, {}, last_call), offer.first};
    return true;
  };
  if (look_for_oldest(offers_.good().works(), wanted, applier, plan, of_good)) {
    return found;
  }
  std::optional<std::uint64_t> failure;
  const auto of_others = [&](const PayerIndex::Works::value_type& offer) {
    for (const auto& [payer, sessions] : offer.second) {
      const auto failed_at = payers_.last_failure(payer);
      if (payers_.may_be_called(payer, now_) && (!failure || failed_at < *failure)) {
        failure = failed_at;
        found = Candidate{*sessions.begin(), offer.first};
      }
    }
    return applier.is_of_items() && found.has_value();
  };
  look_for_oldest(offers_.others().works(), wanted, applier, plan, of_others);
  return found;
}

// At the offers of the oldest work that is wanted, until `look` is content: true.
template <typename Works, typename Look>
bool CallBook::look_for_oldest(const Works& works, const std::optional<OldestWanted>& wanted,
                               const LaneApplier& applier, const FactorPlan& plan, Look&& look) {
  bool is_found = false;
  if (applier.is_of_items()) {
    std::size_t looked = 0;
    for (auto at = works.begin(); at != works.end() && looked < kMostLookedAt && !is_found; ++at, ++looked) {
      is_found = applier.want(at->first, plan) == Want::wanted && look(*at);
    }
  } else if (wanted) {
    walk_to(*wanted, applier.slots(), [&](const Work& work) {
      const auto offer = works.find(work);
      is_found = offer != works.end() && look(*offer);
      return is_found;
    });
  }
  return is_found;
}

bool CallBook::is_called(const Work& work, Slot slots) const {
  if (called_.empty()) {
    return false;
  }
  for (auto node = std::optional(work.node); node;) {
    if (called_.has({work.step, work.chunk, *node})) {
      return true;
    }
    const auto family = tree::family(*node, slots);
    node = family ? std::optional(family->parent) : std::nullopt;
  }
  return false;
}

// First what joins nodes that are held, for that makes room.
void CallBook::call_good(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, Actions& actions) {
  const auto& good = offers_.good().works();
  for (const bool joins : {true, false}) {
    std::size_t looked = 0;
    for (auto at = good.begin(); at != good.end() && looked < kMostLookedAt; ++looked) {
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

// They are the last of what is offered, and small. Where nothing else finds room they show who brings what first: else
// a newcomer, whose slots are called when all before them have come, would never have brought anything.
void CallBook::call_statistics(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan,
                               Actions& actions) {
  const auto wanted = applier.oldest_wanted();
  if (!awaits_room_ || !limits_.statistics || !wanted) {
    return;
  }
  const auto bytes = applier.served(*limits_.statistics)->bytes;
  const auto fits = [&] { return outside(applier) + bytes <= room() + limits_.statistics_room; };
  const auto& good = offers_.good().works();
  auto at = good.lower_bound(Work{wanted->step, *limits_.statistics, Node{}});
  for (std::size_t looked = 0; at != good.end() && looked < kMostLookedAt && fits(); ++looked) {
    const auto work = at->first;
    if (work.step != wanted->step || work.chunk != *limits_.statistics) {
      return;
    }
    const auto& offering = at++->second;
    const auto want = applier.want(work, plan);
    if (want == Want::wanted && !is_called(work, applier.slots())) {
      call(timeline, *offering.begin(), work, bytes, actions);
    } else if (want == Want::covered) {
      const auto sessions = offering;
      for (const auto each : sessions) {
        receipt(timeline, each, work, actions);
      }
    }
  }
}

// One call at a time of whoever is out of good standing, for what nobody is called for.
void CallBook::call_others(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, Actions& actions) {
  const auto& others = offers_.others().works();
  std::size_t looked = 0;
  for (auto at = others.begin(); at != others.end() && looked < kMostLookedAt; ++looked) {
    const auto& [work, payers] = *at;
    ++at;
    const auto want = applier.want(work, plan);
    if (want == Want::covered) {
      receipts_of_others(timeline, Work(work), actions);
      continue;
    }
    const auto payer = want == Want::wanted ? payer_to_call(payers) : std::nullopt;
    if (!payer || is_called(work, applier.slots())) {
      continue;
    }
    const auto bytes = applier.served(work.chunk)->bytes;
    if (!has_room(applier, bytes)) {
      awaits_room_ = true;
      return;
    }
    call(timeline, *payers.at(*payer).begin(), Work(work), bytes, actions);
  }
}

std::optional<PayerId> CallBook::payer_to_call(const PayerIndex::Payers& payers) const {
  for (const auto& [payer, sessions] : payers) {
    if (!owing_.contains(payer) && payers_.may_be_called(payer, now_)) {
      return payer;
    }
  }
  return std::nullopt;
}

std::uint64_t CallBook::call(Timeline timeline, SessionId session, const Work& work, std::uint64_t bytes,
                             Actions& actions) {
  auto& state = sessions_.at(session);
  offers_.take(session, work);
  const auto number = next_number_++;
  state.last_call = number;
  accounts_.call({session, state.connection}, number, {timeline, work, bytes, state.payer}, now_);
  called_.put(session, work);
  ++owing_[state.payer];
  ++counters_.calls;
  actions.emplace_back(lane::SendToWorker{session, Call{number, work}});
  return number;
}

// With less than each of the lane's chunks once it would have to ask in the midst of the step that it has weights of.
bool CallBook::is_short_ahead(SessionId session, std::uint64_t has, std::uint64_t share) const {
  return has + limits_.largest <= share && (has <= share / 2 || (ahead_.is_owed(session) && has < limits_.owned));
}

// To each of those in good standing that compute with this lane's weights the same part of half of the room.
void CallBook::give_ahead(const LaneApplier& applier, Actions& actions) {
  const auto all = room();
  const auto share = all / (2 * std::max<std::size_t>(ahead_.in_good_standing(), 1));
  for (; const auto id = ahead_.next(); ahead_.pop()) {
    const auto& session = sessions_.at(*id);
    const Connection connection{*id, session.connection};
    const bool may_have = share >= limits_.largest && !session.is_dropped && payers_.is_good(session.payer) &&
                          limits_.largest > 0 && !accounts_.is_asked_to_return(connection);
    const auto has = accounts_.ahead_bytes(connection);
    if (!may_have || !is_short_ahead(*id, has, share)) {
      continue;
    }
    const auto free = all - std::min(all, outside(applier));
    const auto amount = std::min(share - has, free);
    if (amount < limits_.largest) {
      return;  // in its turn, when there is room
    }
    accounts_.give_ahead(connection, amount);
    ahead_.given(*id);
    actions.emplace_back(lane::SendToWorker{*id, BytesAhead{amount}});
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

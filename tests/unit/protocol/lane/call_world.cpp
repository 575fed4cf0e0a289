#include "tests/unit/protocol/lane/call_world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "protocol/lane/lane_budget.h"

namespace ballast::call_model {

CallWorld::CallWorld(CallModel model) : model_(std::move(model)) {
  for (std::size_t i = 0; i < model_.chunks.size(); ++i) {
    config_.chunks.push_back({static_cast<ChunkId>(i), model_.chunks[i], false});
  }
  config_.slots = model_.slots;
  config_.steps = 1;
  config_.needs_whole_gradient = model_.whole;
  plan_.extend(0, std::vector<StepFactors>(1), 0);
  limits_.largest = *std::ranges::max_element(model_.chunks);
  limits_.reserve = reserve_of(model_.slots, config_.chunks, model_.whole, false);
  if (model_.wrong == Wrong::reserve_too_small) {
    limits_.reserve -= limits_.largest;
  }
  limits_.memory = limits_.reserve + model_.more;
  limits_.overdue = 1;
}

CallState CallWorld::first() {
  CallState first{LaneApplier(config_), CallBook(limits_), {}, 0, {}, {}, {}, 0, !model_.whole};
  first.applier.begin(0, 1);
  first.owes.resize(model_.payers.size());
  first.failures.resize(model_.payers.size());
  for (std::size_t i = 0; i < model_.payers.size(); ++i) {
    ModelSession session;
    session.nodes.insert(model_.work[i].begin(), model_.work[i].end());
    session.link.id = 1;
    session.is_there = !model_.last_joins || i + 1 < model_.payers.size();
    if (session.is_there) {
      first.book.greet(name(i), 1, name(i), true);
    }
    first.sessions.push_back(std::move(session));
  }
  settle(first);
  return first;
}

// What it has and did not send.
void CallWorld::offer(CallState& state, std::size_t i) {
  std::set<Work> works;
  for (const auto node : state.sessions[i].nodes) {
    for (const auto& chunk : config_.chunks) {
      if (wants(state, {0, chunk.id, node})) {
        works.insert({0, chunk.id, node});
      }
    }
  }
  for (const auto& call : state.sessions[i].link.calls) {
    works.erase(call.work);
  }
  state.book.offers(name(i), state.sessions[i].link.id, {works.begin(), works.end()});
}

// Each says what it has; then the lane has its turn.
void CallWorld::settle(CallState& state) {
  for (std::size_t i = 0; i < state.sessions.size(); ++i) {
    if (state.sessions[i].is_there && !state.sessions[i].is_dead) {
      offer(state, i);
    }
  }
  const auto spines = state.book.counters().spine_calls;
  const auto actions = state.book.turn(1, state.applier, plan_of(state));
  bool is_spine = state.book.counters().spine_calls > spines;
  for (const auto& action : actions) {
    const auto* send = std::get_if<lane::SendToWorker>(&action);
    auto& link = state.sessions[send->session - 1].link;
    if (const auto* call = std::get_if<Call>(&send->message)) {
      link.calls.push_back({call->number, call->work, std::exchange(is_spine, false), false});
    } else if (const auto* ahead = std::get_if<BytesAhead>(&send->message)) {
      link.ahead += ahead->bytes;
      if (model_.wrong == Wrong::ahead_not_counted) {
        state.book.returns(send->session, link.id, 0, ahead->bytes);
      }
    } else if (const auto* asked = std::get_if<ReturnAsked>(&send->message)) {
      link.return_asked = asked->number;
    }
  }
  judge(state);
}

void CallWorld::judge(const CallState& state) {
  auto bytes = state.applier.held_bytes();
  for (const auto& session : state.sessions) {
    for (const auto* link : {&session.link, session.old ? &*session.old : nullptr}) {
      if (link != nullptr) {
        bytes += link->ahead;
        for (const auto& call : link->calls) {
          bytes += bytes_of(call.work);
        }
      }
    }
  }
  most_ = std::max(most_, bytes);
  counts_right_ = counts_right_ && bytes == state.book.in_use(state.applier);
}

bool CallWorld::has_ended(const CallState& state) const { return state.applier.open_step() == config_.steps; }

bool CallWorld::is_covered(const CallState& state) const {
  return std::ranges::none_of(config_.chunks, [&](const LaneChunk& chunk) {
    return wants(state, {0, chunk.id, {0, model_.slots}});
  });
}

// ---- what may happen

void CallWorld::go(CallState state, Nexts& nexts, bool is_fault) {
  settle(state);
  nexts.push_back({std::move(state), is_fault});
}

std::vector<CallWorld::Next> CallWorld::after(const CallState& state) {
  Nexts nexts;
  for (std::size_t i = 0; i < state.sessions.size(); ++i) {
    lives(state, i, nexts);
    if (state.sessions[i].is_there) {
      links(state, i, nexts);
    }
  }
  for (const auto node : model_.computed_later) {
    auto next = state;
    if (next.sessions.back().nodes.insert(node).second) {
      go(std::move(next), nexts);
    }
  }
  take_back(state, nexts);
  give_late(state, nexts);
  decide(state, nexts);
  return nexts;
}

// It comes, it is sent weights, it dies.
void CallWorld::lives(const CallState& state, std::size_t i, Nexts& nexts) {
  const auto& session = state.sessions[i];
  if (!session.is_there) {
    auto next = state;
    next.sessions[i].is_there = true;
    next.book.greet(name(i), session.link.id, name(i), true);
    return go(std::move(next), nexts, true);
  }
  if (model_.serves && !session.was_served) {
    auto next = state;
    next.sessions[i].was_served = true;
    next.book.served(name(i));
    go(std::move(next), nexts);
  }
  if (model_.payers[i] == Payer::dies && !session.is_dead) {
    auto next = state;
    next.sessions[i].is_dead = true;
    go(std::move(next), nexts, true);
  }
}

// What comes over its connections, and how they end.
void CallWorld::links(const CallState& state, std::size_t i, Nexts& nexts) {
  answers(state, i, false, nexts);
  if (state.sessions[i].old) {
    answers(state, i, true, nexts);
    auto next = state;
    next.book.ended(name(i), next.sessions[i].old->id);
    next.sessions[i].old.reset();
    go(std::move(next), nexts);
  } else if (pays(state, i) && state.cuts < model_.cuts) {
    auto next = state;
    ++next.cuts;
    replace(next, i);
    go(std::move(next), nexts, true);
  }
}

void CallWorld::answers(const CallState& state, std::size_t i, bool is_old, Nexts& nexts) {
  const auto& link = is_old ? *state.sessions[i].old : state.sessions[i].link;
  const auto payer = model_.payers[i];
  const bool is_paying = pays(state, i);
  if (state.sessions[i].is_dead && !link.calls.empty()) {  // sent before its death
    auto next = state;
    pay(next, i, is_old);
    go(std::move(next), nexts, true);
  }
  if (payer == Payer::says_none && !link.calls.empty()) {
    auto next = state;
    none(next, i, is_old);
    go(std::move(next), nexts);
  }
  if (!is_paying && payer != Payer::says_none) {
    if (payer == Payer::keeps && !link.calls.empty()) {
      auto next = state;
      pay(next, i, is_old);
      go(std::move(next), nexts);
    }
    return;
  }
  if (is_paying && !link.calls.empty()) {
    auto next = state;
    if (link.calls.front().is_sent) {
      none(next, i, is_old);
    } else {
      pay(next, i, is_old);
    }
    go(std::move(next), nexts);
  }
  if (is_paying) {
    spend(state, i, is_old, nexts);
  }
  if (link.return_asked != 0 && !is_old) {
    auto next = state;
    auto& own = link_of(next, i, is_old);
    REQUIRE(next.book.returns(name(i), own.id, own.return_asked, own.ahead));
    own.ahead = 0;
    own.return_asked = 0;
    go(std::move(next), nexts);
  }
}

// Within bytes given ahead: the lowest that waits, or what is called meanwhile.
void CallWorld::spend(const CallState& state, std::size_t i, bool is_old, Nexts& nexts) {
  const auto& link = is_old ? *state.sessions[i].old : state.sessions[i].link;
  for (const auto node : state.sessions[i].nodes) {
    for (const auto& chunk : config_.chunks) {
      const Work work{0, chunk.id, node};
      const auto is_it = [&](const ModelCall& call) { return call.work == work; };
      const auto called = std::ranges::find_if(link.calls, is_it);
      const bool was_sent = called != link.calls.end() && called->is_sent;
      if (link.ahead < chunk.bytes || was_sent || !wants(state, work)) {
        continue;
      }
      auto next = state;
      auto& own = link_of(next, i, is_old);
      own.ahead -= chunk.bytes;
      if (called != link.calls.end()) {
        std::ranges::find_if(own.calls, is_it)->is_sent = true;
      }
      arrive(next, i, own.id, work, 0);
      go(std::move(next), nexts);
    }
  }
}

void CallWorld::pay(CallState& state, std::size_t i, bool is_old) {
  auto& link = link_of(state, i, is_old);
  const auto call = link.calls.front();
  link.calls.pop_front();
  arrive(state, i, link.id, call.work, call.number);
  if (call.number != 0 && state.owes[i] > 0 && --state.owes[i] == 0) {
    std::erase(state.failed, i);
  }
}

void CallWorld::arrive(CallState& state, std::size_t i, ConnectionId connection, const Work& work,
                       std::uint64_t number) {
  Push push{1, 0, work.chunk, work.node, false, kNoSlot, {}};
  push.call = number;
  const auto paid = state.book.pays(name(i), connection, push, bytes_of(work));
  REQUIRE((paid.kind == CallBook::Payment::Kind::paid || model_.wrong != Wrong::nothing));
  const auto& plan = plan_of(state);
  const auto offered = state.applier.offer(name(i), push, ++state.payload, plan);
  if (paid.payer) {
    state.book.useful(name(i), *paid.payer);
  }
  if (offered.measure) {
    const ChunkMeasure measure{work.chunk, 0, {}, true, 0, kNoSlot};
    apply(state, state.applier.measured({measure, offered.measure->root}, plan));
  }
}

void CallWorld::apply(CallState& state, const ApplierOutcome& outcome) {
  for (const auto& update : outcome.applied) {
    state.book.applied(1, {update.apply.step, update.apply.chunk, update.node});
  }
}

void CallWorld::none(CallState& state, std::size_t i, bool is_old) {
  auto& link = link_of(state, i, is_old);
  const auto call = link.calls.front();
  link.calls.pop_front();
  if (wants(state, call.work)) {
    fails(state, i);
  }
  state.book.has_none(name(i), link.id, call.number, state.applier, plan_, 1);
}

void CallWorld::fails(CallState& state, std::size_t i) {
  std::erase(state.failed, i);
  state.failed.push_back(i);
  state.owes[i] = 1U << state.failures[i]++;
}

// Another connection takes the place of this one, but for who is dead.
void CallWorld::replace(CallState& state, std::size_t i) {
  auto& session = state.sessions[i];
  session.old = session.link;
  session.link = {session.old->id + 1, {}, 0, 0};
  if (model_.wrong == Wrong::freed_at_once) {
    state.book.ended(name(i), session.old->id);
  }
  if (session.is_dead) {
    session.nodes.clear();  // what it offered is forgotten
  } else {
    state.book.greet(name(i), session.link.id, name(i), false);
  }
}

// Whatever is not answered is overdue.
void CallWorld::take_back(const CallState& state, Nexts& nexts) {
  auto next = state;
  const auto dropped = next.book.take_back(100);
  bool takes_from_one_that_pays = false;
  for (const auto& action : dropped) {
    const auto i = std::get<lane::DropConnection>(action).session - 1;
    if (next.sessions[i].old) {
      return;  // that one ends first: there are two at most
    }
    if (model_.payers[i] == Payer::keeps && !next.sessions[i].link.calls.empty()) {
      return;  // it pays these in time
    }
    takes_from_one_that_pays = takes_from_one_that_pays || pays(next, i);
    fails(next, i);
    replace(next, i);
  }
  next.cuts += takes_from_one_that_pays ? 1 : 0;
  if (!dropped.empty() && next.cuts <= model_.cuts) {
    go(std::move(next), nexts, takes_from_one_that_pays);
  }
}

// The lead gives a slot that nobody in good standing brings to whoever pays.
void CallWorld::give_late(const CallState& state, Nexts& nexts) {
  const auto wanted = state.applier.oldest_wanted();
  if (!wanted || !state.book.bringers(*wanted, model_.slots, 8).empty()) {
    return;
  }
  for (std::size_t i = 0; i < state.sessions.size(); ++i) {
    const Node node{wanted->slot, wanted->slot + 1};
    const bool has_it = std::ranges::any_of(state.sessions[i].nodes, [&](Node each) { return each.contains(node); });
    if (pays(state, i) && !has_it) {
      auto next = state;
      next.sessions[i].nodes.insert(node);
      go(std::move(next), nexts);
    }
  }
}

// Of the whole gradient.
void CallWorld::decide(const CallState& state, Nexts& nexts) {
  if (!state.is_decided && is_covered(state)) {
    auto next = state;
    next.is_decided = true;
    apply(next, next.applier.planned(plan_));
    go(std::move(next), nexts);
  }
}

// ---- what makes two states the same

namespace {

void put(std::string& key, const ModelLink& link) {
  key += static_cast<char>(link.calls.size());
  for (const auto& call : link.calls) {
    key += {static_cast<char>(call.work.chunk), static_cast<char>(call.work.node.begin),
            static_cast<char>(call.work.node.end), static_cast<char>(call.is_spine * 2 + call.is_sent)};
  }
  key += {static_cast<char>(link.ahead), static_cast<char>(link.return_asked != 0)};
}

}  // namespace

std::string CallWorld::key_of(const CallState& state) const {
  std::string key{static_cast<char>(state.cuts), static_cast<char>(state.is_decided)};
  for (const auto& chunk : config_.chunks) {
    for (Slot slot = 0; slot < model_.slots; ++slot) {
      key += static_cast<char>(wants(state, {0, chunk.id, {slot, slot + 1}}));
    }
  }
  for (std::size_t i = 0; i < state.sessions.size(); ++i) {
    const auto& session = state.sessions[i];
    for (const auto node : session.nodes) {
      key += {static_cast<char>(node.begin), static_cast<char>(node.end)};
    }
    key += static_cast<char>(0x7F);
    put(key, session.link);
    key += static_cast<char>(session.old ? 1 : 0);
    if (session.old) {
      put(key, *session.old);
    }
    const bool is_out = std::ranges::find(state.failed, i) != state.failed.end();
    key += {static_cast<char>(session.was_served), static_cast<char>(is_out), static_cast<char>(session.is_there),
            static_cast<char>(session.is_dead)};
    if (pays(state, i) || model_.payers[i] == Payer::keeps) {
      key += {static_cast<char>(state.owes[i]), static_cast<char>(state.failures[i])};
    }
  }
  for (const auto i : state.failed) {
    key += static_cast<char>(i);
  }
  listed::walk(state.book, [&](listed::Kind, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::deque<SessionId>>) {
      for (const auto session : value) {  // in whose turn bytes are given ahead
        key += static_cast<char>(session);
      }
    }
  });
  return key;
}

}  // namespace ballast::call_model

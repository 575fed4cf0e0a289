// The real book of calls beside real rounds, in every order of events, for a few slots and sessions: sessions that pay,
// that hold every call, that answer each with "none", that keep the bytes that they were given ahead; connections that
// are cut or taken back while payloads are on their way over them.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/lane/call_book.h"
#include "protocol/lane/lane_budget.h"
#include "protocol/tree.h"

using namespace ballast;

namespace {

enum class Payer { pays, holds, keeps, says_none };
// What the model gets wrong on purpose, in the place of the book.
enum class Wrong { nothing, reserve_too_small, freed_at_once, ahead_not_counted };

struct CallModel {
  Slot slots = 2;
  std::vector<std::uint64_t> chunks = {10};
  std::vector<Payer> payers = {Payer::pays};
  std::vector<std::vector<Node>> work;  // by session
  std::uint64_t more = 0;               // memory beyond the reserve
  int cuts = 0;                         // connections of paying sessions that are cut or taken back
  Wrong wrong = Wrong::nothing;
  std::vector<Node> computed_later = {};  // by the last session
};

struct ModelCall {
  std::uint64_t number = 0;
  Work work;
  bool is_spine = false;
  bool is_sent = false;  // its work was sent within bytes given ahead: it is answered with "none"
};
// One connection, as the network and the worker have it.
struct ModelLink {
  ConnectionId id = 0;
  std::deque<ModelCall> calls;  // not answered
  std::uint64_t ahead = 0;
  std::uint64_t return_asked = 0;
};
struct ModelSession {
  std::set<Node> nodes;
  ModelLink link;
  std::optional<ModelLink> old;  // what is on its way over it may come, until it has ended
  bool was_served = false;
};

struct CallState {
  LaneApplier applier;
  CallBook book;
  std::vector<ModelSession> sessions;
  int cuts = 0;
  std::vector<std::size_t> failed;  // sessions, whoever failed last at the end
  std::vector<std::uint32_t> owes;
  std::vector<std::uint32_t> failures;
  PayloadId payload = 0;
};

class CallExplorer {
 public:
  explicit CallExplorer(const CallModel& model) : model_(model) {
    for (std::size_t i = 0; i < model_.chunks.size(); ++i) {
      config_.chunks.push_back({static_cast<ChunkId>(i), model_.chunks[i], false});
    }
    config_.slots = model_.slots;
    config_.steps = 1;
    plan_.extend(0, std::vector<StepFactors>(1), 0);
    limits_.largest = *std::ranges::max_element(model_.chunks);
    limits_.reserve = reserve_of(model_.slots, config_.chunks, false, false);
    if (model_.wrong == Wrong::reserve_too_small) {
      limits_.reserve -= limits_.largest;
    }
    limits_.memory = limits_.reserve + model_.more;
    limits_.overdue = 1;
    explore();
  }

  [[nodiscard]] std::size_t states() const { return ids_.size(); }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  [[nodiscard]] bool keeps_bound() const { return most_ <= limits_.memory; }
  // The book and the network do not differ in what is in use.
  [[nodiscard]] bool counts_right() const { return counts_right_; }
  // From every state the step can still end without another fault.
  [[nodiscard]] bool can_end() const {
    std::vector<std::vector<std::size_t>> before(after_.size());
    for (std::size_t id = 0; id < after_.size(); ++id) {
      for (const auto next : after_[id]) {
        before[next].push_back(id);
      }
    }
    auto reaches = ended_;
    std::queue<std::size_t> open;
    for (std::size_t id = 0; id < ended_.size(); ++id) {
      if (ended_[id]) {
        open.push(id);
      }
    }
    for (; !open.empty(); open.pop()) {
      for (const auto id : before[open.front()]) {
        if (!reaches[id]) {
          reaches[id] = true;
          open.push(id);
        }
      }
    }
    return std::ranges::count(reaches, false) == 0;
  }

 private:
  static SessionId name(std::size_t i) { return static_cast<SessionId>(i + 1); }
  [[nodiscard]] std::uint64_t bytes_of(const Work& work) const { return model_.chunks[work.chunk]; }
  [[nodiscard]] bool wants(const CallState& state, const Work& work) const {
    return state.applier.want(work, plan_) == Want::wanted;
  }

  void explore() {
    CallState first{LaneApplier(config_), CallBook(limits_), {}, 0, {}, {}, {}, 0};
    first.applier.begin(0, 1);
    first.owes.resize(model_.payers.size());
    first.failures.resize(model_.payers.size());
    for (std::size_t i = 0; i < model_.payers.size(); ++i) {
      ModelSession session;
      session.nodes.insert(model_.work[i].begin(), model_.work[i].end());
      session.link.id = 1;
      first.sessions.push_back(std::move(session));
      first.book.greet(name(i), 1, name(i), true);
    }
    settle(first);
    add(std::move(first));
    while (!open_.empty()) {
      const auto [id, state] = std::move(open_.front());
      open_.pop();
      follow(id, state);
    }
  }

  // Each says what it has and did not send; then the lane has its turn.
  void settle(CallState& state) {
    for (std::size_t i = 0; i < state.sessions.size(); ++i) {
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
    const auto spines = state.book.counters().spine_calls;
    const auto actions = state.book.turn(1, state.applier, plan_);
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

  void judge(const CallState& state) {
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

  // ---- what makes two states the same

  static void put(std::string& key, const ModelLink& link) {
    key += static_cast<char>(link.calls.size());
    for (const auto& call : link.calls) {
      key += {static_cast<char>(call.work.chunk), static_cast<char>(call.work.node.begin),
              static_cast<char>(call.work.node.end), static_cast<char>(call.is_spine * 2 + call.is_sent)};
    }
    key += {static_cast<char>(link.ahead), static_cast<char>(link.return_asked != 0)};
  }
  // What a session that never pays owes makes no difference.
  [[nodiscard]] std::string key_of(const CallState& state) const {
    std::string key(1, static_cast<char>(state.cuts));
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
      key += {static_cast<char>(session.was_served), static_cast<char>(is_out)};
      if (model_.payers[i] == Payer::pays || model_.payers[i] == Payer::keeps) {
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

  std::size_t add(CallState state) {
    const auto [known, is_new] = ids_.try_emplace(key_of(state), ids_.size());
    if (is_new) {
      bool has_ended = true;
      for (const auto& chunk : config_.chunks) {
        has_ended = has_ended && !wants(state, {0, chunk.id, {0, model_.slots}});
      }
      ended_.push_back(has_ended);
      after_.emplace_back();
      if (!has_ended) {
        open_.emplace(known->second, std::move(state));
      }
    }
    return known->second;
  }
  // A fault is nothing that anybody can count on.
  void go(std::size_t from, CallState state, bool is_fault = false) {
    settle(state);
    const auto to = add(std::move(state));
    if (!is_fault) {
      after_[from].push_back(to);
    }
  }

  // ---- what may happen

  void follow(std::size_t id, const CallState& state) {
    for (std::size_t i = 0; i < state.sessions.size(); ++i) {
      if (!state.sessions[i].was_served) {
        auto next = state;
        next.sessions[i].was_served = true;
        next.book.served(name(i));
        go(id, std::move(next));
      }
      answers(id, state, i, false);
      if (state.sessions[i].old) {
        answers(id, state, i, true);
        auto next = state;
        next.book.ended(name(i), next.sessions[i].old->id);
        next.sessions[i].old.reset();
        go(id, std::move(next));
      } else if (model_.payers[i] == Payer::pays && state.cuts < model_.cuts) {
        auto next = state;
        ++next.cuts;
        replace(next, i);
        go(id, std::move(next), true);
      }
    }
    for (const auto node : model_.computed_later) {
      auto next = state;
      if (next.sessions.back().nodes.insert(node).second) {
        go(id, std::move(next));
      }
    }
    take_back(id, state);
    give_late(id, state);
  }

  static ModelLink& link_of(CallState& state, std::size_t i, bool is_old) {
    return is_old ? *state.sessions[i].old : state.sessions[i].link;
  }

  void answers(std::size_t id, const CallState& state, std::size_t i, bool is_old) {
    const auto& link = is_old ? *state.sessions[i].old : state.sessions[i].link;
    const auto payer = model_.payers[i];
    if (payer == Payer::says_none && !link.calls.empty()) {
      auto next = state;
      none(next, i, is_old);
      go(id, std::move(next));
    }
    if (payer != Payer::pays && payer != Payer::says_none) {
      if (payer == Payer::keeps && !link.calls.empty()) {
        auto next = state;
        pay(next, i, is_old);
        go(id, std::move(next));
      }
      return;
    }
    if (payer == Payer::pays && !link.calls.empty()) {
      auto next = state;
      if (link.calls.front().is_sent) {
        none(next, i, is_old);
      } else {
        pay(next, i, is_old);
      }
      go(id, std::move(next));
    }
    if (payer == Payer::pays) {
      spend(id, state, i, is_old);
    }
    if (link.return_asked != 0 && !is_old) {
      auto next = state;
      auto& own = link_of(next, i, is_old);
      REQUIRE(next.book.returns(name(i), own.id, own.return_asked, own.ahead));
      own.ahead = 0;
      own.return_asked = 0;
      go(id, std::move(next));
    }
  }

  // Within bytes given ahead: the lowest that waits, or what is called meanwhile.
  void spend(std::size_t id, const CallState& state, std::size_t i, bool is_old) {
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
        go(id, std::move(next));
      }
    }
  }

  void pay(CallState& state, std::size_t i, bool is_old) {
    auto& link = link_of(state, i, is_old);
    const auto call = link.calls.front();
    link.calls.pop_front();
    arrive(state, i, link.id, call.work, call.number);
    if (call.number != 0 && state.owes[i] > 0 && --state.owes[i] == 0) {
      std::erase(state.failed, i);
    }
  }
  void arrive(CallState& state, std::size_t i, ConnectionId connection, const Work& work, std::uint64_t number) {
    Push push{1, 0, work.chunk, work.node, false, kNoSlot, {}};
    push.call = number;
    const auto paid = state.book.pays(name(i), connection, push, bytes_of(work));
    REQUIRE((paid == CallBook::Payment::paid || model_.wrong != Wrong::nothing));
    const auto offered = state.applier.offer(name(i), push, ++state.payload, plan_);
    if (offered.measure) {
      for (const auto& update :
           state.applier.measured({{work.chunk, 0, {}, true, 0, kNoSlot}, offered.measure->root}, plan_).applied) {
        state.book.applied(1, {update.apply.step, update.apply.chunk, update.node});
      }
    }
  }
  void none(CallState& state, std::size_t i, bool is_old) {
    auto& link = link_of(state, i, is_old);
    const auto call = link.calls.front();
    link.calls.pop_front();
    if (wants(state, call.work)) {
      fails(state, i);
    }
    state.book.has_none(name(i), link.id, call.number, state.applier, plan_, 1);
  }
  void fails(CallState& state, std::size_t i) {
    std::erase(state.failed, i);
    state.failed.push_back(i);
    state.owes[i] = 1U << state.failures[i]++;
  }

  // Another connection takes the place of this one.
  void replace(CallState& state, std::size_t i) {
    auto& session = state.sessions[i];
    session.old = session.link;
    session.link = {session.old->id + 1, {}, 0, 0};
    if (model_.wrong == Wrong::freed_at_once) {
      state.book.ended(name(i), session.old->id);
    }
    state.book.greet(name(i), session.link.id, name(i), false);
  }

  // Whatever is not answered is overdue.
  void take_back(std::size_t id, const CallState& state) {
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
      takes_from_one_that_pays = takes_from_one_that_pays || model_.payers[i] == Payer::pays;
      fails(next, i);
      replace(next, i);
    }
    next.cuts += takes_from_one_that_pays ? 1 : 0;
    if (!dropped.empty() && next.cuts <= model_.cuts) {
      go(id, std::move(next), takes_from_one_that_pays);
    }
  }

  // The lead gives a slot that nobody in good standing brings to whoever pays.
  void give_late(std::size_t id, const CallState& state) {
    const auto wanted = state.applier.oldest_wanted();
    if (!wanted || !state.book.bringers(*wanted, model_.slots, 8).empty()) {
      return;
    }
    for (std::size_t i = 0; i < state.sessions.size(); ++i) {
      const Node node{wanted->slot, wanted->slot + 1};
      const bool has_it = std::ranges::any_of(state.sessions[i].nodes, [&](Node each) { return each.contains(node); });
      if (model_.payers[i] == Payer::pays && !has_it) {
        auto next = state;
        next.sessions[i].nodes.insert(node);
        go(id, std::move(next));
      }
    }
  }

  CallModel model_;
  LaneConfig config_;
  FactorPlan plan_;
  CallBook::Limits limits_;
  std::map<std::string, std::size_t> ids_;
  std::vector<std::vector<std::size_t>> after_;
  std::vector<bool> ended_;
  std::queue<std::pair<std::size_t, CallState>> open_;
  std::uint64_t most_ = 0;
  bool counts_right_ = true;
};

std::vector<Node> leaves_of(Slot begin, Slot end, Slot by = 1) {
  std::vector<Node> leaves;
  for (Slot slot = begin; slot < end; slot += by) {
    leaves.push_back({slot, slot + 1});
  }
  return leaves;
}

std::size_t check_all(const CallModel& model) {
  const CallExplorer explored(model);
  CAPTURE(model.slots);
  CAPTURE(model.more);
  CAPTURE(static_cast<int>(model.payers.back()));
  CHECK(explored.keeps_bound());
  CHECK(explored.counts_right());
  CHECK(explored.can_end());
  return explored.states();
}

}  // namespace

TEST_CASE("in every order of events a lane stays within its memory, and its step can end") {
  std::size_t states = 0;
  for (const auto other : {Payer::pays, Payer::holds, Payer::keeps, Payer::says_none}) {
    for (const std::uint64_t more : {0U, 10U, 20U}) {
      const int cuts = more < 20 ? 1 : 0;
      states += check_all({2, {10, 10}, {Payer::pays, other}, {leaves_of(0, 1), leaves_of(1, 2)}, more, cuts});
      states += check_all({2, {10, 4}, {other, Payer::pays}, {leaves_of(0, 1), leaves_of(1, 2)}, more, cuts});
      states += check_all({2, {4, 10}, {Payer::pays, other}, {{{0, 2}}, leaves_of(0, 2)}, more, 0});
      states += check_all({3, {10}, {Payer::pays, other}, {leaves_of(0, 3, 2), leaves_of(1, 2)}, more, cuts});
      states += check_all({4, {10}, {Payer::pays, other}, {leaves_of(0, 4, 2), leaves_of(1, 4, 2)}, more, 0});
    }
  }
  MESSAGE("states: " << states);
  CHECK(states > 2'000);
}

TEST_CASE("a paying session ends the step beside two that never pay") {
  for (const auto other : {Payer::holds, Payer::says_none}) {
    check_all({2, {10}, {other, Payer::pays, Payer::holds}, {leaves_of(0, 1), {}, leaves_of(1, 2)}, 0, 1});
  }
}

TEST_CASE("a reserve smaller by one payload is exceeded") {
  CHECK_FALSE(CallExplorer({.slots = 4,
                            .payers = {Payer::pays, Payer::pays},
                            .work = {leaves_of(0, 4, 2), leaves_of(1, 4, 2)},
                            .wrong = Wrong::reserve_too_small})
                  .keeps_bound());
}

TEST_CASE("room that is free as soon as a connection is cut is used twice") {
  CHECK_FALSE(CallExplorer({.slots = 2,
                            .chunks = {10, 10},
                            .payers = {Payer::pays, Payer::pays},
                            .work = {leaves_of(0, 2), leaves_of(0, 2)},
                            .more = 10,
                            .cuts = 1,
                            .wrong = Wrong::freed_at_once})
                  .keeps_bound());
}

TEST_CASE("bytes given ahead that are not in use are used twice") {
  CallModel model{.slots = 2,
                  .chunks = {10, 10},
                  .payers = {Payer::holds, Payer::pays},
                  .work = {{}, {}},
                  .more = 40,
                  .computed_later = leaves_of(0, 2)};
  check_all(model);
  model.more = 20;
  model.chunks = {10, 10, 10, 10};
  CHECK(CallExplorer(model).keeps_bound());
  model.wrong = Wrong::ahead_not_counted;
  CHECK_FALSE(CallExplorer(model).keeps_bound());
}

// A lane's real book of calls beside real rounds, with the network and the sessions around it as plain data: what may
// happen next in each state. Sessions that pay, that hold every call, that answer each with "none", that keep the bytes
// that they were given ahead, that pay until they fall silent, that come late; connections that are cut or taken back
// while payloads are on their way over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/lane/call_book.h"
#include "protocol/lane/factor_plan.h"
#include "protocol/lane/lane_applier.h"
#include "protocol/lane/lane_config.h"

namespace ballast::call_model {

enum class Payer { pays, holds, keeps, says_none, dies };
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
  bool whole = false;       // the decision needs the whole gradient: there are no factors until all chunks are covered
  bool last_joins = false;  // the last session is not there at first, and nobody counts on it
  bool serves = true;       // sessions are sent weights, and may be given bytes ahead
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
  bool is_dead = false;  // what it has offered stands
  bool is_there = true;
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
  bool is_decided = false;  // the factors are known
};

class CallWorld {
 public:
  explicit CallWorld(CallModel model);

  // Of what may happen in a state.
  struct Next {
    CallState state;
    bool is_fault = false;  // nothing that anybody can count on
  };
  [[nodiscard]] CallState first();
  [[nodiscard]] std::vector<Next> after(const CallState& state);
  [[nodiscard]] bool has_ended(const CallState& state) const;
  // The same of two states between which nobody can tell. What a session that never pays owes makes no difference.
  [[nodiscard]] std::string key_of(const CallState& state) const;

  // Of all states that were seen.
  [[nodiscard]] bool keeps_bound() const { return most_ <= limits_.memory; }
  // The book and the network do not differ in what is in use.
  [[nodiscard]] bool counts_right() const { return counts_right_; }

 private:
  using Nexts = std::vector<Next>;

  static SessionId name(std::size_t i) { return static_cast<SessionId>(i + 1); }
  [[nodiscard]] std::uint64_t bytes_of(const Work& work) const { return model_.chunks[work.chunk]; }
  [[nodiscard]] bool wants(const CallState& state, const Work& work) const {
    return state.applier.want(work, plan_) == Want::wanted;
  }
  // What it is called for it sends, sooner or later, unless it dies.
  [[nodiscard]] bool pays(const CallState& state, std::size_t i) const {
    const auto payer = model_.payers[i];
    const auto& session = state.sessions[i];
    return session.is_there && !session.is_dead && (payer == Payer::pays || payer == Payer::dies);
  }
  [[nodiscard]] const FactorPlan& plan_of(const CallState& state) const {
    return state.is_decided ? plan_ : undecided_;
  }
  static ModelLink& link_of(CallState& state, std::size_t i, bool is_old) {
    return is_old ? *state.sessions[i].old : state.sessions[i].link;
  }

  [[nodiscard]] bool is_covered(const CallState& state) const;
  void settle(CallState& state);
  void offer(CallState& state, std::size_t i);
  void judge(const CallState& state);
  void go(CallState state, Nexts& nexts, bool is_fault = false);
  void lives(const CallState& state, std::size_t i, Nexts& nexts);
  void links(const CallState& state, std::size_t i, Nexts& nexts);
  void answers(const CallState& state, std::size_t i, bool is_old, Nexts& nexts);
  void spend(const CallState& state, std::size_t i, bool is_old, Nexts& nexts);
  void pay(CallState& state, std::size_t i, bool is_old);
  void arrive(CallState& state, std::size_t i, ConnectionId connection, const Work& work, std::uint64_t number);
  static void apply(CallState& state, const ApplierOutcome& outcome);
  void none(CallState& state, std::size_t i, bool is_old);
  static void fails(CallState& state, std::size_t i);
  void replace(CallState& state, std::size_t i);
  void take_back(const CallState& state, Nexts& nexts);
  void give_late(const CallState& state, Nexts& nexts);
  void decide(const CallState& state, Nexts& nexts);

  CallModel model_;
  LaneConfig config_;
  FactorPlan plan_;
  FactorPlan undecided_;
  CallBook::Limits limits_;
  std::uint64_t most_ = 0;
  bool counts_right_ = true;
};

}  // namespace ballast::call_model

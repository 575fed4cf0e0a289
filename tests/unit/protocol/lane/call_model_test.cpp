// The real book of calls in every order of events, for a few slots and sessions.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "protocol/tree.h"
#include "tests/unit/protocol/lane/call_world.h"

using namespace ballast;
using namespace ballast::call_model;

namespace {

// All states that the model can come to.
class CallExplorer {
 public:
  explicit CallExplorer(const CallModel& model) : world_(model) {
    add(world_.first());
    while (!open_.empty()) {
      const auto [id, state] = std::move(open_.front());
      open_.pop();
      for (auto& next : world_.after(state)) {
        const auto to = add(std::move(next.state));
        if (!next.is_fault) {
          after_[id].push_back(to);
        }
      }
    }
  }

  [[nodiscard]] std::size_t states() const { return ids_.size(); }
  [[nodiscard]] bool keeps_bound() const { return world_.keeps_bound(); }
  [[nodiscard]] bool counts_right() const { return world_.counts_right(); }
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
  std::size_t add(CallState state) {
    const auto [known, is_new] = ids_.try_emplace(world_.key_of(state), ids_.size());
    if (is_new) {
      ended_.push_back(world_.has_ended(state));
      after_.emplace_back();
      if (!ended_.back()) {
        open_.emplace(known->second, std::move(state));
      }
    }
    return known->second;
  }

  CallWorld world_;
  std::map<std::string, std::size_t> ids_;
  std::vector<std::vector<std::size_t>> after_;
  std::vector<bool> ended_;
  std::queue<std::pair<std::size_t, CallState>> open_;
};

std::vector<Node> leaves_of(Slot begin, Slot end, Slot by = 1) {
  std::vector<Node> leaves;
  for (Slot slot = begin; slot < end; slot += by) {
    leaves.push_back({slot, slot + 1});
  }
  return leaves;
}

// Who has what, to be read in a failure.
std::string shares_of(const CallModel& model) {
  static const std::map<Payer, std::string> names = {{Payer::pays, "pays"},
                                                     {Payer::holds, "holds"},
                                                     {Payer::keeps, "keeps"},
                                                     {Payer::says_none, "says none"},
                                                     {Payer::dies, "dies"}};
  std::string text;
  for (std::size_t i = 0; i < model.payers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + names.at(model.payers[i]);
    for (const auto node : model.work[i]) {
      text += " " + std::to_string(node.begin) + "-" + std::to_string(node.end);
    }
  }
  return text;
}

std::size_t check_all(const CallModel& model) {
  const CallExplorer explored(model);
  const auto shares = shares_of(model);
  CAPTURE(model.slots);
  CAPTURE(model.more);
  CAPTURE(shares);
  CHECK(explored.keeps_bound());
  CHECK(explored.counts_right());
  CHECK(explored.can_end());
  return explored.states();
}

// All ways to divide the range among so many sessions, each of which has a range of its own, perhaps an empty one.
std::vector<std::vector<SlotRange>> divisions_of(SlotRange range, std::size_t sessions) {
  if (sessions == 1) {
    return {{range}};
  }
  std::vector<std::vector<SlotRange>> all;
  for (Slot end = range.begin; end <= range.end; ++end) {
    for (auto& division : divisions_of({end, range.end}, sessions - 1)) {
      division.insert(division.begin(), {range.begin, end});
      all.push_back(std::move(division));
    }
  }
  return all;
}

// What they bring of it: each slot for itself, or the widest sums.
std::vector<std::vector<Node>> brought_by(const std::vector<SlotRange>& division, Slot slots, bool are_sums) {
  std::vector<std::vector<Node>> work;
  for (const auto range : division) {
    work.push_back(are_sums ? tree::cover(range, slots) : leaves_of(range.begin, range.end));
  }
  return work;
}

struct Divided {
  Slot slots = 4;
  int cuts = 0;
  bool to_all = false;      // each of them has some
  bool last_joins = false;  // and has nothing
  bool has_backup = false;  // of each but the last the next one has the first slot as well
};

// Every division among these sessions, at the smallest memory. No bytes are given ahead there, so nobody is served.
std::size_t check_divisions(const std::vector<Payer>& payers, const Divided& divided) {
  std::size_t states = 0;
  for (const bool are_sums : {false, true}) {
    for (const auto& division : divisions_of({0, divided.slots}, payers.size() - (divided.last_joins ? 1 : 0))) {
      if (divided.to_all && std::ranges::any_of(division, &SlotRange::empty)) {
        continue;
      }
      auto work = brought_by(division, divided.slots, are_sums);
      for (std::size_t i = 1; divided.has_backup && i < division.size(); ++i) {
        if (!division[i - 1].empty()) {
          work[i].insert(work[i].begin(), {division[i - 1].begin, division[i - 1].begin + 1});
        }
      }
      work.resize(payers.size());
      states += check_all({.slots = divided.slots,
                           .payers = payers,
                           .work = std::move(work),
                           .cuts = divided.cuts,
                           .last_joins = divided.last_joins,
                           .serves = false});
    }
  }
  return states;
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

TEST_CASE("where the decision needs the whole gradient, a step can end whose factors come when all is covered") {
  for (const auto other : {Payer::pays, Payer::holds, Payer::keeps, Payer::says_none, Payer::dies}) {
    for (const std::uint64_t more : {0U, 10U}) {
      CallModel model{.slots = 2,
                      .chunks = {10, 10},
                      .payers = {Payer::pays, other},
                      .work = {leaves_of(0, 1), leaves_of(1, 2)},
                      .more = more,
                      .cuts = more == 0 || other == Payer::holds ? 1 : 0,
                      .whole = true};
      check_all(model);
      model.chunks = {4, 10};
      model.payers = {other, Payer::pays};
      check_all(model);
      model.slots = 3;
      model.chunks = {10, 4};
      model.work = {leaves_of(0, 3, 2), leaves_of(1, 2)};
      model.cuts = 0;
      check_all(model);
    }
  }
}

TEST_CASE("however slots are divided, a step can end at the smallest memory, beside whoever does not pay") {
  const std::vector<Payer> others = {Payer::pays, Payer::holds, Payer::dies, Payer::says_none};
  std::size_t states = 0;
  for (const auto other : others) {
    for (const auto& payers : {std::vector{Payer::pays, other}, {other, Payer::pays}}) {
      states += check_divisions(payers, {.slots = 4, .cuts = 1});
      states += check_divisions(payers, {.slots = 4, .cuts = 1, .has_backup = true});
      states += check_divisions(payers, {.slots = 8, .cuts = 1});
      states += check_divisions(payers, {.slots = 8, .has_backup = true});
      auto with_one_more = payers;
      with_one_more.push_back(Payer::pays);
      states += check_divisions(with_one_more, {.slots = 4, .to_all = true, .last_joins = true});
      states += check_divisions(with_one_more, {.slots = 8, .to_all = true, .last_joins = true});
      for (const auto third : others) {
        with_one_more.back() = third;
        states += check_divisions(with_one_more, {.slots = 4, .to_all = true});
      }
    }
  }
  states += check_divisions({Payer::says_none, Payer::pays, Payer::holds}, {.slots = 8, .to_all = true});
  states += check_divisions({Payer::holds, Payer::dies, Payer::says_none, Payer::pays}, {.slots = 4, .to_all = true});
  MESSAGE("states: " << states);
  CHECK(states > 100'000);
}

TEST_CASE("a reserve smaller by one payload is exceeded") {
  CHECK_FALSE(CallExplorer({.slots = 4,
                            .payers = {Payer::pays, Payer::pays},
                            .work = {leaves_of(0, 4, 2), leaves_of(1, 4, 2)},
                            .wrong = Wrong::reserve_too_small})
                  .keeps_bound());
  CHECK_FALSE(CallExplorer({.slots = 2,
                            .chunks = {10, 10},
                            .payers = {Payer::pays, Payer::pays},
                            .work = {leaves_of(0, 1), leaves_of(1, 2)},
                            .wrong = Wrong::reserve_too_small,
                            .whole = true})
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

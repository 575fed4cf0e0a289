// The rule for lanes that are too far apart, in every order of events: two lanes, honest work, one session that
// brings lanes ahead, reports that are late, lost or overtaken, and plans that are late.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "protocol/lead/torn_versions.h"

using namespace ballast;

namespace {

constexpr Step kSteps = 100;

struct TornReport {
  Version version = 0;
  std::uint64_t plan = 0;  // that the lane follows
  auto operator<=>(const TornReport&) const = default;
};

struct TornLane {
  Version version = 0;
  std::uint64_t plan = 0;
  std::vector<TornReport> on_the_way;  // newer than what the lead has; each may be lost or overtaken
  TornReport known;                    // to the lead
  auto operator<=>(const TornLane&) const = default;
};

struct TornState {
  std::vector<TornLane> lanes;
  std::uint64_t number = 1;  // of plans
  bool was_torn = false;     // really, at some instant
  // As the rule has it.
  bool suspects = false;
  std::size_t behind = 0;
  Version open = 0;
  Version reached = 0;
  std::uint64_t asked = 0;
  bool found = false;
  auto operator<=>(const TornState&) const = default;
};

// What a lead might go by.
enum class TornRule { as_reported, any_answer, by_the_plan };

// One look of the lead at what it knows; `asks`: and the lane has been behind for long enough.
void look(TornState& state, TornRule rule, bool asks) {
  const auto by_version = [](const TornLane& left, const TornLane& right) {
    return left.known.version < right.known.version;
  };
  const auto [least, most] = std::ranges::minmax_element(state.lanes, by_version);
  const auto open = least->known.version;
  const auto reached = std::ranges::max_element(state.lanes, by_version)->known.version;
  const auto behind = static_cast<std::size_t>(least - state.lanes.begin());
  if (rule == TornRule::as_reported) {
    state.found = state.found || reached > open + 1;
    return;
  }
  if (reached <= open + 1) {
    state.suspects = false;
    state.asked = 0;
    return;
  }
  if (!state.suspects || state.behind != behind || state.open != open) {
    std::tie(state.suspects, state.behind, state.open, state.reached, state.asked) =
        std::tuple(true, behind, open, reached, std::uint64_t{0});
  } else if (state.asked == 0) {
    state.reached = reached;
    if (asks) {
      state.asked = ++state.number;
    }
  } else {
    state.found = state.found || rule == TornRule::any_answer || state.lanes[behind].known.plan >= state.asked;
  }
}

// The same by the real thing, which the lead has.
void look_really(TornState& state, bool asks) {
  ShardRoster::Lanes lanes;
  TornVersions torn(0);
  const auto put = [&](std::size_t i, Version version, std::uint64_t plan) {
    auto& lane = lanes.try_emplace({static_cast<std::uint32_t>(i), 0}, LearntDeadline::Bounds{1, 1, 1}).first->second;
    lane.report.open_step = version;
    lane.report.rounds.reached = version;
    lane.report.plan = {1, plan};
  };
  // It is brought to where it stood by the looks before.
  if (state.suspects) {
    for (std::size_t i = 0; i < state.lanes.size(); ++i) {
      put(i, i == state.behind ? state.open : state.reached, 0);
    }
    torn.observe(lanes, kSteps, 0);
    torn.observe(lanes, kSteps, 0);
    if (state.asked > 0) {
      torn.asked({1, state.asked});
    }
  }
  for (std::size_t i = 0; i < state.lanes.size(); ++i) {
    put(i, state.lanes[i].known.version, state.lanes[i].known.plan);
  }
  auto by_hand = state;
  look(by_hand, TornRule::by_the_plan, asks);
  torn.observe(lanes, kSteps, 0);
  const bool is_asked = asks && !torn.found() && torn.to_be_asked(0).has_value();
  // A new suspect is asked with the next look at the earliest, by whoever counts the time.
  const bool would_ask = by_hand.asked > state.asked || (by_hand.suspects && by_hand.asked == 0);
  REQUIRE(torn.found().has_value() == by_hand.found);
  REQUIRE((!is_asked || would_ask));
  if (by_hand.asked > state.asked) {
    REQUIRE(torn.to_be_asked(0) == LaneId{static_cast<std::uint32_t>(by_hand.behind), 0});
  }
  state = by_hand;
}

struct TornModel {
  std::size_t lanes = 2;
  Version most = 3;
  bool tears = true;
  TornRule rule = TornRule::by_the_plan;
};

class TornExplorer {
 public:
  explicit TornExplorer(const TornModel& model) : model_(model) { explore(); }

  [[nodiscard]] std::size_t states() const { return ids_.size(); }
  // Somewhere lanes are called torn that never were.
  [[nodiscard]] bool has_false_alarm() const {
    return std::ranges::any_of(ids_, [](const auto& each) { return each.first.found && !each.first.was_torn; });
  }
  // From every state in which honest work can go on nowhere, without more of the tearing session, the tear is found.
  [[nodiscard]] bool finds_every_tear() const {
    std::vector<std::vector<std::size_t>> before(ids_.size());
    std::vector<bool> finds(ids_.size(), false);
    std::queue<std::size_t> next;
    std::vector<bool> stuck(ids_.size(), false);
    for (const auto& [state, id] : ids_) {
      for (const auto after : honest_.at(id)) {
        before[after].push_back(id);
      }
      stuck[id] = is_stuck(state);
      if (state.found) {
        finds[id] = true;
        next.push(id);
      }
    }
    for (; !next.empty(); next.pop()) {
      for (const auto id : before[next.front()]) {
        if (!finds[id]) {
          finds[id] = true;
          next.push(id);
        }
      }
    }
    for (std::size_t id = 0; id < ids_.size(); ++id) {
      if (stuck[id] && !finds[id]) {
        return false;
      }
    }
    return true;
  }

 private:
  // Weights of a version are at a lane that is at it or one beyond.
  [[nodiscard]] static bool may_advance(const TornState& state, std::size_t lane) {
    const auto version = state.lanes[lane].version;
    return std::ranges::all_of(
        state.lanes, [&](const TornLane& other) { return other.version == version || other.version == version + 1; });
  }
  [[nodiscard]] bool is_stuck(const TornState& state) const {
    for (std::size_t i = 0; i < state.lanes.size(); ++i) {
      if (may_advance(state, i)) {
        return false;
      }
    }
    const auto [least, most] = std::ranges::minmax_element(
        state.lanes, [](const TornLane& left, const TornLane& right) { return left.version < right.version; });
    return most->version > least->version + 1;
  }

  void explore() {
    TornState first;
    first.lanes.resize(model_.lanes);
    for (auto& lane : first.lanes) {
      lane.plan = 1;
      lane.known.plan = 1;
    }
    add(first);
    for (; !open_.empty(); open_.pop()) {
      const auto state = open_.front();
      const auto id = ids_.at(state);
      if (!state.found) {
        follow(state, id);
      }
    }
  }

  std::size_t add(TornState state) {
    const auto [known, is_new] = ids_.try_emplace(std::move(state), ids_.size());
    if (is_new) {
      honest_.emplace_back();
      open_.push(known->first);
    }
    return known->second;
  }

  void go(std::size_t from, TornState to) {
    const auto id = add(std::move(to));
    honest_[from].push_back(id);
  }

  void follow(const TornState& state, std::size_t id) {
    for (std::size_t i = 0; i < state.lanes.size(); ++i) {
      const auto& lane = state.lanes[i];
      if (lane.version < model_.most && may_advance(state, i)) {
        auto next = state;
        ++next.lanes[i].version;
        go(id, std::move(next));
      }
      if (model_.tears && lane.version < model_.most) {
        auto next = state;
        ++next.lanes[i].version;
        next.was_torn = next.was_torn || std::ranges::any_of(next.lanes, [&](const TornLane& other) {
                          return next.lanes[i].version > other.version + 1;
                        });
        add(std::move(next));  // which nobody can count on
      }
      const TornReport now{lane.version, lane.plan};
      if (now > lane.known && (lane.on_the_way.empty() || now > lane.on_the_way.back())) {
        auto next = state;
        next.lanes[i].on_the_way.push_back(now);
        go(id, std::move(next));
      }
      for (std::size_t at = 0; at < lane.on_the_way.size(); ++at) {  // those before it are lost, or too old then
        auto next = state;
        auto& reports = next.lanes[i].on_the_way;
        next.lanes[i].known = reports[at];
        reports.erase(reports.begin(), reports.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        go(id, std::move(next));
      }
      if (lane.plan < state.number) {
        auto next = state;
        next.lanes[i].plan = state.number;
        go(id, std::move(next));
      }
    }
    for (const bool asks : {false, true}) {
      auto next = state;
      if (model_.rule == TornRule::by_the_plan) {
        look_really(next, asks);
      } else {
        look(next, model_.rule, asks);
      }
      if (next.number <= kMostAsked) {
        go(id, std::move(next));
      }
    }
  }

  static constexpr std::uint64_t kMostAsked = 4;

  TornModel model_;
  std::map<TornState, std::size_t> ids_;
  std::vector<std::vector<std::size_t>> honest_;  // where each state leads, without the tearing session
  std::queue<TornState> open_;
};

}  // namespace

TEST_CASE("honest lanes are never called torn, in whatever order their reports come") {
  const TornExplorer honest({.lanes = 2, .most = 3, .tears = false});
  CHECK(honest.states() > 500);
  CHECK_FALSE(honest.has_false_alarm());
}

TEST_CASE("every tear is found, and nothing else is called one") {
  const TornExplorer torn({.lanes = 2, .most = 3});
  CHECK(torn.states() > 2'000);
  CHECK_FALSE(torn.has_false_alarm());
  CHECK(torn.finds_every_tear());
}

TEST_CASE("without the plan's number honest lanes would be called torn") {
  CHECK(TornExplorer({.lanes = 2, .most = 3, .tears = false, .rule = TornRule::as_reported}).has_false_alarm());
  CHECK(TornExplorer({.lanes = 2, .most = 3, .tears = false, .rule = TornRule::any_answer}).has_false_alarm());
}

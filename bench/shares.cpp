// What it costs the lead to share out a step's slots, by how many sessions compute.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/process_use.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/slot_set.h"

namespace ballast::bench {

namespace {

constexpr Micros kSlotTime = 250'000;        // a slot, of a session of middling speed
constexpr Micros kLookEvery = 1'000;         // virtual time between two looks at the sessions
constexpr Micros kBeginsAfter = 3'000;       // until a session begins what it is given
constexpr Micros kBeatEvery = 100'000;       // heartbeats of a session that say nothing new
constexpr std::uint64_t kReportEvery = 780;  // microseconds between two reports: 64 lanes, 20 a second of each

// What a kind of call has taken, a batch of them between two looks at the clock.
struct Spent {
  std::uint64_t calls = 0;
  double seconds = 0;
  double longest = 0;

  [[nodiscard]] double microseconds() const { return calls == 0 ? 0 : seconds * 1e6 / static_cast<double>(calls); }
  void add(std::uint64_t count, double took) {
    calls += count;
    seconds += took;
    longest = std::max(longest, took);
  }
};

double cost_of_a_clock() {
  constexpr int kLooks = 10'000;
  const auto begin = own_cpu_seconds();
  for (int i = 1; i < kLooks; ++i) {
    own_cpu_seconds();
  }
  return (own_cpu_seconds() - begin) / kLooks;
}

// A session that computes its share slot by slot, each of which takes as long as it is slow, a tenth more or less.
struct Computing {
  SessionId id = 0;
  Micros slot = kSlotTime;
  SlotSet done;
  Slot in_hand = kNoSlot;
  Micros begun = 0;  // the step
  Micros hand_since = 0;
  Micros next_at = 0;  // it ends its slot, or begins another
  Micros beats_at = 0;
};

// SharedRounds of virtual time. The processor time of SlotShares is told apart from that of making the sessions.
class SharedRounds {
 public:
  SharedRounds(std::size_t workers, Slot slots, double decades) : slots_(slots), shares_(rules_of(slots)) {
    for (std::size_t i = 0; i < workers; ++i) {
      const auto spread = std::pow(10, decades * (uniform() - 0.5));
      sessions_.push_back({.id = random_(), .slot = static_cast<Micros>(kSlotTime * spread), .done = SlotSet(slots)});
      sessions_.back().beats_at = static_cast<Micros>(uniform() * kBeatEvery);
      ids_.push_back(sessions_.back().id);
      places_[ids_.back()] = i;
    }
    spend(division_, 1, [&] { shares_.divide(ids_, 0); });
    open(0);
  }

  void run_steps(Step count) {
    while (step_ < count) {
      now_ += kLookEvery;
      look_at_sessions();
      while (reported_at_ + kReportEvery <= now_) {
        reported_at_ += kReportEvery;
        report();
      }
    }
    // Who comes or goes has all divided anew.
    for (int i = 0; i < 20; ++i) {
      spend(division_, 1, [&] { shares_.divide(ids_, step_ + 1); });
    }
  }

  Spent beats_;     // that say nothing new
  Spent moves_;     // that tell of a slot begun or ended
  Spent busy_;      // turns with a report, or a session that has nothing left: all have something to do
  Spent idle_;      // likewise, and some have nothing left
  Spent openings_;  // of a step, with the turn
  Spent division_;
  [[nodiscard]] double percent() const {
    const auto all = beats_.seconds + moves_.seconds + busy_.seconds + idle_.seconds + openings_.seconds;
    return all * 1e8 / static_cast<double>(now_ - kStart);
  }
  [[nodiscard]] double step_seconds() const {
    return static_cast<double>(now_ - kStart) / 1e6 / static_cast<double>(step_);
  }
  [[nodiscard]] const SlotShares& shares() const { return shares_; }

 private:
  static constexpr Micros kStart = 1'000'000;

  static SlotShares::Rules rules_of(Slot slots) {
    SlotShares::Rules rules;
    rules.step = {.slots = slots, .bytes = 8'000'000, .chunks = 8};
    return rules;
  }
  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

  template <typename Call>
  void spend(Spent& spent, std::uint64_t calls, const Call& call) {
    const auto begin = own_cpu_seconds();
    call();
    spent.add(calls, std::max(0.0, own_cpu_seconds() - begin - clock_));
  }

  void open(Step step) {
    step_ = step;
    missing_ = SlotSet::full(slots_);
    for (auto& session : sessions_) {
      session.done = SlotSet(slots_);
      session.in_hand = kNoSlot;
      session.begun = 0;
      session.next_at = now_ + kBeginsAfter + static_cast<Micros>(uniform() * kBeginsAfter);
    }
    spend(openings_, 1, [&] {
      shares_.observe(step, missing_, now_);
      shares_.hand_out(ids_, {}, step + 2, now_);
    });
    shares_.take_changed();
  }

  [[nodiscard]] SlotProgress progress_of(const Computing& session) const {
    SlotProgress progress;
    progress.step = step_;
    progress.computed = session.done.runs();
    progress.in_hand = session.in_hand;
    progress.in_hand_for = session.in_hand == kNoSlot ? 0 : now_ - session.hand_since;
    progress.begun = session.begun == 0 ? 0 : now_ - session.begun + 1;
    progress.slot_time = session.slot;
    progress.up = 125'000'000;
    progress.down = 125'000'000;
    return progress;
  }

  [[nodiscard]] Slot next_of(const Computing& session) const {
    std::vector<SlotRange> ranges;
    if (const auto own = shares_.now(session.id)) {
      ranges = own->ranges;
    } else {
      ranges = {shares_.standing(session.id, step_ + 2).slots};
    }
    for (const auto range : ranges) {
      for (auto slot = range.begin; slot < range.end; ++slot) {
        if (!session.done.contains(slot)) {
          return slot;
        }
      }
    }
    return kNoSlot;
  }

  // Whether the session has ended a slot or begun one.
  bool move(Computing& session) {
    const bool had_one = session.in_hand != kNoSlot;
    if (had_one) {
      session.done.insert({session.in_hand, session.in_hand + 1});
      missing_.erase({session.in_hand, session.in_hand + 1});
    }
    session.in_hand = next_of(session);
    session.begun = session.begun == 0 && session.in_hand != kNoSlot ? now_ : session.begun;
    session.hand_since = now_;
    const auto takes = static_cast<Micros>(static_cast<double>(session.slot) * (0.9 + 0.2 * uniform()));
    session.next_at = now_ + (session.in_hand == kNoSlot ? Micros{1'000'000'000} : takes);
    return had_one || session.in_hand != kNoSlot;
  }

  struct Beat {
    SessionId session = 0;
    SlotProgress progress;
  };
  void look_at_sessions() {
    std::vector<Beat> still;
    std::vector<Beat> moved;
    for (auto& session : sessions_) {
      if (session.next_at <= now_ && move(session)) {
        moved.push_back({session.id, progress_of(session)});
        session.beats_at = now_ + kBeatEvery;
      } else if (session.beats_at <= now_) {
        still.push_back({session.id, progress_of(session)});
        session.beats_at = now_ + kBeatEvery;
      }
    }
    spend(beats_, still.size(), [&] { hear(still); });
    for (const auto& beat : moved) {  // a turn each
      bool frees = false;
      spend(moves_, 1, [&] { frees = shares_.heard(beat.session, beat.progress, now_); });
      if (frees) {
        turn();
      }
    }
  }
  void hear(const std::vector<Beat>& beats) {
    for (const auto& beat : beats) {
      shares_.heard(beat.session, beat.progress, now_);
    }
  }

  void report() {
    if (missing_.empty()) {
      return open(step_ + 1);
    }
    turn();
  }
  void turn() {
    const bool has_idle = std::ranges::any_of(
        sessions_, [](const Computing& session) { return session.in_hand == kNoSlot && session.begun > 0; });
    spend(has_idle ? idle_ : busy_, 1, [&] {
      shares_.observe(step_, missing_, now_);
      shares_.hand_out(ids_, {}, step_ + 2, now_);
    });
    for (const auto id : shares_.take_changed()) {
      auto& session = sessions_[places_.at(id)];
      if (session.in_hand == kNoSlot) {
        session.next_at = now_ + kBeginsAfter;
      }
    }
  }

  double clock_ = cost_of_a_clock();
  std::mt19937_64 random_{1};
  Slot slots_;
  SlotShares shares_;
  std::vector<Computing> sessions_;
  std::vector<SessionId> ids_;
  std::map<SessionId, std::size_t> places_;
  SlotSet missing_;
  Step step_ = 0;
  Micros now_ = kStart;
  Micros reported_at_ = kStart;
};

Row shares_row(std::size_t workers, Slot slots, double decades) {
  constexpr Step kSteps = 4;
  SharedRounds rounds(workers, slots, decades);
  rounds.run_steps(kSteps);
  return {{"workers", std::to_string(workers)},
          {"slots", std::to_string(slots)},
          {"decades", decades},
          {"step_s", rounds.step_seconds()},
          {"heartbeat_us", rounds.beats_.microseconds()},
          {"news_us", rounds.moves_.microseconds()},
          {"turn_busy_us", rounds.busy_.microseconds()},
          {"turn_idle_us", rounds.idle_.microseconds()},
          {"turn_idle_longest_ms", rounds.idle_.longest * 1e3},
          {"opening_ms", rounds.openings_.microseconds() / 1e3},
          {"division_ms", rounds.division_.microseconds() / 1e3},
          {"core_percent", rounds.percent()},
          {"taken", std::to_string(rounds.shares().taken())},
          {"copies", std::to_string(rounds.shares().backups())}};
}

}  // namespace

Result shares(const Options& /*options*/) {
  Result result;
  result.how =
      "processor time of sharing out slots, in virtual time: 250 ms a slot and a tenth more or less, workers' speeds "
      "over so many decades, ten heartbeats a second of each, one more for each slot begun or ended, 64 lanes with 20 "
      "reports a second each, a turn for each report. heartbeat: that says nothing new; news: of a slot. turn: what is "
      "missing, and a look at who has nothing left; busy: nobody; idle: some, with all that they take, and once a step "
      "the division of the next one. opening: of a step. core: percent of one core, for all of it.";
  for (const auto& [workers, slots] :
       {std::pair<std::size_t, Slot>{10, 128}, {100, 4'096}, {1'000, 1'024}, {1'000, 4'096}}) {
    for (const double decades : {0.1, 1.0}) {
      result.rows.push_back(shares_row(workers, slots, decades));
    }
  }
  return result;
}

}  // namespace ballast::bench

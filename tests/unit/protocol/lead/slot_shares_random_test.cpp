// Sessions that compute, stall, fall silent, die and come, as SlotShares shares out their slots: each step has to end.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "protocol/lead/slot_shares.h"
#include "protocol/worker/round_work.h"
#include "protocol/worker/slot_list.h"

using namespace ballast;

namespace {

constexpr Micros kTurn = 5'000;
constexpr Micros kBeatEvery = 50'000;
constexpr Micros kSuspectAfter = 250'000;
constexpr Micros kLostAfter = 3'000'000;

// A session's machine, by RoundWork's rules: slot after slot, each of which arrives a while after it is computed.
class ModelSession {
 public:
  ModelSession(Slot slots, Micros slot_time, Micros latency)
      : slots_(slots), slot_time_(slot_time), latency_(latency), work_(slots, {}), list_(slots, {}) {}

  // Who idles lives, says anything at all, and computes nothing.
  enum class State : std::uint8_t { well, hung, silent, dead, idle };

  void take(const Assign& assign) {
    if (assign.rounds == order_ && has_order_) {
      return;
    }
    work_.take(assign, !has_order_);
    has_order_ = true;
    order_ = assign.rounds;
    if (target_) {
      if (const auto ranges = work_.amend(*target_)) {
        list_.become(*ranges);
      }
    }
  }

  // What has arrived by now of the open step.
  SlotSet turn(Step open, Micros now) {
    SlotSet arrived(slots_);
    if (state == State::idle) {
      return arrived;
    }
    if (state != State::well) {
      for (auto& each : on_their_way_) {
        each.at += kTurn;  // nothing is sent meanwhile
      }
      slot_ends_ += kTurn;
      return arrived;
    }
    compute(open, now);
    while (!on_their_way_.empty() && on_their_way_.front().at <= now) {
      const auto& each = on_their_way_.front();
      if (each.step == open) {
        arrived.insert({each.slot, each.slot + 1});
      }
      on_their_way_.pop_front();
    }
    return arrived;
  }

  // Whether it says something now.
  bool beats(Micros now) {
    if (state == State::silent || state == State::dead || (!has_news_ && now < beaten_at_ + kBeatEvery)) {
      return false;
    }
    has_news_ = false;
    beaten_at_ = now;
    return true;
  }
  [[nodiscard]] SlotProgress progress(Micros now) const {
    SlotProgress progress;
    progress.step = step_;
    auto computed = work_.begun_of(step_);
    if (in_hand_ != kNoSlot) {
      progress.in_hand = in_hand_;
      progress.in_hand_for = now - begun_;
      computed.erase({in_hand_, in_hand_ + 1});
    }
    progress.computed = computed.runs();
    progress.begun = step_begun_ == 0 ? 0 : std::max<Micros>(now - step_begun_, 1);
    progress.slot_time = has_ended_ ? slot_time_ : 0;
    return progress;
  }

  State state = State::well;
  Micros heard_at = 0;

 private:
  struct Sent {
    Step step = 0;
    Slot slot = 0;
    Micros at = 0;
  };

  void compute(Step open, Micros now) {
    if (in_hand_ != kNoSlot && now < slot_ends_) {
      return;
    }
    if (in_hand_ != kNoSlot) {
      on_their_way_.push_back({step_, in_hand_, now + latency_});
      in_hand_ = kNoSlot;
      has_ended_ = true;
      has_news_ = true;
    }
    if (target_ && !list_.next()) {
      work_.computed(*target_);
      target_.reset();
    }
    if (!target_) {
      begin(open);
    }
    if (target_) {
      const auto slot = list_.take();
      REQUIRE(slot.has_value());
      CHECK_FALSE(work_.begun_of(step_).contains(*slot));  // extra work is not repeated
      work_.begun(*slot);
      in_hand_ = *slot;
      begun_ = now;
      step_begun_ = step_begun_ == 0 ? now : step_begun_;
      slot_ends_ = now + slot_time_;
      has_news_ = true;
    }
  }
  void begin(Step open) {
    auto next = work_.next();
    for (int tries = 0; next && next->step < open && tries < 4; ++tries) {
      work_.gone(next->step, open);
      next = work_.next();
    }
    if (!next || next->step != open) {
      return;  // its weights are not there yet
    }
    if (next->step != step_) {
      step_begun_ = 0;
    }
    step_ = next->step;
    target_ = next;
    list_ = SlotList(slots_, next->ranges);
  }

  Slot slots_;
  Micros slot_time_;
  Micros latency_;
  RoundWork work_;
  bool has_order_ = false;
  RoundOrder order_;
  std::optional<WorkerTarget> target_;
  SlotList list_;
  Step step_ = 0;
  Slot in_hand_ = kNoSlot;
  Micros begun_ = 0;
  Micros step_begun_ = 0;
  Micros slot_ends_ = 0;
  bool has_ended_ = false;
  bool has_news_ = true;
  Micros beaten_at_ = 0;
  std::deque<Sent> on_their_way_;
};

class ModelJob {
 public:
  // What befalls its sessions: what chance brings, nothing, or others that idle: some are there from the beginning, and
  // more come all the time.
  enum class Lot : std::uint8_t { chance, calm, idlers_from_now_on, idlers };

  explicit ModelJob(std::uint32_t seed, Lot lot = Lot::chance)
      : random_(seed), lot_(lot), slots_(1 + random_() % 40), shares_(rules()), missing_(SlotSet::full(slots_)) {
    for (auto count = 1 + random_() % 5; count > 0; --count) {
      join();
    }
    if (lot_ == Lot::idlers) {
      join_idler();
      join_idler();
    }
    shares_.divide(ids(), 0);
    shares_.observe(0, missing_, now_);
  }

  [[nodiscard]] Micros now() const { return now_; }

  // Whether the step that is open ends in time.
  bool closes_step() {
    const auto step = open_;
    const auto opened = now_;
    while (open_ == step && now_ < opened + 120'000'000) {
      turn();
    }
    return open_ != step;
  }

 private:
  using State = ModelSession::State;

  SlotShares::Rules rules() {
    SlotShares::Rules rules;
    rules.step = {.slots = slots_, .bytes = 0, .chunks = 1};
    rules.by_speed = random_() % 8 != 0;
    rules.redistributes = random_() % 8 != 0;
    rules.late = 2'000'000;
    return rules;
  }
  [[nodiscard]] std::vector<SessionId> ids() const {
    std::vector<SessionId> ids;
    for (const auto& [id, session] : sessions_) {
      ids.push_back(id);
    }
    return ids;
  }
  void join() {
    const Micros slot_time = 10'000 * (1 + random_() % (random_() % 3 == 0 ? 60 : 8));
    sessions_.emplace(++last_id_, ModelSession(slots_, slot_time, 5'000 * (random_() % 8)));
    sessions_.at(last_id_).heard_at = now_;
  }

  void join_idler() {
    join();
    sessions_.at(last_id_).state = State::idle;
  }

  // Thirty a second come, and most of them are lost after a while.
  void come_and_go() {
    if (open_ == 0 || now_ % (6 * kTurn) != 0) {
      return;
    }
    join_idler();
    for (auto& [id, session] : sessions_) {
      if (session.state == State::idle && random_() % 16 == 0) {
        session.state = State::dead;
      }
    }
    shares_.divide(ids(), open_ + 1);
  }

  // Whatever comes to its mind.
  SlotProgress invented() {
    SlotProgress progress;
    progress.step = open_ + random_() % 3;
    progress.begun = 1 + random_() % 1'000'000;
    progress.slot_time = random_() % 1'000'000;
    progress.up = random_() % 1'000'000;
    progress.leaving = random_() % 8 == 0;
    if (random_() % 2 == 0) {
      progress.computed = {{0, slots_}};
    } else {
      progress.in_hand = static_cast<Slot>(random_() % slots_);
      progress.in_hand_for = random_() % 1'000'000;
    }
    return progress;
  }

  // The first of those that live stays well, or comes to be so: somebody works.
  void befall() {
    if (random_() % 40 != 0) {
      return;
    }
    auto chosen = sessions_.begin();
    std::advance(chosen, random_() % sessions_.size());
    auto& state = chosen->second.state;
    const bool is_first = chosen == sessions_.begin();
    switch (random_() % 6) {
      case 0:
        state = is_first ? State::well : State::hung;
        break;
      case 1:
        state = is_first ? State::well : State::silent;
        break;
      case 2:
        state = is_first || state == State::dead ? state : State::dead;
        break;
      case 3:
        if (sessions_.size() < 7) {
          join();
          shares_.divide(ids(), open_ + 1);
        }
        break;
      default:
        state = state == State::dead ? state : State::well;
    }
    if (sessions_.begin()->second.state != State::dead) {
      sessions_.begin()->second.state = State::well;
    }
  }

  void turn() {
    now_ += kTurn;
    if (lot_ == Lot::chance) {
      befall();
    } else if (lot_ != Lot::calm) {
      come_and_go();
    }
    bool has_news = now_ % kBeatEvery == 0;
    auto arrived = SlotSet(slots_);
    std::set<SessionId> told;
    for (auto& [id, session] : sessions_) {
      take(id, session.turn(open_, now_), arrived);
      if (session.beats(now_)) {
        session.heard_at = now_;
        const auto progress = session.state == State::idle ? invented() : session.progress(now_);
        has_news = shares_.heard(id, progress, now_) || has_news;
        told.insert(id);
      }
    }
    if (!arrived.empty()) {
      missing_.erase(arrived);
      if (missing_.empty()) {
        ++open_;
        missing_ = SlotSet::full(slots_);
        report();
      }
      shares_.observe(open_, missing_, now_);
      has_news = true;
    }
    lose_silent();
    if (has_news) {
      hand_out();
    }
    told.merge(shares_.take_changed());
    for (const auto id : told) {
      tell(id);
    }
  }

  // Of what several bring the first counts.
  void take(SessionId id, const SlotSet& brought, SlotSet& arrived) {
    for (const auto run : brought.runs()) {
      for (auto slot = run.begin; slot < run.end; ++slot) {
        brought_[id] += missing_.contains(slot) && !arrived.contains(slot) ? 1 : 0;
      }
    }
    arrived.insert(brought);
  }
  void report() {
    std::vector<SessionSlots> all;
    for (const auto& [id, slots] : brought_) {
      if (slots > 0) {
        all.push_back({id, slots});
      }
    }
    shares_.brought(all, open_ + 1);
  }

  void lose_silent() {
    const auto lost = std::erase_if(sessions_, [&](const auto& each) {
      const bool is_lost = now_ - each.second.heard_at > kLostAfter;
      if (is_lost) {
        shares_.lose(each.first);
      }
      return is_lost;
    });
    if (lost > 0) {
      if (sessions_.empty()) {
        join();
      }
      shares_.divide(ids(), open_ + 1);
    }
  }

  void hand_out() {
    std::set<SessionId> silent;
    for (const auto& [id, session] : sessions_) {
      if (now_ - session.heard_at > kSuspectAfter) {
        silent.insert(id);
      }
    }
    shares_.hand_out(ids(), silent, open_ + 2, now_);
    if (lot_ == Lot::chance) {
      CHECK(is_settled(silent));
    }
  }

  // Sharing out again with nothing new comes to an end: one that all has been taken from may take from another, and so
  // on, but nothing goes back and forth.
  [[nodiscard]] bool is_settled(const std::set<SessionId>& silent) const {
    auto again = shares_;
    for (std::size_t i = 0; i <= sessions_.size(); ++i) {
      again.take_changed();
      again.hand_out(ids(), silent, open_ + 2, now_);
      if (again.take_changed().empty()) {
        return true;
      }
    }
    return false;
  }

  void tell(SessionId id) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end() || session->second.state == State::silent || session->second.state == State::dead) {
      return;  // it will ask
    }
    Assign assign;
    assign.rounds.standing = shares_.standing(id, open_ + 2);
    assign.rounds.now = shares_.now(id);
    session->second.take(assign);
  }

  std::mt19937 random_;
  Lot lot_;
  Slot slots_;
  SlotShares shares_;
  SlotSet missing_;
  std::map<SessionId, ModelSession> sessions_;
  SessionId last_id_ = 0;
  std::map<SessionId, std::uint64_t> brought_;
  Step open_ = 0;
  Micros now_ = 1'000'000;
};

}  // namespace

namespace {

Micros time_of_steps(std::uint32_t seed, ModelJob::Lot lot) {
  ModelJob job(seed, lot);
  REQUIRE(job.closes_step());
  const auto begun = job.now();
  for (int step = 1; step < 40; ++step) {
    CAPTURE(step);
    REQUIRE(job.closes_step());
  }
  return job.now() - begun;
}

}  // namespace

TEST_CASE("sessions that leave undone what they are given cost the others next to nothing, however many come") {
  Micros calm = 0;
  Micros beside = 0;
  Micros beside_from_the_beginning = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    calm += time_of_steps(seed, ModelJob::Lot::calm);
    beside += time_of_steps(seed, ModelJob::Lot::idlers_from_now_on);
    beside_from_the_beginning += time_of_steps(seed, ModelJob::Lot::idlers);
  }
  CHECK(beside < calm + calm / 50);
  CHECK(beside_from_the_beginning < calm + calm / 50);
}

TEST_CASE("whoever is lost, suspected, late or without a share, each step ends as long as somebody works") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    ModelJob job(seed);
    for (int step = 0; step < 12; ++step) {
      CAPTURE(step);
      REQUIRE(job.closes_step());
    }
  }
}

// Shares of slots among sessions whose heartbeats, and shards whose reports, a test writes itself.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/lead/slot_shares.h"

namespace ballast::slot_shares {

inline constexpr Micros kSlotTime = 100'000;
inline constexpr Micros kNothingKnown = 1'000'000;  // Rules::late
inline constexpr Step kNoLimit = 1'000;

using Ranges = std::vector<SlotRange>;
using Sessions = std::vector<SessionId>;

inline SlotSet set_of_slots(Slot slots, const Ranges& ranges) {
  SlotSet set(slots);
  for (const auto range : ranges) {
    set.insert(range);
  }
  return set;
}

// Sessions that send in no time, and whose heartbeats a test writes itself. The open step is 0 until it opens another.
class SharesFixture {
 public:
  explicit SharesFixture(Slot slots, Sessions ids, SlotShares::Rules with = {})
      : shares(rules_of(slots, with)), sessions(std::move(ids)), missing(SlotSet::full(slots)) {
    shares.divide(sessions, 0);
    shares.observe(0, missing, now);
    shares.take_changed();
  }
  static SlotShares::Rules rules_of(Slot slots, SlotShares::Rules rules) {
    rules.step = {.slots = slots, .bytes = 0, .chunks = 1};
    rules.late = kNothingKnown;
    return rules;
  }

  void hand_out(Step limit = kNoLimit) { shares.hand_out(sessions, silent, limit, now); }
  // A heartbeat of the open step: these slots are computed, this one is in hand for so long.
  bool beat(SessionId session, const Ranges& computed, Slot in_hand = kNoSlot, Micros in_hand_for = 0,
            Micros slot_time = kSlotTime) {
    SlotProgress progress;
    progress.step = open;
    progress.computed = computed;
    progress.in_hand = in_hand;
    progress.in_hand_for = in_hand_for;
    progress.begun = std::max<Micros>(now - opened, 1);
    progress.slot_time = slot_time;
    return shares.heard(session, progress, now);
  }
  void arrive(const Ranges& slots) {
    for (const auto range : slots) {
      missing.erase(range);
    }
    shares.observe(open, missing, {missing, {}, out_of_standing, unpaying}, now);
  }
  // Some lane wants this slot next, and nobody offers it.
  void want(Slot slot) {
    shares.observe(open, missing, {SlotSet(missing.slots()), {{slot, {}}}, out_of_standing, unpaying}, now);
  }
  // The lanes report that a slot of each has become part of a step.
  void bring(const Sessions& ids) {
    std::vector<SessionSlots> all;
    for (const auto session : ids) {
      ++brought[session];
    }
    for (const auto& [session, slots] : brought) {
      all.push_back({session, slots});
    }
    shares.brought(all, open + 1);
  }
  // So often that they may miss as many steps as anybody.
  void establish(const Sessions& ids) {
    for (std::uint32_t i = 0; i < Suspicion::kMostCredit; ++i) {
      bring(ids);
    }
  }
  void open_step(Step step) {
    open = step;
    opened = now;
    missing = SlotSet::full(missing.slots());
    shares.observe(open, missing, {missing, {}, out_of_standing, unpaying}, now);
    shares.take_changed();
  }
  void lose(SessionId session) {
    shares.lose(session);
    std::erase(sessions, session);
    silent.erase(session);
  }
  // What the session is to compute of the open step.
  [[nodiscard]] Ranges work(SessionId session) const {
    if (const auto own = shares.now(session)) {
      return own->ranges;
    }
    const auto standing = shares.standing(session, kNoLimit);
    return standing.slots.empty() || standing.from > open ? Ranges{} : Ranges{standing.slots};
  }

  SlotShares shares;
  Sessions sessions;
  std::set<SessionId> silent;
  std::map<SessionId, std::uint64_t> brought;
  // As lanes say.
  std::set<SessionId> out_of_standing;
  std::set<SessionId> unpaying;
  SlotSet missing;
  Step open = 0;
  Micros now = 10'000'000;
  Micros opened = now;
};

}  // namespace ballast::slot_shares

#include "protocol/lead/round_progress.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ballast {

void RoundProgress::take(LaneId id, const LaneReport& report) {
  Lane lane{report.open_step,
            SlotSet::from_words(slots_, report.rounds.missing),
            report.rounds.wanted,
            report.rounds.offered_by,
            report.rounds.out_of_standing,
            report.rounds.unpaying};
  const Step before = open_step();
  const auto [known, is_first] = lanes_.try_emplace(id, Lane{steps_, SlotSet(slots_)});
  const auto left = at_.find(known->second.open);
  if (left != at_.end() && --left->second == 0) {
    at_.erase(left);
  }
  if (lane.open < steps_) {
    ++at_[lane.open];
  }
  const auto old = std::exchange(known->second, std::move(lane));
  if (open_step() != before) {
    recount();
  } else {
    move(old, known->second, before);
  }
}

// What the lane lacks of the open step is another.
void RoundProgress::move(const Lane& from, const Lane& to, Step open) {
  if (open == steps_) {
    return;
  }
  const auto words_at = [&](const Lane& lane, std::size_t i) {
    return lane.open == open ? lane.missing.words()[i] : std::uint64_t{0};
  };
  for (std::size_t i = 0; i < missing_.words().size(); ++i) {
    const auto now = words_at(to, i);
    for (auto changed = words_at(from, i) ^ now; changed != 0; changed &= changed - 1) {
      const auto bit = static_cast<Slot>(std::countr_zero(changed));
      const auto slot = static_cast<Slot>(64 * i) + bit;
      if ((now >> bit & 1U) != 0) {
        ++lacking_[slot];
        missing_.insert({slot, slot + 1});
      } else if (--lacking_[slot] == 0) {
        missing_.erase({slot, slot + 1});
      }
    }
  }
}

void RoundProgress::recount() {
  lacking_.assign(slots_, 0);
  missing_ = SlotSet(slots_);
  const Lane nothing{steps_, SlotSet(slots_)};
  for (const auto& [id, lane] : lanes_) {
    move(nothing, lane, open_step());
  }
}

WantedSlots RoundProgress::wanted() const {
  WantedSlots wanted{SlotSet(slots_), {}};
  for (const auto& [id, lane] : lanes_) {
    wanted.out_of_standing.insert(lane.out_of_standing.begin(), lane.out_of_standing.end());
    wanted.unpaying.insert(lane.unpaying.begin(), lane.unpaying.end());
    if (lane.open != open_step()) {
      continue;
    }
    if (lane.wanted == kNoSlot) {
      wanted.of_anybody.insert(lane.missing);
      continue;
    }
    const auto [slot, is_first] = wanted.offered.try_emplace(lane.wanted, lane.offered_by);
    if (!is_first) {
      std::erase_if(slot->second, [&offered_by = lane.offered_by](SessionId session) {
        return std::ranges::find(offered_by, session) == offered_by.end();
      });
    }
  }
  return wanted;
}

Step RoundProgress::open_step() const { return at_.empty() ? steps_ : at_.begin()->first; }

}  // namespace ballast

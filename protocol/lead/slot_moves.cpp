#include "protocol/lead/slot_moves.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <optional>
#include <queue>

#include "protocol/tree.h"

namespace ballast {

namespace {

using Held = SlotHolders::Held;
using Chosen = SlotHolders::Chosen;

constexpr Micros kGainOfSlot = 10;  // slots go to another session if that gains a tenth of one

// The last slots of the run, `most` of them or fewer, cut where that makes fewer nodes.
SlotRange last_of(SlotRange run, Slot most, Slot slots) {
  SlotRange best{run.end - most, run.end};
  for (Slot begin = best.begin + 1; begin + std::max<Slot>(1, (most + 1) / 2) <= run.end; ++begin) {
    if (tree::nodes_in({begin, run.end}, slots) < tree::nodes_in(best, slots)) {
      best.begin = begin;
    }
  }
  return best;
}

// The first of them that some lane wants next; kNoSlot: it wants none of them.
Slot wanted_of(const OpenStep& open, const SlotSet& slots) {
  const auto found =
      std::ranges::find_if(open.wanted.offered, [&](const auto& wanted) { return slots.contains(wanted.first); });
  return found == open.wanted.offered.end() ? kNoSlot : found->first;
}

// What some lane wants next, where the taker has given up again what it computed beyond it: else it could compute those
// that are left in turns for ever, and never that one.
// Else the last ones: who was to bring them may come back, and begins with the first.
SlotRange choose_unclaimed(const SlotHolders& holders, const Held& taker, const SlotSet& unclaimed, std::size_t among) {
  const bool is_in_turns = taker.second.seen.has_given_up(holders.open().step);
  if (const auto wanted = is_in_turns ? wanted_of(holders.open(), unclaimed) : kNoSlot; wanted != kNoSlot) {
    return {wanted, wanted + 1};
  }
  const auto run = unclaimed.last_run();
  const auto fair = static_cast<Slot>((unclaimed.count() + among - 1) / among);
  return last_of(run, std::min(fair, run.size()), holders.rules().step.slots);
}

SlotRange take(SlotHolders& holders, Held& taker, SlotRange best, Micros now) {
  holders.withdraw_from_others(taker, best);
  holders.give(taker, best, now);
  holders.contest(best);
  holders.count().reassigned += best.size();
  return best;
}

struct Tail {
  Micros end = 0;
  SessionId session = 0;  // of two that end at the same time the one with the greater id
  std::size_t holder = 0;
  auto operator<=>(const Tail&) const = default;
};

// As many of its last slots as make both end at the same time, if that gains enough.
bool take_tail(SlotHolders& holders, Held& taker, Held& holder, Micros now) {
  const auto ahead = holders.ahead(holder.second);
  const auto mine = holders.more(taker.second, now);
  const auto slot = taker.second.seen.pace(holders.typical()).slot;
  const auto gain = std::max(holders.rules().floors.gain, slot / kGainOfSlot);
  auto best = ahead.end();
  best -= std::min(best, gain);
  Slot taken = 0;
  for (Slot count = 1; count <= ahead.most(); ++count) {
    if (ahead.begin_of_tail(count) < now + holders.rules().floors.gain) {
      break;  // its holder may have begun it before it hears of this
    }
    const auto end = std::max(mine.end(ahead.tail(count)), ahead.end(count));
    if (end < best) {
      best = end;
      taken = count;
    }
  }
  if (taken == 0) {
    return false;
  }
  holders.withdraw(holder, ahead.tail(taken));
  holders.give(taker, ahead.tail(taken), now);
  holders.count().taken += taken;
  return true;
}

// The last slot of a share that is neither begun nor tried, and when that share would have left without what comes
// after it.
struct LastSlot {
  Micros end = 0;
  SessionId session = 0;
  std::size_t holder = 0;
  Slot after = 0;
  auto operator<=>(const LastSlot&) const = default;
};

// By how much sooner the slot that the holder has in hand arrives from the taker; 0: it does not, or another has it
// already.
Micros gain_of_copy(const SlotHolders& holders, const MoreWork& mine, const SlotHolder& holder, Micros now) {
  const auto slot = holder.seen.in_hand(holders.open().step);
  if (holder.share.is_trial() || slot == kNoSlot || !holder.seen.is_known() || holders.is_contested(slot) ||
      !holders.open().missing.contains(slot)) {
    return 0;
  }
  const auto its = holder.seen.progress().slot_time;
  const auto theirs = std::max(holder.seen.in_hand_since() + its, now + its / 2);
  return theirs - std::min(theirs, mine.end({slot, slot + 1}));
}

void leave_out_first(Chosen& takers, std::size_t count) {
  takers.erase(takers.begin(), takers.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void take_unclaimed(SlotHolders& holders, Chosen& takers, SlotSet unclaimed, const Chosen& counted, Micros now) {
  std::size_t done = 0;
  for (; done < takers.size() && !unclaimed.empty(); ++done) {
    auto& taker = *takers[done];
    unclaimed.erase(take(holders, taker, choose_unclaimed(holders, taker, unclaimed, counted.size()), now));
  }
  leave_out_first(takers, done);
}

void take_wanted(SlotHolders& holders, const Chosen& counted, Micros now) {
  const auto in_turns = holders.in_turns(counted);
  if (in_turns.empty()) {
    return;  // as in most turns, which cost no second look at what everybody has
  }
  const bool are_suspected = counted.empty() || counted.front()->second.suspicion.is_suspect();  // all, or none
  const auto trusted = are_suspected ? Chosen() : counted;
  const auto wanted = wanted_of(holders.open(), holders.unclaimed(trusted, now));
  if (wanted == kNoSlot || !holders.may_be_given(wanted, now)) {
    return;
  }
  Held* taker = nullptr;
  for (auto* const held : in_turns) {
    const auto& own = held->second;
    if (!own.share.contains(wanted) && (taker == nullptr || own.turn < taker->second.turn)) {
      taker = held;
    }
  }
  if (taker != nullptr) {
    const SlotRange slot{wanted, wanted + 1};
    holders.withdraw_from_others(*taker, slot);
    holders.give_wanted(*taker, wanted, now);
    holders.contest(slot);
    ++holders.count().reassigned;
  }
}

void take_tails(SlotHolders& holders, Chosen& takers, const Chosen& counted, Micros now) {
  std::priority_queue<Tail> tails;
  Chosen in_queue;
  const auto add = [&](Held* held) {
    const auto& own = held->second;
    if (!own.share.is_trial() && own.seen.is_known() && own.has_left(holders.open())) {
      tails.push({holders.ahead(own).end(), held->first, in_queue.size()});
      in_queue.push_back(held);
    }
  };
  std::ranges::for_each(counted, add);
  std::size_t done = 0;
  for (; done < takers.size() && !tails.empty(); ++done) {
    auto* const holder = in_queue[tails.top().holder];
    if (!take_tail(holders, *takers[done], *holder, now)) {
      break;
    }
    tails.pop();
    add(holder);
    add(takers[done]);
  }
  leave_out_first(takers, done);
}

void try_out(SlotHolders& holders, const Chosen& untried, const Chosen& counted, Micros now) {
  if (untried.empty()) {
    return;
  }
  std::priority_queue<LastSlot> last;
  const auto add = [&](std::size_t holder, Slot after) {
    const auto ahead = holders.ahead(counted[holder]->second);
    while (after < ahead.most() && holders.is_tried(ahead.tail(after + 1).begin)) {
      ++after;
    }
    if (after < ahead.most()) {
      last.push({ahead.end(after), counted[holder]->first, holder, after});
    }
  };
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i]->second.share.is_trial() && counted[i]->second.has_left(holders.open())) {
      add(i, 0);
    }
  }
  for (auto* const taker : untried) {
    if (last.empty()) {
      taker->second.share.pass_trial();
      continue;
    }
    const auto chosen = last.top();
    last.pop();
    const auto slot = holders.ahead(counted[chosen.holder]->second).tail(chosen.after + 1).begin;
    holders.give_trial(*taker, {slot, slot + 1}, now);
    add(chosen.holder, chosen.after + 1);
  }
}

void copy_slots(SlotHolders& holders, const Chosen& takers, const Chosen& counted, Micros now) {
  for (auto* const taker : takers) {
    const auto mine = holders.more(taker->second, now);
    Held* holder = nullptr;
    auto most = holders.rules().floors.gain;
    for (auto* const held : counted) {
      const auto gain = held == taker ? 0 : gain_of_copy(holders, mine, held->second, now);
      const bool is_first = holder != nullptr && held->second.place < holder->second.place;
      if (gain > most || (gain == most && is_first)) {
        most = gain;
        holder = held;
      }
    }
    if (holder == nullptr) {
      return;
    }
    const auto slot = holder->second.seen.in_hand(holders.open().step);
    holders.withdraw(*holder, {slot, slot + 1});
    holders.give(*taker, {slot, slot + 1}, now);
    holders.contest({slot, slot + 1});
    ++holders.count().copied;
  }
}

}  // namespace ballast

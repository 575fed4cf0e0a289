#include "protocol/lead/base_choice.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ballast {

namespace {

using Ids = std::vector<SnapshotId>;

bool is_in(const Ids& ids, SnapshotId id) { return std::ranges::find(ids, id) != ids.end(); }

bool all_hold(const ShardRoster::Lanes& lanes, SnapshotId id) {
  return std::ranges::all_of(lanes, [&](const auto& lane) { return is_in(lane.second.held, id); });
}

// Whole sets in the place, as far as the shards have told.
std::set<SnapshotId> copies_in_place(const Ledger& ledger, const ShardRoster::Lanes& lanes) {
  std::set<SnapshotId> found;
  for (const auto& [id, lane] : lanes) {
    for (const auto copy : lane.copied) {
      if (may_go_on_from_copy(ledger, lane.run, copy)) {
        found.insert(copy);
      }
    }
  }
  return found;
}

// Whether the job names its run, which its ledger knows.
bool names_its_run(const Ledger& ledger, const ShardRoster::Lanes& lanes) {
  return ledger.copies.run != 0 &&
         std::ranges::any_of(lanes, [&](const auto& lane) { return lane.second.run == ledger.copies.run; });
}

bool can_get(const LeadLane& lane, const Ledger& ledger, SnapshotId copy) {
  return may_go_on_from_copy(ledger, lane.run, copy) && !is_in(lane.lost, copy);
}

}  // namespace

bool may_go_on_from_copy(const Ledger& ledger, RunId run, SnapshotId id) {
  const auto& copies = ledger.copies;
  return run != 0 && run == copies.run && copies.complete != SnapshotId{} && id != SnapshotId{} &&
         id <= newest_named(copies);
}

bool has_another_base(const ShardHello& hello, const Ledger& ledger) {
  const auto& copies = ledger.copies;
  if (hello.run == 0 || hello.run != copies.run || copies.complete == SnapshotId{}) {
    return false;
  }
  return std::ranges::any_of(
             hello.copied,
             [&](SnapshotId id) { return may_go_on_from_copy(ledger, hello.run, id) && !is_in(hello.lost, id); }) ||
         std::ranges::any_of(hello.held,
                             [&](SnapshotId id) { return id != SnapshotId{} && is_in(ledger.complete, id); });
}

std::optional<SnapshotId> choose_base(const Ledger& ledger, const ShardRoster::Lanes& lanes, Step remembered) {
  const auto newest = ledger.complete.back();
  if (!names_its_run(ledger, lanes) || all_hold(lanes, newest)) {
    return newest;
  }
  const auto copies = copies_in_place(ledger, lanes);
  auto candidates = copies;
  candidates.insert(ledger.complete.begin(), ledger.complete.end());
  for (auto id = candidates.rbegin(); id != candidates.rend(); ++id) {
    const bool begins_anew = *id == SnapshotId{} && newest != SnapshotId{};
    const bool is_reached = std::ranges::all_of(lanes, [&](const auto& lane) {
      return is_in(lane.second.held, *id) || (copies.contains(*id) && can_get(lane.second, ledger, *id));
    });
    if (is_reached && !begins_anew && id->step >= remembered) {
      return *id;
    }
  }
  return std::nullopt;
}

void go_back_to(Ledger& ledger, SnapshotId base, const ShardRoster::Lanes& lanes) {
  if (base == ledger.complete.back() && (!names_its_run(ledger, lanes) || all_hold(lanes, base))) {
    return;
  }
  const auto copies = copies_in_place(ledger, lanes);
  std::erase_if(ledger.complete, [&](SnapshotId id) { return id >= base || !all_hold(lanes, id); });
  ledger.complete.push_back(base);
  if (ledger.best && !is_in(ledger.complete, *ledger.best)) {
    ledger.best.reset();
  }
  auto& state = ledger.copies;
  ledger.named_before = std::max(ledger.named_before, newest_named(state));  // those are this run's all the same
  if (!is_in(ledger.complete, state.named)) {
    state.named = {};
  }
  if (!is_in(ledger.complete, state.complete)) {
    state.complete = copies.contains(base) ? base : SnapshotId{};
  }
  if (state.named <= state.complete) {
    state.named = {};  // all have copied it, whoever has said so
  }
}

}  // namespace ballast

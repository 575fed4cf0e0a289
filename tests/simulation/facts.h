// What a life has shown. Lives in which nothing happens prove nothing, so it is counted what does.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.h"
#include "tests/simulation/transitions.h"

namespace ballast::simulation {

// In the order in which they are told; facts.cpp says each in words.
enum class Fact : std::uint8_t {
  superseded,
  gone,
  served_older,
  backup,
  retry,
  connection_lost,
  connection_dropped,
  called,
  spine_called,
  waited_for_room,
  room_returned,
  waited_for_reader,
  reader_cut,
  lost_worker,
  late_join,
  deferred,
  duplicate,
  waited_for_factors,
  went_on,
  death,
  shard_crash,
  double_crash,
  with_lead,
  lost_unsynced,
  other_cuts,
  rollback,
  rollback_for_shard,
  rollback_for_mark,
  rollback_below_cut,
  rollback_for_lives,
  rollback_for_value,
  rollback_for_tear,
  barred,
  false_results,
  untrained_timeline,
  mid_compute,
  slot_taken_back,
  tail_taken,
  amended,
  suspect_back,
  suspect_relieved,
  trial,
  stale,
  clipped,
  scaled_by_trust,
  averages_restored,
  skipped,
  halted,
  snapshot_failed,
  snapshot_missed,
  copied,
  copy_failed,
  copies_renamed,
  copy_dropped,
  copy_outlived,
  paused,
  resumed,
  stopped_without,
  late_stop,
  early_stop,
  kept_best,
  async,
  ssp,
  journaled,
  resumed_within,
  replayed,
  kept_in_crash,
  lost_commits,
  lying_disk,
  broken_mark,
  survived_loss,
  expired,
  lost_version,
  grant_delayed,
  two_stale,
  item_skipped,
  stale_change,
  stale_statistic,
  empty_item,
  left,
  hung,
  withheld,
  given_up,
  one_way,
  slow_link,
  skewed,
  refused_weights,
  refused_right,
  second_server,
  lost_volume,
  lacked_base,
  displaced,
  paused_lead,
  reported_twice,
  refused_data,
  refused_arithmetic,
  mixed_arithmetic,
  unheard_end,
  departed,
  departed_lead,
  two_departed,
  departed_at_once,
  departed_without,
  departed_journaled,
  departed_in_pause,
  held_for_nothing,
  lost_disk,
  damaged_copy,
  fetched,
  copy_useless,
  went_further_back,
  count
};
inline constexpr auto kFactCount = static_cast<std::size_t>(Fact::count);

class FactSet {
 public:
  void note(Fact fact, bool happened = true) {
    if (happened) {
      set_.set(static_cast<std::size_t>(fact));
    }
  }
  void add(const FactSet& others) { set_ |= others.set_; }
  [[nodiscard]] bool has(Fact fact) const { return set_.test(static_cast<std::size_t>(fact)); }

 private:
  std::bitset<kFactCount> set_;
};

struct LifeFacts : FactSet {
  Transitions lead{};
  Transitions lane{};
  Transitions worker{};
  bool calm = false;  // no fault took effect
  std::uint64_t events = 0;
  Micros time = 0;
};

// What is told of a fact.
struct FactWords {
  Fact fact = Fact::count;
  const char* name = "";
  double least = 1;  // share of lives, in percent: with fewer the lives prove nothing about it
};
// Of each fact, in order.
std::span<const FactWords> fact_words();

}  // namespace ballast::simulation

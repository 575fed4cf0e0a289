// What to change about a job so that its steps take less time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/job_times.h"
#include "insight/verdict.h"

namespace ballast::insight {

enum class Change : std::uint8_t {
  none,           // nothing that was tried gains as much as it takes to be worth a word
  leave_out,      // some workers that are slow
  more_lanes,     // of each shard
  faster_disk,    // of shards whose journals keep items waiting
  wider_bound,    // of staleness: so many times as wide
  slots,          // another number of them: other sums, so other bits
  ssp,            // in the place of rounds: another model
  fewer_workers,  // the job does as well with those that are left
  mend,           // what is found; nothing else helps, or far less
};

struct Advice {
  Change change = Change::none;
  std::vector<std::string> who;  // of leave_out and mend
  // Of lanes of each shard, slots or workers that the job would have; the bound of ssp; how many times as wide a bound.
  std::size_t number = 0;
  double gain = 1;  // the job takes so many times as long as it would then
  // What is found, where to mend it would gain far more than the change: as who and gain of mend.
  std::vector<std::string> to_mend = {};
  double mended = 1;
  std::vector<Cause> causes = {};  // of mend: what of each of who matters most
  bool is_of_syncs = false;        // of a faster disk: those shards' journals wait for syncs most of all
};

// By replays of the job with each change; the one that gains most, and among those that gain nearly the same the one
// that costs least to try. `times`: calibrated. It costs a replay for each change, some twenty at most.
//
// Another number of slots is tried in rounds alone, and so is ssp, which makes another model: it is the answer where it
// gains ten per cent more than all else. Where an update takes the whole gradient there is no ssp.
//
// A slot is taken to have so much less to compute as there are more of them, and a new lane to have a processor.
Advice advice(const JobTimes& times, const Verdict& verdict);

// The job without some workers, by their places; with twice the lanes; with that many slots; each slot an item, with a
// bound that keeps nobody waiting (docs/modes.md).
JobTimes without_workers(const JobTimes& times, const std::vector<std::size_t>& places);
JobTimes with_twice_the_lanes(const JobTimes& times);
JobTimes with_slots(const JobTimes& times, Slot slots);
JobTimes with_items(const JobTimes& times);

}  // namespace ballast::insight

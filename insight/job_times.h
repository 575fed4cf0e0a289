// What each piece of work of a job takes, as its last steps show it: what a replay of them is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

// Spans are microseconds, rates bytes a microsecond; a rate of 0 takes no time.
struct WorkerTimes {
  std::string name;
  std::size_t process = 0;  // its place among the trace's
  // By step: what each slot took, in order, without the wait for its examples; in items all of them in one.
  std::vector<std::vector<double>> slots;
  double slot = 0;  // their median
  // Between two slots' examples, of a reader that never waits; in items what one waits for its examples.
  double fetch = 0;
  std::vector<double> reads;  // by step, of rounds: what that takes for each slot; empty: as long in all
  double begins = 0;          // the first slot, after the last of a version's weights
  double between = 0;         // two slots
  // By step: for how long it stood still before its first slot, and did not take what had been sent to it.
  std::vector<double> stops;
  // In rounds, of one whose stops stand out, and are neither in `slots` nor in `stops` then (passing_stops.h).
  double odd = 0;             // how long they took in all steps; 0: none do
  double lost = 0;            // what they cost, of a step, beside all else
  std::vector<double> ready;  // by chunk: its gradient, after that part of a slot
  double up = 0;
  double down = 0;
  double delay = 0;  // of a message, one way
  // What one to the lead, or from it, waits at most behind gradients or weights that are on their way.
  double queue_up = 0;
  double queue_down = 0;
  double line = 0;          // what its machine's link carries, or its part, as it was declared; 0: it was not
  double machine_line = 0;  // all of it: what others on that machine may leave it
  double resent = 0;        // the part of what went over its link that its kernel or the lanes' have sent again

  [[nodiscard]] bool is_lossy() const {
    constexpr double kSound = 0.002;
    return resent > kSound;
  }
  [[nodiscard]] bool has_slots() const {
    return std::ranges::any_of(slots, [](const auto& step) { return !step.empty(); });
  }
};

struct LaneTimes {
  std::string name;
  std::size_t process = 0;
  std::uint32_t shard = 0;
  double message = 0;  // reading one, and all else that is done beside sums and updates
  double starved = 1;  // all that its thread does takes so many times as long as it had a processor for it
  double behind = 1;  // and messages so many times as long as that: the threads that bring and take them starve as well
  double journal = 0;  // an item's record, from when it is given to the journal until it is committed; 0: there is none
  double beside_disk = 0;  // of that what the disk did not take: a thread waited for a processor, or computed
  bool syncs = true;       // and of what it took most were syncs

  [[nodiscard]] bool is_starved() const {
    constexpr double kSound = 1.25;
    return starved > kSound;
  }
};

struct ServerLink {
  double in = 0;
  double out = 0;
  // What was measured, to be set beside others, whatever a replay takes.
  double seen_in = 0;
  double seen_out = 0;
  double line = 0;          // of what was declared of its machine's link its part; 0: nothing was
  double machine_line = 0;  // all of it
};

// What a way carries of which nothing was seen: as much as the other one.
struct Borrowed {
  bool in = false;
  bool out = false;
};

// How the lead grants items.
struct GrantRules {
  std::uint32_t bound = 0;  // of staleness; 0: none, or none that keeps anybody waiting
  std::uint32_t ahead = 1;  // grants of one session at a time
};

struct JobTimes {
  SharingRules rules;
  std::optional<GrantRules> items;  // none: the job is in rounds
  bool is_sync = false;   // rounds, each of one update by the gradient of all slots: each slot could be an item
  std::size_t steps = 0;  // that this was taken from
  double step = 0;        // what they took, the mean
  // By chunk.
  std::vector<double> bytes;
  std::vector<std::uint32_t> lane_of;
  std::vector<double> sum;  // of one contribution
  std::vector<double> apply;
  std::vector<WorkerTimes> workers;
  std::vector<LaneTimes> lanes;
  std::vector<ServerLink> shards;
  std::vector<double> standstills = {};  // by shard, of a step: for how long its server stood still; none: nobody did
  ServerLink servers;                    // of all shards together: they may share a machine
  Borrowed is_borrowed = {};             // of them
  double line = 0;                // what a worker's link carries that nothing else is in the way of; 0: none was seen
  std::vector<double> decisions;  // by step, of the lead; empty: updates wait for none
};

// From the newest steps of which all updates are there, `most` at most; of a job in items from as many items. None: it
// is not known in which mode the job is, or fewer than four such steps are there in a row since somebody has left whose
// measurements are not here; or it is too large to be replayed.
std::optional<JobTimes> job_times(const JobTrace& trace, std::size_t most = 20);

}  // namespace ballast::insight

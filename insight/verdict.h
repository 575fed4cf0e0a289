// What holds a job back, and what it would gain without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "insight/job_times.h"
#include "insight/severity.h"

namespace ballast::insight {

// What may hold a job back.
enum class Cause : std::uint8_t {
  compute,      // of a worker
  passing,      // slots of a worker that took much longer than its others, or a server that stood still for a while
  data,         // of a worker: its examples
  worker_link,  // both ways
  server_link,  // of a shard, both ways
  processor,    // of a lane's thread
  storage,      // of a shard: its journal. In items
  barrier,      // of all workers: each step waits for its last slot, though nobody is slower for long. In rounds
  lead,         // its decisions. In rounds
};

// What of a worker's link is worse than its peers': what it carries, how long a message takes, or how much is lost.
enum class LinkTrouble : std::uint8_t { rate, delay, loss };

// Slowdowns: 1 is none.
struct Finding {
  Cause cause = Cause::compute;
  std::string who;
  double severity = 1;  // how slow it is beside its peers
  double gain = 1;      // the job takes so many times as long as it would with this alone mended
  double cost = 1;      // the job with all but this mended takes so many times as long as with all mended
  double lost = 0;      // seconds, of what was looked at: of what passes
  std::optional<LinkTrouble> trouble = {};  // of a worker's link
  std::size_t place = 0;                    // as Suspect has it
};

struct Verdict {
  std::size_t steps = 0;       // that were looked at
  double step = 0;             // milliseconds that one of them took
  double replayed = 0;         // that one takes in the replay
  double slowdown = 1;         // against the job with all that is found mended, or one of it if that gains more
  std::vector<Finding> found;  // the one first that matters most
  Slot items = 0;              // of a step, of a job in items: any so many are one; 0: it is in rounds

  // A replay that takes so much longer or less long than the job leaves something out that matters.
  [[nodiscard]] bool is_far() const {
    constexpr double kFar = 1.2;
    return replayed > kFar * step || step > kFar * replayed;
  }
};

// By replays of what is measured, as it is and mended: a worker that computes slowly as its peers do (the median of
// those that are not slow), data that is there at once, a link like that of a peer that is not suspected, a lane's
// thread that has a processor whenever it wants one, a journal that commits at once, a lead that decides within a
// millisecond, slots that pass as the worker's others. Where a job in rounds, with all that mended, still takes 5 %
// longer than if each worker's slots took what they do in the mean, the barrier is one more. `times`: calibrated.
// `severities`: who is slow beside his peers, by the same measurements. It costs two replays for each that is
// suspected, and a few more.
std::optional<Verdict> verdict(const JobTimes& times, const std::vector<Severity>& severities);

}  // namespace ballast::insight

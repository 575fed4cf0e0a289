// How a job stands, as people and programs are told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ballast {

// In the order in which a job comes to them, if nothing happens.
enum class JobPhase : std::uint8_t {
  assembling,  // a shard's hello, or the timeline's first record, is missing
  recovering,  // the same in a job that has trained: a shard has come back in another life
  waiting,     // for cluster.start_workers workers
  training,
  evaluating,
  pausing,    // up to a snapshot, by its user
  paused,     // at that snapshot
  finishing,  // the last version is being made durable
  finished,
  stopped,  // by its user; it can be resumed
  failed,
};

inline constexpr std::array kJobPhaseNames = {"assembling", "recovering", "waiting", "training",
                                              "evaluating", "pausing",    "paused",  "finishing",
                                              "finished",   "stopped",    "failed"};
static_assert(kJobPhaseNames.size() == static_cast<std::size_t>(JobPhase::failed) + 1);

constexpr const char* name_of(JobPhase phase) { return kJobPhaseNames[static_cast<std::size_t>(phase)]; }

// Whether the job has ended, well or not: its phase stays what it is.
constexpr bool is_over(JobPhase phase) { return phase >= JobPhase::finished; }

}  // namespace ballast

// The states that the cores of a life went through, as they stood after each event.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>

namespace ballast::simulation {

// In the order of Lead::Phase.
inline constexpr std::array kLeadStates = {"assembling", "confirming", "waiting",  "training", "evaluating",
                                           "finishing",  "concluding", "finished", "stopped",  "failed"};
enum class LaneState : std::uint8_t { starting, beginning, resuming, serving, concluding, stopped };
inline constexpr std::array kLaneStates = {"starting", "beginning", "resuming", "serving", "concluding", "stopped"};
enum class WorkerState : std::uint8_t { starting, preparing, ready, computing, evaluating, stopped };
inline constexpr std::array kWorkerStates = {"starting", "preparing", "ready", "computing", "evaluating", "stopped"};

inline constexpr std::size_t kMostStates = kLeadStates.size();

// From one state to another, whether that happened.
using Transitions = std::array<std::bitset<kMostStates>, kMostStates>;

// One process's state.
template <typename State>
class Watched {
 public:
  explicit Watched(State first) : now_(first) {}
  void move(Transitions& transitions, State next) {
    if (next != now_) {
      transitions[static_cast<std::size_t>(now_)].set(static_cast<std::size_t>(next));
      now_ = next;
    }
  }
  // By what happens: nothing else than `from` goes to `next`.
  void move_from(Transitions& transitions, State from, State next) {
    if (now_ == from) {
      move(transitions, next);
    }
  }

 private:
  State now_;
};

}  // namespace ballast::simulation

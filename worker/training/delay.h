// Slow workers and slow data on demand, so that tests and benchmarks can see what a job does with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/ids.h"
#include "worker/models/model.h"

namespace ballast {

// How long a worker waits before each slot of a step.
class Delays {
 public:
  Delays() = default;

  // Of the worker of that name by a text with as many of these as wanted, with commas between:
  // NAME:MILLISECONDS[~SPREAD][@FIRST[-LAST]][/EVERY], for example "worker-0:20,worker-1:200@30-90/10,*:5~2". `*` is
  // everybody who is not named; of `~SPREAD` as many milliseconds more or less as a normal distribution of that
  // standard deviation has it, 0 at least in all, another for each worker, step and slot, and the same each time;
  // without steps it is in all of them; of `/EVERY` in each so-many-th step from FIRST on. What is said of one worker
  // adds up. Throws std::runtime_error naming the variable, the part that is wrong and what it may be.
  static Delays parse(std::string_view variable, std::string_view text, std::string_view worker);
  // The same of an environment variable, which every process of a cluster inherits.
  static Delays from_environment(const char* variable, std::string_view worker);

  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] std::chrono::microseconds at(Step step, Slot slot) const;

 private:
  struct Part {
    std::chrono::milliseconds time{0};
    std::chrono::milliseconds spread{0};
    Step first = 0;
    Step last = std::numeric_limits<Step>::max();
    Step every = 1;
  };
  static Part read_part(std::string_view variable, std::string_view part, std::string_view said);

  std::vector<Part> parts_;
  std::uint64_t seed_ = 0;  // of the spread
};

struct PlannedDelays {
  Delays slots;    // before each slot is computed: BALLAST_DELAY
  Delays reading;  // before each slot's examples are read: BALLAST_READ_DELAY
};
PlannedDelays delays_from_environment(std::string_view worker);

// As long as it takes of what is not stopped (worker/models/timed_work.h).
void wait_for(std::chrono::microseconds delay);

// The model with the wait before each slot; itself if there is none. Waiting takes no processor, so the workers of one
// machine differ in speed by what is asked for and not by its cores.
std::unique_ptr<Model> with_delay(std::unique_ptr<Model> model, const Delays& delays);

}  // namespace ballast

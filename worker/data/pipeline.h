// Examples for slots: which examples a slot holds, and their reading ahead of need.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/job/spec.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"
#include "worker/data/normalise.h"

namespace ballast {

// How examples are read before they are needed: nothing of it changes what is read but the normalisation.
struct ReadAhead {
  std::uint32_t threads = 1;
  std::uint64_t bytes = std::uint64_t{256}
                        << 20U;         // that slots being read or ready take at most, but one slot always may
  Normalisation normalisation{{}, {}};  // of the set's images; needed where colours are augmented
  // Called by whoever begins to read a slot's examples; it may wait. None: nothing is called.
  std::function<void(std::uint64_t step, std::uint32_t slot)> before_reading = {};
  // A background thread has read the slot's examples between these moments of the monotonic clock; called by it.
  using Moment = std::chrono::steady_clock::time_point;
  std::function<void(std::uint64_t step, std::uint32_t slot, Moment begun, Moment done)> has_read = {};
};
ReadAhead read_ahead_of(const JobSpec& spec);

// The order of examples and the cutting of a step's batch into slots, as pure functions of (seed, epoch, step, slot):
// an epoch is a permutation of the train split, each step takes the next `batch` of it, slot s of a step with n
// examples holds those from s * batch/slots up to min((s + 1) * batch/slots, n).
// With training.local.partition: by_class it is as worker/data/order.h says.
// Reads the next slots in background threads. One thread calls prefetch and take.
class Pipeline {
 public:
  // `dataset` must outlive the pipeline. Throws std::invalid_argument if it is empty or the batch can't be cut.
  Pipeline(const Dataset& dataset, const TrainingSpec& training, const ReadAhead& read_ahead = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Says which slots are wanted soon. The hints of the last two distinct steps are kept, older ones dropped, so at most
  // 2 * batch examples wait, within the bytes of ReadAhead. Does not wait for any reading.
  void prefetch(std::uint64_t step, std::span<const std::uint32_t> slots);
  // The examples of (step, slot): waits for the reader that has begun with them, reads them here if none has. Throws
  // what reading them threw, in whichever thread; std::out_of_range for a slot that the job does not have.
  SlotExamples take(std::uint64_t step, std::uint32_t slot);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ballast

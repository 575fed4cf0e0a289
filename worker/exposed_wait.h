// How long a worker computes nothing because of what it waits for from lanes.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/messages.h"

namespace ballast {

// Exposed communication: time in which nothing is computed, neither slots nor an evaluation, while a contribution has
// no receipt or weights that were asked for have not come; and within a computation, time in which it cannot go on for
// want of a gradient buffer, which contributions hold. By the same moments as the phases `pull` and `push`, of which it
// is what no computing hides. One thread; moments never go back.
class ExposedWait {
 public:
  // ---- weights; chunks are those of the job

  void asked(ChunkId chunk) {
    if (chunk >= awaited_.size()) {
      awaited_.resize(std::size_t{chunk} + 1);
    }
    count_ += awaited_[chunk] ? 0 : 1;
    awaited_[chunk] = true;
  }
  void arrived(ChunkId chunk) {
    if (chunk < awaited_.size() && awaited_[chunk]) {
      awaited_[chunk] = false;
      --count_;
    }
  }
  // What was asked for does not all come: the version is gone. What is still wanted is asked for again.
  void forget_weights() {
    awaited_.clear();
    count_ = 0;
  }
  [[nodiscard]] bool awaits_weights() const { return count_ > 0; }

  // ---- time

  // Whether it waits from `now` on.
  void waits(bool waiting, Micros now) {
    total_ += waiting_ ? now - since_ : 0;
    waiting_ = waiting;
    since_ = now;
  }
  // Until the last call of waits().
  [[nodiscard]] Micros total() const { return total_; }

 private:
  std::vector<bool> awaited_;
  std::size_t count_ = 0;
  bool waiting_ = false;
  Micros since_ = 0;
  Micros total_ = 0;
};

}  // namespace ballast

// How fast the job goes, over the last seconds of its training time. Pure.
#pragma once

#include <cstdint>
#include <deque>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Of time that a pause does not add to: what was done before it and after it is one stretch.
class PaceMeter {
 public:
  static constexpr Micros kWindow = 6'000'000;
  static constexpr Micros kSampleEvery = 200'000;

  // `training`: time trained so far. What is counted may go back, with the job: then nothing is known at first. What
  // comes before training begins, and steps without examples, is what a lead finds done: journals tell it late.
  void observe(Micros training, std::uint64_t examples, Step step) {
    if (!samples_.empty() && (examples < samples_.back().examples || training < samples_.back().training)) {
      samples_.clear();
    }
    if (samples_.size() == 1 && (training == samples_.front().training || examples == samples_.front().examples)) {
      samples_.front() = {samples_.front().training, examples, step};
      return;
    }
    if (!samples_.empty() && training - samples_.back().training < kSampleEvery) {
      return;
    }
    samples_.push_back({training, examples, step});
    while (samples_.size() > 2 && training - samples_.front().training > kWindow) {
      samples_.pop_front();
    }
  }

  // 0: not known.
  [[nodiscard]] double examples_per_second() const {
    return samples_.empty() ? 0 : per_second(samples_.back().examples - samples_.front().examples);
  }
  [[nodiscard]] double steps_per_second() const {
    return samples_.empty() || samples_.back().step < samples_.front().step
               ? 0
               : per_second(samples_.back().step - samples_.front().step);
  }

  // All of it: the pace is told, and nobody acts on it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::accounts(samples_));
  }

 private:
  struct Sample {
    Micros training = 0;
    std::uint64_t examples = 0;
    Step step = 0;
    bool operator==(const Sample&) const = default;
  };

  [[nodiscard]] double per_second(std::uint64_t count) const {
    const auto span = samples_.back().training - samples_.front().training;
    return span == 0 ? 0 : static_cast<double>(count) * 1e6 / static_cast<double>(span);
  }

  std::deque<Sample> samples_;
};

// A clock that stands still while the job is held.
class TrainingClock {
 public:
  void start(Micros now) {
    if (!runs_) {
      runs_ = true;
      since_ = now;
    }
  }
  void stop(Micros now) {
    if (runs_) {
      runs_ = false;
      before_ += now - since_;
    }
  }
  [[nodiscard]] Micros read(Micros now) const { return before_ + (runs_ ? now - since_ : 0); }

  // All of it: how long a job has trained is told, and nobody acts on it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::accounts(before_, since_, runs_));
  }

 private:
  Micros before_ = 0;
  Micros since_ = 0;
  bool runs_ = false;
};

// A job's training time and its pace.
class JobPace {
 public:
  void start(Micros now) {
    begun_ = true;
    clock_.start(now);
  }
  void stop(Micros now) { clock_.stop(now); }
  void observe(Micros now, std::uint64_t examples, Step step) { meter_.observe(clock_.read(now), examples, step); }

  // Whether it was ever started.
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] Micros training(Micros now) const { return clock_.read(now); }
  [[nodiscard]] const PaceMeter& meter() const { return meter_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(clock_, meter_), listed::plain(begun_));
  }

 private:
  TrainingClock clock_;
  PaceMeter meter_;
  bool begun_ = false;
};

}  // namespace ballast

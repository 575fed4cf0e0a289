// How a running job shows itself: one rewritten line on a terminal, else a line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include "common/protocol/messages.h"

namespace ballast {

// Over the last seconds of training; nothing if the lead cannot say it yet. Time of a pause does not count.
struct Pace {
  double examples_per_second = 0;
  double steps_per_second = 0;
};
std::optional<Pace> pace_of(const Status& status);
// "812 images/s, 1:05 min left"
std::string pace_text(const Status& status, const Pace& pace, const char* separator);

// "59 s", "1:05 min", "2:00 h": rounded down, for people.
std::string time_text(double seconds);

// "waiting for servers", "waiting for workers: 1 of 2 ready", "step 10/200  epoch 0/2  loss 0.3 ...".
std::string status_text(const Status& status, std::uint64_t epochs, std::uint32_t start_workers,
                        const std::optional<Pace>& pace);

// "epoch 1/10: loss 0.2312, test accuracy 93.10 %, 5310 images/s"
std::string epoch_text(const Status& status, std::uint64_t epochs, const std::optional<Pace>& pace);

// Writes to a stream; one thread.
class Progress {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // `terminal`: the last line may be rewritten. `start_workers` and `epochs` are the job's.
  Progress(std::FILE* out, bool terminal, std::uint32_t start_workers, std::uint64_t epochs)
      : out_(out), terminal_(terminal), start_workers_(start_workers), epochs_(epochs) {}

  void show(const Status& status, Moment now);
  // What is waited for while the lead cannot be asked.
  void waiting(const std::string& what, Moment now) { show_text(what, now); }
  // A line that stays.
  void line(const std::string& text);
  // Before anything else writes to the terminal.
  void clear();

 private:
  static constexpr std::chrono::seconds kPlainEvery{5};

  void show_text(const std::string& text, Moment now);

  std::FILE* out_;
  bool terminal_;
  std::uint32_t start_workers_;
  std::uint64_t epochs_;
  std::optional<std::uint64_t> epochs_shown_;  // or done before the first status
  bool on_line_ = false;                       // a rewritten line stands on the terminal
  std::string text_;                           // that line
  std::string last_phase_;
  bool last_awaited_ = false;  // a copy of the last snapshot
  std::optional<Moment> shown_at_;
};

}  // namespace ballast

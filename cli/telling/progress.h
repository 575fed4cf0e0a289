// How a running job shows itself to people (one rewritten line on a terminal, else a line every few seconds) and, where
// they ask for it, to programs (events).
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include "cli/telling/events.h"
#include "cli/telling/status_events.h"
#include "protocol/messages.h"

namespace ballast {

// Over the last seconds of training; nothing if the lead cannot say it yet. Time of a pause does not count.
struct Pace {
  double examples_per_second = 0;
  double steps_per_second = 0;
};
std::optional<Pace> pace_of(const Status& status);
// "812 examples/s, 1:05 min left"
std::string pace_text(const Status& status, const Pace& pace, const char* separator);

// "59 s", "1:05 min", "2:00 h": rounded down, for people.
std::string time_text(double seconds);

// "waiting for servers", "waiting for workers: 1 of 2 ready", "step 10/200  epoch 0/2  loss 0.3 ...".
std::string status_text(const Status& status, const std::optional<Pace>& pace);

// "epoch 1/10: loss 0.2312, test accuracy 93.10 %, 5310 examples/s"
std::string epoch_text(const Status& status, const std::optional<Pace>& pace);

// What the user wants to see; see docs/cli.md.
struct ShowOptions {
  bool quiet = false;
  bool timestamps = false;
  std::string color = "auto";  // auto, always or never
  std::string events;          // a file; empty: none
};

// How lines are written.
struct LineStyle {
  bool terminal = false;  // the last line may be rewritten
  bool quiet = false;     // nothing but what is wrong
  bool timestamps = false;
  bool colour = false;         // on the output
  bool colour_errors = false;  // on the error output
};
// `auto` is colour on a terminal that is not dumb, unless NO_COLOR is set (https://no-color.org).
LineStyle line_style(const ShowOptions& options, std::FILE* out, std::FILE* err);

// One thread. Lines that stay go to `out`; what is wrong goes to `err` where it must be seen even if all else is not
// wanted.
class Progress {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // `events` may be null; must outlive it.
  Progress(std::FILE* out, std::FILE* err, LineStyle style, EventStream* events)
      : out_(out), err_(err), style_(style), events_(events) {}

  // The lead's newest word: what has changed since the one before, and how the job stands.
  void show(const Status& status, Moment now);
  // What is waited for while the lead cannot be asked.
  void waiting(const std::string& what, Moment now) { show_text(what, now); }
  // A line that stays: news.
  void line(const std::string& text);
  // The same of what is wrong though the run goes on.
  void warn(const std::string& text);
  // What ends the run, or a word on how it ends, to `err`.
  void error(const std::string& text);
  // How it ended; may have several lines.
  void result(const std::string& text);
  // For programs only.
  void event(const std::string& name, EventStream::Json fields);
  // Before anything else writes to the terminal.
  void clear();

 private:
  static constexpr std::chrono::seconds kPlainEvery{5};

  void show_changes(const Status& status);
  void show_text(const std::string& text, Moment now);
  void write(std::FILE* stream, const std::string& text, const char* colour);

  std::FILE* out_;
  std::FILE* err_;
  LineStyle style_;
  EventStream* events_;
  std::string told_event_trouble_;
  StatusEvents status_events_;
  std::optional<Status> before_;
  std::optional<std::uint64_t> epochs_shown_;  // or done before the first status
  bool on_line_ = false;                       // a rewritten line stands on the terminal
  std::string text_;                           // that line
  std::optional<JobPhase> last_phase_;
  bool last_awaited_ = false;  // a copy of the last snapshot
  std::optional<Moment> shown_at_;
};

}  // namespace ballast

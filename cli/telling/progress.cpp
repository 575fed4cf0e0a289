#include "cli/telling/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/telling/copies_text.h"
#include "common/telling/amounts.h"
#include "common/telling/changes.h"
#include "common/telling/quality.h"

namespace ballast {

namespace {

// What a terminal is told (ECMA-48).
constexpr const char* kNoColour = "";
constexpr const char* kPlain = "\x1b[0m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 128> text{};
  const int size = std::snprintf(text.data(), text.size(), pattern, values...);  // NOLINT: patterns are literals here
  return {text.data(), std::min(static_cast<std::size_t>(std::max(size, 0)), text.size() - 1)};
}

std::size_t count_live(const Status& status) {
  return static_cast<std::size_t>(
      std::count_if(status.sessions.begin(), status.sessions.end(), [](const auto& session) { return session.live; }));
}

// A worker tells its fingerprint when its data and model are loaded.
std::size_t count_ready(const Status& status) {
  return static_cast<std::size_t>(
      std::count_if(status.sessions.begin(), status.sessions.end(),
                    [](const auto& session) { return session.live && !session.fingerprint.empty(); }));
}

std::string accuracy_text(const char* separator, const Status& status) {
  std::string text;
  if (status.validation.evaluated) {
    text += separator + ("validation " + headline(status.validation, status.validation_metrics));
  }
  if (status.test.evaluated) {
    text += separator + ("test " + headline(status.test, status.test_metrics));
  }
  return text;
}

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

std::optional<Pace> pace_of(const Status& status) {
  return status.examples_per_second > 0 ? std::optional(Pace{status.examples_per_second, status.steps_per_second})
                                        : std::nullopt;
}

std::string pace_text(const Status& status, const Pace& pace, const char* separator) {
  std::string text = format("%.0f examples/s", pace.examples_per_second);
  if (pace.steps_per_second > 0 && status.steps > status.step) {
    text += separator + time_text(static_cast<double>(status.steps - status.step) / pace.steps_per_second) + " left";
  }
  return text;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<unsigned long long>(std::clamp(seconds, 0.0, 1e9));
  if (whole < 60) {
    return format("%llu s", whole);
  }
  if (whole < 3600) {
    return format("%llu:%02llu min", whole / 60, whole % 60);
  }
  return format("%llu:%02llu h", whole / 3600, whole / 60 % 60);
}

std::string status_text(const Status& status, const std::optional<Pace>& pace) {
  const auto waits_for = status.waits_for.empty() ? std::string() : "; waits for " + status.waits_for;
  if (status.phase == JobPhase::assembling) {
    return "waiting for the servers to come together" + waits_for;
  }
  if (status.phase == JobPhase::recovering) {
    return "recovering: back to the snapshot of step " + std::to_string(status.snapshot) + waits_for;
  }
  if (status.phase == JobPhase::waiting) {
    return format("waiting for workers: %zu of %u ready", count_ready(status), status.start_workers);
  }
  auto text = format("step %llu/%llu", static_cast<unsigned long long>(status.step),
                     static_cast<unsigned long long>(status.steps)) +
              format("  epoch %llu/%llu", static_cast<unsigned long long>(status.epoch),
                     static_cast<unsigned long long>(status.epochs));
  if (status.examples > 0) {
    text += format("  loss %.4f", status.recent_loss);
  }
  text += accuracy_text("  ", status);
  if (status.phase == JobPhase::training && pace) {
    text += "  " + pace_text(status, *pace, "  ");
  } else if (status.phase == JobPhase::training && status.examples > 0 && !hindrance(status).empty()) {
    text += "  stands still";
  }
  text += "  " + count_text(count_live(status), "worker");
  if (const auto copying = copying_text(status.copies); status.copies.awaited && !copying.empty()) {
    return text + "  " + copying + waits_for;
  }
  return (status.phase == JobPhase::training ? text : text + "  " + name_of(status.phase)) + waits_for;
}

std::string epoch_text(const Status& status, const std::optional<Pace>& pace) {
  auto text = format("epoch %llu/%llu: loss %.4f", static_cast<unsigned long long>(status.epoch),
                     static_cast<unsigned long long>(status.epochs), status.train_loss);
  text += accuracy_text(", ", status);
  if (pace) {
    text += format(", %.0f examples/s", pace->examples_per_second);
  }
  return text;
}

LineStyle line_style(const ShowOptions& options, std::FILE* out, std::FILE* err) {
  const char* const kind = std::getenv("TERM");
  const bool plain = std::getenv("NO_COLOR") != nullptr || kind == nullptr || std::string_view(kind) == "dumb";
  const auto is_terminal = [](std::FILE* stream) { return isatty(fileno(stream)) == 1; };
  const auto colour = [&](std::FILE* stream) {
    return options.color == "always" || (options.color == "auto" && is_terminal(stream) && !plain);
  };
  return {is_terminal(out), options.quiet, options.timestamps, colour(out), colour(err)};
}

void Progress::show(const Status& status, Moment now) {
  show_changes(status);
  const auto pace = pace_of(status);
  const auto rate = pace ? std::optional(pace->examples_per_second) : std::nullopt;
  // What was done before this command began has been told before.
  epochs_shown_ = epochs_shown_.value_or(status.epoch);
  // While an epoch's evaluation runs, the accuracy known is still the one before.
  if (status.epoch > *epochs_shown_ && status.phase != JobPhase::evaluating) {
    epochs_shown_ = status.epoch;
    clear();
    if (!style_.quiet) {
      write(out_, epoch_text(status, pace), kBold);
    }
    auto epoch = epoch_event(status, rate);
    event(epoch.name, std::move(epoch.fields));
  }
  for (auto& one : status_events_.observe(status, rate, now)) {
    event(one.name, std::move(one.fields));
  }
  if (!is_over(status.phase)) {
    const bool changed =
        (status.phase != last_phase_ && (status.phase == JobPhase::waiting || last_phase_ == JobPhase::waiting)) ||
        (status.copies.awaited && !last_awaited_);
    last_phase_ = status.phase;
    last_awaited_ = status.copies.awaited;
    if (changed) {
      shown_at_.reset();
    }
    show_text(status_text(status, pace), now);
  }
}

// Of the first one: what is wrong, or waited for, at this moment.
void Progress::show_changes(const Status& status) {
  if (!before_) {
    before_ = status;
    before_->trouble.clear();
    before_->waits_for.clear();
    before_->phase = JobPhase::assembling;
  }
  for (const auto& change : changes_between(*before_, status)) {
    change.wrong ? warn(change.text) : line(change.text);
  }
  before_ = status;
}

void Progress::show_text(const std::string& text, Moment now) {
  if (style_.quiet) {
    return;
  }
  if (style_.terminal) {
    if (on_line_ && text == text_) {
      return;
    }
    text_ = text;
    std::fprintf(out_, "\r\x1b[K%s", text.substr(0, columns_of(out_) - 1).c_str());
    std::fflush(out_);
    on_line_ = true;
  } else if (!shown_at_ || now - *shown_at_ >= kPlainEvery) {
    write(out_, text, kNoColour);
    shown_at_ = now;
  }
}

void Progress::line(const std::string& text) {
  clear();
  if (!style_.quiet) {
    write(out_, text, kNoColour);
  }
  event("note", {{"text", text}});
}

void Progress::warn(const std::string& text) {
  clear();
  write(style_.quiet ? err_ : out_, text, kYellow);
  event("warning", {{"text", text}});
}

void Progress::error(const std::string& text) {
  clear();
  write(err_, text, kRed);
  event("error", {{"text", text}});
}

void Progress::result(const std::string& text) {
  clear();
  if (!style_.quiet) {
    write(out_, text, kGreen);
  }
}

void Progress::event(const std::string& name, EventStream::Json fields) {
  if (events_ == nullptr) {
    return;
  }
  events_->tell(name, std::move(fields));
  if (const auto trouble = events_->trouble(); trouble != told_event_trouble_) {
    told_event_trouble_ = trouble;
    clear();
    write(style_.quiet ? err_ : out_, trouble.empty() ? "events are written again" : trouble, kYellow);
  }
}

// Each of the text's lines by itself: colour and time belong to a line.
void Progress::write(std::FILE* stream, const std::string& text, const char* colour) {
  const auto time = style_.timestamps ? utc_time(0) + " " : std::string();
  const bool coloured = (stream == err_ ? style_.colour_errors : style_.colour) && *colour != '\0';
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto piece = text.substr(begin, end - begin);
    std::fprintf(stream, "%s%s%s%s\n", time.c_str(), coloured ? colour : "", piece.c_str(), coloured ? kPlain : "");
    begin = end + 1;
  }
  std::fflush(stream);
}

void Progress::clear() {
  if (on_line_) {
    std::fputs("\r\x1b[K", out_);
    std::fflush(out_);
    on_line_ = false;
  }
}

}  // namespace ballast

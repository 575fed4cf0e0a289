#include "cli/progress.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>

#include "cli/changes.h"
#include "cli/copies_text.h"

namespace ballast {

namespace {

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

std::string workers_text(std::size_t count) { return format("%zu worker%s", count, count == 1 ? "" : "s"); }

std::string accuracy_text(const char* separator, const Status& status) {
  std::string text;
  if (status.validation.evaluated) {
    text += separator + format("validation accuracy %.2f %%", 100 * status.validation.accuracy);
  }
  if (status.test.evaluated) {
    text += separator + format("test accuracy %.2f %%", 100 * status.test.accuracy);
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
  std::string text = format("%.0f images/s", pace.examples_per_second);
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

std::string status_text(const Status& status, std::uint64_t epochs, std::uint32_t start_workers,
                        const std::optional<Pace>& pace) {
  const auto waits_for = status.waits_for.empty() ? std::string() : "; waits for " + status.waits_for;
  if (status.phase == "assembling") {
    return "waiting for the servers to come together" + waits_for;
  }
  if (status.phase == "recovering") {
    return "recovering: back to the snapshot of step " + std::to_string(status.snapshot) + waits_for;
  }
  if (status.phase == "waiting") {
    return format("waiting for workers: %zu of %u ready", count_ready(status), start_workers);
  }
  auto text = format("step %llu/%llu", static_cast<unsigned long long>(status.step),
                     static_cast<unsigned long long>(status.steps)) +
              format("  epoch %llu/%llu", static_cast<unsigned long long>(status.epoch),
                     static_cast<unsigned long long>(epochs));
  if (status.examples > 0) {
    text += format("  loss %.4f", status.recent_loss);
  }
  text += accuracy_text("  ", status);
  if (status.phase == "training" && pace) {
    text += "  " + pace_text(status, *pace, "  ");
  } else if (status.phase == "training" && status.examples > 0 && !hindrance(status).empty()) {
    text += "  stands still";
  }
  text += "  " + workers_text(count_live(status));
  if (const auto copying = copying_text(status.copies); status.copies.awaited && !copying.empty()) {
    return text + "  " + copying + waits_for;
  }
  return (status.phase == "training" ? text : text + "  " + status.phase) + waits_for;
}

std::string epoch_text(const Status& status, std::uint64_t epochs, const std::optional<Pace>& pace) {
  auto text = format("epoch %llu/%llu: loss %.4f", static_cast<unsigned long long>(status.epoch),
                     static_cast<unsigned long long>(epochs), status.train_loss);
  text += accuracy_text(", ", status);
  if (pace) {
    text += format(", %.0f images/s", pace->examples_per_second);
  }
  return text;
}

void Progress::show(const Status& status, Moment now) {
  const auto pace = pace_of(status);
  // What was done before this command began has been told before.
  epochs_shown_ = epochs_shown_.value_or(status.epoch);
  // While an epoch's evaluation runs, the accuracy known is still the one before.
  if (status.epoch > *epochs_shown_ && status.phase != "evaluating") {
    epochs_shown_ = status.epoch;
    line(epoch_text(status, epochs_, pace));
  }
  if (status.phase != "finished" && status.phase != "stopped" && status.phase != "failed") {
    const bool changed = (status.phase != last_phase_ && (status.phase == "waiting" || last_phase_ == "waiting")) ||
                         (status.copies.awaited && !last_awaited_);
    last_phase_ = status.phase;
    last_awaited_ = status.copies.awaited;
    if (changed) {
      shown_at_.reset();
    }
    show_text(status_text(status, epochs_, start_workers_, pace), now);
  }
}

void Progress::show_text(const std::string& text, Moment now) {
  if (terminal_) {
    if (on_line_ && text == text_) {
      return;
    }
    text_ = text;
    std::fprintf(out_, "\r\x1b[K%s", text.substr(0, columns_of(out_) - 1).c_str());
    on_line_ = true;
  } else if (!shown_at_ || now - *shown_at_ >= kPlainEvery) {
    std::fprintf(out_, "%s\n", text.c_str());
    shown_at_ = now;
  }
  std::fflush(out_);
}

void Progress::line(const std::string& text) {
  clear();
  std::fprintf(out_, "%s\n", text.c_str());
  std::fflush(out_);
}

void Progress::clear() {
  if (on_line_) {
    std::fputs("\r\x1b[K", out_);
    std::fflush(out_);
    on_line_ = false;
  }
}

}  // namespace ballast

#include "cli/asking/top.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "cli/asking/lead_address.h"
#include "cli/asking/status_client.h"
#include "cli/asking/top_view.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "cli/processes/signals.h"
#include "common/command/usage_error.h"
#include "insight/analysis_text.h"

namespace ballast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Step kWindow = 20;  // steps of an analysis

// The terminal, without echo and line by line, on its other screen; as it was when this ends.
class Screen {
 public:
  Screen() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before_) != 0) {
      throw UsageError("ballast top draws in a terminal, and this is none: --once prints what it would show");
    }
    auto raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // it would leave the terminal as it is now
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    write("\x1b[?25h\x1b[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static TopSize size() {
    winsize window{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
      return {};
    }
    return {window.ws_col, window.ws_row};
  }
  static void draw(const std::vector<std::string>& lines) {
    std::string text = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
    }
    write(text + "\x1b[J");
  }
  // What was typed since; empty: nothing.
  static std::string typed() {
    std::array<char, 64> keys{};
    const auto length = read(STDIN_FILENO, keys.data(), keys.size());
    return {keys.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }

 private:
  static void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  termios before_{};
};

// How many slots a second each worker brings, over the last seconds.
class Rates {
 public:
  std::map<SessionId, double> add(const Status& status) {
    constexpr std::chrono::seconds kSpan{5};
    seen_.push_back({Clock::now(), {}});
    for (const auto& session : status.sessions) {
      seen_.back().slots[session.session] = session.slots;
    }
    while (seen_.size() > 2 && seen_.back().at - seen_.front().at > kSpan) {
      seen_.pop_front();
    }
    const std::chrono::duration<double> span = seen_.back().at - seen_.front().at;
    std::map<SessionId, double> rates;
    for (const auto& [session, slots] : seen_.back().slots) {
      const auto before = seen_.front().slots.find(session);
      if (before != seen_.front().slots.end() && slots > before->second && span.count() > 0) {
        rates[session] = static_cast<double>(slots - before->second) / span.count();
      }
    }
    return rates;
  }

 private:
  struct Seen {
    Clock::time_point at;
    std::map<SessionId, std::uint64_t> slots;
  };
  std::deque<Seen> seen_;
};

class Top {
 public:
  explicit Top(const TopOptions& options)
      : options_(options),
        lead_(lead_address(options.where)),
        client_(context_, lead_, operator_keys(options.where, options.keys)) {
    poll_.add(signals_.fd());
    poll_.add(client_.socket());
  }

  int once() {
    constexpr std::chrono::seconds kPatience{5};
    constexpr TopSize kPlain{200, 10'000};
    look(kPatience);
    if (view_.status) {  // slots a second take two looks
      std::this_thread::sleep_for(std::chrono::seconds(1));
      look(kPatience);
    }
    auto lines = top_lines(view_, kPlain);
    lines.pop_back();  // there are no keys
    for (const auto& line : lines) {
      std::printf("%s\n", line.c_str());
    }
    return view_.status ? 0 : 1;
  }

  int until_the_end() {
    const Screen screen;
    poll_.add(STDIN_FILENO);
    while (!ends_) {
      turn();
    }
    return view_.status ? 0 : 1;
  }

 private:
  void look(std::chrono::seconds patience) {
    while (client_.take()) {
    }
    for (const auto began = Clock::now(); Clock::now() < began + patience && heard_at_ < began;) {
      client_.ask();
      poll_.wait(kAskEvery.count());
      hear();
    }
  }

  void turn() {
    if (Clock::now() >= ask_at_) {
      ask_at_ =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.every));
      client_.ask();
    }
    Screen::draw(top_lines(view_, Screen::size()));
    const auto until_asked = std::chrono::duration_cast<std::chrono::milliseconds>(ask_at_ - Clock::now());
    poll_.wait(std::clamp<long>(until_asked.count(), 1, kAskEvery.count()));
    while (const auto signal = signals_.next()) {
      ends_ = ends_ || *signal != SIGCHLD;
    }
    hear();
    press(Screen::typed());
  }

  void hear() {
    constexpr std::chrono::seconds kNoticed{3};
    if (auto status = client_.take()) {
      heard_at_ = Clock::now();
      view_.silent.clear();
      view_.rates = rates_.add(*status);
      view_.status = std::move(status);
    } else if (const auto why = client_.hopeless()) {
      view_.silent = *why;
    } else if (Clock::now() > heard_at_ + kNoticed) {
      view_.silent = "the lead at " + lead_ + " does not answer" + client_.why_silent();
    }
  }

  void press(const std::string& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys.compare(i, 2, "\x1b[") == 0 && i + 2 < keys.size()) {
        arrow(keys[i + 2]);
        i += 2;
        continue;
      }
      key(keys[i]);
    }
  }
  void arrow(char which) {
    constexpr char kUp = 'A';
    constexpr char kDown = 'B';
    if (which == kUp) {
      view_.first -= std::min<std::size_t>(view_.first, 1);
    } else if (which == kDown) {
      view_.first = std::min(view_.first + 1, top_rows(view_));
    } else {
      sort_by(which == 'C' ? 1 : kTopColumns - 1);
    }
  }
  void sort_by(std::size_t further) {
    view_.by = static_cast<TopColumn>((static_cast<std::size_t>(view_.by) + further) % kTopColumns);
  }
  void key(char which) {
    switch (which) {
      case 'q':
        ends_ = true;
        return;
      case '>':
        return sort_by(1);
      case '<':
        return sort_by(kTopColumns - 1);
      case 'r':
        view_.is_reversed = !view_.is_reversed;
        return;
      case 'a':
        return analyze();
      default:
        return;
    }
  }

  // It takes a second or a few, in which nothing else is drawn.
  void analyze() {
    constexpr std::size_t kWindows = 3;
    view_.analysis = "asking everybody for what was measured";
    Screen::draw(top_lines(view_, Screen::size()));
    TraceCollector collector(lead_, operator_keys(options_.where, options_.keys));
    const auto trace = collector.collect(kWindow * kWindows + 2);
    if (!trace) {
      view_.analysis = collector.why();
      return;
    }
    view_.analysis = analysis_lines(*trace, analyst_.analyze(*trace, {kWindow, kWindows}), kWindow, false);
  }

  TopOptions options_;
  std::string lead_;
  Signals signals_;
  zmq::context_t context_{1};
  StatusClient client_;
  Poll poll_;
  TopView view_;
  Rates rates_;
  insight::Analyst analyst_;
  Clock::time_point ask_at_;
  Clock::time_point heard_at_ = Clock::now();
  bool ends_ = false;
};

}  // namespace

int top(const TopOptions& options) {
  Top top(options);
  return options.once ? top.once() : top.until_the_end();
}

}  // namespace ballast

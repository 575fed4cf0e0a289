// Which of the lines that repeat are written to a log, so that nobody can flood it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ballast {

// Lines of one kind that were held back.
struct HeldLines {
  std::uint64_t tag = 0;  // as it came with them
  std::uint64_t count = 0;
  std::chrono::seconds over{0};  // this long
  std::string newest;
};

// Counts lines by their kind, in windows of time. The first ones of a window are written, the others are held back and
// counted; a window in which some were is followed by a longer one in which one line is written. A kind that is quiet
// for a whole window is forgotten. Time is handed in. Not thread-safe.
class Throttle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kWindow{10};
  static constexpr std::chrono::seconds kLongestWindow{60};
  static constexpr std::size_t kMostKinds = 1024;  // others are not held back
  // Of one kind's lines in a window, but for its first line: names and texts in them are others' to choose.
  static constexpr std::size_t kMostBytes = 256 << 10;

  // Whether a line is to be written: one of the first `burst`, and of the first kMostBytes, of its kind's window.
  bool admit(std::string_view kind, std::size_t burst, std::uint64_t tag, std::string_view line, Time now);
  // What windows that are over by `now` have held back.
  std::vector<HeldLines> due(Time now);
  // All that is held back.
  std::vector<HeldLines> all();
  // When the next window is over in which a line was held back, or can be forgotten; far away if there is none.
  [[nodiscard]] Time next() const { return next_; }

 private:
  struct Kind {
    Time begun;
    std::chrono::seconds window = kWindow;
    std::size_t written = 0;
    std::size_t bytes = 0;  // of those written
    bool is_flood = false;  // of one line in a window
    HeldLines held = {};
  };

  std::unordered_map<std::string, Kind> kinds_;
  Time next_ = Time::max();
};

}  // namespace ballast

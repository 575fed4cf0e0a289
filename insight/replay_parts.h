// What replays of all modes are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace ballast::insight {

// Microseconds.
inline constexpr double kBeatEvery = 50'000;
inline constexpr double kToLead = 50;  // what its loop takes until it has read what has come

inline constexpr std::size_t kMostEvents = 30'000'000;  // of a replay: about ten seconds

// How far apart a lane's reports are, as in server/shard.cpp.
inline double report_every(std::size_t lanes) {
  constexpr double kEach = 50;
  constexpr double kLeast = 20'000;
  constexpr double kMost = 50'000;
  return std::clamp(kEach * static_cast<double>(lanes), kLeast, kMost);
}

// A link or a thread that serves one after the other.
struct Served {
  double free_at = 0;

  // What begins to come at `first`, and is there wholly at `last` if nothing else is in its way.
  double pass(double first, double last, double takes) {
    free_at = takes > 0 ? std::max(free_at, first) + takes : free_at;
    return takes > 0 ? std::max(free_at, last) : last;
  }
};

inline double span_of(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

// What is to happen, by when. `Event` says what.
template <typename Event>
class Agenda {
 public:
  void add(double at, Event event) { events_.push({at, numbers_++, std::move(event)}); }

  // The next one, which is now; none: nothing is to happen before `until`, or too much has happened already.
  std::optional<Event> next(double until) {
    if (events_.empty() || events_.top().at > until || happened_ == kMostEvents) {
      return std::nullopt;
    }
    ++happened_;
    now_ = events_.top().at;
    auto event = events_.top().event;
    events_.pop();
    return event;
  }
  [[nodiscard]] double now() const { return now_; }

 private:
  struct Entry {
    double at = 0;
    std::uint64_t number = 0;  // of two at a moment the first one made is the first
    Event event;
    bool operator>(const Entry& other) const { return std::pair(at, number) > std::pair(other.at, other.number); }
  };

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> events_;
  std::uint64_t numbers_ = 0;
  std::size_t happened_ = 0;
  double now_ = 0;
};

}  // namespace ballast::insight

// What a job has been through since this lead began: its curve, its events, its snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/status.h"
#include "server/page/curve.h"

namespace ballast {

struct PageEvent {
  Micros at = 0;
  Step step = 0;
  std::string kind;  // "phase", "session", "held up", "waiting", "trouble", "rollback", "setback", "shard"
  std::string text;
  bool is_wrong = false;  // something is wrong or was lost; else it is only news
};

// The lead's thread tells, any may read.
class History {
 public:
  static constexpr std::size_t kEvents = 256;
  static constexpr std::size_t kSnapshots = 256;
  static constexpr std::size_t kTextBytes = 240;  // of an event; the rest is cut
  static constexpr std::size_t kAtOnce = 24;      // events of one status; of further ones it is said how many

  // News of the status that is noted next.
  void tell(std::string_view kind, std::string text, bool is_wrong);
  // A few times a second.
  void note(const Status& status, Micros now);

  struct Counts {
    std::uint64_t halvings = 0;
    std::size_t points = 0;
    std::uint64_t events = 0;     // ever
    std::uint64_t snapshots = 0;  // ever
    bool operator==(const Counts&) const = default;
  };
  struct Snapshot {
    Micros at = 0;
    Step step = 0;
  };
  struct Part {
    Counts counts;  // with this part
    std::size_t first_point = 0;
    std::vector<Curve::Sample> points;
    std::vector<PageEvent> events;
    std::vector<Snapshot> snapshots;
  };
  [[nodiscard]] Counts counts() const;
  // What has come, or changed, since there was so much; all of it where points have become others meanwhile.
  [[nodiscard]] Part since(Counts counts) const;

 private:
  void find_changes(const Status& status);
  void note_snapshot(const Status& status, Micros now);
  void keep_events(const Status& status, Micros now);

  // Of the status before what changes are found by; the lead's thread alone has it.
  Status before_;
  bool has_before_ = false;
  std::vector<PageEvent> told_;

  mutable std::mutex mutex_;
  Curve curve_;
  std::deque<PageEvent> events_;
  std::uint64_t events_ever_ = 0;
  std::deque<Snapshot> snapshots_;
  std::uint64_t snapshots_ever_ = 0;
};

}  // namespace ballast

// The line between the lead's loop and its page, in one process: no socket, no key.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/net/mailbox.h"
#include "protocol/messages/status.h"
#include "protocol/messages/trace.h"

namespace ballast {

// A shard as the lead has heard of it last.
struct ShardView {
  std::uint32_t lanes = 0;    // that are there
  std::uint32_t serving = 0;  // of these
  bool departs = false;       // its server was told to end
  Micros heard_at = 0;        // the lane that was silent for longest
  Step first = 0;             // the oldest version that a lane with chunks is at
  Step last = 0;              // and the newest
};

// How the job stood at one moment.
struct JobView {
  Status status;
  std::vector<ShardView> shards;  // by number
  Micros at = 0;
};

// Nothing is put together before somebody wants it.
class LeadLine {
 public:
  // ---- of the lead's thread

  // Readable while a question waits.
  [[nodiscard]] int fd() const { return questions_.fd(); }
  std::vector<TraceAsked> take_questions() { return questions_.take(); }
  void answer(TracePart part);
  // Whether somebody wants a newer view.
  [[nodiscard]] bool is_view_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void show(JobView view);

  // ---- of any other

  void want_view() { is_wanted_.store(true, std::memory_order_relaxed); }
  // Null before there is one.
  [[nodiscard]] std::shared_ptr<const JobView> newest() const;
  // Called by the lead's thread when there is a newer view. Set before the loop begins.
  void on_view(std::function<void()> told) { told_ = std::move(told); }

  // ---- of one other at a time: they wait, and have nothing when the line ends or the patience is over

  std::shared_ptr<const JobView> await_view(Micros newer_than, std::chrono::milliseconds patience);
  std::optional<TracePart> ask(TraceAsked asked, std::chrono::milliseconds patience);
  // Ends their waiting, for ever.
  void end();

 private:
  Mailbox<TraceAsked> questions_;
  std::atomic<bool> is_wanted_{false};
  std::function<void()> told_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::shared_ptr<const JobView> view_;
  std::optional<TracePart> part_;
  std::uint64_t number_ = 0;  // of the newest question
  bool has_ended_ = false;
};

}  // namespace ballast

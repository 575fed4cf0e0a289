// The workers' sessions as the lead knows them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct LeadSession {
  explicit LeadSession(LearntDeadline::Bounds bounds) : silence(bounds) {}

  std::string name;
  std::string key;  // the name of the one that it came with; empty: there are no keys
  bool live = false;
  bool ready = false;  // gets work
  bool said_goodbye = false;
  bool has_spoken = false;  // since its first hello
  Micros heard_at = 0;
  LearntDeadline silence;
  Heartbeat beat;       // the newest
  Assign assign;        // the newest
  std::string refusal;  // why it is given no work
  Micros refused_at = 0;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(name, key, live, ready, said_goodbye, has_spoken), listed::ages(heard_at),
                       listed::parts(silence), listed::plain(beat, assign, refusal), listed::ages(refused_at));
  }
};

// Who lives, who works, and who has not been heard of for too long. Sessions that are over stay known as long as there
// is room, so that what they did is told.
// Pure and copyable. Not thread-safe.
class SessionRoster {
 public:
  using All = std::map<SessionId, LeadSession>;

  // `at_most`: sessions that are remembered.
  SessionRoster(std::uint32_t at_most, LearntDeadline::Bounds silence) : at_most_(at_most), silence_(silence) {}

  // The session lives, as a new one or again. Null if so many others live that there is no room. On preemptible
  // machines a job sees more workers than it can remember: the one dead for longest is forgotten; if all live, the
  // one that has said hello and nothing since, the longest ago. Costs as much as there are sessions.
  LeadSession* hello(SessionId id, const std::string& name, Micros now);
  // A live session has said something; null if there is no such session.
  LeadSession* heard(SessionId id, Micros now);
  // It gets work from now on; earlier refusals of its name are told no more.
  void join(SessionId id);
  // It is over. Whether it had joined.
  bool lose(SessionId id);
  // It gets no work any more. It is not lost.
  void refuse(SessionId id, std::string why, Micros now);
  // Whether others have joined or been lost than when it last said so; once at a moment at most, however many do.
  bool take_changes(Micros now);
  // All that have joined are known.
  void forget_changes() { changed_ = false; }
  // All live sessions are told of the placement: whether they had not been.
  bool tell_placement(std::uint64_t placement) { return std::exchange(told_, placement) != placement; }
  // Of an order: no two, to whomever they go, have the same number.
  std::uint64_t next_order() { return ++orders_; }
  // Nobody is connected any more by whom the session could be told something; it may be back at any time.
  // Whether it was not suspected before.
  bool unreachable(SessionId id);
  struct Silence {
    Micros suspect = 0;  // for so long, and for three of its intervals
    Micros probe = 0;
  };
  // Looks for sessions that are to be suspected. Those that have been silent for so long that they are to be told
  // something: it fails if nobody is connected.
  std::vector<SessionId> suspect_silent(Micros now, const Silence& limits);
  // So long the lead did not listen.
  void forgive(Micros slept);

  [[nodiscard]] LeadSession& at(SessionId id) { return all_.at(id); }
  [[nodiscard]] const LeadSession& at(SessionId id) const { return all_.at(id); }
  [[nodiscard]] All& all() { return all_; }
  [[nodiscard]] const All& all() const { return all_; }
  // Live ones that get work, in the order in which they joined.
  [[nodiscard]] const std::vector<SessionId>& joined() const { return joined_; }
  [[nodiscard]] bool any_live() const;
  // Live ones that were silent or unreachable when they were last looked at, and were not heard of since.
  [[nodiscard]] const std::set<SessionId>& suspects() const { return suspects_; }
  // Live ones that have been silent for longer than they may.
  [[nodiscard]] std::vector<SessionId> silent(Micros now) const;
  // That went without a goodbye.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(at_most_, silence_), listed::parts(all_),
                       listed::names(joined_, suspects_, orders_), listed::plain(told_, changed_),
                       listed::ages(changes_taken_at_), listed::accounts(lost_, refused_));
  }

 private:
  bool make_room();

  std::uint32_t at_most_;
  LearntDeadline::Bounds silence_;
  All all_;
  std::vector<SessionId> joined_;
  std::set<SessionId> suspects_;
  std::uint64_t orders_ = 0;
  std::uint64_t told_ = 0;  // the placement that all were last told of at once
  bool changed_ = false;    // who has joined, since that was last said
  Micros changes_taken_at_ = -1;
  std::uint64_t lost_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ballast

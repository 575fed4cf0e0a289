// The workers' sessions as one lane knows them: what each waits for, and how much is on its way to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane_config.h"
#include "protocol/lane/open_pulls.h"
#include "protocol/lane/weights_readers.h"
#include "protocol/state_list.h"

namespace ballast {

struct LaneSessionLimits {
  std::uint32_t sessions = kMaxSessions;   // at most so many; further ones are refused
  Micros memory = 60'000'000;              // a session unseen for so long may lose its place to a new one
  std::uint64_t window_bytes = 16U << 20;  // weights handed to the transport and not yet sent, per session
  std::uint64_t all_bytes = 256U << 20;    // the same of all sessions, but for one reply of each
  bool operator==(const LaneSessionLimits&) const = default;
};

// What can be served of a chunk at the moment; of averages the newest version alone.
struct ServedChunk {
  ChunkId id = 0;
  std::uint64_t bytes = 0;
  Version oldest = 0;
  Version newest = 0;
};

// An answer that is to be sent now: the weights, or the word that they are gone.
struct WeightsReply {
  SessionId session = 0;
  ChunkId chunk = 0;
  Version version = 0;
  Version newest = 0;
  LeadNumber clock = {};
  bool averages = false;
  std::uint64_t bytes = 0;
  bool is_gone = false;
};

// A reply that waited for its session's window, or for that of all: which weights it means is looked up now that its
// turn has come.
struct DeferredReply {
  SessionId session = 0;
  ChunkId chunk = 0;
  WantedVersion wanted;
};

struct ReplyCounters {
  std::uint64_t gone = 0;
  std::uint64_t served_older = 0;  // of the version before the newest
  std::uint64_t deferred = 0;      // that waited for the session's window, or for that of all
  bool operator==(const ReplyCounters&) const = default;
};

// One reply of each session may always be on its way, so that nobody who reads waits for those who do not: weights on
// their way are at most those of the window of all, and a chunk of each session. What waits costs two bits for each
// chunk and version that a session wants (OpenPulls).
// An update of a chunk costs a look at each session that waits for anything. Pure and copyable. Not thread-safe.
class LaneSessions {
 public:
  static constexpr std::uint32_t kMostReplies = 64;  // on their way to a session, however small they are

  // `chunks`: those of the lane.
  LaneSessions(LaneSessionLimits limits, std::vector<LaneChunk> chunks);

  // Whether the session is known from now on, or was: else there is no room for it. It takes the place of one that has
  // said hello and nothing since, the longest ago, else of one that was not heard of for long.
  struct Greeting {
    bool is_known = true;
    std::optional<SessionId> forgotten = {};  // whose place it has taken
    explicit operator bool() const { return is_known; }
  };
  Greeting hello(SessionId session, Micros now);
  // A known session has said something; false if there is none.
  bool heard(SessionId session, Micros now);
  // Over that connection, by which it is answered from now on.
  void speaks(SessionId session, ConnectionId connection, PayerId payer);
  // By which connection it is answered, and who answers for it. Of a known session.
  [[nodiscard]] WeightsReaders::Reader reader(SessionId session) const;
  // Of these sessions, and of no others, nothing is taken any more, and nothing is sent to them. At most kMaxBarred.
  void bar(const std::vector<SessionId>& sessions);
  [[nodiscard]] bool is_barred(SessionId session) const { return std::ranges::find(barred_, session) != barred_.end(); }
  [[nodiscard]] bool contains(SessionId session) const { return sessions_.contains(session); }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

  // A session wants a version of a chunk. Nothing if it waits: for the version, or for its window.
  std::optional<WeightsReply> want(SessionId session, const ServedChunk& chunk, WantedVersion wanted);
  // The same for a version that exists already, or is gone.
  std::optional<WeightsReply> reply(SessionId session, const ServedChunk& chunk, WantedVersion wanted);
  // The chunk has a newer version: for those who waited for it.
  std::vector<WeightsReply> answer_waiting(const ServedChunk& chunk);
  // The transport has let go of so many bytes sent to the session.
  void released(SessionId session, std::uint64_t bytes);
  // Takes the next deferred reply, if there is room for it: of the sessions that wait for the window of all, in turn,
  // else of this one.
  std::optional<DeferredReply> next_deferred(SessionId session);
  // Another timeline begins: nobody waits for anything of the one before.
  void forget_replies();

  // The session has contributed a slot, or an item, that is applied. Sessions that are not known are not counted: a
  // report names no more of them than the lane remembers.
  void contributed(SessionId session);
  [[nodiscard]] const std::map<SessionId, std::uint64_t>& contributions() const { return contributions_; }
  [[nodiscard]] const ReplyCounters& counters() const { return counters_; }
  // Replies that wait, of all sessions.
  [[nodiscard]] std::size_t deferred() const { return deferred_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(limits_, chunks_), listed::parts(sessions_), listed::fixed(mute_),
                       listed::ages(nobody_goes_before_), listed::plain(reply_bytes_, turns_),
                       listed::fixed(waiting_, deferred_), listed::plain(barred_, contributions_),
                       listed::accounts(counters_));
  }

 private:
  struct Session {
    Micros seen = 0;
    bool has_spoken = false;      // since its first hello
    bool is_in_turn = false;      // it is in turns_
    ConnectionId connection = 0;  // the newest
    PayerId payer = 0;
    std::uint64_t reply_bytes = 0;
    std::uint32_t replies = 0;
    OpenPulls pulls;
    std::optional<Version> awaits;  // its place in waiting_

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::ages(seen), listed::plain(has_spoken, is_in_turn), listed::names(connection, payer),
                         listed::plain(reply_bytes, replies), listed::parts(pulls), listed::fixed(awaits));
    }
  };

  Greeting make_room(Micros now);
  std::optional<SessionId> longest_unseen(Micros now);
  void forget(SessionId session);
  [[nodiscard]] std::uint32_t place_of(ChunkId chunk) const;
  template <typename Change>
  void change_pulls(SessionId id, Session& session, Change&& change);
  void await(SessionId id, Session& session, std::optional<Version> lowest);
  void defer(SessionId id, Session& session, ChunkId chunk, const WantedVersion& wanted);
  [[nodiscard]] std::optional<std::uint64_t> first_deferred_bytes(const Session& session) const;
  [[nodiscard]] bool fits(const Session& session, std::uint64_t bytes) const;
  [[nodiscard]] bool fits_window(const Session& session, std::uint64_t bytes) const;
  void take_turn(SessionId id, Session& session);
  std::optional<DeferredReply> next_in_turn();
  DeferredReply take_first(SessionId id, Session& session);

  LaneSessionLimits limits_;
  std::vector<LaneChunk> chunks_;  // by id
  std::map<SessionId, Session> sessions_;
  std::set<std::pair<Micros, SessionId>> mute_;  // those of them that have said hello and nothing since, and when
  Micros nobody_goes_before_ = 0;                // of those that have spoken
  std::uint64_t reply_bytes_ = 0;                // of all sessions, also of those that have gone since
  std::deque<SessionId> turns_;                  // who waits for the window of all, and may have gone since
  // These follow from the sessions.
  std::set<std::pair<Version, SessionId>> waiting_;  // with the lowest version that each waits for
  std::size_t deferred_ = 0;
  std::vector<SessionId> barred_;
  std::map<SessionId, std::uint64_t> contributions_;
  ReplyCounters counters_;
};

}  // namespace ballast

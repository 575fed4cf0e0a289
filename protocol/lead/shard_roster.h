// The shards as the lead knows them: which process is which, since when it was not heard of, what it said last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/present_lives.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// A lane of a shard's present life.
struct LeadLane {
  explicit LeadLane(LearntDeadline::Bounds bounds) : silence(bounds) {}

  Incarnation incarnation = 0;
  DatabaseLife database;
  std::string address;
  std::string initial_weights;  // that it has read
  Timeline timeline = 0;        // that it knew of when it said hello
  Step open_step = 0;           // so far it had come when it said hello
  std::vector<ShardLife> lives;
  std::optional<Replayed> replayed;
  std::vector<SnapshotId> held;  // in its database: when it said hello, or of the job's complete ones since
  RunId run = 0;                 // as in its hello, as is what follows
  std::vector<SnapshotId> copied;
  std::vector<SnapshotId> lost;
  LaneReport report;  // the newest
  Micros heard_at = 0;
  LearntDeadline silence;
  bool left = false;

  // Of older ones than the newest complete one those alone count that are complete as well.
  void hold(SnapshotId id, const std::vector<SnapshotId>& complete) {
    std::erase_if(held, [&](SnapshotId known) {
      return known == id || (known < complete.back() && std::ranges::find(complete, known) == complete.end());
    });
    held.push_back(id);
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(incarnation, database.database),
                       listed::plain(database.count, address, initial_weights, timeline, open_step),
                       listed::plain(lives, replayed, held, run, copied, lost, report), listed::ages(heard_at),
                       listed::parts(silence), listed::plain(left));
  }
};

// Whether the lane has chunks. Without any it is at the job's end from the start, and in rounds has reached nothing.
bool owns_chunks(const LaneReport& report, Step steps);

// A process that says it is a shard and is not taken.
struct TurnedAway {
  Incarnation incarnation = 0;
  Micros since = 0;
  Micros heard_at = 0;
  std::string why;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(incarnation), listed::ages(since, heard_at), listed::plain(why));
  }
};

// "database 5b1f..., life 3"
std::string database_text(const DatabaseLife& life);
bool holds(const ShardHello& hello, SnapshotId snapshot);
bool lists(const Ledger& ledger, LaneId lane, Incarnation incarnation);

// Pure and copyable. Not thread-safe.
class ShardRoster {
 public:
  using Lanes = std::map<LaneId, LeadLane>;

  // `ledger`: whose lives count as present when the lead starts.
  ShardRoster(std::uint32_t shards, std::uint32_t lanes, LearntDeadline::Bounds silence, const Ledger& ledger)
      : shards_(shards), lanes_per_shard_(lanes), silence_(silence), present_(ledger) {}

  // ---- hellos

  // Why the process is not taken for the shard that it says it is; empty: it is. `ledger`: the newest, durable or not.
  [[nodiscard]] std::string why_not_taken(const ShardHello& hello, const Ledger& ledger, Micros now) const;
  // It is the shard from now on; another life of it is forgotten.
  void admit(const ShardHello& hello, Micros now);
  void turn_away(const ShardHello& hello, std::string why, Micros now);
  // Whoever says it is the shard is waited for no more.
  void forget_turned_away(std::uint32_t shard) { turned_away_.erase(shard); }
  // Those that are not heard of any more.
  void forget_silent_turned_away(Micros now);

  // ---- time and the ledger

  // A lane's present life has said something; null if there is no such lane.
  LeadLane* heard(LaneId id, Incarnation incarnation, Micros now);
  // Its newest report. `serves`: it takes part in the newest timeline.
  void take_report(LaneId id, const LaneReport& report, bool serves);
  // There is another timeline: nobody serves it yet.
  void stop_serving();
  // Each lane holds the snapshot, and all are there.
  void hold(SnapshotId id, const std::vector<SnapshotId>& complete) {
    for (auto& [name, lane] : lanes_) {
      lane.hold(id, complete);
    }
  }
  // Whose newest report has not been asked for before.
  std::set<LaneId> take_news() { return std::exchange(news_, {}); }
  // The lead's first moment.
  void begin(Micros now) { present_.begin(now); }
  // What is durable now.
  void list(const Ledger& ledger) { present_.list(ledger); }
  // So long the lead did not listen.
  void forgive(Micros slept);

  // ---- who is there

  [[nodiscard]] Lanes& lanes() { return lanes_; }
  [[nodiscard]] const Lanes& lanes() const { return lanes_; }
  [[nodiscard]] const std::map<std::uint32_t, TurnedAway>& turned_away() const { return turned_away_; }
  // Null if nobody has been the shard yet.
  [[nodiscard]] const PresentLives::Life* present(std::uint32_t shard) const { return present_.find(shard); }
  [[nodiscard]] bool is_there(LaneId id, Incarnation incarnation) const {
    const auto lane = lanes_.find(id);
    return lane != lanes_.end() && lane->second.incarnation == incarnation;
  }
  [[nodiscard]] bool all_there() const { return lanes_.size() == std::size_t{shards_} * lanes_per_shard_; }
  // Of these, lanes whose server was told to end, in their present lives.
  [[nodiscard]] const std::set<LaneId>& departing() const { return departing_; }
  // Whether all of them have said their last word, or are not heard of any more, but those of the lead's own shard.
  [[nodiscard]] bool others_have_departed(Micros now) const;
  // "shard 1, which was told to stop and is expected back"; empty: nobody.
  [[nodiscard]] std::string who_departs() const;
  // All lanes are there, and take part in the newest timeline.
  [[nodiscard]] bool all_serve() const { return all_there() && serving_.size() == lanes_.size(); }
  // Of all lanes, and all are there.
  template <typename Holds>
  [[nodiscard]] bool all(const Holds& holds) const {
    return all_there() && std::ranges::all_of(lanes_, [&](const auto& lane) { return holds(lane.second); });
  }
  // The furthest step that some chunk has come to, by the lanes' reports; those without chunks, which are at the job's
  // end, count for `without_chunks`.
  [[nodiscard]] Step furthest(Step steps, Step without_chunks) const;
  // "shard 2 and 3 more to come"; empty: all are there.
  [[nodiscard]] std::string who_has_not_come() const;
  // Of the lane that was silent for longest among those that were so for too long: how long, and who it is. Lanes that
  // have not come are silent since `since`, or since a life of theirs before was last heard of if that was later.
  struct Silent {
    Micros span = 0;
    std::string who;  // empty: nobody
  };
  [[nodiscard]] Silent longest_silent(Micros now, Micros since, Step open) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(shards_, lanes_per_shard_, silence_), listed::parts(lanes_),
                       listed::fixed(serving_, departing_), listed::plain(news_), listed::ages(last_heard_),
                       listed::parts(present_, turned_away_));
  }

 private:
  [[nodiscard]] bool has_come(std::uint32_t shard) const;
  [[nodiscard]] std::string who_is(std::uint32_t shard) const;
  [[nodiscard]] Micros silence_of(std::uint32_t shard) const;

  std::uint32_t shards_;
  std::uint32_t lanes_per_shard_;
  LearntDeadline::Bounds silence_;
  Lanes lanes_;                          // of each shard's present life
  std::set<LaneId> serving_;             // of these
  std::set<LaneId> departing_;           // the same
  std::set<LaneId> news_;                // have reported
  std::map<LaneId, Micros> last_heard_;  // of lanes whose life is over, and that have not come back
  PresentLives present_;
  std::map<std::uint32_t, TurnedAway> turned_away_;  // the last of each shard
};

}  // namespace ballast

// Item mode: who computes which items. Grants, and how stale they may become.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/covered_items.h"
#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/work_times.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// What is missing comes from the shards' reports; memory of grants says whom to wait for, and bounds staleness.
//
// The bound. A contribution's staleness is the number of updates between the version it was computed from and its own.
// A session asks for an item's weights only after its grant, so those updates are among (a) the items that were
// outstanding when it was granted and (b) those granted since: its exposure. A grant is given only if no outstanding
// one's exposure comes to exceed the bound by it, its own included. So no session that is not given up ever computes a
// gradient staler than the bound. Who joins has no grant and holds nobody up, and a lost session's grants are
// forgotten. The oldest outstanding grant has the largest exposure: each later one was outstanding with it or is
// counted since.
//
// Copies. The items of sessions that are late, or suspected, are granted to idle ones as well. An item is applied to a
// chunk once, whoever brings it, and each outstanding grant's exposure has it already: its first grant was outstanding
// then or counted since. So a copy counts in nobody's exposure. Its own is that of any grant, less its item, and what
// is outstanding beside that is never more than the bound allows: a copy may be given whenever somebody is idle, also
// when nothing new may be granted.
//
// A grant is moot once somebody else has brought its item. One that its session has not begun is taken back. The first
// one it probably has: it stays in the session's order, counts in no bound, and the session gets nothing new until it
// has brought it. So a session that hangs costs one late item, one that is merely slow shows how slow it is, and one
// that has recovered is found out by what it brings.
//
// A grant, a receipt or a covered item costs the logarithm of the sessions and of what is outstanding; with a bound, a
// look at each session that could take the grant.
class ItemGrants {
 public:
  struct Limits {
    std::uint32_t ahead = 4;      // grants of one session at a time; not below 1
    std::uint32_t bound = 0;      // of staleness; 0: none
    std::uint64_t life = 1;       // of the lead
    LearntDeadline::Bounds late;  // an item in hand; one that is delivered, until it is covered
    bool operator==(const Limits&) const = default;
  };

  explicit ItemGrants(Limits limits)
      : limits_(limits),
        clock_{limits.life, 1},
        item_time_(limits.late),
        times_(limits.late),
        by_load_(limits.ahead + std::size_t{1}) {}

  // Who gets grants, in the order in which they joined; others are lost. Costs as much as there are sessions.
  void set_sessions(const std::vector<SessionId>& sessions);
  // What every chunk covers by the shards' newest reports and did not before, once `lost` is taken away. A shard that
  // is back may lack what it had covered: that is granted again. Costs by what has changed; once at a moment, by what
  // is delivered and not covered yet.
  void observe(const CoveredItems& lost, const CoveredItems& gained, Micros now);
  // The session has every receipt of the grant.
  void delivered(SessionId session, LeadNumber clock, Micros now);
  // The session has given the grant up: its item is to be granted again, unless somebody else has it.
  void dropped(SessionId session, LeadNumber clock, Micros now);
  void lose(SessionId session);
  // A shard has come back, and may have lost what it gave receipts for and did not report yet.
  void doubt_delivered();
  // The job is taken back: what was granted and observed is forgotten.
  void rewind();

  // Grants items below `limit`: those of lost sessions, then new ones, in order; when none is left, or none may be
  // granted, those of sessions that are late or suspected to idle ones as well. Of each of them the last come first: it
  // would bring those last. Where the bound leaves grants for a few only, fast sessions come first. Suspects
  // get nothing, nor do those that are late.
  void hand_out(ItemId limit, const std::set<SessionId>& suspects, Micros now);

  // Whose grants are others than when this was asked last.
  std::set<SessionId> take_changed() { return std::exchange(changed_, {}); }
  [[nodiscard]] std::vector<Grant> grants(SessionId session) const;
  [[nodiscard]] const CoveredItems& covered() const { return covered_; }
  // The first item beyond all that were granted or are covered.
  [[nodiscard]] ItemId granted_until() const { return std::max(granted_until_, covered_.ceiling()); }
  // What the session has in hand though somebody else has brought it.
  [[nodiscard]] std::optional<Grant> moot(SessionId session) const;
  // Who has such a grant, and since when it has been granted or has brought the one before.
  [[nodiscard]] std::map<SessionId, Micros> overtaken() const;
  // Items given to a second session while the first still had them.
  [[nodiscard]] std::uint64_t backups() const { return backups_; }
  // The largest exposure of the outstanding grants.
  [[nodiscard]] std::uint64_t largest_exposure() const;

  // All of it. What is delivered is listed by its moments, each with its item.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(limits_), listed::names(clock_), listed::plain(counted_),
                       listed::parts(item_time_, times_, sessions_), listed::fixed(places_, by_load_),
                       listed::plain(holders_), listed::plain(outstanding_), listed::ages(delivered_),
                       listed::plain(given_back_), listed::parts(covered_),
                       listed::plain(next_, granted_until_, overtaken_), listed::ages(copied_at_, doubted_since_),
                       listed::fixed(changed_), listed::accounts(backups_));
  }

 private:
  using Place = std::size_t;  // in sessions_
  // What a session said of an item that is granted again. It goes to another, if there is one, when it was falsely
  // called delivered or given up twice: who says so of all that it gets is always idle, and would have it again and
  // again.
  struct GivenBack {
    SessionId by = 0;
    std::uint32_t times = 0;
    bool operator==(const GivenBack&) const = default;
  };
  struct Session {
    SessionId id = 0;
    std::vector<Grant> granted;
    bool is_overtaken = false;  // the first of them is moot

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(id), listed::plain(granted, is_overtaken));
    }
  };
  struct Exposure {
    std::uint64_t before = 0;   // items that were outstanding when it was granted
    std::uint64_t counted = 0;  // so many had been granted then, its own included
    bool operator==(const Exposure&) const = default;
  };

  std::optional<ItemId> next_item(ItemId limit);
  void copy_late_items(const std::set<SessionId>& suspects, Micros now);
  [[nodiscard]] std::vector<SessionId> late_sessions(const std::set<SessionId>& suspects, Micros now) const;
  // Whether nobody who has the item is expected to bring it soon.
  [[nodiscard]] bool is_late(ItemId item, const std::set<SessionId>& suspects, Micros now) const;
  [[nodiscard]] bool may_grant() const;
  // Who of those with so many grants gets the next one.
  [[nodiscard]] std::optional<Place> next_taker(std::size_t load, const std::set<SessionId>& suspects, Micros now,
                                                std::optional<Place> but_for = {}) const;
  [[nodiscard]] Micros pace(SessionId session, Micros now) const;
  void give(Place place, ItemId item, Micros now);
  void cover(ItemRange range, Micros now);
  void retire(ItemId item, Micros now);
  // Somebody else has brought the item.
  void overtake(ItemId item, Micros now);
  void doubt_late(Micros now);
  struct Held {
    Place place = 0;
    std::size_t grant = 0;  // of the session's
  };
  // Nothing: the session does not have it any more.
  [[nodiscard]] std::optional<Held> find_held(SessionId session, LeadNumber clock) const;
  void take_back(Place place, std::size_t grant, Micros now);
  // It is taken back because the session has brought its item.
  void bring(Place place, std::size_t grant, Micros now);
  // It is outstanding no more.
  void settle(SessionId session, const Grant& grant);
  // Among those that may get more, by how many it has, or not.
  void shelve(Place place);
  void unshelve(Place place);
  void want(ItemId item) { next_ = std::min(next_, item); }

  Limits limits_;
  LeadNumber clock_;           // of the next grant
  std::uint64_t counted_ = 0;  // grants of items that nobody had
  LearntDeadline item_time_;
  WorkTimes times_;
  std::vector<Session> sessions_;      // in the order in which they joined; a lost one keeps its place, without grants
  std::map<SessionId, Place> places_;  // of those that are not lost
  std::vector<std::set<Place>> by_load_;              // of those that are not overtaken, by how many grants they have
  std::map<ItemId, std::vector<SessionId>> holders_;  // of outstanding grants
  std::map<LeadNumber, Exposure> outstanding_;        // by clock
  std::map<ItemId, Micros> delivered_;                // and not reported to be covered yet
  // Who said last that an item is delivered, or gave it up, until it is covered.
  std::map<ItemId, GivenBack> given_back_;
  CoveredItems covered_;
  ItemId next_ = 0;  // all items before it are covered, granted or delivered
  ItemId granted_until_ = 0;
  std::set<SessionId> overtaken_;
  Micros copied_at_ = -1;      // when somebody was idle last with no late item left
  Micros doubted_since_ = -1;  // when those were that are delivered and late to be covered
  std::set<SessionId> changed_;
  std::uint64_t backups_ = 0;
};

}  // namespace ballast

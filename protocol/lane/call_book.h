// Whose contributions a lane takes next, so that all that it holds, and all that may still come, stays within its
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/ahead_turns.h"
#include "protocol/lane/call_accounts.h"
#include "protocol/lane/lane_applier.h"
#include "protocol/lane/lane_events.h"
#include "protocol/lane/offer_book.h"
#include "protocol/lane/payers.h"
#include "protocol/lane/work_index.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct CallCounters {
  std::uint64_t calls = 0;
  std::uint64_t spine_calls = 0;  // of them: for the oldest work, whatever else is in use
  std::uint64_t waits = 0;        // turns in which something offered found no room
  std::uint64_t returns = 0;      // asked for
  std::uint64_t taken_back = 0;   // connections dropped because something asked for did not come
  bool operator==(const CallCounters&) const = default;
};

// A payload travels only against a call. What is in use, the bytes held and those asked for and not settled, never
// exceeds the memory, whoever sends what in whatever order, and each step can end from every state: for the *spine* has
// its own room, the reserve. Of rounds the spine is of the lowest open chunk what lies before its first missing slot,
// and one call for a node that contains this slot; of items the oldest that is offered. That call is made whenever it
// can be. Everything else is called, or given room for ahead, while what is in use outside the spine leaves the
// reserve.
//
// A turn costs by the logarithm of what is offered, and by what it calls; it looks at kMostLookedAt works at most, and
// of sessions that are out of good standing at one of each payer. Explored in a model of every order of events:
// docs/protocol.md. Pure and copyable. Not thread-safe.
class CallBook {
 public:
  static constexpr std::size_t kMostLookedAt = 128;
  static constexpr std::size_t kMostReturns = 8;  // asked for in a turn

  struct Limits {
    std::uint64_t memory = 0;
    std::uint64_t reserve = 0;               // of it, for the spine
    std::uint64_t largest = 0;               // chunk
    Micros overdue = 0;                      // what is called for longer, and longer by its size, is taken back
    Micros pause = 0;                        // for which nothing is called of who has failed the first time
    std::optional<ChunkId> statistics = {};  // that chunk, if the lane has it
    std::uint64_t statistics_room = 0;       // of the memory beside the reserve: for nothing else
    std::uint64_t owned = 0;                 // bytes of the lane's chunks
    bool operator==(const Limits&) const = default;
  };
  explicit CallBook(const Limits& limits) : limits_(limits), accounts_(limits.overdue), payers_(limits.pause) {}

  // ---- sessions
  // It said hello, and takes calls; `is_new`: it was not known, and so knows of nothing that was asked of it before.
  void greet(SessionId session, ConnectionId connection, PayerId payer, bool is_new);
  // It takes none, and may send within a credit, until its connection has ended: which one; nothing: there is no room
  // for it.
  std::optional<std::uint64_t> greet_with_credit(SessionId session, ConnectionId connection,
                                                 const LaneApplier& applier);
  // Whatever it says comes over this connection; the newest is the one that it is called over. The one before is to be
  // dropped if it owes anything: else who has two could owe for ever.
  lane::Actions heard(SessionId session, ConnectionId connection, PayerId payer);
  void ended(SessionId session, ConnectionId connection);
  // It is known no more: nothing is called of it. What it was called for stays in use, and its connection is to be
  // dropped if it owes anything.
  lane::Actions forget(SessionId session);
  [[nodiscard]] bool takes_calls(SessionId session) const { return sessions_.contains(session); }
  // It has said hello, of either kind, and what it was let have stands.
  [[nodiscard]] bool knows(SessionId session) const { return takes_calls(session) || credits_.contains(session); }

  // ---- what sessions say
  struct Payment {
    enum class Kind : std::uint8_t {
      paid,            // it was asked for
      other_timeline,  // it was, in another one than it is of
      unasked,         // it was not: nobody honest sends it
    };
    Kind kind = Kind::unasked;
    std::optional<PayerId> payer = {};  // of whom it was called by name
    bool operator==(const Payment&) const = default;
  };
  // Of what comes within a credit: it may be held.
  [[nodiscard]] bool has_room_for(const Work& work, std::uint64_t bytes, const LaneApplier& applier) const;
  // Whether it may be held; what it was asked by is settled. What it is worth is said by `useful` or `useless`.
  Payment pays(SessionId session, ConnectionId connection, const Push& push, std::uint64_t bytes);
  // What was called of it by name and came was taken, or was there already.
  void useful(SessionId session, PayerId payer);
  // It was of no use.
  void useless(PayerId payer);
  // Takes the place of what was offered before; false: it comes late, over an older connection, or one that is dropped.
  bool offers(SessionId session, ConnectionId connection, const std::vector<Work>& works);
  void has_none(SessionId session, ConnectionId connection, std::uint64_t number, const LaneApplier& applier,
                const FactorPlan& plan, Timeline timeline);
  // False: it gives back what it was not given.
  bool returns(SessionId session, ConnectionId connection, std::uint64_t number, std::uint64_t bytes);
  // It is sent weights that it may compute with.
  void served(SessionId session);
  // Whoever still offers something of it gets receipts.
  lane::Actions applied(Timeline timeline, const Work& applied);
  // Another timeline begins: nothing of the one before is called any more.
  void forget_offers();

  // ---- what is called
  void tick(Micros now) { now_ = now; }
  // Connections that are to be dropped, because what was asked for does not come.
  lane::Actions take_back(Micros read_up_at);
  lane::Actions turn(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan);

  // Sessions in good standing that offer a node with this slot, or are called for one; at most so many.
  [[nodiscard]] std::vector<SessionId> bringers(const OldestWanted& wanted, Slot slots, std::size_t most) const;
  // Sessions that are out of good standing, at most so many, first those that failed last.
  struct OutOfStanding {
    std::vector<SessionId> all;
    std::vector<SessionId> unpaying;  // of them: calls were taken back twice, and none was paid between
  };
  [[nodiscard]] OutOfStanding out_of_standing(std::size_t most) const;
  // The call that the lane's oldest work waits for, and of whom; nothing: there is none, or it is not overdue.
  struct Awaited {
    SessionId session = 0;
    Work work;
  };
  [[nodiscard]] std::optional<Awaited> awaited() const;
  [[nodiscard]] std::uint64_t memory() const { return limits_.memory; }
  [[nodiscard]] std::uint64_t in_use(const LaneApplier& applier) const;
  // Contributions that sessions in good standing offer and nobody was called for, each once.
  [[nodiscard]] std::size_t waiting_offers() const { return offers_.good().works().size(); }
  [[nodiscard]] const CallCounters& counters() const { return counters_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(limits_), listed::parts(sessions_, accounts_, payers_, offers_, ahead_),
                       listed::fixed(called_, owing_), listed::plain(credits_, spine_, awaits_room_),
                       listed::names(next_number_), listed::ages(now_, spine_since_), listed::accounts(counters_));
  }

 private:
  using Connection = CallAccounts::Connection;
  struct Session {
    ConnectionId connection = 0;  // the newest; 0: none yet
    PayerId payer = 0;
    bool is_dropped = false;       // that connection
    std::uint32_t taken_back = 0;  // calls of it, since it paid one
    std::uint64_t last_call = 0;   // the number of it

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(connection, payer), listed::plain(is_dropped, taken_back),
                         listed::names(last_call));
    }
  };
  // The call that may be made whatever else is in use.
  struct Spine {
    Connection connection;
    std::uint64_t number = 0;
    OpenCall call;
    bool is_settled = false;  // of items: it is held, and not applied
    bool operator==(const Spine&) const = default;
  };

  // The nodes that hold the slot, the widest first, until `look` is content.
  template <typename Look>
  static void walk_to(const OldestWanted& wanted, Slot slots, Look&& look);
  void fails(PayerId payer, bool taken_back = false);
  void stands(PayerId payer, bool is_good);
  void no_longer_called(const Connection& connection);
  lane::Actions give_up(const Connection& connection);
  void settle_all(const Connection& connection);
  void settled(const Connection& connection, std::uint64_t number, const OpenCall& call, bool is_answered);
  [[nodiscard]] std::uint64_t outside(const LaneApplier& applier) const;
  // Beside the reserve, and what is kept free for statistics.
  [[nodiscard]] std::uint64_t room() const { return limits_.memory - limits_.reserve - limits_.statistics_room; }
  [[nodiscard]] bool has_room(const LaneApplier& applier, std::uint64_t bytes) const;
  [[nodiscard]] bool is_called(const Work& work, Slot slots) const;
  struct Candidate {
    SessionId session = 0;
    Work work;
  };
  [[nodiscard]] std::optional<Candidate> oldest_offer(const LaneApplier& applier, const FactorPlan& plan) const;
  template <typename Works, typename Look>
  static bool look_for_oldest(const Works& works, const std::optional<OldestWanted>& wanted, const LaneApplier& applier,
                              const FactorPlan& plan, Look&& look);
  void call_spine(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, lane::Actions& actions);
  void call_good(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, lane::Actions& actions);
  void call_statistics(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, lane::Actions& actions);
  void call_others(Timeline timeline, const LaneApplier& applier, const FactorPlan& plan, lane::Actions& actions);
  [[nodiscard]] bool is_short_ahead(SessionId session, std::uint64_t has, std::uint64_t share) const;
  void give_ahead(const LaneApplier& applier, lane::Actions& actions);
  void ask_back(lane::Actions& actions);
  std::uint64_t call(Timeline timeline, SessionId session, const Work& work, std::uint64_t bytes,
                     lane::Actions& actions);
  void receipt(Timeline timeline, SessionId session, const Work& work, lane::Actions& actions);
  void receipts_of_others(Timeline timeline, const Work& work, lane::Actions& actions);
  [[nodiscard]] std::optional<PayerId> payer_to_call(const PayerIndex::Payers& payers) const;

  Limits limits_;
  std::map<SessionId, Session> sessions_;  // who take calls
  CallAccounts accounts_;
  Payers payers_;
  OfferBook offers_;  // not called
  AheadTurns ahead_;
  // These follow from the accounts.
  WorkIndex called_;                        // of whom, over connections that stand, and not settled
  std::map<PayerId, std::uint32_t> owing_;  // calls not settled

  std::map<SessionId, ConnectionId> credits_;  // sessions that send within a credit, and over which connection
  std::optional<Spine> spine_;
  bool awaits_room_ = false;  // something that is offered found none
  std::uint64_t next_number_ = 1;
  Micros now_ = 0;
  Micros spine_since_ = 0;  // of spine_; 0: there is none
  CallCounters counters_;
};

}  // namespace ballast

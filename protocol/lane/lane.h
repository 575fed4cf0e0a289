// A lane: the owner of some chunks of one shard. Collects rounds or single items, applies them, serves the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/call_book.h"
#include "protocol/lane/factor_plan.h"
#include "protocol/lane/lane_applier.h"
#include "protocol/lane/lane_config.h"
#include "protocol/lane/lane_contact.h"
#include "protocol/lane/lane_events.h"
#include "protocol/lane/lane_sessions.h"
#include "protocol/lane/lane_snapshots.h"
#include "protocol/lane/lane_statistics.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct LaneCounters {
  std::uint64_t refused = 0;
  std::uint64_t stale = 0;
  ReplyCounters replies;
  ReaderCounters readers;
  CallCounters calls;
  ApplierCounters updates;
  bool operator==(const LaneCounters&) const = default;
};

// A receipt is sent only for work that is covered or whose step is closed.
// Pure: no I/O, clock, thread or log. Copyable. Not thread-safe.
class Lane {
 public:
  explicit Lane(LaneConfig config);

  lane::Actions step(const lane::Event& event);

  [[nodiscard]] LaneCounters counters() const;
  // Contributions that were taken, or were there already: what others are refused teaches nothing.
  [[nodiscard]] std::uint64_t taken() const { return applier_.counters().accepted + applier_.counters().duplicates; }
  [[nodiscard]] Step open_step() const { return applier_.open_step(); }
  [[nodiscard]] Timeline timeline() const { return era_.timeline; }
  [[nodiscard]] bool serving() const { return era_.serving; }
  // In item mode: from the first on without a gap, by every chunk.
  [[nodiscard]] ItemId covered_items() const { return applier_.covered_items(); }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t deferred_replies() const { return sessions_.deferred(); }
  // Updates that are decided, or committed, are still to be applied: a plan may decide on all chunks at once, and a
  // lane that applied gigabytes for one event would be silent for as long.
  [[nodiscard]] bool has_more() const;
  // Something is held up until the transport has let go of weights that were sent.
  [[nodiscard]] bool waits_for_release() const {
    return sessions_.deferred() > 0 || !applier_.readers().waiting().empty();
  }
  // Held payloads; at most ceil(slots / 2) per chunk in rounds.
  [[nodiscard]] std::size_t held_payloads() const { return applier_.held_payloads(); }

  // Bytes of contributions that it has, or has asked for and may still get; at most config.memory_bytes.
  [[nodiscard]] std::uint64_t bytes_in_use() const { return calls_.in_use(applier_); }
  // Contributions that workers in good standing offer and that were not called.
  [[nodiscard]] std::size_t waiting_offers() const { return calls_.waiting_offers(); }
  // Chunks whose update waits for who reads their weights.
  [[nodiscard]] const std::map<ChunkId, Micros>& waiting_for_readers() const { return applier_.readers().waiting(); }
  // Of weights that are read and of no use else.
  [[nodiscard]] std::uint64_t kept_bytes() const { return applier_.readers().kept_bytes(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return calls_.memory(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(config_),
                       listed::parts(sessions_, applier_, calls_, plan_, statistics_, snapshots_),
                       listed::plain(copies_, copy_), listed::parts(reach_, lead_, era_, ending_, departure_, told_),
                       listed::plain(trouble_), listed::accounts(counters_), listed::fixed(actions_));
  }

 private:
  // Of the job's history, as far as this lane has it.
  struct Era {
    Timeline timeline = 0;
    Timeline beginning = 0;  // confirmed, and made durable by now or later
    SnapshotId base;
    bool serving = false;
    bool resuming = false;
    Step cut = 0;                           // of a life that goes on: that the lead has told it
    std::optional<Replayed> replayed = {};  // it has all that the journal has, and the lead has not answered that yet

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(timeline, beginning, base, serving, resuming, cut, replayed));
    }
  };
  struct End {
    bool finishing = false;
    bool leaving = false;
    bool stopped = false;
    std::string failure;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(finishing, leaving, stopped, failure));
    }
  };
  // The server was told to end.
  struct Departure {
    bool wanted = false;
    Micros since = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(wanted), listed::ages(since));
    }
  };
  // What the shard can get from copies, and what it could not.
  struct Copies {
    std::vector<SnapshotId> found;
    std::vector<SnapshotId> lost;
    std::string trouble;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(found, lost, trouble));
    }
  };
  // What the lead has been told.
  struct Telling {
    Micros at = 0;  // the first tick says hello at once
    bool changed = true;
    bool of_trouble = false;
    std::uint64_t sequence = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::ages(at), listed::plain(changed, of_trouble), listed::names(sequence));
    }
  };

  void on(const lane::FromWorker& event);
  void on(const lane::FromLead& event);
  void on(const lane::Tick& event);
  void on(const lane::GoOn& event);
  void on(const lane::Begun& event);
  void on(const lane::Measured& event);
  void on(const lane::SnapshotDurable& event);
  void on(const lane::SnapshotFailed& event);
  void on(const lane::FinishRecorded& event);
  void on(const lane::Trouble& event);
  void on(const lane::StorageFailed& event);
  void on(const lane::ReplyReleased& event);
  void on(const lane::StatisticsRead& event);
  void on(const lane::Committed& event);
  void on(const lane::JournalSynced& event);
  void on(const lane::Resumed& event);
  void on(const lane::Copying& event);
  void on(const lane::Depart& event);
  void on(const lane::BaseMissing& event);
  void on(const lane::CopiesFound& event);
  void on(const lane::ConnectionEnded& event);

  void on_hello(const lane::FromWorker& event, const LaneHello& hello);
  void on_offers(const lane::FromWorker& event, const Offers& offers);
  [[nodiscard]] std::optional<Refused> check_offers(const Offers& offers) const;
  // Whether it was asked for.
  CallBook::Payment take_payment(const lane::FromWorker& event);
  void call_contributions();
  void on_pull(SessionId session, const Pull& pull);
  void on_push(const lane::FromWorker& event, const Push& push, const CallBook::Payment& payment);
  void on_confirm(const Confirm& confirm);
  void on_plan(const Plan& plan);
  void on_refused(const Refused& refused);
  void on_finish(const Finish& finish);

  // What sessions asked for and is gone, by version and kind (weights, averages). They are told once of each, not for
  // each chunk: of the chunk that is the furthest, since that says most of where the job is.
  using Missed = std::map<std::tuple<SessionId, Version, bool>, WeightsReply>;

  bool check_timeline(SessionId session, Timeline timeline);
  [[nodiscard]] std::optional<Refused> check_push(const Push& push, std::uint64_t payload_bytes) const;
  void refuse(SessionId session, Refused refused);
  void answer(const Answer& answer, const ServedChunk& chunk);
  void send(const std::optional<WeightsReply>& reply);
  void send(const std::optional<WeightsReply>& reply, Missed& gone);
  void tell(const Missed& gone);
  void carry_out(ApplierOutcome outcome);
  void cut_readers();
  void follow(const AppliedUpdate& update);
  void go_on(const Confirm& confirm);
  void forget();
  void follow_copies(const CopyState& copies);
  void take_snapshot_orders(const Plan& plan);
  void take_into_snapshot(Step step, ChunkId chunk, bool of_statistics);
  void report();
  void report_if_at_barrier(Step open_step);
  void say_hello();
  void stop(std::string failure);
  void leave(bool whole, std::string lost);
  [[nodiscard]] std::string what_is_lost() const;
  [[nodiscard]] std::string what_it_waits_for() const;
  [[nodiscard]] LaneReport state_report() const;

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }
  void emit_all(lane::Actions actions);

  LaneConfig config_;
  LaneSessions sessions_;
  LaneApplier applier_;
  CallBook calls_;
  FactorPlan plan_;
  LaneStatistics statistics_;
  LaneSnapshots snapshots_;
  CopyState copies_;  // the newest that the lead has said
  CopyProgress copy_;
  Copies reach_;
  LeadContact lead_;
  Era era_;
  End ending_;
  Departure departure_;
  Telling told_;
  std::string trouble_;  // with anything but the lane's own snapshots
  LaneCounters counters_;
  lane::Actions actions_;
};

}  // namespace ballast

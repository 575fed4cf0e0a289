// Who still reads which weights of a lane, and what is kept for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

struct ReaderCounters {
  std::uint64_t waits = 0;  // updates that found no room for what they would keep
  std::uint64_t cut = 0;    // connections that were to end for it
  bool operator==(const ReaderCounters&) const = default;
};

// Weights are sent from the buffers that they lie in, which nobody writes while a reply references them. Of each chunk
// the newest two versions have buffers of their own; an older one that is still read, or an average that is, is *kept*:
// it costs memory of which its readers alone decide how long. For that some memory is set aside. An update that would
// keep more than that waits, and connections over which something is kept are ended until there is room:
//  - those over which nothing was read for longer than what is read there now takes on the slowest link that is of use.
//    Who answers for one of them has less time during a pause, twice as long each time; and what is read of a timeline
//    that is over has none, for it is of no use to anybody;
//  - when an update has waited for as long as the largest of what is kept takes on that link, others as well, first the
//    one that is furthest behind it.
//
// Costs by the logarithm of the replies on their way; while an update waits, a look at the time goes through them all.
// Pure and copyable. Not thread-safe.
class WeightsReaders {
 public:
  static constexpr std::size_t kMostSlow = 4096;  // beyond that the one that was cut longest ago is forgotten
  static constexpr std::uint32_t kMostPauseDoublings = 7;
  static constexpr Micros kPartInPause = 4;      // of the patience
  static constexpr Micros kFasterInPause = 16;   // than the slowest link that is of use
  static constexpr Micros kLooksInPatience = 8;  // for whom to cut

  struct Limits {
    std::uint64_t set_aside = 0;  // bytes; at least what any one update keeps
    Micros patience = 0;          // for which nothing may be read over a connection, and longer by what is read there
    Micros pause = 0;             // for which it is a part of that, after one was cut, the first time
    bool operator==(const Limits&) const = default;
  };
  struct Reader {
    SessionId session = 0;
    ConnectionId connection = 0;
    PayerId payer = 0;
    bool operator==(const Reader&) const = default;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(session, connection, payer));
    }
  };

  explicit WeightsReaders(Limits limits) : limits_(limits) {}

  // ---- replies
  // Goes out; which number the transport's release is to have. `is_older`: of the version before the newest.
  std::uint64_t sends(const Reader& reader, ChunkId chunk, std::uint64_t bytes, bool is_older, bool averages);
  struct Reply {
    Reader reader;
    ChunkId chunk = 0;
    std::uint64_t bytes = 0;
    bool averages = false;
    std::uint64_t generation = 0;  // of the chunk's weights

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(reader), listed::plain(chunk, bytes, averages), listed::names(generation));
    }
  };
  // The transport has let go of it. Nothing: there is no such reply.
  std::optional<Reply> released(std::uint64_t number);

  // ---- updates
  // The chunk may be updated. False: it waits, for there is no room for what would be kept then.
  bool may_update(ChunkId chunk);
  // It is, if it may be.
  bool updates(ChunkId chunk);
  // What was to update it is given up.
  void waits_no_longer(ChunkId chunk);
  // Another timeline begins, with other buffers: all that is read is kept, and no update waits.
  void begin();
  // Something was read since, for which an update may have waited.
  [[nodiscard]] bool may_go_on() const;
  // All updates that wait were tried again.
  void tried() { has_room_again_ = false; }
  // Chunks whose update waits, and since when.
  [[nodiscard]] const std::map<ChunkId, Micros>& waiting() const { return waiting_; }
  // The same, first the one that has waited for longest.
  [[nodiscard]] std::vector<ChunkId> waiting_by_age() const;
  // The chunk whose update has waited for longer than it may, by the last look: nothing that would be kept finds room
  // before it.
  [[nodiscard]] std::optional<ChunkId> overdue() const { return overdue_; }

  // ---- time
  // A server that stands still reads nothing of what its transport has let go of: from one look at the time to the next
  // no more than a part of the patience passes.
  void tick(Micros now);
  // It is time to see for whom; a look goes through all replies.
  [[nodiscard]] bool is_look_due() const { return passed_ - looked_ >= limits_.patience / kLooksInPatience; }
  // Whose connections are to be ended.
  std::vector<Reader> cut();

  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_; }
  [[nodiscard]] const ReaderCounters& counters() const { return counters_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(limits_), listed::parts(replies_, connections_, chunks_), listed::fixed(kept_),
                       listed::parts(slow_), listed::ages(waiting_), listed::plain(has_room_again_, overdue_),
                       listed::ages(passed_, seen_, looked_), listed::names(next_number_, first_of_timeline_),
                       listed::accounts(counters_));
  }

 private:
  // By generation: how many replies reference its buffer.
  using Readers = std::map<std::uint64_t, std::uint32_t>;
  struct Chunk {
    std::uint64_t generation = 2;  // of the newest weights; counts updates
    std::uint64_t bytes = 0;
    Readers weights;
    Readers averages;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(generation), listed::plain(bytes, weights, averages));
    }
  };
  struct Connection {
    std::set<std::uint64_t> replies;  // on their way over it
    PayerId payer = 0;
    Micros since = 0;     // the first of them was read, or the first of them went out, or it was cut
    bool is_cut = false;  // it is to end

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(replies), listed::names(payer), listed::ages(since), listed::plain(is_cut));
    }
  };
  using ConnectionKey = std::pair<SessionId, ConnectionId>;
  struct Slow {
    Micros since = 0;
    std::uint32_t doublings = 0;  // of the next pause

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::ages(since), listed::plain(doublings));
    }
  };
  // A chunk's weights, or (true) average, of a generation.
  using Buffer = std::tuple<ChunkId, bool, std::uint64_t>;
  // Over which connections that are not cut each buffer is read that is kept, or would be by an update that waits.
  using Uncut = std::map<Buffer, std::set<ConnectionKey>>;

  [[nodiscard]] static bool is_kept(const Chunk& chunk, std::uint64_t generation, bool averages);
  [[nodiscard]] bool is_kept(const Reply& reply) const;
  [[nodiscard]] bool is_in_the_way(const Reply& reply) const;
  [[nodiscard]] static std::uint64_t kept_by_update(const Chunk& chunk);
  void find_overdue();
  [[nodiscard]] Micros longest_wait() const;
  [[nodiscard]] bool is_slow(PayerId payer) const;
  void was_slow(PayerId payer);
  [[nodiscard]] bool is_going(const Connection& connection) const;
  [[nodiscard]] bool is_past(const Connection& connection) const;
  // Microseconds for which nothing was read over it, beyond what it may be.
  [[nodiscard]] std::int64_t behind(const Connection& connection) const;
  [[nodiscard]] std::vector<ConnectionKey> keeping() const;
  [[nodiscard]] Uncut uncut() const;
  [[nodiscard]] std::uint64_t lacking(const Uncut& uncut, Micros waited) const;
  [[nodiscard]] static bool frees(const ConnectionKey& key, const Uncut& uncut);
  void cut(const ConnectionKey& key, Uncut& uncut);

  Limits limits_;
  std::map<std::uint64_t, Reply> replies_;  // by number
  std::map<ConnectionKey, Connection> connections_;
  std::map<ChunkId, Chunk> chunks_;
  std::uint64_t kept_ = 0;  // follows from both
  std::map<PayerId, Slow> slow_;
  std::map<ChunkId, Micros> waiting_;
  bool has_room_again_ = false;
  std::optional<ChunkId> overdue_;
  Micros passed_ = 1;  // of the time in which the lane was at work
  Micros seen_ = 0;    // the clock
  Micros looked_ = 0;  // for whom to cut, by passed_
  std::uint64_t next_number_ = 1;
  std::uint64_t first_of_timeline_ = 1;  // the number of its first reply
  ReaderCounters counters_;
};

}  // namespace ballast

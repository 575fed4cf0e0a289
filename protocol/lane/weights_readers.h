// Who still reads which weights of a lane, and what is kept for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
// it costs memory of which its readers alone decide how long. So a chunk whose update would keep one more waits where
// there is no room for that, and whoever reads what is kept has its connection ended when updates have waited for
// `patience`: then it is kept no longer, and whoever was cut asks again. Who is out of good standing is not waited for.
//
// Costs by the logarithm of the replies on their way; while an update waits, a look at the time goes through them all.
// Pure and copyable. Not thread-safe.
class WeightsReaders {
 public:
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
  struct Reply {
    Reader reader;
    ChunkId chunk = 0;
    std::uint64_t bytes = 0;
    bool averages = false;
    std::uint64_t generation = 0;  // of the chunk's weights; 0: of another timeline
    bool is_cut = false;           // its connection is to end

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(reader), listed::plain(chunk, bytes, averages), listed::names(generation),
                         listed::plain(is_cut));
    }
  };

  // `set_aside`: bytes that are there to be kept, whatever else is in use.
  WeightsReaders(std::uint64_t set_aside, Micros patience)
      : set_aside_(set_aside), room_(set_aside), patience_(patience) {}

  // ---- replies
  // Goes out; which number the transport's release is to have. `is_older`: of the version before the newest.
  std::uint64_t sends(const Reader& reader, ChunkId chunk, std::uint64_t bytes, bool is_older, bool averages);
  // The transport has let go of it. Nothing: there is no such reply.
  std::optional<Reply> released(std::uint64_t number);

  // ---- updates
  // So many bytes of the lane's memory may be kept beside what is set aside.
  void may_keep(std::uint64_t beside) { room_ = set_aside_ + beside; }
  // The chunk may be updated. False: there is no room for what would be kept then; it waits.
  bool may_update(ChunkId chunk);
  // It is, if it may be.
  bool updates(ChunkId chunk);
  // Chunks whose update waits.
  [[nodiscard]] const std::set<ChunkId>& waiting() const { return waiting_; }
  [[nodiscard]] Micros waits_since() const { return waits_since_; }  // 0: none does
  // Another timeline begins, with other buffers. What is read of this one is not counted, but not read for long.
  void begin();

  // ---- time
  // Whose connections are to be ended, each once, and whether for an update that waits: what is read of another
  // timeline is nobody's fault. `is_good`: whether it is in good standing.
  struct Overdue {
    Reader reader;
    bool holds_up = false;
    bool operator==(const Overdue&) const = default;
  };
  template <typename IsGood>
  std::vector<Overdue> overdue(Micros now, IsGood&& is_good) {
    now_ = now;
    std::vector<Overdue> overdue;
    if (waits_since_ == 0 && begun_at_ == 0) {
      return overdue;
    }
    const bool is_late = waits_since_ > 0 && now - waits_since_ >= patience_;
    const bool is_over = begun_at_ > 0 && now - begun_at_ >= patience_;
    std::set<std::pair<SessionId, ConnectionId>> cut;
    for (const auto& [number, reply] : replies_) {
      const auto& reader = reply.reader;
      const bool holds_up = waits_since_ > 0 && is_kept(reply) && (is_late || !is_good(reader.payer));
      if (!reply.is_cut && (holds_up || (is_over && reply.generation == 0)) &&
          cut.emplace(reader.session, reader.connection).second) {
        ++counters_.cut;
        overdue.push_back({reader, holds_up});
      }
    }
    for (auto& [number, reply] : replies_) {
      reply.is_cut = reply.is_cut || cut.contains({reply.reader.session, reply.reader.connection});
    }
    begun_at_ = is_over ? 0 : begun_at_;
    return overdue;
  }

  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_; }
  // Of them, what is more than was set aside.
  [[nodiscard]] std::uint64_t beyond_set_aside() const { return kept_ > set_aside_ ? kept_ - set_aside_ : 0; }

  [[nodiscard]] const ReaderCounters& counters() const { return counters_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(set_aside_, room_, patience_), listed::parts(replies_, chunks_),
                       listed::fixed(kept_), listed::plain(waiting_), listed::ages(waits_since_, begun_at_, now_),
                       listed::names(next_number_), listed::accounts(counters_));
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

  [[nodiscard]] bool is_kept(const Reply& reply) const;
  [[nodiscard]] static std::uint64_t kept_by_update(const Chunk& chunk);

  std::uint64_t set_aside_;
  std::uint64_t room_;
  Micros patience_;
  std::map<std::uint64_t, Reply> replies_;  // by number
  std::map<ChunkId, Chunk> chunks_;
  std::uint64_t kept_ = 0;  // follows from both
  std::set<ChunkId> waiting_;
  Micros waits_since_ = 0;  // the first of them; 0: none does
  Micros begun_at_ = 0;     // of the timeline, if something was read then; 0: nothing was, or it is seen to
  Micros now_ = 0;
  std::uint64_t next_number_ = 1;
  ReaderCounters counters_;
};

}  // namespace ballast

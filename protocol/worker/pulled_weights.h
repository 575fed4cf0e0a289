// The weights of a session: which it has, which it has asked for, and which came while others were computed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

// By chunk; each is kept under the key that it was asked for by. Pure and copyable.
class PulledWeights {
 public:
  struct Staged {
    Weights header;
    PayloadId payload = kNoPayload;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(header), listed::payloads(payload));
    }
  };
  enum class Ask : std::uint8_t { no, first, again };

  PulledWeights(std::size_t chunks, LearntDeadline::Bounds retry) : chunks_(chunks), pull_time_(retry) {}

  [[nodiscard]] std::size_t size() const { return chunks_.size(); }

  // What is to be computed from next; nothing: nothing.
  void aim(std::optional<WeightsKey> target);
  // Whether all chunks are here as the target has them.
  [[nodiscard]] bool is_complete() const { return target_ && at_target_ == chunks_.size(); }
  // Whether these bring the chunk to the target, or are what was asked for.
  [[nodiscard]] bool wants(ChunkId chunk, WeightsKey key) const;

  // Whether the chunk is to be pulled for the target now; then it counts as asked.
  Ask ask(ChunkId chunk, Micros now);
  // Along with a contribution, and not for the target.
  void ask_along(ChunkId chunk, WeightsKey key, Micros now);
  [[nodiscard]] std::optional<WeightsKey> asked(ChunkId chunk) const;
  // They are to be had no more.
  void gone(ChunkId chunk, WeightsKey key);
  // Whatever was asked for of the chunk will not come.
  void unasked(ChunkId chunk) { chunks_[chunk].asked.reset(); }

  // Weights that are wanted came; how long they took is learnt from.
  void came(const Weights& header, Micros now);
  // They can't be stored before the computation in hand has ended.
  void stage(const Weights& header, PayloadId payload) { staged_.push_back({header, payload}); }
  std::vector<Staged> take_staged() { return std::exchange(staged_, {}); }
  // Of the shard in whose journal the mark is.
  void store(const Weights& header, std::uint32_t shard);

  // All, or those that are `lost` (by chunk), are neither here nor asked for. The payloads that were staged.
  std::vector<PayloadId> forget_all();
  std::vector<PayloadId> forget(const std::vector<bool>& lost);

  // Of what was stored.
  [[nodiscard]] Version version(ChunkId chunk) const { return chunks_[chunk].version; }
  // What all that was stored rests on.
  [[nodiscard]] std::shared_ptr<const std::vector<JournalMark>> marks() const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(chunks_, target_), listed::plain(at_target_), listed::parts(staged_, pull_time_));
  }

 private:
  struct Chunk {
    bool is_here = false;
    WeightsKey key;       // of what was stored
    Version version = 0;  // likewise
    JournalMark mark;     // likewise
    std::optional<WeightsKey> asked;
    Micros asked_at = 0;
    std::uint32_t tries = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(is_here), listed::parts(key), listed::plain(version, mark.shard),
                         listed::names(mark.incarnation), listed::plain(mark.sequence), listed::parts(asked),
                         listed::ages(asked_at), listed::plain(tries));
    }
  };

  [[nodiscard]] bool is_at_target(const Chunk& chunk) const;

  std::vector<Chunk> chunks_;
  std::optional<WeightsKey> target_;
  std::size_t at_target_ = 0;  // chunks here as the target has them
  std::vector<Staged> staged_;
  LearntDeadline pull_time_;
};

}  // namespace ballast

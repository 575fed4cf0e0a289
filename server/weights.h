// The bytes of a lane's chunks: two versions of the weights, the optimizer's state, and who still reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/arena/pieces.h"
#include "common/job/descents.h"
#include "common/job/job.h"
#include "common/numeric/optimizer.h"
#include "protocol/ids.h"
#include "protocol/messages.h"

namespace ballast {

// A version of a chunk's weights, or a tensor of its optimizer's state. Readers are counted by the lane's thread alone:
// others that read (the transport's I/O threads, a snapshot's writer) only say through a queue that they have let go.
struct ChunkBuffer {
  // Of no particular values: nothing is written, so that a large model's memory is not touched before it is used.
  explicit ChunkBuffer(std::size_t elements)
      : memory(std::make_unique_for_overwrite<float[]>(elements)), values(memory.get(), elements) {}
  std::unique_ptr<float[]> memory;
  std::span<float> values;
  std::uint32_t readers = 0;
  bool retired = false;  // neither one of the chunk's two versions nor its state any more
};

// What the decision on a step needs to know of a chunk's gradient.
struct RootMeasure {
  std::vector<double> sums;  // of squares, as clip_norms() or trust_norms() counts them; empty if those have none
  bool finite = true;
  std::uint32_t parameter = 0;  // if not finite: that of the first such element, by its index in the arena
};

// Where an item's update comes from, in item mode.
struct ItemSource {
  Step step = 0;
  Slot slot = 0;
  std::uint64_t staleness = 0;  // updates of the chunk since the version that it was computed from
};

// One thread. Updates go out of place into the older version's buffer, or into another one from the pool while a reader
// still has the older; the state is updated in place, or in a copy while a reader has it.
//
// No call touches the memory of more than one chunk, but initialize(): a lane with gigabytes goes through them in as
// many turns as it takes.
class LaneWeights {
 public:
  LaneWeights(const Job& job, const std::vector<ChunkId>& chunks);

  // Every chunk is at `version` and has neither weights nor state (the statistics chunk has zeros): restore() brings
  // them. What readers hold stays as it is until they let go.
  void begin(Version version);
  // begin(0), where draw_next() brings them: the weights drawn from the job's seed and the state that the optimizer
  // begins with.
  void begin_drawn();
  [[nodiscard]] bool has_to_draw() const { return drawn_ < entries_.size(); }
  // Of one chunk; its bytes. Only while has_to_draw().
  std::uint64_t draw_next();
  // All at once.
  void initialize();
  // One chunk becomes `version` with these bytes; state in the order of state(). std::invalid_argument, before anything
  // is changed, if sizes or the number of tensors are not the chunk's.
  void restore(ChunkId chunk, Version version, std::span<const float> weights,
               const std::vector<std::vector<float>>& state);

  // Of a step's root, which has the chunk's elements and any alignment. The statistics chunk's is always finite.
  // `known_finite`: whoever wrote the root has looked, so that it is read again only if norms are needed. Trust ratios'
  // are of the newest version and the update that apply() would make of it with the factors of `prospect`.
  [[nodiscard]] RootMeasure measure(ChunkId chunk, std::span<const float> root, bool known_finite = false,
                                    const Prospect& prospect = {}) const;

  // `version` becomes `version + 1`. `root` has the chunk's elements and any alignment; a skipped update does not look
  // at it. `factors.scales` are none, one, or one for each parameter of the model. Of state the root is the change; in
  // item mode, where the change is divided by `item.staleness`, it is the statistic of parameters that have a momentum,
  // and an item without examples leaves state as it is.
  void apply(ChunkId chunk, Version version, std::span<const float> root, const StepFactors& factors,
             const ItemSource& item = {});

  // The buffer of a version, which must be one of the two held; counts a reader.
  ChunkBuffer* read(ChunkId chunk, Version version);
  // The same of what is evaluated in a job that averages its weights: the average at the newest version, or of chunks
  // that are not descended its values.
  ChunkBuffer* read_average(ChunkId chunk);
  // The optimizer's state at the newest version, in the order of state_tensors(), and the average of the weights as the
  // last one where the job has it; counts a reader of each.
  std::vector<ChunkBuffer*> read_state(ChunkId chunk);
  void release(ChunkId chunk, ChunkBuffer* buffer);

  [[nodiscard]] std::span<const float> newest(ChunkId chunk) const;
  // What the statistics chunk says of the step that its newest version came of.
  [[nodiscard]] StepStatistics statistics(ChunkId chunk, Step step) const;
  // The same without counting; none for chunks that are not descended.
  [[nodiscard]] std::vector<std::span<const float>> state(ChunkId chunk) const;
  // How many tensors that is, also before they are there.
  [[nodiscard]] std::size_t state_count(ChunkId chunk) const { return entry(chunk).tensors; }
  [[nodiscard]] Version version(ChunkId chunk) const;
  // Of all buffers, pooled ones included. What readers keep beyond a version (and an average), and a snapshot beyond
  // its own, comes to what is always there, and is freed when they let go.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<ChunkId>& chunks() const { return ids_; }

 private:
  // A part of a chunk that is updated alike, with the padding that follows it: which has zeros, and keeps them.
  struct Stretch {
    std::uint64_t offset = 0;  // floats
    std::uint64_t elements = 0;
    std::uint32_t parameter = 0;  // the first one
    std::uint32_t descent = 0;    // of descents_.kinds
    float momentum = 0;           // state: what is sent is a statistic; 0: a change
    [[nodiscard]] bool is_alike(const Stretch& other) const {
      return descent == other.descent && momentum == other.momentum;
    }
  };
  struct Entry {
    Chunk chunk;
    std::vector<Piece> pieces;
    std::vector<Stretch> by_piece;   // one for each
    std::vector<Stretch> stretches;  // as few as there may be
    Version version = 0;
    std::size_t tensors = 0;              // of state, the average included
    std::unique_ptr<ChunkBuffer> newest;  // null until the chunk is drawn or restored
    std::unique_ptr<ChunkBuffer> older;   // null before the first update
    std::vector<std::unique_ptr<ChunkBuffer>> state;
    std::vector<std::unique_ptr<ChunkBuffer>> retired;  // still read
  };

  Entry& entry(ChunkId chunk) { return entries_.at(index_.at(chunk)); }
  [[nodiscard]] const Entry& entry(ChunkId chunk) const { return entries_.at(index_.at(chunk)); }
  void begin(Entry& entry, Version version);
  void make_room(Entry& entry);
  void unshare_state(Entry& entry);
  [[nodiscard]] std::vector<Stretch> stretches_of(const Entry& entry) const;
  static std::vector<Stretch> joined(const std::vector<Stretch>& stretches);
  [[nodiscard]] RootMeasure measure_clipping(const Entry& entry, std::span<const float> root, bool known_finite) const;
  [[nodiscard]] std::vector<double> measure_trust(const Entry& entry, std::span<const float> root,
                                                  const Prospect& prospect) const;
  void descend(Entry& entry, std::span<const float> root, const StepFactors& factors, std::span<float> next);
  void average(Entry& entry, std::span<const float> next) const;
  void change(const Entry& entry, std::span<const float> root, const ItemSource& item, std::span<float> next) const;
  [[nodiscard]] static std::uint32_t parameter_at(const Entry& entry, std::uint64_t element);
  void give_up(Entry& entry, std::unique_ptr<ChunkBuffer> buffer);
  std::unique_ptr<ChunkBuffer> take_buffer(Entry& entry);
  std::unique_ptr<ChunkBuffer> pooled(std::size_t elements);
  void pool(std::unique_ptr<ChunkBuffer> buffer);
  void free_idle();

  const Job& job_;
  bool each_item_is_update_;  // its statistics are blended; otherwise a round's change is added
  Descents descents_;
  std::vector<StateTensor> tensors_;  // of the optimizer's state, without the average
  std::vector<ChunkId> ids_;
  std::vector<Entry> entries_;
  std::unordered_map<ChunkId, std::size_t> index_;
  std::unordered_map<std::size_t, std::vector<std::unique_ptr<ChunkBuffer>>> pool_;  // by elements
  std::size_t drawn_ = 0;  // of entries_; all of them where nothing is to be drawn
  std::uint64_t bytes_ = 0;
  std::uint64_t most_pooled_ = 0;  // while there are more bytes than that, what is read no more is freed
};

}  // namespace ballast

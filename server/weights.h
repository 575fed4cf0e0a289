// The bytes of a lane's chunks: two versions of the weights, the optimizer's state, and who still reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/job/job.h"
#include "common/protocol/ids.h"
#include "common/protocol/messages.h"

namespace ballast {

// A version of a chunk's weights. Readers are counted by the lane's thread alone: the transport's I/O threads only say
// through a queue that they have let go.
struct VersionBuffer {
  explicit VersionBuffer(std::size_t elements) : values(elements) {}
  std::vector<float> values;
  std::uint32_t readers = 0;
  bool retired = false;  // neither of the chunk's two versions any more
};

// One thread. Updates go out of place into the older version's buffer, or into another one from the pool while a reader
// still has the older.
class LaneWeights {
 public:
  LaneWeights(const Job& job, const std::vector<ChunkId>& chunks);

  // Fills every chunk with the values before step 0.
  void initialize();

  // Version `step` becomes `step + 1`. `root` has the chunk's elements and any alignment.
  void apply(ChunkId chunk, Step step, std::span<const float> root, const StepFactors& factors);

  // The buffer of a version, which must be one of the two held; counts a reader.
  VersionBuffer* read(ChunkId chunk, Version version);
  void release(ChunkId chunk, VersionBuffer* buffer);

  [[nodiscard]] std::span<const float> newest(ChunkId chunk) const;
  [[nodiscard]] std::span<const float> momentum(ChunkId chunk) const;
  [[nodiscard]] Version version(ChunkId chunk) const;
  // Of all buffers, pooled ones included.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<ChunkId>& chunks() const { return ids_; }

 private:
  struct State {
    Chunk chunk;
    Version version = 0;
    std::unique_ptr<VersionBuffer> newest;
    std::unique_ptr<VersionBuffer> older;
    std::vector<float> momentum;
    std::vector<std::unique_ptr<VersionBuffer>> retired;  // still read
  };

  State& state(ChunkId chunk) { return states_.at(index_.at(chunk)); }
  [[nodiscard]] const State& state(ChunkId chunk) const { return states_.at(index_.at(chunk)); }
  std::unique_ptr<VersionBuffer> take_buffer(State& state);
  std::unique_ptr<VersionBuffer> pooled(std::size_t elements);

  const Job& job_;
  std::vector<ChunkId> ids_;
  std::vector<State> states_;
  std::unordered_map<ChunkId, std::size_t> index_;
  std::unordered_map<std::size_t, std::vector<std::unique_ptr<VersionBuffer>>> pool_;  // by elements
  std::uint64_t bytes_ = 0;
};

}  // namespace ballast

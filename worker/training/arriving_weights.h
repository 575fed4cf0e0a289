// Weights that have come and are not in the arena yet.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/arena/arena.h"
#include "protocol/ids.h"

namespace ballast {

// A chunk of the weights, and who keeps its bytes.
struct ArrivedChunk {
  ChunkId chunk = 0;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  Step step = 0;  // of the version, for what is measured
};

// They are written while others are on their way; fewer wait for the job that needs them. Its owner guards it.
class ArrivingWeights {
 public:
  static constexpr std::uint64_t kWriteFrom = 4U << 20U;

  void put(ArrivedChunk chunk) {
    bytes_ += chunk.bytes.size();
    ++stored_;
    chunks_.push_back(std::move(chunk));
  }
  // So many that they are written without a job.
  [[nodiscard]] bool are_many() const { return bytes_ >= kWriteFrom; }
  std::vector<ArrivedChunk> take() {
    bytes_ = 0;
    return std::exchange(chunks_, {});
  }
  // How many have ever been put: the name of the weights' contents.
  [[nodiscard]] std::uint64_t stored() const { return stored_; }

 private:
  std::vector<ArrivedChunk> chunks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t stored_ = 0;
};

// Into `weights`, those of the arena; the bytes are let go as soon as they are there.
inline void write(const Arena& arena, std::vector<ArrivedChunk> chunks, std::span<float> weights) {
  for (auto& chunk : chunks) {
    const auto& place = arena.chunks[chunk.chunk];
    std::memcpy(weights.data() + place.offset, chunk.bytes.data(), place.bytes());
    chunk.owner.reset();
  }
}

}  // namespace ballast

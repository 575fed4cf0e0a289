#include "server/weights.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "common/numeric/initial.h"
#include "common/numeric/sgd.h"

namespace ballast {

LaneWeights::LaneWeights(const Job& job, const std::vector<ChunkId>& chunks) : job_(job), ids_(chunks) {
  for (const auto id : chunks) {
    index_.emplace(id, states_.size());
    State state;
    state.chunk = job.arena.chunks[id];
    state.newest = pooled(state.chunk.elements);
    const bool descends = state.chunk.group == Group::decay || state.chunk.group == Group::no_decay;
    if (descends && job.spec.training.optimizer.momentum != 0) {
      state.momentum.resize(state.chunk.elements);
      bytes_ += state.chunk.bytes();
    }
    states_.push_back(std::move(state));
  }
}

void LaneWeights::initialize() {
  for (auto& state : states_) {
    auto& values = state.newest->values;
    std::fill(values.begin(), values.end(), 0.0F);
    const auto begin = state.chunk.offset;
    const auto end = begin + state.chunk.elements;
    for (std::size_t i = 0; i < job_.arena.parameters.size(); ++i) {
      const auto& extent = job_.arena.extents[i];
      const auto from = std::max(begin, extent.offset);
      const auto to = std::min(end, extent.offset + extent.elements);
      if (from < to) {
        fill_initial(std::span(values).subspan(from - begin, to - from), job_.arena.parameters[i].initial,
                     job_.spec.training.seed, static_cast<std::uint32_t>(i), from - extent.offset);
      }
    }
  }
}

std::unique_ptr<VersionBuffer> LaneWeights::pooled(std::size_t elements) {
  auto& free = pool_[elements];
  if (free.empty()) {
    bytes_ += elements * sizeof(float);
    return std::make_unique<VersionBuffer>(elements);
  }
  auto buffer = std::move(free.back());
  free.pop_back();
  buffer->retired = false;
  return buffer;
}

std::unique_ptr<VersionBuffer> LaneWeights::take_buffer(State& state) {
  if (state.older && state.older->readers == 0) {
    return std::move(state.older);
  }
  if (state.older) {
    state.older->retired = true;
    state.retired.push_back(std::move(state.older));
  }
  return pooled(state.chunk.elements);
}

void LaneWeights::apply(ChunkId chunk, Step step, std::span<const float> root, const StepFactors& factors) {
  auto& state = this->state(chunk);
  assert(state.version == step && root.size() == state.chunk.elements);
  auto next = take_buffer(state);
  const auto& optimizer = job_.spec.training.optimizer;
  switch (state.chunk.group) {
    case Group::decay:
    case Group::no_decay:
      sgd_step(state.newest->values, root, state.momentum, next->values,
               {factors.learning_rate, static_cast<float>(optimizer.momentum),
                state.chunk.group == Group::decay ? static_cast<float>(optimizer.weight_decay) : 0.0F});
      break;
    case Group::state:
    case Group::statistics:
      average_state(root, next->values);
      break;
  }
  state.older = std::exchange(state.newest, std::move(next));
  state.version = step + 1;
}

VersionBuffer* LaneWeights::read(ChunkId chunk, Version version) {
  auto& state = this->state(chunk);
  auto* buffer = version == state.version ? state.newest.get() : state.older.get();
  assert(buffer != nullptr && (version == state.version || version + 1 == state.version));
  ++buffer->readers;
  return buffer;
}

void LaneWeights::release(ChunkId chunk, VersionBuffer* buffer) {
  if (--buffer->readers != 0 || !buffer->retired) {
    return;
  }
  auto& retired = state(chunk).retired;
  const auto found =
      std::find_if(retired.begin(), retired.end(), [&](const auto& candidate) { return candidate.get() == buffer; });
  pool_[buffer->values.size()].push_back(std::move(*found));
  retired.erase(found);
}

std::span<const float> LaneWeights::newest(ChunkId chunk) const { return state(chunk).newest->values; }
std::span<const float> LaneWeights::momentum(ChunkId chunk) const { return state(chunk).momentum; }
Version LaneWeights::version(ChunkId chunk) const { return state(chunk).version; }

}  // namespace ballast

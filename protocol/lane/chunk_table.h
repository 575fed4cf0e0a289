// The state of a lane's chunks, in the order of their ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane_config.h"
#include "protocol/state_list.h"

namespace ballast {

// State has a member `spec`, the chunk. What is true of the table's shape stays: chunks never come or go.
template <typename State>
class ChunkTable {
 public:
  // Each state is made from its chunk.
  template <typename Make>
  ChunkTable(std::vector<LaneChunk> chunks, Make make) {
    static_assert(lists_all_members<ChunkTable>());
    std::sort(chunks.begin(), chunks.end(), [](const auto& left, const auto& right) { return left.id < right.id; });
    states_.reserve(chunks.size());
    for (const auto& chunk : chunks) {
      states_.push_back(make(chunk));
    }
  }

  // Null if the chunk does not live on the lane.
  [[nodiscard]] State* find(ChunkId id) { return const_cast<State*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const State* find(ChunkId id) const {
    const auto found = std::lower_bound(states_.begin(), states_.end(), id,
                                        [](const State& state, ChunkId wanted) { return state.spec.id < wanted; });
    return found != states_.end() && found->spec.id == id ? &*found : nullptr;
  }

  [[nodiscard]] State& operator[](std::size_t index) { return states_[index]; }
  [[nodiscard]] const State& operator[](std::size_t index) const { return states_[index]; }
  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] bool empty() const { return states_.empty(); }
  [[nodiscard]] auto begin() { return states_.begin(); }
  [[nodiscard]] auto end() { return states_.end(); }
  [[nodiscard]] auto begin() const { return states_.begin(); }
  [[nodiscard]] auto end() const { return states_.end(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(states_));
  }

 private:
  std::vector<State> states_;
};

}  // namespace ballast

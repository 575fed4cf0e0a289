// Which finished work a session gives up where its computation waits for a buffer of gradients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"
#include "protocol/worker/outbox.h"

namespace ballast {

// Buffers are free again with receipts, and receipts come with calls: a lane with little memory calls what it needs
// first, which may be a slot that this session is still to compute. Whoever waited for a buffer then would wait for
// ever. So a node is given up that is finished, that no lane has called and that every lane has been offered for a
// while: the one with the fewest slots, and of several the last, for lanes call the first ones first. It is computed
// again when the rest is.
//
// Of one step at a time. Costs by the slots of a node for each of its chunks. Pure and copyable.
class BufferShortage {
 public:
  explicit BufferShortage(Slot slots = 0, std::size_t chunks = 0)
      : chunks_(static_cast<std::uint32_t>(chunks)), left_(slots, 0) {}

  // Another step, or one of another timeline, is computed.
  void begin(Timeline timeline, Step step);
  // A sum of a chunk over the node is final.
  void left(Node node);
  // What to give up of what is `kept` (ascending, each node once) and has waited since before that moment; none:
  // nothing can be.
  [[nodiscard]] std::optional<Node> choose(const std::vector<KeptNode>& kept, Micros before) const;
  void give_up(Node node);

  void wait() { is_waiting_ = true; }
  void end_wait() { is_waiting_ = false; }
  [[nodiscard]] bool is_waiting() const { return is_waiting_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(is_waiting_, timeline_, step_, chunks_, left_));
  }

 private:
  [[nodiscard]] bool is_finished(Node node) const;

  bool is_waiting_ = false;  // the computation
  Timeline timeline_ = 0;
  Step step_ = 0;
  std::uint32_t chunks_;
  std::vector<std::uint32_t> left_;  // by slot: chunks whose sum with it is final
};

}  // namespace ballast

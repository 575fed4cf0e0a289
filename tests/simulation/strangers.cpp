#include "tests/simulation/strangers.h"

#include <bit>

namespace ballast::simulation {

namespace {

ChunkId any_chunk_of(const LifeSpec& life, std::uint32_t lane) {
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane == lane) {
      return chunk;
    }
  }
  return static_cast<ChunkId>(life.chunks.size());  // the lane has none: any is wrong
}

ChunkId chunk_elsewhere(Random& random, const LifeSpec& life, std::uint32_t lane) {
  const auto chunk = static_cast<ChunkId>(random.between(0, life.chunks.size() + 3));
  return chunk < life.chunks.size() && life.chunks[chunk].lane == lane ? ~ChunkId{0} : chunk;
}

// Never a node of the tree over three or more slots: empty, reversed, beyond the slots, or across the first division.
Node no_node(Random& random, Slot slots) {
  const Slot middle = std::bit_floor(slots - 1);
  switch (random.between(0, 3)) {
    case 0:
      return {1, 1};
    case 1:
      return {2, 1};
    case 2:
      return {0, slots + static_cast<Slot>(random.between(1, ~Slot{0} - slots))};
    default:
      return {middle - 1, middle + 1};
  }
}

StrangeMessage strange_push(Random& random, const LifeSpec& life, std::uint32_t lane, Timeline timeline) {
  const auto chunk = any_chunk_of(life, lane);
  const std::uint64_t bytes = chunk < life.chunks.size() ? life.chunks[chunk].bytes : 16;
  Push push{timeline, 0, chunk, {0, 1}, random.chance(0.5), kNoSlot, {}};
  switch (random.between(0, life.items ? 8 : 6)) {
    case 0:
      push.chunk = chunk_elsewhere(random, life, lane);
      return {push, bytes};
    case 1:
      return {push, random.chance(0.5) ? bytes + 1 : 0};
    case 2:
      push.node = no_node(random, life.slots);
      return {push, bytes};
    case 3:
      push.step = life.steps + random.between(0, 3);
      return {push, bytes};
    case 4:
      push.step = ~Step{0};
      return {push, bytes};
    case 5:
      push.fault = push.node.end + static_cast<Slot>(random.between(0, 3));
      return {push, bytes};
    case 6:
      push.timeline = random.chance(0.5) ? 0 : timeline + 1 + random.between(0, 5);
      return {push, bytes};
    case 7:
      push.items.computed_from = life.updates(life.steps) + 1;  // a version that never is
      return {push, bytes};
    default:
      push.node = {0, 2};  // more than an item
      return {push, bytes};
  }
}

}  // namespace

StrangeMessage strange_to_lane(Random& random, const LifeSpec& life, std::uint32_t lane, Timeline timeline) {
  switch (random.between(0, 6)) {
    case 0:
      return {Pull{timeline, 0, {chunk_elsewhere(random, life, lane)}}, 0};
    case 1:
      return {Pull{timeline, life.updates(life.steps) + random.between(1, 5), {any_chunk_of(life, lane)}}, 0};
    case 2:
      return {Heartbeat{}, 0};
    case 3:  // averages that the job does not keep, or that never are
      return {
          Pull{timeline, life.updates(life.steps) + (life.averaged_from ? 1 : 0), {any_chunk_of(life, lane)}, {}, true},
          0};
    default:
      return strange_push(random, life, lane, timeline);
  }
}

Message strange_to_lead(Random& random) {
  switch (random.between(0, 3)) {
    case 0:
      return Heartbeat{1, {1, 7}, 3, true, true, "", "strange", {}, {}, 5, 0, {{1, 1}}};
    case 1:
      return EvaluationResult{1, Split::test, 0, 2, 1.0, 1, 5};
    case 2:
      return Push{};
    default:
      return LaneReport{};
  }
}

}  // namespace ballast::simulation

// What one simulated life is made of: the job, the cluster, its timings and all its faults, drawn from one seed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/protocol/deadline.h"
#include "common/protocol/ids.h"

namespace ballast::simulation {

// Everything that can go wrong, in one place. Probabilities are per message; times are virtual microseconds.
struct Faults {
  Micros until = 0;  // from here on nothing goes wrong any more
  double loss = 0;
  double duplication = 0;
  double reordering = 0;  // of leaving the order of its link
  double slowness = 0;    // of taking up to `slow_delay`
  Micros slow_delay = 0;
  std::uint32_t crashes = 0;  // of workers: state lost, a new session after a while
  std::uint32_t worker_pauses = 0;
  Micros worker_pause = 0;      // at most
  std::uint32_t cuts = 0;       // of the link between one worker and one lane or the lead, both ways
  Micros cut = 0;               // at most
  std::uint32_t strangers = 0;  // messages to lanes and lead that no honest worker sends
  std::uint32_t shard_pauses = 0;
  Micros shard_pause = 0;  // at most; together with losses still below the lead's patience with shards
  std::uint32_t lead_pauses = 0;
  Micros lead_pause = 0;  // at most; may exceed its own patience with shards, not theirs with it
  bool death = false;     // one shard dies for good: the job must end, naming it
};

struct LifeChunk {
  std::uint64_t bytes = 0;
  std::uint32_t lane = 0;  // shard * lanes + lane
};

struct LifeWorker {
  Micros joins_at = 0;
  Micros forward = 0;   // for one slot
  Micros backward = 0;  // for one slot
};

struct LifeSpec {
  std::uint64_t seed = 0;
  std::uint32_t shards = 2;
  std::uint32_t lanes = 1;
  bool lead_in_shard_0 = false;  // dies and pauses with it
  Slot slots = 4;
  Step steps = 3;
  Step steps_per_epoch = 2;
  std::uint32_t test_examples = 0;
  std::uint32_t evaluation_item = 10;
  std::uint32_t start_workers = 1;
  std::uint32_t plan_ahead = 256;
  std::vector<LifeChunk> chunks;  // the last one is the statistics chunk
  std::vector<LifeWorker> workers;
  std::uint64_t credit_bytes = 0;
  std::uint64_t reply_window_bytes = 0;

  Micros delay_low = 300;  // of a message on its way
  Micros delay_high = 1500;
  Micros release_high = 2000;  // until the transport lets go of a reply
  Micros storage_high = 3000;  // until something is durable
  Micros prepare_high = 5000;  // until a worker has loaded its data
  bool random_clocks = true;   // every process has its own zero and its own phase of ticks
  Micros tick = 4000;

  Micros report_every = 8'000;
  Micros idle_report_every = 25'000;
  Micros heartbeat_every = 20'000;
  Micros hello_every = 30'000;
  Micros lead_silence = 2'000'000;
  Micros linger = 600'000;
  LearntDeadline::Bounds worker_silence{70'000, 120'000, 300'000};
  LearntDeadline::Bounds shard_silence{700'000, 900'000, 1'200'000};
  LearntDeadline::Bounds late{8'000, 80'000, 300'000};
  LearntDeadline::Bounds retry{12'000, 30'000, 80'000};

  Faults faults;

  [[nodiscard]] std::uint32_t all_lanes() const { return shards * lanes; }
  [[nodiscard]] ChunkId statistics() const { return static_cast<ChunkId>(chunks.size() - 1); }
};

LifeSpec draw_life(std::uint64_t seed);

}  // namespace ballast::simulation

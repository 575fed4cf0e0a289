// A shard's journal, as far as the cores can tell: what was appended, how far that is written, and how far synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/random.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

struct JournalRecord {
  std::uint32_t process = 0;  // the life of a lane that appended it
  std::uint64_t ticket = 0;
  ChunkId chunk = 0;
  ItemId item = 0;
  Version version = 0;
  StepFactors factors;
  std::vector<JournalMark> marks;
  Payload payload;
  std::uint64_t staleness = 0;
};

// What is written outlives the process; what is synced outlives a power cut, unless the disk lies.
struct Journal {
  Timeline timeline = 0;
  std::vector<JournalRecord> records;  // of the timeline, from sequence 1 on
  std::size_t written = 0;
  std::size_t synced = 0;
  std::size_t committed = 0;  // the lanes were told
  std::vector<ShardLife> lives;
  ItemId released = 0;  // records of items below this one may be gone
  bool writes = false;  // the living process has a group in hand, up to `group`
  std::size_t group = 0;

  // Durable when it returns, as a new life's record is, with all that was written before.
  void begin(Timeline newer, Incarnation life);
  void record_life(Incarnation life);
  // The process is gone, and with it what was not written; of the group in hand some may have been.
  void kill(Random& random);
  struct Loss {
    bool committed = false;
    bool synced = false;
  };
  Loss cut_power(Random& random, bool lies);
};

}  // namespace ballast::simulation

#include "tests/simulation/journal.h"

#include <algorithm>

namespace ballast::simulation {

void Journal::begin(Timeline newer, Incarnation life) {
  if (newer <= timeline) {
    return;  // another lane of this shard's life was first
  }
  const bool was_writing = writes;
  *this = {};
  writes = was_writing;
  timeline = newer;
  lives = {{life, 0}};
}

void Journal::record_life(Incarnation life) {
  if (lives.empty() || lives.back().incarnation != life) {
    lives.push_back({life, written});
    synced = written;
  }
}

void Journal::kill(Random& random) {
  if (writes) {
    written = random.between(written, std::max(written, group));
  }
  writes = false;
  records.resize(written);
  committed = written;
}

Journal::Loss Journal::cut_power(Random& random, bool lies) {
  const auto told = committed;
  const auto was_synced = synced;
  kill(random);
  const std::size_t least = lies && random.chance(0.5) ? 0 : synced;
  // Often nothing or all, or else a part of what may go.
  const auto kept = random.chance(0.3) ? least : random.between(least, written);
  const Loss loss{told > kept, was_synced > kept};
  records.resize(kept);
  written = kept;
  synced = kept;
  committed = kept;
  while (lives.size() > 1 && (lives.back().begun > kept || (loss.synced && random.chance(0.3)))) {
    lives.pop_back();
  }
  return loss;
}

}  // namespace ballast::simulation

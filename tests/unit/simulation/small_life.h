// A life of two shards of one lane: lane 0 has chunk 0, lane 1 the statistics.
#pragma once

#include "tests/simulation/life.h"

namespace ballast::simulation {

inline LifeSpec small_life() {
  LifeSpec life;
  life.slots = 2;
  life.steps = 4;
  life.chunks = {{100, 0}, {20, 1}};
  life.workers = {{0, 1000, 1000}};
  life.reply_window_bytes = 150;
  return life;
}

inline LifeSpec small_life_of_items(LifeItems::Journal journal) {
  auto life = small_life();
  life.items = LifeItems{};
  life.items->journal = journal;
  return life;
}

}  // namespace ballast::simulation

// What a lane's core is told of the rest of its shard, at ticks: troubles, and how far copies of snapshots are.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "protocol/lane/lane.h"

namespace ballast {

// One thread. Tells what has changed since it was told; of a copy that only grows, a few times a second.
class ShardNews {
 public:
  static constexpr Micros kCopyEvery = 500'000;

  // What goes wrong in the shard; empty: nothing.
  std::optional<lane::Trouble> trouble(const std::string& text);
  std::optional<lane::Copying> copying(const CopyProgress& progress, Micros now);

 private:
  std::string told_trouble_;
  CopyProgress told_copy_;
  Micros next_copy_ = 0;
};

}  // namespace ballast

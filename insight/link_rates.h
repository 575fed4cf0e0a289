// How much links can carry, by the messages that they have carried.
#pragma once

#include <cstddef>
#include <vector>

namespace ballast::insight {

// Microseconds of one clock.
struct Carried {
  double sent = 0;
  double arrived = 0;
  double bytes = 0;
  std::size_t worker = 0;  // one end
  std::size_t shard = 0;   // the other, with
  std::size_t lane = 0;    // of it: each has a connection of its own
};

struct OwnLink {
  double rate = 0;
  double mean = 0;        // with all that stood in its way
  bool is_alone = false;  // nothing else was in the way; else it may carry more
};

// Bytes a microsecond. 0: it cannot be told, for it was never in anybody's way.
struct LinkRates {
  std::vector<OwnLink> workers;
  std::vector<double> shards;
  double all = 0;  // of all shards together: they may share a machine
};

// All messages go the same way; their workers and shards are numbered from 0. How much arrives is looked at in
// stretches of at least so many microseconds, in which messages wait for others. A worker's link shows where all links
// together carry less than they can; what workers share shows where most of them are kept busy by it. Such are lower
// bounds: what never binds has no capacity that shows. `apart`: what shards' links carry as it was said, each of a
// machine of its own; then all of them share none. Empty: nobody has said so.
LinkRates link_rates(const std::vector<Carried>& messages, std::size_t workers, std::size_t shards, double stretch,
                     const std::vector<double>& apart = {});

}  // namespace ballast::insight

// What links carry, with those of which it is not seen taken to be as others are.
#pragma once

#include <vector>

#include "insight/link_rates.h"

namespace ballast::insight {

// Bytes a microsecond, one way; 0: it is in nobody's way.
struct KnownWay {
  std::vector<double> workers;
  std::vector<double> shards;
  double all = 0;  // of all shards together
};

struct KnownLinks {
  KnownWay in;      // to the servers
  KnownWay out;     // from them
  double line = 0;  // what a worker's link carries that nothing else is in the way of; 0: none was seen
};

// By what was seen of both ways. A worker in whose way others were carries as much as is usual of workers, or as one
// does that was seen alone; where that are most, one that was seen alone and carries about as much is one of them;
// shards of which nothing is seen share the rest of what all do; a way that was not in the way of most workers carries
// as much as the other one. `declared`: what workers' links carry as it was said, or 0.
KnownLinks known_links(const LinkRates& in, const LinkRates& out, double declared = 0);

}  // namespace ballast::insight

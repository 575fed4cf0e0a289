#include "insight/link_memory.h"

#include <algorithm>
#include <cstddef>

namespace ballast::insight {

void LinkMemory::complete(JobTimes& times) const {
  const auto fill_in = [](double& rate, double known, bool& is_borrowed) {
    if ((rate <= 0 || is_borrowed) && known > 0) {
      rate = known;
      is_borrowed = false;
    }
  };
  fill_in(times.servers.in, servers_.in, times.is_borrowed.in);
  fill_in(times.servers.out, servers_.out, times.is_borrowed.out);
  for (std::size_t i = 0; i < std::min(times.shards.size(), shards_.size()); ++i) {
    auto& shard = times.shards[i];
    shard.in = shard.in > 0 ? shard.in : shards_[i].in;
    shard.out = shard.out > 0 ? shard.out : shards_[i].out;
  }
  times.line = times.line > 0 ? times.line : line_;
}

void LinkMemory::keep(const JobTimes& times) {
  const auto keep_one = [](double& known, double rate, double seen) { known = seen > 0 && rate > 0 ? rate : known; };
  keep_one(servers_.in, times.servers.in, times.servers.seen_in);
  keep_one(servers_.out, times.servers.out, times.servers.seen_out);
  shards_.resize(times.shards.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    keep_one(shards_[i].in, times.shards[i].in, times.shards[i].seen_in);
    keep_one(shards_[i].out, times.shards[i].out, times.shards[i].seen_out);
  }
  keep_one(line_, times.line, times.line);
}

}  // namespace ballast::insight

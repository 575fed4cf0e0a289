#include "insight/replayed_links.h"

namespace ballast::insight {

ReplayedLinks::ReplayedLinks(const JobTimes& times)
    : times_(times), in_(times.shards.size()), out_(times.shards.size()), down_(times.workers.size()) {}

// Over the servers' links it goes as it comes.
double ReplayedLinks::contribution_there(ChunkId chunk, double first, double now) {
  const auto bytes = times_.bytes[chunk];
  const auto shard = shard_of(chunk);
  const auto there = in_[shard].pass(first, now, span_of(bytes, times_.shards[shard].in));
  return all_in_.pass(first, there, span_of(bytes, times_.servers.in));
}

double ReplayedLinks::weights_there(std::size_t worker, ChunkId chunk, double now) {
  const auto bytes = times_.bytes[chunk];
  const auto shard = shard_of(chunk);
  const auto& own = times_.workers[worker];
  auto left = out_[shard].pass(now, now, span_of(bytes, times_.shards[shard].out));
  left = all_out_.pass(now, left, span_of(bytes, times_.servers.out));
  // All workers' copies leave at once and share the servers' links: the first bytes of each come early.
  return down_[worker].pass(now + own.delay, left + own.delay, span_of(bytes, own.down));
}

}  // namespace ballast::insight

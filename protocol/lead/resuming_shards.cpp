#include "protocol/lead/resuming_shards.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ballast {

namespace {

// Of a lane of the shard that has said what lives it had; all of them say the same. Null: it is away.
const std::vector<ShardLife>* lives_of(std::uint32_t shard, const ShardRoster& shards) {
  const auto& lanes = shards.lanes();
  for (auto lane = lanes.lower_bound({shard, 0}); lane != lanes.end() && lane->first.shard == shard; ++lane) {
    if (!lane->second.lives.empty()) {
      return &lane->second.lives;
    }
  }
  return nullptr;
}

}  // namespace

bool ResumingShards::is_mark_broken(const Marks::value_type& mark, const ShardRoster& shards) {
  const auto& [shard, incarnation] = mark.first;
  const auto* lives = lives_of(shard, shards);
  if (lives == nullptr) {
    return false;  // when it comes back it is asked again
  }
  const auto life = std::ranges::find(*lives, incarnation, &ShardLife::incarnation);
  return life == lives->end() ||
         std::any_of(std::next(life), lives->end(), [&](const ShardLife& later) { return later.begun < mark.second; });
}

void ResumingShards::rewind() { *this = {}; }

void ResumingShards::take(const std::vector<JournalMark>& marks) {
  for (const auto& mark : marks) {
    const auto [known, is_first] = marks_.try_emplace({mark.shard, mark.incarnation}, mark.sequence);
    is_news_ = is_news_ || is_first || mark.sequence > known->second;
    known->second = std::max(known->second, mark.sequence);
  }
}

bool ResumingShards::is_broken(const ShardRoster& shards) {
  if (std::exchange(is_news_, false) && !broken_) {
    broken_ = std::ranges::any_of(marks_, [&](const auto& mark) { return is_mark_broken(mark, shards); });
  }
  return broken_;
}

}  // namespace ballast

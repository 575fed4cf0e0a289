#include "protocol/lead/resuming_shards.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/journal_marks.h"

namespace ballast {

namespace {

bool is_mark_broken(const JournalMark& mark, const ShardRoster& shards) {
  const auto known = std::ranges::find_if(
      shards.lanes(), [&](const auto& lane) { return lane.first.shard == mark.shard && !lane.second.lives.empty(); });
  if (known == shards.lanes().end()) {
    return false;  // it is away: when it comes back it is asked again
  }
  const auto& lives = known->second.lives;
  const auto life = std::ranges::find(lives, mark.incarnation, &ShardLife::incarnation);
  return life == lives.end() ||
         std::any_of(std::next(life), lives.end(), [&](const ShardLife& later) { return later.begun < mark.sequence; });
}

}  // namespace

void ResumingShards::rewind() { *this = {}; }

void ResumingShards::take(const std::vector<JournalMark>& marks, bool is_lost) {
  broken_ = broken_ || is_lost;
  for (const auto& mark : marks) {
    is_news_ = note_mark(marks_, mark) || is_news_;
  }
}

bool ResumingShards::is_broken(const ShardRoster& shards) {
  if (std::exchange(is_news_, false) && !broken_) {
    broken_ = std::ranges::any_of(marks_, [&](const JournalMark& mark) { return is_mark_broken(mark, shards); });
  }
  return broken_;
}

}  // namespace ballast

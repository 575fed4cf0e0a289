// Whether anything that a shard has lost was built upon, by the marks that came with contributions.
#pragma once

#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/state_list.h"

namespace ballast {

// What a shard has when it comes back is what it had, as far as it can tell itself; whether others built on more, the
// marks tell.
// Pure and copyable. Not thread-safe.
class ResumingShards {
 public:
  // A new timeline: nothing is built upon yet.
  void rewind();
  void take(const std::vector<JournalMark>& marks);
  // Once broken it stays so, until rewind(). `is_lost`: something is known to be lost by other means. Costs as much as
  // marks times lanes.
  bool is_broken(const ShardRoster& shards, bool is_lost);

  // All of it.
  [[nodiscard]] auto state() const { return listed::all(listed::plain(marks_, broken_)); }

 private:
  std::vector<JournalMark> marks_;  // that came with reports of this timeline
  bool broken_ = false;
};
static_assert(lists_all_members<ResumingShards>());

}  // namespace ballast

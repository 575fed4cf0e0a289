// Whether anything that a shard has lost was built upon, by the marks that came with contributions.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
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
  // A shard has said what lives it had.
  void lives_told() { is_news_ = true; }
  // Once broken it stays so, until rewind(). Costs as much as there are marks and lives if there is news.
  bool is_broken(const ShardRoster& shards);

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(marks_, broken_, is_news_));
  }

 private:
  // The furthest of each shard's life.
  using Marks = std::map<std::pair<std::uint32_t, Incarnation>, std::uint64_t>;
  static bool is_mark_broken(const Marks::value_type& mark, const ShardRoster& shards);

  Marks marks_;  // that came with reports of this timeline
  bool broken_ = false;
  bool is_news_ = false;  // of marks or lives, since they were compared
};

}  // namespace ballast

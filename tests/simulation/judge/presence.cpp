#include "tests/simulation/judge/presence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void PresenceJudge::lead_starts(Micros now) {
  silences_.clear();
  lead_began_ = now;
}

void PresenceJudge::heard(std::uint64_t database, Micros now) {
  auto& silence = silences_.try_emplace(database, Silence{lead_began_, 0}).first->second;
  silence.longest = std::max(silence.longest, now - silence.heard_at);
  silence.heard_at = now;
}

Micros PresenceJudge::longest_silence(std::uint64_t database, Micros now) const {
  const auto known = silences_.find(database);
  const auto silence = known == silences_.end() ? Silence{lead_began_, 0} : known->second;
  return std::max(silence.longest, now - silence.heard_at);
}

void PresenceJudge::listed(std::uint32_t shard, std::uint64_t before, std::uint64_t now_listed, Micros now) {
  if (before == now_listed) {
    return;
  }
  const auto former = std::exchange(former_[shard], before);
  if (before == 0) {
    return;  // nobody has been the shard yet
  }
  const auto confirmed = confirmed_.find(shard);
  const bool has_served = confirmed != confirmed_.end() && confirmed->second == before;
  if (!has_served && former == now_listed) {
    return;  // the one that had been listed was back while the ledger that names another was being written
  }
  if (const auto longest = longest_silence(before, now); longest < least_silence_) {
    throw Violation("another database takes the place of shard " + std::to_string(shard) + "'s, which was silent for " +
                    std::to_string(longest / 1000) + " ms at most");
  }
}

}  // namespace ballast::simulation

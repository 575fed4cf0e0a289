#include "common/net/lead_reach.h"

#include <algorithm>

#include "common/log/log.h"

namespace ballast {

namespace {

constexpr Micros kTellAfter = 5'000'000;
constexpr Micros kTellEvery = 60'000'000;
// Between two ticks; more is time in which this process did not run, and heard nobody.
constexpr Micros kMostOfATick = 1'000'000;

}  // namespace

void LeadReach::begin(Micros now) {
  log_info("looks for the lead at {}", lead_);
  heard_at_ = now;
  ticked_at_ = now;
  tell_at_ = now + kTellAfter;
}

void LeadReach::heard(Micros now) {
  if (std::exchange(told_, false)) {
    log_info("the lead answers{}, after {} s", known_ ? " again" : "", (now - heard_at_) / 1'000'000);
  }
  heard_at_ = now;
  tell_at_ = now + kTellAfter;
  silence_ = 0;
  known_ = true;
  why_not_.clear();
}

void LeadReach::tick(Micros now, const std::string& refusal, bool connected) {
  if (!refusal.empty() && refusal != refusal_) {
    log_warn("what answers at the lead's address {} does not let this {} in: {}", lead_, who_, refusal);
  }
  refusal_ = refusal;
  silence_ += std::min(now - std::exchange(ticked_at_, now), kMostOfATick);
  if (now >= tell_at_) {
    tell(now, connected);
  }
  take_answer();
}

void LeadReach::tell(Micros now, bool connected) {
  tell_at_ = now + kTellEvery;
  told_ = true;
  lookup_.begin(lead_);
  const auto seconds = (now - heard_at_) / 1'000'000;
  if (known_) {
    log_warn("the lead at {} has not answered for {} s, and the {} goes on asking", lead_, seconds, who_);
  } else if (connected) {
    log_warn(
        "there is a connection to {}, but the lead has not answered for {} s: it has no work for a {} while it waits "
        "for a shard (`ballast status` says for what), or hangs",
        lead_, seconds, who_);
  } else {
    log_warn("no lead has answered at {} for {} s, and the {} goes on asking; {}", lead_, seconds, who_,
             refusal_.empty() ? question_ : refusal_);
  }
}

void LeadReach::take_answer() {
  const auto answer = lookup_.take();
  if (!answer) {
    return;
  }
  const auto& why_not = answer->found.why_not;
  if (!why_not.empty() && why_not_.empty()) {
    log_warn("cannot reach the lead at {}: {}", lead_, why_not);
  }
  why_not_ = why_not;
}

}  // namespace ballast

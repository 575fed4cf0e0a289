#include "protocol/worker/lane_link.h"

#include <algorithm>
#include <utility>

namespace ballast {

bool LaneLink::asks(Micros now, Micros every) {
  if (welcome_ || (hello_at_ != 0 && now - hello_at_ < every)) {
    return false;
  }
  hello_at_ = std::max<Micros>(now, 1);
  asked_at_ = asked_at_ == 0 ? hello_at_ : asked_at_;
  return true;
}

bool LaneLink::welcome(std::uint64_t credit_bytes) {
  outbox.set_credit(credit_bytes);
  refusal_.clear();
  return !std::exchange(welcome_, true);
}

void LaneLink::answered() {
  asked_at_ = 0;
  why_.clear();
}

void LaneLink::unreachable(std::string why) {
  if (!welcome_) {
    why_ = std::move(why);
  }
}

void LaneLink::forgotten() {
  welcome_ = false;
  hello_at_ = 0;
  outbox.forget_sent();
  outbox.set_credit(0);
}

LaneLink::Called LaneLink::called(const Call& call, Micros now) {
  if (!welcome_ || call.number <= last_call_) {
    return {};
  }
  last_call_ = call.number;
  return {true, outbox.call(call.work, now)};
}

void LaneLink::has_room(std::uint64_t bytes) {
  if (welcome_) {
    outbox.give_ahead(bytes);
  }
}

void LaneLink::moved() {
  last_call_ = 0;
  forgotten();
  answered();
  refusal_.clear();
}

bool LaneLink::lets_wait(Micros now, Micros silence) const {
  return !welcome_ && (!refusal_.empty() || (asked_at_ != 0 && now - asked_at_ >= silence));
}

std::string LaneLink::describe(const LaneAddress& at) const {
  const auto text = "lane " + std::to_string(at.lane.lane) + " of shard " + std::to_string(at.lane.shard) + " at " +
                    at.address + (refusal_.empty() ? ", which does not answer" : ", which refuses: " + refusal_);
  return why_.empty() ? text : text + ": " + why_;
}

}  // namespace ballast

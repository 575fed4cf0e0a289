#include "worker/reach.h"

#include <utility>
#include <variant>

#include "common/log/log.h"

namespace ballast {

namespace {

constexpr Micros kTellAfter = 5'000'000;
constexpr Micros kTellEvery = 60'000'000;

}  // namespace

void Reach::begin(Micros now) {
  log_info("looks for the lead at {}", lead_);
  heard_at_ = now;
  tell_lead_at_ = now + kTellAfter;
}

void Reach::heard(const Message& message, Micros now) {
  if (std::exchange(told_lead_, false)) {
    log_info("the lead answers{}, after {} s", lead_known_ ? " again" : "", (now - heard_at_) / 1'000'000);
  }
  heard_at_ = now;
  tell_lead_at_ = now + kTellAfter;
  lead_known_ = true;
  lead_why_.clear();
  if (const auto* refused = std::get_if<Refused>(&message);
      refused != nullptr && refused->code == RefusalCode::unknown_session && welcomed_ && !std::exchange(lost_, true)) {
    log_warn(
        "lost: the lead does not know this worker any more, because it had not heard of it for too long or has begun "
        "anew; says hello again");
  } else if (std::holds_alternative<WorkerWelcome>(message)) {
    welcomed_ = true;
    if (std::exchange(lost_, false)) {
      log_info("back: the lead knows this worker again");
    }
  }
}

std::optional<worker::Unreachable> Reach::tick(const Worker& core, Micros now, std::uint32_t lanes_per_shard) {
  tell_lead(now);
  tell_lanes(core, now);
  const auto answer = lookup_.take();
  if (!answer) {
    return std::nullopt;
  }
  if (answer->address == lead_) {
    if (!answer->why_not.empty() && lead_why_.empty()) {
      log_warn("cannot reach the lead at {}: {}", lead_, answer->why_not);
    }
    lead_why_ = answer->why_not;
  }
  const auto* lane = core.waiting_lane();
  if (lane == nullptr || lane->address != answer->address) {
    return std::nullopt;
  }
  return worker::Unreachable{lane->lane.shard * lanes_per_shard + lane->lane.lane, answer->why_not};
}

// A worker may be started before its lead, so it waits for ever; but for a wrong address as well.
void Reach::tell_lead(Micros now) {
  if (now < tell_lead_at_) {
    return;
  }
  tell_lead_at_ = now + kTellEvery;
  told_lead_ = true;
  lookup_.begin(lead_);
  const auto seconds = (now - heard_at_) / 1'000'000;
  if (lead_known_) {
    log_warn("the lead at {} has not answered for {} s, and the worker goes on asking", lead_, seconds);
  } else {
    log_warn(
        "no lead has answered at {} for {} s, and the worker goes on asking; is this the address in the run's "
        "lead.address, and does the job run?",
        lead_, seconds);
  }
}

void Reach::tell_lanes(const Worker& core, Micros now) {
  const auto* lane = core.waiting_lane();
  if (lane == nullptr) {
    if (!std::exchange(told_lanes_, {}).empty()) {
      log_info("every lane answers");
    }
    return;
  }
  const auto text = core.waits_for();
  if (text == told_lanes_ && now < tell_lanes_at_) {
    return;
  }
  if (told_lanes_.empty() || now >= tell_lanes_at_) {
    lookup_.begin(lane->address);
  }
  told_lanes_ = text;
  tell_lanes_at_ = now + kTellEvery;
  log_warn("waits for {}", text);
}

}  // namespace ballast

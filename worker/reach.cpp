#include "worker/reach.h"

#include <utility>
#include <variant>

#include "common/log/log.h"

namespace ballast {

namespace {

constexpr Micros kTellEvery = 60'000'000;

}  // namespace

Reach::Reach(const std::string& lead)
    : lead_(lead, "worker", "is this the address in the run's lead.address, and does the job run?") {}

void Reach::begin(Micros now) { lead_.begin(now); }

void Reach::heard(const Message& message, Micros now) {
  lead_.heard(now);
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

std::optional<worker::Unreachable> Reach::tick(const Worker& core, Micros now, std::uint32_t lanes_per_shard,
                                               const std::string& refusal, bool connected) {
  lead_.tick(now, refusal, connected);
  tell_lanes(core, now);
  const auto answer = lookup_.take();
  const auto* lane = core.waiting_lane();
  if (!answer || lane == nullptr || lane->address != answer->address) {
    return std::nullopt;
  }
  return worker::Unreachable{lane->lane.shard * lanes_per_shard + lane->lane.lane, answer->found.why_not};
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

// A worker whose computation waits for a buffer.
#include <algorithm>

#include "protocol/worker/worker.h"

namespace ballast {

using namespace worker;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

void Worker::on(const BufferWanted& /*event*/) {
  shortage_.wait();
  find_buffer();
}

// Whoever leaves begins nothing more, and in item mode the oldest item is called whatever else waits.
void Worker::find_buffer() {
  const bool is_wanted = shortage_.is_waiting() && work_.is_running() && work_.timeline() == plan_.timeline() &&
                         plan_.shares_slots() && drains_.empty();
  // What a lane has not been offered it cannot call; and while one is away the step does not end.
  if (!is_wanted || !lanes_.are_welcome() || now_ - welcome_at_ < config_.offered_for) {
    return;
  }
  const auto kept = lanes_.kept(work_.target().step);
  if (const auto node = shortage_.choose(kept, now_ - std::min(now_, config_.offered_for))) {
    give_up(*node);
  }
}

// It is missing again, here and for the lead.
void Worker::give_up(Node node) {
  const auto step = work_.target().step;
  const auto withdrawn = lanes_.withdraw(step, node);
  for (const auto& contribution : withdrawn) {
    emit(Release{contribution.payload});
    if (contribution.want_next) {  // nobody was asked
      weights_.gone(contribution.chunk, {step + 1, kNoLeadNumber});
      down_.forget_sent(contribution.bytes);
    }
  }
  work_.receipts(step, kNoSlot, withdrawn.size(), at_);
  counters_.given_up += node.size();
  shortage_.give_up(node);
  plan_.give_up(step, {node.begin, node.end});
  amend();
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    send_outbox(lane);
  }
  tell_progress();
}

}  // namespace ballast

#include "cli/asking/lead_talk.h"

#include <utility>

namespace ballast {

void LeadTalk::connect(const std::string& lead, std::unique_ptr<ClientKeys> keys, Poll& poll, Moment now) {
  client_.emplace(context_, lead, std::move(keys));
  poll.add(client_->socket());
  heard_at_ = now;
}

void LeadTalk::ask(bool stops, Moment now) {
  if (!client_ || now < ask_at_ || is_over()) {
    return;
  }
  ask_at_ = now + kAskEvery;
  if (stops) {
    client_->tell(Control::Command::stop);
  } else if (lets_go_on_) {
    client_->tell(Control::Command::resume);
  } else {
    client_->ask();
  }
}

bool LeadTalk::take(Moment now) {
  auto status = client_ ? client_->take() : std::nullopt;
  if (!status || has_left_) {
    return false;
  }
  status_ = std::move(status);
  lets_go_on_ = lets_go_on_ && (is_in(JobPhase::paused) || is_in(JobPhase::pausing));
  heard_at_ = now;
  return true;
}

void LeadTalk::has_stopped() {
  if (!status_) {
    status_.emplace();
  }
  has_left_ = true;
  status_->phase = JobPhase::stopped;
  status_->beyond_snapshot = true;
}

}  // namespace ballast

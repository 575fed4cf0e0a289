// The supervisor's talk with the lead: asks how the job goes, and tells it what the user wants.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "cli/asking/status_client.h"
#include "common/net/socket.h"
#include "protocol/messages.h"

namespace ballast {

// One thread; time is handed in. Before connect() nobody is asked, and nobody has answered.
class LeadTalk {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // `was_paused`: the lead is to hear that a pause is over.
  explicit LeadTalk(bool was_paused) : lets_go_on_(was_paused) {}

  // The silence counts from now on. `keys`: null if there are none.
  void connect(const std::string& lead, std::unique_ptr<ClientKeys> keys, Poll& poll, Moment now);
  [[nodiscard]] bool is_connected() const { return client_.has_value(); }

  // At every turn: asks if it is time, until the job is over. `stops`: the job is to stop.
  void ask(bool stops, Moment now);
  // Whatever the time is.
  void ask_now() { client_->ask(); }
  void ask_at_next_turn() { ask_at_ = {}; }
  // The end has been seen: the lead need not stay for us.
  void say_seen() { client_->ask(true); }

  // Whether an answer has come.
  bool take(Moment now);
  // The lead has left for a stop of which it could not tell us, nor what its last snapshot has. Older answers that are
  // still on their way say nothing any more.
  void has_stopped();
  // The lead's last word; nothing if there never was one.
  [[nodiscard]] const std::optional<Status>& status() const { return status_; }
  [[nodiscard]] bool is_in(JobPhase phase) const { return status_ && status_->phase == phase; }
  [[nodiscard]] bool is_over() const { return status_ && ballast::is_over(status_->phase); }
  [[nodiscard]] std::chrono::seconds silent(Moment now) const {
    return std::chrono::duration_cast<std::chrono::seconds>(now - heard_at_);
  }

 private:
  zmq::context_t context_{1};
  std::optional<StatusClient> client_;
  Moment ask_at_;
  Moment heard_at_;  // the last answer, or when it was connected to
  std::optional<Status> status_;
  bool lets_go_on_;
  bool has_left_ = false;
};

}  // namespace ballast

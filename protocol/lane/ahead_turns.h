// Whose turn it is to be given bytes ahead.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Sessions that compute with a lane's weights, first who has waited longest. Pure and copyable.
class AheadTurns {
 public:
  // It was sent weights that it may compute with. `is_good`: it is in good standing.
  void served(SessionId session, bool is_good) {
    sessions_[session].is_owed = true;
    stands(session, is_good);
    want(session);
  }
  // It is in good standing, or is no more.
  void stands(SessionId session, bool is_good) {
    if (const auto found = sessions_.find(session); found != sessions_.end()) {
      in_good_standing_ -= found->second.is_good ? 1 : 0;
      in_good_standing_ += is_good ? 1 : 0;
      found->second.is_good = is_good;
    }
  }
  // It has spent some of what it was given, and may have more.
  void spent(SessionId session) {
    if (sessions_.contains(session)) {
      want(session);
    }
  }
  // It has given back what it had for the last step; weights of the next may have been sent to it before.
  void returned(SessionId session) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end() && found->second.is_owed) {
      want(session);
    }
  }
  void given(SessionId session) { sessions_.at(session).is_owed = false; }
  void forget(SessionId session) {
    stands(session, false);
    if (sessions_.erase(session) > 0) {
      std::erase(turns_, session);
    }
  }

  [[nodiscard]] std::optional<SessionId> next() const {
    return turns_.empty() ? std::nullopt : std::optional(turns_.front());
  }
  // Since it was given some it has been sent weights; it must have been sent some ever.
  [[nodiscard]] bool is_owed(SessionId session) const { return sessions_.at(session).is_owed; }
  // Its turn is over.
  void pop() {
    sessions_.at(turns_.front()).waits = false;
    turns_.pop_front();
  }
  // How many sessions in good standing have been sent weights: so many share what is given ahead.
  [[nodiscard]] std::size_t in_good_standing() const { return in_good_standing_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(sessions_, in_good_standing_, turns_));
  }

 private:
  struct Session {
    bool is_owed = false;  // since it was given some it has been sent weights
    bool is_good = false;
    bool waits = false;  // it is in turns_
    bool operator==(const Session&) const = default;
  };

  void want(SessionId session) {
    if (!std::exchange(sessions_.at(session).waits, true)) {
      turns_.push_back(session);
    }
  }

  std::map<SessionId, Session> sessions_;
  std::size_t in_good_standing_ = 0;  // of them
  std::deque<SessionId> turns_;
};

}  // namespace ballast

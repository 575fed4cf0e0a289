// What the lead's log says of the job, derived from its status so that the logic is not drowned in logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/log/levels.h"
#include "protocol/messages.h"

namespace ballast {

// Tells what has changed since it was told. One thread.
class LeadNews {
 public:
  struct Line {
    LogLevel level = LogLevel::info;
    std::string_view kind;  // lines of one kind that come again and again are held back
    std::string text;
    bool is_wrong = false;  // something is wrong or was lost; else it is only news
  };

  // In order; a few times a second.
  std::vector<Line> of(const Status& status);

 private:
  void tell(LogLevel level, std::string_view kind, std::string text, bool is_wrong = false);
  void tell_phase(const Status& status);
  void tell_waiting(const Status& status);
  void tell_trouble(const Status& status);
  void tell_data(const Status& status);
  void tell_sessions(const Status& status);
  void tell_session(const Status& status, const SessionStatus& session);
  [[nodiscard]] std::string how_it_went(const Status& status, const SessionStatus& session) const;
  void tell_held_up(const Status& status);
  void forget_sessions(const Status& status);

  std::vector<Line> lines_;  // being collected
  std::optional<JobPhase> phase_;
  std::string waiting_;
  std::string trouble_;
  std::string data_;
  std::map<SessionId, bool> live_;
  std::uint64_t lost_ = 0;   // sessions, by the status before
  std::size_t leaving_ = 0;  // whom this status has gone for the first time
  struct HoldUp {
    Micros since = 0;  // of the time spent in training
    bool is_told = false;
    std::string why = {};
  };
  std::map<SessionId, HoldUp> held_up_;
};

}  // namespace ballast

#include "tests/simulation/judge/replies.h"

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

std::string words_of(const Weights& header) {
  return std::string(header.averages ? "averages" : "weights") + " of chunk " + std::to_string(header.chunk) +
         " at version " + std::to_string(header.version);
}

void RepliesJudge::sent(SessionId session, std::uint32_t process, const Weights& header, std::uint64_t bytes) {
  auto& asked = asked_[{session, header.chunk, key_of(header)}];
  if (asked == 0) {
    throw Violation(words_of(header) + " sent to session " + std::to_string(session) + ", which did not ask for them");
  }
  --asked;
  auto& outstanding = bytes_[{session, process}];
  if (outstanding > 0 && outstanding + bytes > life_.reply_window_bytes) {
    throw Violation(words_of(header) + ": replies to session " + std::to_string(session) + " exceed its window");
  }
  auto& all = of_all_[process];
  if (outstanding > 0 && all + bytes > life_.all_replies_bytes) {
    throw Violation(words_of(header) + ": replies to session " + std::to_string(session) +
                    " exceed what all sessions have together");
  }
  outstanding += bytes;
  all += bytes;
}

void RepliesJudge::released(SessionId session, std::uint32_t process, std::uint64_t bytes) {
  bytes_[{session, process}] -= bytes;
  of_all_[process] -= bytes;
}

void RepliesJudge::refused(const Refused& refused) {
  if (refused.code != RefusalCode::not_serving && refused.code != RefusalCode::unknown_session) {
    throw Violation("a lane refuses a message of an honest worker: " + refused.text);
  }
}

}  // namespace ballast::simulation

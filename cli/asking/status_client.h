// Asks the lead how the job stands, and tells it what its user wants.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "common/keys/client_keys.h"
#include "common/net/dealer.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"

namespace ballast {

// How often who follows a job asks. A lead whose answer gets lost is asked again then.
inline constexpr std::chrono::milliseconds kAskEvery{250};

// One thread. Nothing blocks: ask now and then, take the newest answer.
class StatusClient {
 public:
  // Connects now or whenever the lead is there. `keys`: null if there are none.
  StatusClient(zmq::context_t& context, const std::string& lead, std::unique_ptr<ClientKeys> keys);

  // `last`: the end has been seen, the lead need not stay for us.
  void ask(bool last = false);
  // To be repeated until the status shows it; answered by a Status.
  void tell(Control::Command command);
  // Answered by a TracePart, soon or never.
  void ask(const TraceAsked& asked) { send(asked); }
  // The newest answer since the last call. What is neither is dropped: asking again is the remedy.
  std::optional<Status> take();
  std::optional<TracePart> take_part();
  // In which the lead is spoken to.
  [[nodiscard]] std::uint32_t version() const { return conversation_.version(); }
  // Why the lead and we can't talk: no version of the protocol is common to them.
  [[nodiscard]] std::optional<std::string> hopeless() const;
  // Whether the lead has heard what was said and refuses it, as it would again.
  [[nodiscard]] bool is_refused() const { return !refusal_.empty(); }
  // Why the lead does not answer, as far as is known, to be put behind "no lead answers": begins with ": "; else empty.
  [[nodiscard]] std::string why_silent() const;

  [[nodiscard]] Socket& socket() { return socket_; }

 private:
  void send(const Message& message);
  void hear();
  void hear(Message& message);

  std::string lead_;
  std::unique_ptr<ClientKeys> keys_;
  Dealer socket_;
  Conversation conversation_;
  std::optional<Message> said_;  // at last
  std::optional<Status> status_;
  std::optional<TracePart> part_;
  std::string refusal_;  // of what was said; empty: none
  int unanswered_ = 0;   // asked since the lead last said anything
  Encoder encoder_;
};

}  // namespace ballast

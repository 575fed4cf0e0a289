// What the log of a worker or a server says of a lead that does not answer, and of one that does again.
#pragma once

#include <string>
#include <utility>

#include "common/net/name_lookup.h"
#include "protocol/ids.h"

namespace ballast {

// Who is started before its lead waits for it, and for a wrong address as well, for ever: so it says so, again and
// again but not often. One thread, that of the loop which talks to the lead; its name is looked up elsewhere.
class LeadReach {
 public:
  // `who` asks, for example "worker"; `question`: what is to be looked after if there has never been an answer.
  LeadReach(std::string lead, std::string who, std::string question)
      : lead_(std::move(lead)), who_(std::move(who)), question_(std::move(question)) {}

  // Once, before the loop.
  void begin(Micros now);
  // A message of the lead that could be read; or a connection to it, where it need not say anything.
  void heard(Micros now);
  // `refusal`: why the newest handshake came to nothing; empty: it did not. `connected`: somebody is there, who need
  // not be a lead that works.
  void tick(Micros now, const std::string& refusal, bool connected = false);
  // For how long nothing was heard, or since the beginning; of that, only time in which this process ran.
  [[nodiscard]] Micros silence() const { return silence_; }

 private:
  void tell(Micros now, bool connected);
  void take_answer();

  std::string lead_;
  std::string who_;
  std::string question_;
  NameLookup lookup_;
  std::string why_not_;  // its name does not resolve
  std::string refusal_;  // that has been told
  Micros heard_at_ = 0;  // or begun
  Micros ticked_at_ = 0;
  Micros silence_ = 0;
  Micros tell_at_ = 0;
  bool known_ = false;
  bool told_ = false;
};

}  // namespace ballast

// To which of the addresses that a name means a socket is connected, and when the name is to be looked up again. Pure.
//
// A peer may come back under another address, and a name may mean several, of which not all answer. Over a connection
// that stands and brings news nobody asks. One that has broken, or that has been silent for long (a process that stands
// still on a machine whose kernel answers for it), asks where the name leads now.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// Of one socket; time is handed in. An address stays the one in use as long as the transport may try it itself.
class Dial {
 public:
  static constexpr Micros kAskEvery = 1'000'000;   // while there is no connection; twice as long each time, up to
  static constexpr Micros kAskAtLast = 5'000'000;  // this
  static constexpr Micros kTryFor = 3'000'000;     // an address, before the next one
  static constexpr Micros kSilent = 10'000'000;    // a connection that brings nothing for so long is doubted

  // The one in use; empty: none yet.
  [[nodiscard]] const std::string& address() const { return address_; }
  // Whether the name is to be looked up now. To be answered by resolved(); until then it is asked for no more.
  [[nodiscard]] bool takes_lookup(Micros now);

  // What happens. Each returns whether another address is in use now, or the same is to be connected to anew.
  // `addresses`: empty if the name does not resolve.
  bool resolved(const std::vector<std::string>& addresses, Micros now);
  bool failed(Micros now);  // an attempt to connect
  bool tick(Micros now);

  void connected(Micros now);
  void lost(Micros now);  // the connection
  void heard(Micros now) { heard_at_ = now; }

 private:
  bool use(std::size_t index, Micros now);
  bool try_next(Micros now);

  std::vector<std::string> addresses_;
  std::size_t next_ = 0;  // that has not been tried since the last lookup
  std::string address_;
  bool connected_ = false;
  bool asked_ = false;      // and not answered
  bool exhausted_ = false;  // all have been tried
  Micros ask_every_ = kAskEvery;
  Micros ask_at_ = 0;
  Micros tried_at_ = 0;
  Micros heard_at_ = 0;
};

}  // namespace ballast

// Tells operators of handshakes that came to nothing.
#pragma once

#include <string>

#include "common/metrics/series.h"
#include "common/net/callers.h"

namespace ballast {

// Of one listening socket. One thread; null metrics: nobody reads them.
class Handshakes {
 public:
  // `loop`: lead, or lane N.
  Handshakes(Metrics* metrics, const std::string& loop) : series_(metrics, loop) {}

  // At every tick: takes what ZeroMQ has to tell of the socket.
  void take(Callers& callers);

 private:
  HandshakeSeries series_;
};

}  // namespace ballast

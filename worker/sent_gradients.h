// Which gradient chunks may be written again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// A gradient chunk stays as it is until the core has released it and the transport has let go of every copy sent. One
// thread, the loop's.
class SentGradients {
 public:
  // Payloads below `payloads` are named.
  explicit SentGradients(std::size_t payloads) : states_(payloads) {}

  void ready(PayloadId payload) { states_.at(payload) = {}; }
  void sent(PayloadId payload) { ++states_.at(payload).sends; }
  // The core needs it no more. True: it is free now.
  bool released(PayloadId payload) {
    states_.at(payload).released = true;
    return take_free(payload);
  }
  // So is one of the copies that were sent.
  bool let_go(PayloadId payload) {
    --states_.at(payload).sends;
    return take_free(payload);
  }

 private:
  struct State {
    std::uint32_t sends = 0;
    bool released = false;
  };

  bool take_free(PayloadId payload) {
    auto& state = states_.at(payload);
    if (!state.released || state.sends > 0) {
      return false;
    }
    state.released = false;
    return true;
  }

  std::vector<State> states_;  // by payload
};

}  // namespace ballast

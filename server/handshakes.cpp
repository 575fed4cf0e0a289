#include "server/handshakes.h"

#include "common/log/log.h"

namespace ballast {

void Handshakes::take(Callers& callers) {
  const auto refusals = callers.refusals();
  for (const auto& refusal : refusals.told) {
    series_.of[static_cast<std::size_t>(refusal.reason)]->add();
    log_warn("refused a handshake from {}: {}", refusal.from.empty() ? "an unknown address" : refusal.from,
             text_of(refusal.reason));
  }
  for (std::size_t i = 0; i < refusals.more.size(); ++i) {
    if (refusals.more[i] > 0) {
      series_.of[i]->add(static_cast<double>(refusals.more[i]));
      log_warn("refused {} more handshakes: {}", refusals.more[i], text_of(static_cast<RefusedHandshake>(i)));
    }
  }
}

}  // namespace ballast

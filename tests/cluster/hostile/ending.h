// SIGTERM ends a hostile program at its next look, so that it can say what it did.
#pragma once

#include <csignal>

namespace ballast::hostile {

inline volatile std::sig_atomic_t is_told_to_end = 0;

inline void end_when_told() {
  std::signal(SIGTERM, [](int) { is_told_to_end = 1; });
}

}  // namespace ballast::hostile

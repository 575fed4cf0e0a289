// What a link to another machine carries, asked of a `ballast probe --listen` there.
//
// Plain TCP, on one port. A connection begins with a line of at most 200 bytes:
//
//   ballast-probe 1 hello\n          the conversation. The answer is "ok TOKEN\n", or "busy\n" while there is another.
//                                    Then each byte that is sent comes back, for round trips; and for each connection
//                                    of `up` a line follows when it ends: "up BYTES MICROSECONDS\n"
//   ballast-probe 1 up TOKEN\n       what follows is counted, and thrown away
//   ballast-probe 1 down TOKEN\n     zeros come for 1.3 s
//
// Whoever says anything else is cut, or nothing within two seconds, and of a conversation more than four connections at
// a time. Rates are taken where bytes arrive, from 0.3 s after the first on, when the window
// of a connection has opened.
#pragma once

#include <string>

#include "cli/advising/probe.h"

namespace ballast {

// `address`: HOST:PORT. Takes some six seconds; each way first over one connection and then over four, 2 GiB of each at
// most. Throws std::runtime_error,
// which names the address, what failed and the remedy.
LinkProbe probe_link(const std::string& address);

}  // namespace ballast

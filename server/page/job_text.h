// What the page is drawn from, as JSON; docs/page.md has its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "insight/waterfall.h"
#include "server/page/history.h"
#include "server/page/lateness.h"
#include "server/page/lead_line.h"

namespace ballast {

inline constexpr std::size_t kPageWorkers = kMaxSessions;  // that are told of; of others it is said how many

// Fields without braces: "job":{...},"workers":[...],"workers_beyond":N,"shards":[...]. `rows`: whose row of the
// heatmap each is.
std::string job_text(const JobView& view, const std::vector<SessionId>& rows);

// Likewise: "points":{...},"events":[...],"snapshots":[...],"late":{...}. Moments are seconds since `zero`.
std::string history_text(const History::Part& history, const Lateness::Part& late, Micros zero);

// One object.
std::string waterfall_text(const insight::Waterfall& waterfall);

// What bytes are in base 64 (RFC 4648), with padding.
std::string base64(const std::vector<std::uint8_t>& bytes);

}  // namespace ballast

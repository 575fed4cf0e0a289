// What everybody did in the time of one step, side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

enum class Work : std::uint8_t {
  // ---- of a worker
  data,      // waits for examples
  compute,   // forward and backward
  weights,   // writes what has arrived to where it is computed with
  upload,    // contributions, from ready until the kernel has taken them
  download,  // weights, from asked for until stored
  // ---- of a lane
  arrival,  // contributions on their way to it, or lying there unread
  sum,      // adds them
  apply,    // updates chunks
  reply,    // weights, until the kernel has taken them
  disk,     // its part of a snapshot, or a record of the journal
  // ---- of the lead
  decision,
};
inline constexpr std::size_t kWorks = 11;

// "compute", "upload", ...
const char* name_of(Work work);

struct WaterfallSpan {
  Work work = Work::compute;
  Micros from = 0;  // since the beginning of the window
  Micros until = 0;
};

struct WaterfallRow {
  std::string name;
  TraceRole role = TraceRole::worker;
  std::vector<WaterfallSpan> spans;    // those of one work do not overlap
  std::array<Micros, kWorks> taken{};  // by work, of all spans together
  Micros ended = 0;                    // the end of what it computed or sent last, since the beginning; 0: none
};

struct Waterfall {
  Step step = 0;
  bool is_step = false;            // else no step is there as a whole, or the job is in items: the last moments
  Micros length = 0;               // of the window: from the last update of the step before until the last one of this
  std::vector<WaterfallRow> rows;  // the lead, workers (those that ended last first), lanes (the busiest first)
  std::size_t left_out = 0;        // rows beyond the most
};

// Of the newest step that is measured as a whole. At most `rows` rows, two thirds of them workers where there are more
// of both, each with at most `spans` spans of a work: what lies close together is one where there would be more.
Waterfall waterfall_of(const JobTrace& trace, std::size_t rows, std::size_t spans);

}  // namespace ballast::insight

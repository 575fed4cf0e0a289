// What kernels say of workers' connections to lanes, over tcp.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

// Of one worker, all lanes together; microseconds, bytes. Nothing is told of one that is connected otherwise.
struct Connection {
  double round_trip_up = 0;    // the usual one, as its own kernel has it: with what messages wait behind others
  double round_trip_down = 0;  // as the lanes' have it
  double resent = 0;           // both ways, for it was lost
  double rate = 0;             // bytes a microsecond that arrived last, by its own kernel
};

// Looks once at every record of the trace. Round trips and losses are those between two moments of the lead's clock;
// the rate is the last one up to then.
class Connections {
 public:
  Connections(const JobTrace& trace, Micros from, Micros until);

  [[nodiscard]] Connection of(SessionId worker) const;

 private:
  struct Seen {
    std::vector<double> up;  // round trips
    std::vector<double> down;
    double resent = 0;
    std::map<std::uint64_t, Micros> rates;  // the last one, by lane
  };

  std::unordered_map<SessionId, Seen> seen_;
};

}  // namespace ballast::insight

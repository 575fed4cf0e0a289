// What a machine can do for a job, as `ballast probe` measures it, and the file that it is kept in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

// Spans are microseconds, rates bytes a microsecond.

// As a worker of the job. `alone`: what a slot's gradient takes that is a sum by itself; `joined`: of one that is added
// to another one's as it is computed (none: the job has a single slot, or makes an update of each). One value a slot,
// in the order in which they were computed.
struct SlotProbe {
  std::vector<double> alone;
  std::vector<double> joined;
  std::vector<double> ready;    // by chunk, or of chunks that lie evenly among all: after that part of a slot
  double between = 0;           // two slots
  double begins = 0;            // a slot, when the last chunk of a version's weights is there
  double processors = 0;        // that are busy while slots are computed
  std::optional<double> fetch;  // a slot's examples, of one reader; none: the data are not here
  std::uint32_t readers = 1;
  std::string data_trouble;  // why not
  std::string backend;       // what it was computed on

  bool operator==(const SlotProbe&) const = default;
};

// As a lane of the job. All but `wire` is the time of the lane's own thread.
struct LaneProbe {
  double message = 0;       // a contribution: taken from the transport and read
  double reply = 0;         // a chunk's weights: written and handed to the transport
  double sum = 0;           // a byte of a contribution added to a sum
  double apply = 0;         // a byte of weights updated by the job's optimizer
  double wire = 0;          // what another thread does for a byte that comes or goes
  double wire_message = 0;  // and for a message

  bool operator==(const LaneProbe&) const = default;
};

struct LinkProbe {
  std::string to;  // HOST:PORT, as it was asked for
  double up = 0;   // over several connections at once
  double down = 0;
  double up_of_one = 0;  // over a single one
  double down_of_one = 0;
  double round_trip = 0;  // the quickest

  bool operator==(const LinkProbe&) const = default;
};

struct MachineProbe {
  std::string job;
  std::string job_digest;
  std::string machine;       // its name
  double processors = 0;     // quotas counted
  std::uint64_t memory = 0;  // bytes; 0: the system does not tell
  std::optional<SlotProbe> slot;
  std::optional<LaneProbe> lane;
  std::vector<LinkProbe> links;

  bool operator==(const MachineProbe&) const = default;
};

// One JSON object with a line break behind it; what is no UTF-8 is replaced.
std::string probe_text(const MachineProbe& probe);

// `label`: the file, for errors. Throws UsageError, which names it, what is wrong and the remedy: what is no such file,
// is of another version, or has values that nothing can take. Texts are made lines of a kilobyte at most, with spaces
// for control characters.
MachineProbe read_probe(const std::string& text, const std::string& label);
// Of a file of at most a few megabytes. Throws UsageError, also where it cannot be read.
MachineProbe load_probe(const std::string& path);

}  // namespace ballast

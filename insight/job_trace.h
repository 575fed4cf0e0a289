// What the processes of a job have measured of its last steps, together and on one clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/messages/trace.h"

namespace ballast::insight {

inline constexpr Micros kWorkSpan = 100'000;  // a lane's thread says so often, or more, what it has done since

// What one process has.
struct ProcessTrace {
  TraceSource source;
  std::string name;                   // "worker a", "shard 1 lane 0", "lead"
  std::optional<ClockReading> clock;  // none: how its clock stands to the lead's is not known
  std::vector<TraceRecord> records;
  std::uint64_t lost = 0;  // that gave way to newer ones while they were read
  bool told_all = false;   // it was read up to its newest record

  // A moment of its clock as the lead's has it; 0 stays 0. As it is where the clocks cannot be compared.
  [[nodiscard]] Micros on_lead(Micros own) const;
};

// Of the lead's clock.
struct TimeSpan {
  Micros began = 0;
  Micros ended = 0;
};

// Of a worker that brings nothing to the job, as its lead has it.
struct Absent {
  std::string who;  // "worker a"
  std::string why;  // "is refused: other data"
  bool operator==(const Absent&) const = default;
};

struct AllAbsent {
  std::uint64_t count = 0;
  std::vector<Absent> first;  // as many as there is room for
  bool operator==(const AllAbsent&) const = default;
};

struct JobTrace {
  std::string job;
  std::optional<SharingRules> rules = {};  // none: it is not in rounds
  std::vector<ProcessTrace> processes = {};
  std::string mode = {};  // as in the job's file; empty: not known
  // Whose records are not all there, by name: they did not answer, or there was no room for theirs.
  std::vector<std::string> silent = {};
  std::string held = {};  // what the job as a whole waited for when it was read: "it is paused"; empty: it went on
  AllAbsent absent = {};  // likewise
  std::optional<TimeSpan> part_of = {};  // of a job in items: what was measured then is all that it has
};

// Each slot is an update of its own.
bool is_in_items(const JobTrace& trace);
// And an update is made from weights that lack so many others at most.
bool is_bounded(const JobTrace& trace);

// Its name where the job has none for it: sessions have names of their own.
std::string name_of(const TraceSource& source);

// Whether a process of that role can have such a record.
bool is_of(TraceKind kind, TraceRole role);

// Who is who in a trace, which outlives this.
class Peers {
 public:
  explicit Peers(const JobTrace& trace);

  // Nobody: null.
  [[nodiscard]] const ProcessTrace* worker(SessionId session) const;
  // By its number among all lanes of the job, in their order.
  [[nodiscard]] const ProcessTrace* lane(std::uint64_t number) const;

 private:
  std::unordered_map<SessionId, const ProcessTrace*> workers_;
  std::vector<const ProcessTrace*> lanes_;
};

// The four times of a record on the lead's clock, those that another process has taken by that one's clock: 0 where a
// record has none, or where it is a span.
struct Times {
  Micros first = 0;
  Micros second = 0;
  Micros third = 0;
  Micros fourth = 0;
};
Times on_one_clock(const Peers& peers, const ProcessTrace& process, const TraceRecord& record);

}  // namespace ballast::insight

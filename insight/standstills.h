// When a server stood still: its lanes' threads did nothing, and nobody could go on without it.
#pragma once

#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

// For so long a lane's thread has told nothing of what it does, which it tells ten times a second: a second or longer,
// and five times as long as is usual of it, for one that starves tells it late. By the record of its work that came
// then.
class Standstills {
 public:
  explicit Standstills(const ProcessTrace& lane);

  // Whether the thread stood still for most of what the record is of.
  [[nodiscard]] bool has(const TraceRecord& work) const;
  // Whether it did at some moment from then until then, of the lead's clock.
  [[nodiscard]] bool has_within(Micros from, Micros until) const;
  // On the lead's clock, one after the other.
  [[nodiscard]] const std::vector<TimeSpan>& all() const { return all_; }

 private:
  Micros least_ = 0;  // that a record spans
  std::vector<TimeSpan> all_;
};

// Without what messages, and records for the journal, took that a lane that stood still kept waiting: of messages it is
// not known then when they were sent.
JobTrace without_standstills(JobTrace trace);

// By shard, of so many: microseconds of that time in which a lane of it stood still. Where several shards did at once
// it is the first one's.
std::vector<double> standstills_of_shards(const std::vector<const ProcessTrace*>& lanes, std::size_t shards,
                                          const TimeSpan& span);

}  // namespace ballast::insight

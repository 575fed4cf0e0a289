// What each piece of work takes, by a job's trace: what is the same in rounds and in items.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "insight/connections.h"
#include "insight/job_times.h"
#include "insight/job_trace.h"

namespace ballast::insight {

// One for each trace, which outlives it. Jobs of each mode derive from it what is theirs.
class TakenTimes {
 public:
  explicit TakenTimes(const JobTrace& trace) : trace_(trace), peers_(trace) {}
  virtual ~TakenTimes() = default;
  TakenTimes(const TakenTimes&) = delete;
  TakenTimes& operator=(const TakenTimes&) = delete;

  // As job_times(). Once.
  std::optional<JobTimes> all();

 protected:
  using Slots = std::map<std::pair<Step, Slot>, const TraceRecord*>;  // by their first and only slot

  // Sets `times_.rules`, the steps that are looked at, what one takes, and `span_`. False: there are none.
  virtual bool choose() = 0;
  // Whether what the record is of belongs to those steps.
  [[nodiscard]] virtual bool is_in(const TraceRecord& record) const = 0;
  // What there is of this mode alone, before anything else is looked at.
  virtual void begin() = 0;
  // Whether a covered chunk waits for something else before its update begins.
  [[nodiscard]] virtual bool updates_wait() const = 0;
  // What a worker's slots took, one after the other, and what lies between them: `slots`, `slot`, `fetch`, `begins`,
  // `between`.
  virtual void of_slots(const ProcessTrace& process, const Slots& slots, WorkerTimes& own) const = 0;
  // Of a worker that computed none: by what it did before them.
  [[nodiscard]] virtual double slot_before(const ProcessTrace& process) const = 0;
  // For how long it stood still: to `stops`, where there are as many as steps and all are 0. Once its links are known.
  virtual void add_stops(const ProcessTrace& process, WorkerTimes& own) const = 0;

  static double between(Micros from, Micros until) { return until > from ? static_cast<double>(until - from) : 0; }
  // Its times are known, and it lies in the time that is looked at, or has begun before.
  [[nodiscard]] bool is_sound(const TraceRecord& slot) const;
  [[nodiscard]] std::size_t place_of(const ProcessTrace& process) const {
    return static_cast<std::size_t>(&process - trace_.processes.data());
  }

  const JobTrace& trace_;
  const Peers peers_;
  JobTimes times_;
  TimeSpan span_;
  std::vector<const ProcessTrace*> lanes_;    // in the order of times_.lanes
  std::vector<const ProcessTrace*> workers_;  // in that of times_.workers

 private:
  bool of_lanes();
  void of_updates();
  bool of_workers();
  void fill_in_usual();
  WorkerTimes of_worker(const ProcessTrace& process);
  static std::optional<double> ready_in_slot(const Slots& slots, const TraceRecord& push);
  static double delay_of(const ProcessTrace& process);
  [[nodiscard]] double carried(const ProcessTrace& worker) const;
  void of_connections(const Connections& connections);
  void of_contributions();
  void of_lane(std::size_t lane, std::map<ChunkId, std::vector<double>>& summed);
};

}  // namespace ballast::insight

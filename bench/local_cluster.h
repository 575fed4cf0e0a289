// A cluster of real processes to be measured: ballast-server and ballast-worker, watched through the lead's status.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/temporary_folder.h"
#include "cli/asking/status_client.h"
#include "cli/run_folder/run_folder.h"
#include "cli/running/cluster.h"

namespace ballast::bench {

// How far the job came in a stretch of time.
struct Progressed {
  std::uint64_t steps = 0;
  double seconds = 0;
  double server_cpu_seconds = 0;  // processor time that the server used, and all workers together
  double worker_cpu_seconds = 0;
  double longest_gap_seconds = 0;  // between two changes of the step
  std::uint64_t snapshots = 0;     // at least so many became complete
};

// What a kill cost.
struct Recovered {
  double seconds_to_training = 0;  // until the lead says that a later timeline trains
  double seconds_to_step = 0;      // until it says that the first step of that timeline is applied
  Step base = 0;
  std::uint64_t rolled_back_steps = 0;
};

// One thread. Every wait throws std::runtime_error when a process ends or nothing moves for a long time, with the end
// of the log of the one to blame, and Interrupted at a signal. No process outlives the object.
class LocalCluster {
 public:
  // The job as the servers see it; of its workers, `workers` are started. Returns once the lead answers.
  // `keys`: over tcp, as a run has them.
  LocalCluster(const std::string& job, std::uint32_t workers, bool metrics, const Options& options, bool keys = false);

  // Until the lead's status satisfies `reached`.
  Status wait_for(const std::string& what, bool (*reached)(const Status&, std::uint64_t), std::uint64_t argument);
  void wait_for_step(Step step);
  void warm_up();  // the first steps are slower
  // The same with any test, which is asked about each status in turn.
  Status watch_until(const std::string& what, const std::function<bool(const Status&)>& reached,
                     std::chrono::seconds patience);
  // Runs for about so long. The time counted is that between two changes of the step as the lead tells it, so no step
  // is counted in part.
  Progressed measure(double seconds);
  // Kills a server, starts it again as `ballast run` would, and waits until the job goes on.
  Recovered kill_and_restart(std::uint32_t shard);
  // Sleeps, watching over the processes.
  void rest(double seconds);

  [[nodiscard]] Cluster& cluster() { return *cluster_; }
  [[nodiscard]] const Member& server() { return cluster_->members().front(); }

 private:
  using Time = Clock::time_point;

  // The job's progress so far, from the lead's word and /proc.
  struct Mark {
    Step step = 0;
    Time time;
    double server_cpu_seconds = 0;
    double worker_cpu_seconds = 0;
  };

  static Job effective(const std::string& job);
  Mark mark(Step step);
  // A status, or nothing after 10 ms.
  std::optional<Status> look();
  void watch();
  void await_death(const Member& member);

  const Options& options_;
  TemporaryFolder temporary_;
  RunFolder folder_;
  Job job_;
  std::optional<Cluster> cluster_;
  zmq::context_t context_{1};
  std::optional<StatusClient> client_;
  Time asked_{};
};

}  // namespace ballast::bench

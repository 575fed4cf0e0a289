// How long the loops are busy at a stretch with a large model: for so long they answer nobody.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/local_cluster.h"
#include "bench/metrics_page.h"
#include "bench/spread.h"
#include "common/net/turn.h"

namespace ballast::bench {

namespace {

constexpr double kGigabytes = 0.94;
constexpr double kTensorBytes = 8192.0 * 4096 * sizeof(float);
constexpr Step kSteps = 3;  // after which there is a snapshot
constexpr std::chrono::seconds kTurnsPatience{900};

// It never ends by itself: the pages are read while all its processes are there.
std::string job_of(unsigned tensors, std::uint32_t shards) {
  std::string parameters;
  for (unsigned i = 0; i < tensors; ++i) {
    parameters += (i > 0 ? ", {name: t" : "{name: t") + std::to_string(i) + ".weight, shape: [8192, 4096]}";
  }
  return "job: bench-turns\n"
         "model: {name: emulated, parameters: [" +
         parameters +
         "]}\n"
         "data: {name: none}\n"
         "training: {batch: 1, slots: 1, max_steps: 1000000000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: 0.0001, momentum: 0.9}}\n"
         "cluster: {shards: " +
         std::to_string(shards) +
         ", lanes: 1, workers: 1, transport: tcp}\n"
         "durability: {every_steps: " +
         std::to_string(kSteps) + "}\n";
}

// The baseline: a thread that does nothing but copy as many bytes as a turn may move, now and then, for as long as it
// lives. What its longest copy took beyond the median, the machine took from it.
class Copies {
 public:
  Copies() : from_(kBytes, 1), to_(kBytes), thread_([this](const std::stop_token& stop) { copy_until(stop); }) {}

  std::vector<double> end() {
    thread_.request_stop();
    thread_.join();
    return std::move(milliseconds_);
  }

 private:
  static constexpr std::size_t kBytes = 16 * Turn::kBytes;  // more than caches hold
  static constexpr std::chrono::milliseconds kEvery{50};

  void copy_until(const std::stop_token& stop) {
    for (std::size_t at = 0; !stop.stop_requested(); at = (at + Turn::kBytes) % kBytes) {
      const auto begin = Clock::now();
      std::memcpy(to_.data() + at, from_.data() + at, Turn::kBytes);
      milliseconds_.push_back(1e3 * seconds_since(begin));
      std::this_thread::sleep_for(kEvery);
    }
  }

  std::vector<char> from_;
  std::vector<char> to_;
  std::vector<double> milliseconds_;
  std::jthread thread_;
};

// The longest of each, in milliseconds.
struct Longest {
  double lane = 0;
  double lead = 0;
  double worker = 0;
  double no_answer = 0;  // between two answers of the lead
  double late = 0;       // the lead's word that it has not heard of a server for too long
  double copy = 0;
};

struct Seen {
  Longest longest;
  std::vector<double> copies;
  std::uint64_t lost = 0;
  std::uint64_t runs = 0;
  double seconds = 0;
};

// Takes in the lead's answers one after the other.
class Watch {
 public:
  explicit Watch(Longest& longest) : longest_(longest) {}

  void see(const Status& status) {
    const auto now = Clock::now();
    if (last_) {
      longest_.no_answer = std::max(longest_.no_answer, 1e3 * std::chrono::duration<double>(now - *last_).count());
    }
    last_ = now;
    const bool is_late = status.timeline > 0 && !status.waits_for.empty();
    late_since_ = is_late ? late_since_.value_or(now) : std::optional<Clock::time_point>();
    if (is_late) {
      longest_.late = std::max(longest_.late, 1e3 * std::chrono::duration<double>(now - *late_since_).count());
    }
  }

 private:
  Longest& longest_;
  std::optional<Clock::time_point> last_;
  std::optional<Clock::time_point> late_since_;
};

void note_turns(const std::string& page, Longest& longest) {
  const auto turn = [&](const char* loop) {
    return 1e3 * largest_on(page, "ballast_turn_longest_seconds", std::string("loop=\"") + loop);
  };
  longest.lane = std::max(longest.lane, turn("lane "));
  longest.lead = std::max(longest.lead, turn("lead\""));
  longest.worker = std::max(longest.worker, turn("worker\""));
}

void run_once(const std::string& job, const Options& options, Seen& seen) {
  const auto begin = Clock::now();
  LocalCluster cluster(job, 1, true, options);
  Copies copies;
  Watch watch(seen.longest);
  const auto end = cluster.watch_until(
      "the snapshot of step " + std::to_string(kSteps),
      [&](const Status& status) {
        watch.see(status);
        return status.snapshot >= kSteps;
      },
      kTurnsPatience);
  for (const auto& member : cluster.cluster().members()) {
    note_turns(metrics_page(member.addresses.at("metrics")), seen.longest);
  }
  const auto taken = copies.end();
  seen.copies.insert(seen.copies.end(), taken.begin(), taken.end());
  seen.lost += end.lost_workers;
  seen.seconds += seconds_since(begin);
  ++seen.runs;
}

Row row_of(double gigabytes, std::uint32_t shards, const Seen& seen) {
  const auto copies = spread_of(seen.copies);
  return {{"model_gb", gigabytes},
          {"shards", std::uint64_t{shards}},
          {"lane_ms", seen.longest.lane},
          {"lead_ms", seen.longest.lead},
          {"worker_ms", seen.longest.worker},
          {"lead_silent_ms", seen.longest.no_answer},
          {"server_late_ms", seen.longest.late},
          {"workers_lost", seen.lost},
          {"copy_ms", copies.median},
          {"copy_longest_ms", copies.most},
          {"runs", seen.runs},
          {"seconds", seen.seconds / static_cast<double>(seen.runs)}};
}

}  // namespace

Result turns(const Options& options) {
  const auto tensors =
      std::max(1U, static_cast<unsigned>(std::lround(options.gigabytes.value_or(kGigabytes) * 1e9 / kTensorBytes)));
  Result result;
  result.how =
      "1 or 2 ballast-servers (1 lane each) and a ballast-worker over tcp, emulated model in tensors of 134 MB, SGD "
      "with "
      "momentum, from the start until the snapshot of step 3 is complete. lane_ms, lead_ms, worker_ms: the longest "
      "turn "
      "of such a loop, ballast_turn_longest_seconds of all processes at the end. lead_silent_ms: the longest time "
      "between two answers of the lead, asked every 10 ms. server_late_ms: for how long at a stretch the lead said "
      "that "
      "it waits for a server that it has not heard of. The baseline is a thread of this program that copies 8 MiB, a "
      "turn's bytes, every 50 ms meanwhile: the median, and the longest, in which is what the machine takes from any "
      "thread. The longest of all runs; seconds of a run.";
  for (const std::uint32_t shards : {1U, 2U}) {
    const auto job = job_of(tensors, shards);
    Seen seen;
    for (unsigned i = 0; i < options.repetitions; ++i) {
      run_once(job, options, seen);
    }
    result.rows.push_back(row_of(tensors * kTensorBytes / 1e9, shards, seen));
  }
  return result;
}

}  // namespace ballast::bench

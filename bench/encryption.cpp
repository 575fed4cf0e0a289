// What keys cost: the parameter server's own work with every connection encrypted, and without.
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"
#include "bench/traffic.h"

namespace ballast::bench {

namespace {

constexpr double kEncryptionSeconds = 4;

struct EncryptionSetting {
  std::uint32_t workers;
  std::uint32_t lanes;
  std::uint32_t io_threads;
};

// A connection is one thread's at each end: more of them have something to do where there are more connections.
constexpr EncryptionSetting kEncryptionSettings[] = {{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {1, 2, 2}, {1, 4, 1},
                                                     {1, 4, 4}, {2, 1, 1}, {2, 1, 2}, {2, 2, 2}};

// Of runs of one kind.
struct Runs {
  std::vector<double> goodputs;
  std::vector<double> server_cpu;
  std::vector<double> worker_cpu;
};

void run_encrypted_or_not(const EncryptionSetting& setting, bool keys, const Options& options, Runs& runs) {
  const Traffic traffic{
      .transport = "tcp", .workers = setting.workers, .io_threads = setting.io_threads, .lanes = setting.lanes};
  LocalCluster cluster(job_of(traffic), setting.workers, false, options, keys);
  cluster.warm_up();
  const auto progressed = cluster.measure(options.seconds.value_or(kEncryptionSeconds));
  const auto steps = static_cast<double>(progressed.steps);
  runs.goodputs.push_back(static_cast<double>(kTrafficBytes) * steps / progressed.seconds / 1e9);
  runs.server_cpu.push_back(1e3 * progressed.server_cpu_seconds / steps);
  runs.worker_cpu.push_back(1e3 * progressed.worker_cpu_seconds / steps);
}

Row measure_encryption(const EncryptionSetting& setting, const Options& options) {
  Runs with;
  Runs without;
  std::vector<double> ratios;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    run_encrypted_or_not(setting, i % 2 == 0, options, i % 2 == 0 ? with : without);
    run_encrypted_or_not(setting, i % 2 != 0, options, i % 2 != 0 ? with : without);
    ratios.push_back(with.goodputs.back() / without.goodputs.back());
  }
  const auto ratio = spread_of(ratios);
  return {{"workers", std::uint64_t{setting.workers}},
          {"lanes", std::uint64_t{setting.lanes}},
          {"io_threads", std::uint64_t{setting.io_threads}},
          {"with_gb_s", spread_of(with.goodputs).median},
          {"without_gb_s", spread_of(without.goodputs).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"server_cpu_ms_with", spread_of(with.server_cpu).median},
          {"server_cpu_ms_without", spread_of(without.server_cpu).median},
          {"worker_cpu_ms_with", spread_of(with.worker_cpu).median},
          {"worker_cpu_ms_without", spread_of(without.worker_cpu).median}};
}

}  // namespace

Result encryption(const Options& options) {
  Result result;
  result.how =
      "As pushpull over tcp: 1 ballast-server and its workers, ResNet-50's traffic, no compute time; with the "
      "keys of a run (CURVE: Curve25519 handshakes, XSalsa20 and Poly1305 of every byte), and without, in turns. "
      "goodput: 102,228,128 bytes x steps / seconds for each worker, one way counted. cpu_ms: processor time for a "
      "step, of all workers together. io_threads: of the server, and of each worker.";
  for (const auto& setting : kEncryptionSettings) {
    result.rows.push_back(measure_encryption(setting, options));
  }
  return result;
}

}  // namespace ballast::bench

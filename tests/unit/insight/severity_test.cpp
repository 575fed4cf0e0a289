#include "insight/severity.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

namespace ballast::insight {
namespace {

constexpr Step kSteps = 20;
constexpr ChunkId kChunks = 10;

// A job of workers that are alike but for what a test says: each step a slot each, and every chunk up and down.
struct Job {
  struct Worker {
    Micros compute = 40'000;
    Micros wait = 20;
    Micros up = 500;  // a chunk
    Micros down = 500;
    double scatter = 0.05;
  };
  std::vector<Worker> workers = std::vector<Worker>(4);
  double busy = 0.3;       // of the lane's time
  double processor = 0.3;  // of it
  std::uint64_t seed = 1;

  [[nodiscard]] JobTrace trace() const {
    JobTrace job;
    job.processes.push_back({{TraceRole::lead, {}, 0}, "lead", ClockReading{1, 1, 0, 0}, {}, 0});
    job.processes.push_back({{TraceRole::lane, {0, 0}, 0}, "lane", ClockReading{1, 1, 0, 0}, {}, 0});
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      ProcessTrace process{{TraceRole::worker, {}, i + 1}, name(i), ClockReading{1, 1, 0, 0}, {}, 0};
      Micros now = 1'000'000;
      for (Step step = 0; step < kSteps; ++step) {
        now = of_step(step, i, now, random, process, job.processes[1]);
      }
      job.processes.push_back(std::move(process));
    }
    for (Step step = 0; step < kSteps; ++step) {
      const Micros since = 1'000'000 + 100'000 * step;
      job.processes[1].records.push_back({step,
                                          0,
                                          since,
                                          since + 100'000,
                                          static_cast<Micros>(100'000 * busy),
                                          static_cast<Micros>(100'000 * processor),
                                          0,
                                          {},
                                          TraceKind::work});
    }
    return job;
  }

  static std::string name(std::size_t worker) { return "worker " + std::string(1, static_cast<char>('a' + worker)); }

 private:
  [[nodiscard]] Micros of_step(Step step, std::size_t index, Micros now, std::mt19937_64& random, ProcessTrace& process,
                               ProcessTrace& lane) const {
    const auto& worker = workers[index];
    std::normal_distribution<double> around(1, worker.scatter);
    const auto scattered = [&](Micros micros) {
      return static_cast<Micros>(static_cast<double>(micros) * std::max(0.2, around(random)));
    };
    const auto begun = now;
    const auto ready = begun + worker.wait;
    now = ready + scattered(worker.compute);
    process.records.push_back({step, 0, begun, ready, ready + (now - ready) / 3, now, 0, {}, TraceKind::slot});
    auto arrived = now;
    for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {  // all are sent at once, one after the other on the link
      arrived += scattered(worker.up);
      lane.records.push_back(
          {step, index + 1, now, arrived, arrived + 50, arrived, chunk, {}, TraceKind::contribution});
    }
    now = arrived + 2'000;
    auto came = now;
    for (ChunkId chunk = 0; chunk < kChunks; ++chunk) {
      came += scattered(worker.down);
      process.records.push_back({step + 1, 0, arrived, now, came, came + 10, chunk, {}, TraceKind::pull});
    }
    return came;
  }
};

std::vector<std::string> slow(const JobTrace& trace) {
  std::vector<std::string> names;
  for (const auto& found : severities(trace)) {
    if (found.is_slow) {
      constexpr const char* kWords[] = {"compute", "data", "uplink", "downlink", "storage", "processor", "lead"};
      names.push_back(found.who + " " + kWords[static_cast<int>(found.resource)]);
    }
  }
  return names;
}

double times_of(const JobTrace& trace, const std::string& who, Resource resource) {
  for (const auto& found : severities(trace)) {
    if (found.who == who && found.resource == resource) {
      return found.times;
    }
  }
  return 0;
}

using Names = std::vector<std::string>;

TEST_CASE("severity: of workers that are alike nobody is slow, whatever the scatter draws") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Job job;
    job.seed = seed;
    CHECK(slow(job.trace()) == Names{});
    for (auto& worker : job.workers) {
      worker.scatter = 0.1;
    }
    CHECK(slow(job.trace()) == Names{});
  }
}

TEST_CASE("severity: a worker that computes half as fast is named, and by how much") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Job job;
    job.seed = seed;
    job.workers[2].compute = 80'000;
    CHECK(slow(job.trace()) == Names{"worker c compute"});
    CHECK(times_of(job.trace(), "worker c", Resource::compute) == doctest::Approx(2).epsilon(0.1));
    CHECK(times_of(job.trace(), "worker a", Resource::compute) < 1.15);
  }
}

TEST_CASE("severity: two equal stragglers are both named") {
  Job job;
  job.workers[0].compute = 80'000;
  job.workers[3].compute = 80'000;
  CHECK(slow(job.trace()).size() == 2);
}

TEST_CASE("severity: of three workers two are slow, as much or one more than the other, and both are named") {
  for (const Micros second : {80'000, 60'000}) {
    CAPTURE(second);
    Job job;
    job.workers.resize(3);
    job.workers[0].compute = 80'000;
    job.workers[1].compute = second;
    auto found = slow(job.trace());
    std::ranges::sort(found);
    CHECK(found == Names{"worker a compute", "worker b compute"});
    CHECK(times_of(job.trace(), "worker b", Resource::compute) ==
          doctest::Approx(static_cast<double>(second) / 40'000).epsilon(0.1));
  }
}

TEST_CASE("severity: of three workers two have slow links, and both are named") {
  Job job;
  job.workers.resize(3);
  job.workers[0].up = 40'000;
  job.workers[1].up = 40'000;
  const auto found = slow(job.trace());
  CHECK(std::ranges::count(found, "worker a uplink") == 1);
  CHECK(std::ranges::count(found, "worker b uplink") == 1);
  CHECK(found.size() == 2);
}

TEST_CASE("severity: a wait for data is no slow compute") {
  Job job;
  job.workers[1].wait = 20'000;
  CHECK(slow(job.trace()) == Names{"worker b data"});
  CHECK(times_of(job.trace(), "worker b", Resource::data) == doctest::Approx(1.5).epsilon(0.1));
}

TEST_CASE("severity: a slow link is named by its direction, and queues of its own are not counted twice") {
  Job job;
  job.workers[1].up = 5'000;
  CHECK(slow(job.trace()) == Names{"worker b uplink"});
  CHECK(times_of(job.trace(), "worker b", Resource::uplink) == doctest::Approx(10).epsilon(0.15));
  job.workers[1].up = 500;
  job.workers[3].down = 2'500;
  CHECK(slow(job.trace()) == Names{"worker d downlink"});
  CHECK(times_of(job.trace(), "worker d", Resource::downlink) == doctest::Approx(5).epsilon(0.15));
}

TEST_CASE("severity: a link that is slower and yet quick keeps nobody waiting") {
  Job job;
  for (auto& worker : job.workers) {
    worker.up = 20;
  }
  job.workers[1].up = 100;  // a millisecond for the model
  CHECK(slow(job.trace()) == Names{});
}

TEST_CASE("severity: what lay unread at a busy lane says nothing of its worker's link") {
  Job job;
  auto trace = job.trace();
  for (auto& record : trace.processes[1].records) {
    if (record.kind == TraceKind::contribution && record.peer == 2) {
      record.second += 30'000;
      record.third += 30'000;  // and the turn had begun long before
    }
  }
  CHECK(slow(trace) == Names{});
}

TEST_CASE("severity: a lane that is starved of its processor is named; one that is merely busy is not") {
  Job job;
  job.busy = 0.9;
  job.processor = 0.88;
  CHECK(slow(job.trace()) == Names{});
  job.processor = 0.1;
  CHECK(slow(job.trace()) == Names{"lane processor"});
  CHECK(times_of(job.trace(), "lane", Resource::processor) == doctest::Approx(9).epsilon(0.05));
  job.busy = 0.01;  // of what it hardly does, little is lost
  job.processor = 0.001;
  CHECK(slow(job.trace()) == Names{});
}

TEST_CASE("severity: decisions that take long are the lead's") {
  auto trace = Job{}.trace();
  for (Step step = 0; step < kSteps; ++step) {
    trace.processes[0].records.push_back({step, 0, 1'000'000, 1'000'800, 0, 0, 0, {}, TraceKind::decision});
  }
  CHECK(slow(trace) == Names{});
  for (auto& record : trace.processes[0].records) {
    record.second = 1'020'000;
  }
  CHECK(slow(trace) == Names{"lead lead"});
}

TEST_CASE("severity: the worst comes first, and a worker alone has no peers to be slower than") {
  Job job;
  job.workers[0].compute = 60'000;
  job.workers[1].up = 5'000;
  CHECK(slow(job.trace()) == Names{"worker b uplink", "worker a compute"});
  job.workers.resize(1);
  job.workers[0].compute = 600'000;
  CHECK(slow(job.trace()) == Names{});
  CHECK(severities(JobTrace{}).empty());
}

}  // namespace
}  // namespace ballast::insight

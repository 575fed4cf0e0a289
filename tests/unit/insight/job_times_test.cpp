#include "insight/job_times.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

constexpr SessionId kOnly = 77;

// A worker, a lane with two chunks; steps of 100 ms from step 5 on, two slots in each. The worker's clock is a second
// ahead of the lead's.
class MadeTrace {
 public:
  MadeTrace() {
    trace_.job = "a";
    trace_.rules = SharingRules{2, 2, 300, true, true};
    trace_.processes.resize(3);
    auto& worker = trace_.processes[0];
    worker.source = {TraceRole::worker, {}, kOnly};
    worker.name = "worker a";
    worker.clock = ClockReading{2'000'000, 1'000'000, 10, 400};
    auto& lane = trace_.processes[1];
    lane.source = {TraceRole::lane, {0, 0}, 0};
    lane.name = "shard 0 lane 0";
    lane.clock = ClockReading{0, 0, 10, 0};
    trace_.processes[2].source = {TraceRole::lead, {}, 0};
    trace_.processes[2].clock = ClockReading{0, 0, 0, 0};
    for (Step step = 5; step < 15; ++step) {
      add(step);
    }
  }

  JobTrace& job() { return trace_; }

 private:
  void add(Step step) {
    auto& worker = trace_.processes[0].records;
    auto& lane = trace_.processes[1].records;
    const Micros begin = 10'000'000 + 100'000 * step;
    const Micros own = begin + 1'000'000;
    for (Slot slot = 0; slot < 2; ++slot) {
      const auto from = own + 1'000 + 40'500 * slot;
      worker.push_back(
          {step, 0, from, from + 2'000, from + 10'000, from + 40'000, 0, {slot, slot + 1}, TraceKind::slot});
    }
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      const auto ready = own + 1'000 + 40'500 + 2'000 + 19'000 * (chunk + 1);
      worker.push_back({step, 0, ready, ready, ready + 10, 100 * (chunk + 1), chunk, {0, 2}, TraceKind::push});
      const auto read = begin + 90'000 + 1'000 * chunk;
      lane.push_back({step, kOnly, ready, read, read + 300, read, chunk, {0, 2}, TraceKind::contribution});
      lane.push_back({step, 0, read + 300, read + 320, read + 500, 0, chunk, {}, TraceKind::update});
      const auto arrived = own + 99'000 + 500 * chunk;
      worker.push_back({step + 1, 0, own, read + 500, arrived, arrived + 20, chunk, {}, TraceKind::pull});
    }
  }

  JobTrace trace_;
};

TEST_CASE("job times: what each piece of work took") {
  MadeTrace trace;
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->steps == 9);  // the first one's end is the begin of the second
  CHECK(times->step == 100'000);
  CHECK(times->rules.slots == 2);
  CHECK(times->bytes == std::vector<double>{100, 200});
  CHECK(times->lane_of == std::vector<std::uint32_t>{0, 0});
  CHECK(times->sum == std::vector<double>{300, 300});
  CHECK(times->apply == std::vector<double>{200, 200});
  REQUIRE(times->workers.size() == 1);
  const auto& worker = times->workers[0];
  CHECK(worker.name == "worker a");
  CHECK(worker.slots.size() == 9);
  CHECK(worker.slots[8] == std::vector<double>{38'000, 38'000});
  CHECK(worker.slot == 38'000);
  CHECK(worker.fetch == 40'500);  // it waits 2 ms for each, and they are that much apart
  CHECK(worker.begins == 100'000 + 1'000 - 99'520);
  CHECK(worker.between == 500);
  CHECK(worker.ready == std::vector<double>{0.5, 1});
  CHECK(worker.delay == 200);
  CHECK(times->decisions.empty());
}

TEST_CASE(
    "job times: a sum is ready in the slot by which it becomes whole, and one that was sent on an order is none") {
  MadeTrace trace;
  for (auto& record : trace.job().processes[0].records) {
    if (record.kind == TraceKind::push && record.step < 12) {
      record.slots = {0, 1};  // long after slot 0: others have taken slot 1
    }
  }
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->workers[0].ready == std::vector<double>{0.5, 1});
  for (auto& record : trace.job().processes[0].records) {
    if (record.kind == TraceKind::slot) {
      record.slots = record.slots.begin == 0 ? SlotRange{1, 2} : SlotRange{0, 1};  // the other way round
    } else if (record.kind == TraceKind::push) {
      record.slots = {0, 2};
    }
  }
  const auto turned = job_times(trace.job());
  REQUIRE(turned);
  CHECK(turned->workers[0].ready == std::vector<double>{0.5, 1});
}

TEST_CASE("job times: a single long wait for examples is a stop, and no slow reader") {
  MadeTrace trace;
  for (auto& record : trace.job().processes[0].records) {
    if (record.kind == TraceKind::slot && record.step == 9 && record.slots.begin == 0) {
      record.first -= 300'000;
    }
  }
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->workers[0].fetch == 40'500);
  CHECK(times->workers[0].slots[3] == std::vector<double>{38'000 + 302'000, 38'000});
  CHECK(times->workers[0].slot == 38'000);
}

TEST_CASE("job times: a reader takes what it was measured to take, step by step") {
  MadeTrace trace;
  auto& records = trace.job().processes[0].records;
  for (Step step = 5; step < 15; ++step) {
    const Micros begin = 11'000'000 + 100'000 * step;
    const Micros takes = step == 9 ? 25'000 : 45'000;
    for (Slot slot = 0; slot < 2; ++slot) {
      const auto begun = begin + 50'000 * slot;
      records.push_back({step, 0, begun, begun + takes, 0, 0, 0, {slot, slot + 1}, TraceKind::fetch});
    }
  }
  const auto read = job_times(trace.job())->workers[0];
  CHECK(read.fetch == doctest::Approx((8 * 45'000 + 25'000) / 9.0));
  REQUIRE(read.reads.size() == 9);
  CHECK(read.reads[3] == doctest::Approx(25'000));
  CHECK(read.reads[4] == doctest::Approx(45'000));
  for (auto& record : records) {  // nobody waits for them, for something else takes as long
    record.second = record.kind == TraceKind::slot ? record.first : record.second;
  }
  CHECK(job_times(trace.job())->workers[0].fetch > 42'000);
  for (auto& record : records) {
    record.second -= record.kind == TraceKind::fetch ? 20'000 : 0;
  }
  CHECK(job_times(trace.job())->workers[0].fetch == 0);
  CHECK(job_times(trace.job())->workers[0].reads.empty());
}

// Contributions of a hundred bytes that come so far apart, each of them waiting for the one before it.
void contribute(JobTrace& job, Micros apart) {
  auto& lane = job.processes[1].records;
  std::erase_if(lane, [](const TraceRecord& record) { return record.step == 30; });
  for (Micros i = 1; i <= 400; ++i) {
    const auto read = 12'000'000 + apart * i;
    lane.push_back({30, kOnly, 13'000'000, read, read, read, 0, {0, 2}, TraceKind::contribution});
  }
}

TraceRecord declared(std::uint64_t bytes_per_second, std::uint64_t machine = 0) {
  return {0, machine, 11'000'000, bytes_per_second, 0, 0, 0, {}, TraceKind::line};
}

TEST_CASE("job times: of a worker's line that carries far more than was declared something else was declared") {
  MadeTrace trace;
  trace.job().processes[0].records.push_back(declared(100'000));  // 0.1 bytes a microsecond
  contribute(trace.job(), 1'000);
  auto times = *job_times(trace.job());
  CHECK(times.line == doctest::Approx(0.094));
  CHECK(times.workers[0].line == doctest::Approx(0.094));
  CHECK(times.workers[0].up == doctest::Approx(0.099).epsilon(0.01));
  contribute(trace.job(), 500);
  times = *job_times(trace.job());
  CHECK(times.line == 0);
  CHECK(times.workers[0].line == 0);
  CHECK(times.workers[0].up == doctest::Approx(0.2).epsilon(0.01));
}

TEST_CASE("job times: likewise of the servers' line, with those of their shards") {
  MadeTrace trace;
  trace.job().processes[1].records.push_back(declared(100'000, 7));
  contribute(trace.job(), 1'000);
  auto times = *job_times(trace.job());
  CHECK(times.servers.line == doctest::Approx(0.094));
  CHECK(times.servers.seen_in == doctest::Approx(0.1).epsilon(0.01));
  contribute(trace.job(), 500);
  times = *job_times(trace.job());
  CHECK(times.servers.line == 0);
  CHECK(times.shards[0].line == 0);
  CHECK(times.servers.in == doctest::Approx(0.2).epsilon(0.01));
}

TEST_CASE("job times: weights that had been sent long before they were taken wait for a worker that stood still") {
  MadeTrace trace;
  const auto late = [&](std::uint64_t resent, bool has_other = false) {
    auto job = trace.job();
    if (has_other) {  // a lane whose weights come as ever
      const auto lane = job.processes[1];
      job.processes.push_back(lane);
      job.processes.back().source.lane = {1, 0};
      job.processes.back().records.clear();
    }
    auto& worker = job.processes[0].records;
    if (has_other) {
      worker.push_back({9, 1, 11'900'000, 10'895'000, 11'900'000, 11'900'000, 0, {}, TraceKind::pull});
    }
    for (auto& record : worker) {
      if (record.kind == TraceKind::pull && record.step == 9 && record.peer == 0) {
        record.third += 700'000;
        record.fourth += 700'000;
      }
    }
    worker.push_back({5, 0, 12'000'000, 500, resent, 1, 0, {}, TraceKind::link});
    const auto times = job_times(job);
    REQUIRE(times);
    return times->workers[0].stops;
  };
  const auto stops = late(0);
  REQUIRE(stops.size() == 9);  // from step 6 on
  CHECK(stops[3] == doctest::Approx(700'000).epsilon(0.01));
  CHECK(stops[2] == 0);
  CHECK(late(1'000)[3] == 0);  // it may have been lost on the way
  CHECK(late(0, true)[3] == 0);
}

TEST_CASE("job times: links are told by lanes that do not starve, and all of them carry as much as theirs") {
  MadeTrace trace;
  auto job = trace.job();
  const auto first = job.processes[1];
  job.processes.push_back(first);  // another shard's, with the second chunk
  auto& starved = job.processes.back();
  starved.source.lane = {1, 0};
  for (auto* lane : {&job.processes[1], &starved}) {
    std::erase_if(lane->records, [&](const TraceRecord& record) { return (record.chunk == 1) != (lane == &starved); });
    for (Micros second = 0; second < 4; ++second) {
      const auto from = 10'000'000 + 1'000'000 * second;
      const Micros has = lane == &starved ? 20'000 : 200'000;
      lane->records.push_back({0, 0, from, from + 1'000'000, 200'000, has, 0, {}, TraceKind::work});
    }
    // A hundred bytes a millisecond, or, of twice as many, five.
    const Micros apart = lane == &starved ? 5'000 : 1'000;
    const ChunkId chunk = lane == &starved ? 1 : 0;
    for (Micros i = 1; i <= 200; ++i) {
      const auto read = 12'000'000 + apart * i;
      lane->records.push_back({30, kOnly, 13'000'000, read, read, read, chunk, {0, 2}, TraceKind::contribution});
    }
  }
  const auto times = job_times(job);
  REQUIRE(times);
  CHECK_FALSE(times->lanes[0].is_starved());
  CHECK(times->lanes[1].is_starved());
  CHECK(times->workers[0].up == doctest::Approx(3 * 0.1).epsilon(0.02));  // of 300 bytes 100 tell
}

TEST_CASE("job times: what a message waits behind others is what the kernel's round trip has beyond the quickest") {
  MadeTrace trace;
  auto& processes = trace.job().processes;
  for (Micros at = 0; at < 3; ++at) {
    processes[0].records.push_back({5, 0, 12'000'000 + at, 10'400, 9, 1, 0, {}, TraceKind::link});
    processes[0].records.push_back(
        {5, 0, 11'500'000 + at, 90'000, 900, 1, 0, {}, TraceKind::link});  // before the steps
    processes[1].records.push_back({5, kOnly, 11'000'000 + at, 5'400, 1, 1, 0, {}, TraceKind::link});
    processes[1].records.push_back({5, kOnly + 1, 11'000'000 + at, 90'000, 0, 1, 0, {}, TraceKind::link});
  }
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->workers[0].queue_up == 10'000);
  CHECK(times->workers[0].queue_down == 5'000);
  CHECK(times->workers[0].resent == doctest::Approx(30.0 / (2 * 10 * 300)));  // of ten steps' gradients and weights
}

TEST_CASE("job times: an update that waited for a decision took what came after it") {
  MadeTrace trace;
  for (Step step = 5; step < 15; ++step) {
    trace.job().processes[2].records.push_back({step, 0, 1'000, 1'400, 0, 0, 0, {}, TraceKind::decision});
  }
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->apply == std::vector<double>{180, 180});
  CHECK(times->decisions == std::vector<double>(9, 400));
}

TEST_CASE("job times: a lane's thread that has a tenth of what it wants, and what it does beside sums and updates") {
  MadeTrace trace;
  for (Micros second = 0; second < 4; ++second) {
    const auto from = 10'000'000 + 1'000'000 * second;
    trace.job().processes[1].records.push_back({0, 0, from, from + 1'000'000, 200'000, 20'000, 0, {}, TraceKind::work});
  }
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->lanes[0].starved == doctest::Approx(10));
  CHECK(times->lanes[0].message == doctest::Approx((20'000.0 - 2 * 500) / 2));  // of a step's 20 ms
}

TEST_CASE("job times: of steps of which some update is not there nothing is told, nor of what they were before") {
  MadeTrace trace;
  auto& lane = trace.job().processes[1].records;
  std::erase_if(lane, [](const TraceRecord& record) {
    return record.kind == TraceKind::update && record.step == 9 && record.chunk == 1;
  });
  const auto times = job_times(trace.job());
  REQUIRE(times);
  CHECK(times->steps == 4);  // 10 to 14
  std::erase_if(lane, [](const TraceRecord& record) { return record.step == 12; });
  CHECK_FALSE(job_times(trace.job()));
}

TEST_CASE("job times: none of a job that is not in rounds, and none of a trace that makes no sense") {
  MadeTrace trace;
  auto job = trace.job();
  job.rules.reset();
  CHECK_FALSE(job_times(job));
  job = trace.job();
  job.rules->slots = kMaxSlots + 1;
  CHECK_FALSE(job_times(job));
  job = trace.job();
  job.processes[1].source.lane.shard = ~0U;
  CHECK_FALSE(job_times(job));
  job = trace.job();
  for (auto& record : job.processes[1].records) {
    record.chunk = ~0U;
  }
  CHECK_FALSE(job_times(job));
  CHECK_FALSE(job_times({}));
}

TEST_CASE(
    "job times: a worker of which nothing went is taken for a usual one, with the link that its kernel has seen") {
  MadeTrace trace;
  auto& processes = trace.job().processes;
  processes.emplace_back();
  processes.back().source = {TraceRole::worker, {}, 99};
  processes.back().records.push_back({0, 0, 1, 5'000, 0, 3'000'000, 0, {}, TraceKind::link});
  processes.back().records.push_back({0, 0, 2, 5'000, 0, 4'000'000, 0, {}, TraceKind::link});
  const auto times = job_times(trace.job());
  REQUIRE(times);
  REQUIRE(times->workers.size() == 2);
  CHECK(times->workers[1].slot == 38'000);
  CHECK(times->workers[1].begins == times->workers[0].begins);
  CHECK(times->workers[1].between == 500);
  CHECK(times->workers[1].ready == std::vector<double>{0.5, 1});
  CHECK(times->workers[1].up == 4);
  CHECK(times->workers[1].down == 4);
}

}  // namespace
}  // namespace ballast::insight

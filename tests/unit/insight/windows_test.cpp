#include "insight/windows.h"

#include <doctest/doctest.h>

#include <functional>

#include "insight/analysis.h"
#include "insight/job_times.h"
#include "insight/severity.h"

namespace ballast::insight {
namespace {

constexpr SessionId kFirst = 70;

// Workers a, b and c, one slot each of a step, one lane, one chunk. Steps are as long as their longest slot.
class MadeJob {
 public:
  using Slots = std::function<Micros(Step, std::size_t)>;  // microseconds; 0: it has none

  MadeJob(Step steps, const Slots& slots) {
    trace_.job = "a";
    trace_.rules = SharingRules{3, 1, 100, true, true};
    trace_.processes.resize(4);
    for (std::size_t i = 0; i < 3; ++i) {
      trace_.processes[i].source = {TraceRole::worker, {}, kFirst + i};
      trace_.processes[i].name = "worker " + std::string(1, static_cast<char>('a' + i));
      trace_.processes[i].clock = ClockReading{0, 0, 10, 400};
    }
    trace_.processes[3].source = {TraceRole::lane, {0, 0}, 0};
    trace_.processes[3].name = "shard 0 lane 0";
    trace_.processes[3].clock = ClockReading{0, 0, 10, 0};
    Micros now = 1'000'000;
    for (Step step = 0; step < steps; ++step) {
      now = add(step, now, slots);
    }
  }
  [[nodiscard]] const JobTrace& trace() const { return trace_; }
  JobTrace& trace() { return trace_; }

 private:
  Micros add(Step step, Micros begin, const Slots& slots) {
    Micros end = begin;
    for (std::size_t i = 0; i < 3; ++i) {
      if (const auto takes = slots(step, i); takes > 0) {
        const auto slot = static_cast<Slot>(i);
        auto& records = trace_.processes[i].records;
        records.push_back(
            {step, 0, begin, begin, begin + takes / 2, begin + takes, 0, {slot, slot + 1}, TraceKind::slot});
        records.push_back(
            {step, 0, begin + takes, begin + takes, begin + takes, 100, 0, {slot, slot + 1}, TraceKind::push});
        trace_.processes[3].records.push_back({step,
                                               kFirst + i,
                                               begin + takes,
                                               begin + takes,
                                               begin + takes + 10,
                                               begin + takes,
                                               0,
                                               {slot, slot + 1},
                                               TraceKind::contribution});
        end = std::max(end, begin + takes + 10);
      }
    }
    trace_.processes[3].records.push_back({step, 0, end, end, end + 10, 0, 0, {}, TraceKind::update});
    trace_.processes[3].records.push_back({0, 0, begin, end, 100, 100, 0, {}, TraceKind::work});
    return end + 10;
  }

  JobTrace trace_;
};

Micros alike(Step /*step*/, std::size_t /*worker*/) { return 100'000; }

using Windows = std::vector<Window>;

TEST_CASE("windows: the newest so many steps, and those before, as long as there are any") {
  const MadeJob job(51, alike);
  CHECK(windows(job.trace(), {20, 3}) == Windows{{1, 10}, {11, 30}, {31, 50}});
  CHECK(windows(job.trace(), {20, 2}) == Windows{{11, 30}, {31, 50}});
  CHECK(windows(job.trace(), {20, 3, 39}) == Windows{{1, 19}, {20, 39}});
  CHECK(windows(job.trace(), {100, 3}) == Windows{{1, 50}});
  CHECK(windows(job.trace(), {20, 3, 3}).empty());
  CHECK(windows(job.trace(), {20, 3, 4}) == Windows{{1, 4}});
  CHECK(windows(MadeJob(4, alike).trace(), {}).empty());
  CHECK(windows({"a", {}, {}}, {}).empty());
}

TEST_CASE("windows: who must not take long replays none that has too many messages, and none when it is to end") {
  const MadeJob job(51, alike);
  Analyst analyst;
  const auto all = analyst.analyze(job.trace(), {20, 3});
  CHECK(all.windows == 3);
  CHECK(all.verdict);
  CHECK_FALSE(all.is_too_large);
  const auto large = Analyst().analyze(job.trace(), {20, 3}, {20 * 3 - 1});  // three workers, one chunk
  CHECK(large.is_too_large);
  CHECK(large.windows == 1);  // the oldest one has ten steps
  CHECK_FALSE(large.verdict);
  CHECK(large.severities.size() == all.severities.size());
  const auto ended = Analyst().analyze(job.trace(), {20, 3}, {1'000'000, [] { return false; }});
  CHECK(ended.windows == 0);
  CHECK_FALSE(ended.verdict);
}

TEST_CASE("windows: none has steps before and after a change of a step's time") {
  const MadeJob job(60, [](Step step, std::size_t worker) { return step >= 45 && worker == 1 ? 250'000 : 100'000; });
  CHECK(windows(job.trace(), {20, 3}) == Windows{{5, 24}, {25, 44}, {45, 59}});
}

TEST_CASE("windows: it is told whether one is short for a change, or because no more was measured") {
  const auto is_cut = [](const MadeJob& job, const WindowsWanted& wanted) {
    return begins_at_change(job.trace(), wanted, windows(job.trace(), wanted).back());
  };
  const auto later = [](Step change) {
    return MadeJob(
        60, [change](Step step, std::size_t worker) { return step >= change && worker == 1 ? 250'000 : 100'000; });
  };
  CHECK(is_cut(later(45), {20, 3}));
  CHECK(is_cut(later(45), {20, 1}));
  CHECK(is_cut(later(45), {100, 1}));
  CHECK_FALSE(is_cut(later(30), {20, 3}));  // which has all that it wants
  CHECK_FALSE(is_cut(MadeJob(51, alike), {100, 3}));
  CHECK_FALSE(is_cut(MadeJob(5, alike), {20, 3}));
}

TEST_CASE("windows: a long one ends before a change that was a few steps ago") {
  const MadeJob job(150, [](Step step, std::size_t worker) { return step >= 144 && worker == 1 ? 250'000 : 100'000; });
  CHECK(windows(job.trace(), {20, 1}) == Windows{{144, 149}});
  CHECK(windows(job.trace(), {100, 1}) == Windows{{44, 143}});
  const MadeJob stairs(150, [](Step step, std::size_t worker) {
    return worker != 1 || step < 128 ? 100'000 : step < 136 ? 200'000 : step < 144 ? 400'000 : 800'000;
  });
  CHECK(windows(stairs.trace(), {100, 1}) == Windows{{136, 143}});  // not so far back that it is of another job
}

TEST_CASE("windows: the few steps since a change that the newer window has no room for are in none") {
  const MadeJob job(60, [](Step step, std::size_t worker) { return worker == 1 && step >= 39 ? 200'000 : 100'000; });
  CHECK(windows(job.trace(), {20, 3}) == Windows{{1, 18}, {19, 38}, {40, 59}});
  CHECK(windows(job.trace(), {16, 3}) == Windows{{23, 38}, {39, 43}, {44, 59}});
}

TEST_CASE("windows: none has steps before and after a change of a worker's slots, even if the step's time stays") {
  const MadeJob job(60, [](Step step, std::size_t worker) {
    return worker == 0 ? 250'000 : step >= 45 && worker == 1 ? 200'000 : 100'000;
  });
  CHECK(windows(job.trace(), {20, 3}) == Windows{{5, 24}, {25, 44}, {45, 59}});
}

TEST_CASE("windows: one slot that took long is no change") {
  const MadeJob job(60, [](Step step, std::size_t worker) { return step == 47 && worker == 1 ? 2'000'000 : 100'000; });
  CHECK(windows(job.trace(), {20, 2}) == Windows{{20, 39}, {40, 59}});
}

TEST_CASE("windows: a window's part has its measurements and no others, and says what the job took in it") {
  const MadeJob job(60, [](Step step, std::size_t /*worker*/) { return step < 40 ? 300'000 : 100'000; });
  const auto part = part_of(job.trace(), {40, 59});
  const auto times = job_times(part, 20);
  REQUIRE(times);
  CHECK(times->steps == 20);
  CHECK(times->step == 100'020);
  for (const auto& process : part.processes) {
    for (const auto& record : process.records) {
      CHECK((record.kind == TraceKind::work || record.step >= (record.kind == TraceKind::update ? 39 : 40)));
    }
  }
  const auto before = job_times(part_of(job.trace(), {20, 39}), 20);
  REQUIRE(before);
  CHECK(before->step == 300'020);
}

TEST_CASE("windows: a worker that is given nothing any more is as fast as it was last") {
  const MadeJob job(60, [](Step step, std::size_t worker) {
    return worker == 2 ? (step < 30 ? (step < 10 ? 100'000 : 400'000) : 0) : 100'000;
  });
  const auto part = part_of(job.trace(), {40, 59});
  const auto times = job_times(part, 20);
  REQUIRE(times);
  CHECK(times->workers[2].slot == 400'000);
  CHECK(times->workers[2].slots[0].empty());
  const auto all = severities(part);
  REQUIRE(!all.empty());
  CHECK(all[0].who == "worker c");
  CHECK(all[0].times == doctest::Approx(4));
}

TEST_CASE("windows: steps of somebody who has left are in none") {
  MadeJob job(60, alike);
  auto& processes = job.trace().processes;
  processes.erase(processes.begin());
  std::erase_if(processes[2].records, [](const TraceRecord& record) {
    return record.kind == TraceKind::contribution && record.peer == kFirst && record.step >= 32;
  });
  CHECK(windows(job.trace(), {20, 3}) == Windows{{33, 39}, {40, 59}});
}

}  // namespace
}  // namespace ballast::insight

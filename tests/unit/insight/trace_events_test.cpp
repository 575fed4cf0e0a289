#include "insight/trace_events.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace ballast::insight {
namespace {

using Json = nlohmann::json;

constexpr SessionId kSession = 77;

// A lead, a lane whose clock is 1 s behind the lead's, and a worker whose clock is 5 s ahead of it.
JobTrace small_job() {
  JobTrace trace;
  trace.job = "job \"a\"\n\xff";
  trace.processes = {
      {{TraceRole::lead, {}, 0}, "lead", ClockReading{10, 10, 0, 0}, {}, 0},
      {{TraceRole::lane, {0, 0}, 0}, "shard 0 lane 0", ClockReading{9'000'000, 10'000'000, 50, 90}, {}, 0},
      {{TraceRole::worker, {}, kSession}, "worker a", ClockReading{20'000'000, 15'000'000, 80, 160}, {}, 0}};
  return trace;
}

TraceRecord record_of(TraceKind kind, std::vector<Micros> times) {
  times.resize(4);
  TraceRecord record;
  record.kind = kind;
  record.step = 3;
  record.first = times[0];
  record.second = times[1];
  record.third = times[2];
  record.fourth = times[3];
  record.chunk = 5;
  record.slots = {2, 4};
  return record;
}

Json events_of(const JobTrace& trace) {
  std::ostringstream out;
  write_trace_events(out, trace);
  return Json::parse(out.str()).at("traceEvents");
}

// Those of that name which begin something.
std::vector<Json> named(const Json& events, const std::string& name) {
  std::vector<Json> found;
  for (const auto& event : events) {
    if (event.at("name") == name && event.at("ph") != "e") {
      found.push_back(event);
    }
  }
  return found;
}

TEST_CASE("trace: moments are those of the lead's clock") {
  const auto trace = small_job();
  CHECK(trace.processes[0].on_lead(1'000) == 1'000);
  CHECK(trace.processes[1].on_lead(9'000'500) == 10'000'500);
  CHECK(trace.processes[1].on_lead(8'000'000) == 9'000'000);
  CHECK(trace.processes[2].on_lead(21'000'000) == 16'000'000);
  CHECK(trace.processes[2].on_lead(0) == 0);
  CHECK(trace.processes[2].on_lead(4'000'000) == 1);  // before the lead's clock began
  auto unknown = trace.processes[2];
  unknown.clock.reset();
  CHECK(unknown.on_lead(21'000'000) == 21'000'000);
}

TEST_CASE("trace: a journal's record says what the disk took of its wait") {
  auto trace = small_job();
  trace.processes[1].records = {record_of(TraceKind::journal, {9'100'000, 9'104'000, 3'000, 2'500}),
                                record_of(TraceKind::journal, {9'200'000, 9'204'000})};  // it was not measured
  const auto found = named(events_of(trace), "journal");
  REQUIRE(found.size() == 2);
  CHECK(found[0].at("args").at("disk_us") == 3'000);
  CHECK(found[0].at("args").at("sync_us") == 2'500);
  CHECK_FALSE(found[1].at("args").contains("disk_us"));
}

TEST_CASE("trace: what another process has stamped is on that one's clock") {
  auto trace = small_job();
  auto contribution = record_of(TraceKind::contribution, {21'000'000, 15'000'500, 15'000'700, 15'000'400});
  contribution.peer = kSession;
  const auto of_lane = on_one_clock(Peers(trace), trace.processes[1], contribution);
  CHECK(of_lane.first == 16'000'000);
  CHECK(of_lane.second == 16'000'500);
  CHECK(of_lane.fourth == 16'000'400);
  auto pull = record_of(TraceKind::pull, {21'000'000, 15'000'100, 21'000'300, 21'000'900});
  pull.peer = 0;
  const auto of_worker = on_one_clock(Peers(trace), trace.processes[2], pull);
  CHECK(of_worker.first == 16'000'000);
  CHECK(of_worker.second == 16'000'100);
  CHECK(of_worker.third == 16'000'300);
  // Of who is not there, or whose clock is not known, nothing can be said.
  contribution.peer = 78;
  CHECK(on_one_clock(Peers(trace), trace.processes[1], contribution).first == 0);
  trace.processes[1].clock.reset();
  CHECK(on_one_clock(Peers(trace), trace.processes[2], pull).second == 0);
  CHECK(on_one_clock(Peers(trace), trace.processes[2], pull).third == 16'000'300);
}

TEST_CASE("trace: every record shows, on the track of its process, from the first moment on") {
  auto trace = small_job();
  auto& lane = trace.processes[1].records;
  auto& worker = trace.processes[2].records;
  worker.push_back(record_of(TraceKind::slot, {21'000'000, 21'000'010, 21'000'030, 21'000'100}));
  worker.push_back(record_of(TraceKind::push, {21'000'100, 21'000'150, 21'000'190}));
  lane.push_back(record_of(TraceKind::contribution, {21'000'150, 15'000'300, 15'000'320, 15'000'290}));
  lane.back().peer = kSession;
  lane.push_back(record_of(TraceKind::update, {15'000'320, 15'000'400, 15'000'450}));
  lane.push_back(record_of(TraceKind::work, {15'000'000, 15'100'000, 50'000, 25'000}));
  lane.push_back(record_of(TraceKind::link, {15'000'500, 4'000, 3'000, 120'000'000}));
  lane.back().peer = kSession;
  trace.processes[0].records.push_back(record_of(TraceKind::decision, {16'000'330, 16'000'350}));
  const auto events = events_of(trace);

  const auto wait = named(events, "data wait");
  REQUIRE(wait.size() == 1);
  CHECK(wait[0].at("pid") == 3);
  CHECK(wait[0].at("ts") == 0);
  CHECK(wait[0].at("dur") == 10);
  CHECK(wait[0].at("args").at("step") == 3);
  CHECK(wait[0].at("args").at("slots") == "2 to 3");
  CHECK(named(events, "forward")[0].at("dur") == 20);
  CHECK(named(events, "backward")[0].at("dur") == 70);
  CHECK(named(events, "push")[0].at("args").at("lane") == "shard 0 lane 0");
  const auto on_its_way = named(events, "on its way");
  CHECK(on_its_way[0].at("ts") == 150);
  CHECK(on_its_way[0].at("pid") == 2);
  CHECK(on_its_way[0].at("args").at("worker") == "worker a");
  CHECK(named(events, "sum")[0].at("ts") == 300);
  CHECK(named(events, "covered")[0].at("ts") == 320);
  CHECK(named(events, "apply")[0].at("dur") == 50);
  const auto share = named(events, "percent of the thread's time")[0].at("args");
  CHECK(share.at("not waiting") == 50);
  CHECK(share.at("on a processor") == 25);
  const auto link = named(events, "link to worker a")[0];
  CHECK(link.at("ts") == 500);
  CHECK(link.at("args").at("round trip, us") == 4'000);
  CHECK(link.at("args").at("sent again, bytes") == 3'000);
  CHECK(link.at("args").at("arrived, kB/s") == 120'000);
  CHECK(named(events, "decision")[0].at("pid") == 1);
  // What begins beside others ends.
  std::size_t begun = 0;
  std::size_t ended = 0;
  for (const auto& event : events) {
    begun += event.at("ph") == "b" ? 1 : 0;
    ended += event.at("ph") == "e" ? 1 : 0;
  }
  CHECK(begun > 0);
  CHECK(begun == ended);
}

TEST_CASE("trace: what is not known shows nothing, and nobody's record ends before it begins") {
  auto trace = small_job();
  trace.processes[2].records = {record_of(TraceKind::push, {0, 21'000'150, 21'000'100}),
                                record_of(TraceKind::pull, {21'000'000, 0, 21'000'300, 21'000'400})};
  trace.processes[2].records[1].peer = 9;  // no such lane
  for (const auto& event : events_of(trace)) {
    CHECK(event.at("ts").get<std::int64_t>() >= 0);
    CHECK((!event.contains("dur") || event.at("dur").get<std::int64_t>() >= 0));
    CHECK(event.at("name") != "push");
    CHECK(event.at("name") != "push waits");
    CHECK(event.at("name") != "weights on their way");
  }
}

TEST_CASE("trace: one wrong clock does not push all others to the end") {
  auto trace = small_job();
  for (Micros i = 0; i < 9; ++i) {
    trace.processes[2].records.push_back(record_of(TraceKind::fetch, {21'000'000'000 + i, 21'000'000'500}));
  }
  trace.processes[2].records.push_back(record_of(TraceKind::fetch, {5'000'001, 21'000'000'700}));  // as the lead began
  const auto events = events_of(trace);
  for (const auto& event : named(events, "fetch")) {
    CHECK(event.at("ts").get<Micros>() < 1'000);
  }
}

TEST_CASE("trace: names are quoted whatever they hold, and a job without records is well-formed") {
  auto trace = small_job();
  trace.processes[2].name = "worker \"\\\n\xC3";
  const auto events = events_of(trace);
  CHECK(named(events, "process_name").size() == 3);
  std::ostringstream out;
  write_trace_events(out, JobTrace{});
  CHECK(Json::parse(out.str()).at("traceEvents").empty());
}

}  // namespace
}  // namespace ballast::insight

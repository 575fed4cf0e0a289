#include "insight/raw_trace.h"

#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ballast::insight {
namespace {

bool are_equal(const ProcessTrace& one, const ProcessTrace& other) {
  return one.source == other.source && one.name == other.name && one.clock == other.clock &&
         one.records == other.records && one.lost == other.lost;
}

JobTrace random_trace(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned bits) { return random() >> (64 - bits); };
  JobTrace trace;
  trace.job = "a job";
  trace.mode = seed % 2 == 0 ? "ssp" : "";
  for (int i = 0; i < 4; ++i) {
    ProcessTrace process;
    process.source = {static_cast<TraceRole>(i % 3),
                      {static_cast<std::uint32_t>(below(6)), static_cast<std::uint32_t>(below(4))},
                      random()};
    process.name = "name \"\\ " + std::to_string(i);
    if (i % 2 == 0) {
      process.clock = ClockReading{below(48), below(48), below(48), below(48)};
    }
    process.lost = below(53);
    for (std::uint64_t k = below(6); k > 0; --k) {
      const auto slot = static_cast<Slot>(below(11));
      const auto kind = static_cast<TraceKind>(random() % (static_cast<unsigned>(kLastTraceKind) + 1));
      if (is_of(kind, process.source.role)) {
        process.records.push_back({below(52),
                                   random(),
                                   below(48),
                                   below(48),
                                   below(48),
                                   below(48),
                                   static_cast<ChunkId>(below(28)),
                                   {slot, slot + 1},
                                   kind});
      }
    }
    trace.processes.push_back(std::move(process));
  }
  return trace;
}

std::string written(const JobTrace& trace) {
  std::ostringstream out;
  write_raw_trace(out, trace);
  return out.str();
}

std::string refusal(const std::string& text) {
  std::istringstream in(text);
  try {
    read_raw_trace(in);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("raw trace: what is written is read, to the last bit") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto trace = random_trace(seed);
    std::istringstream in(written(trace));
    const auto read = read_raw_trace(in);
    CHECK(read.mode == trace.mode);
    CHECK(read.job == trace.job);
    REQUIRE(read.processes.size() == trace.processes.size());
    for (std::size_t i = 0; i < read.processes.size(); ++i) {
      CHECK(are_equal(read.processes[i], trace.processes[i]));
    }
  }
}

TEST_CASE("raw trace: who did not answer is kept") {
  auto trace = random_trace(1);
  trace.silent = {"worker \"x\"", "shard 0 lane 1"};
  trace.held = "its user has paused it";
  trace.absent = {7, {{"worker \"y\"", "was lost at step 5, and is not back"}}};
  std::istringstream in(written(trace));
  const auto read = read_raw_trace(in);
  CHECK(read.silent == trace.silent);
  CHECK(read.absent == trace.absent);
  CHECK(read.held == trace.held);
}

TEST_CASE("raw trace: what a terminal would follow is taken out of names in somebody's file") {
  auto trace = random_trace(1);
  trace.job = "a\x1b[2J\nadvice: b";
  trace.processes.at(0).name = "lead\x7f";
  trace.silent = {"x\r"};
  trace.held = "\x1b";
  trace.absent = {1, {{"w\n", "\t"}}};
  std::istringstream in(written(trace));
  const auto read = read_raw_trace(in);
  CHECK(read.job == "a [2J advice: b");
  CHECK(read.processes.at(0).name == "lead ");
  CHECK(read.silent.at(0) == "x ");
  CHECK(read.held == " ");
  CHECK(read.absent.first.at(0) == Absent{"w ", " "});
}

TEST_CASE("raw trace: what is none is refused with a reason") {
  CHECK(refusal("").find("is no whole trace") != std::string::npos);
  CHECK(refusal("\xff\xfe").ends_with("it is cut off, or no JSON, at byte 1"));
  CHECK(refusal("{}").find("is no trace") != std::string::npos);
  for (const std::string slots : {"0", "4097", "4294967295"}) {
    CHECK(refusal(R"({"format":1,"job":"a","rules":{"slots":)" + slots +
                  R"(,"chunks":1,"bytes":1,"by_speed":true,"redistributes":true},"processes":[]})")
              .ends_with("it has " + slots + " slots"));
  }
  CHECK(refusal("[1]").find("is no trace") != std::string::npos);
  CHECK(refusal(R"({"traceEvents":[]})").find("--raw") != std::string::npos);  // what Perfetto reads
  CHECK(refusal(R"({"format":2})").find("this release reads format 1") != std::string::npos);
  CHECK(refusal(R"({"format":1,"job":"a"})").find("processes") != std::string::npos);
  CHECK(refusal(R"({"format":1,"job":"a","processes":[{"name":"x","role":"boss","shard":0,"lane":0,"session":1,)"
                R"("lost":0,"records":[]}]})")
            .find("'boss'") != std::string::npos);
  CHECK(refusal(R"({"format":1,"job":"a","processes":[{"name":"x","role":"lane","shard":0,"lane":0,"session":1,)"
                R"("lost":0,"records":[["slot",1]]}]})")
            .find("is no whole trace") != std::string::npos);
  CHECK(refusal(R"({"format":1,"job":"a","processes":[{"name":"x","role":"lane","shard":0,"lane":0,"session":1,)"
                R"("lost":0,"records":[["slot",1,2,3,4,5,6,7,8,9]]}]})")
            .find("x has a record of kind slot, which its role has not") != std::string::npos);
}

TEST_CASE("raw trace: a number that a record has no room for is refused, and none is taken for another") {
  for (const std::string number : {"-1", "1.5", "1e300", "18446744073709551616", "\"1\"", "null"}) {
    CAPTURE(number);
    const auto text = R"({"format":1,"job":"a","processes":[{"name":"x","role":"lane","shard":0,"lane":0,"session":1,)"
                      R"("lost":0,"records":[["work",0,0,)" +
                      number + R"(,2,3,4,0,0,0]]}]})";
    CHECK(refusal(text).find("is no whole trace") != std::string::npos);
  }
}

TEST_CASE("raw trace: whatever is cut off or damaged is refused or read, and nothing else") {
  const auto text = written(random_trace(3));
  for (std::size_t length = 0; length + 3 < text.size(); length += 7) {
    CHECK(!refusal(text.substr(0, length)).empty());
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    auto damaged = text;
    damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    static_cast<void>(refusal(damaged));
  }
}

}  // namespace
}  // namespace ballast::insight

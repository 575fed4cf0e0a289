#include "cli/telling/events.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/telling/progress.h"
#include "cli/telling/status_events.h"
#include "common/telling/json_numbers.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

using Json = EventStream::Json;
using std::chrono::milliseconds;

constexpr StatusEvents::Moment kStart{};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

std::vector<std::string> names_of(const std::vector<JobEvent>& events) {
  std::vector<std::string> names;
  for (const auto& event : events) {
    names.push_back(event.name);
  }
  return names;
}

Status training(Step step) {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = 1;
  status.step = step;
  status.steps = 100;
  return status;
}

TEST_CASE("events are appended, a line each, with their time") {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "events").string();
  for (int life = 0; life < 2; ++life) {
    EventStream events(file);
    events.tell("begin", {{"job", "a\nb"}, {"life", life}});
  }
  const auto lines = lines_of(read_file(file));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1]["event"] == "begin");
  CHECK(lines[1]["job"] == "a\nb");
  CHECK(lines[1]["life"] == 1);
  const auto time = lines[0]["time"].get<std::string>();
  CHECK(time.size() == std::string("2026-01-31T12:34:56.789Z").size());
  CHECK(time.back() == 'Z');
}

TEST_CASE("a file that cannot be written is refused by name") {
  CHECK_THROWS_WITH_AS(EventStream("/nowhere/events"),
                       "--events /nowhere/events: it cannot be opened: No such file or directory", std::runtime_error);
}

TEST_CASE("a pipe needs a reader, and one that does not read holds nobody up") {
  const TemporaryFolder folder;
  const auto pipe = (folder.path() / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(EventStream{pipe},
                       ("--events " + pipe +
                        ": it cannot be opened: No such device or address; a pipe needs somebody who reads it first")
                           .c_str(),
                       std::runtime_error);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  EventStream events(pipe);
  const std::string wide(1000, 'x');
  const int told = 3000;  // more than a pipe and what is kept take together
  for (int i = 0; i < told; ++i) {
    events.tell("note", {{"number", i}, {"text", wide}});
  }
  CHECK(events.trouble().find("slower than they come") != std::string::npos);
  std::string text;
  std::array<char, 65536> piece{};
  const auto drain = [&] {
    for (ssize_t size = 0; (size = read(reader, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(size));
    }
  };
  // Whoever reads again gets whole lines, and the number of those that were left out.
  for (int turn = 0; turn < 100; ++turn) {
    drain();
    events.tell("more", Json::object());
  }
  drain();
  CHECK(events.trouble().empty());
  int notes = 0;
  std::uint64_t left_out = 0;
  for (const auto& line : lines_of(text)) {
    notes += line["event"] == "note" ? 1 : 0;
    left_out += line.value("left_out", std::uint64_t{0});
  }
  CHECK(notes > 0);
  CHECK(notes < told);
  CHECK(left_out >= static_cast<std::uint64_t>(told - notes));
  close(reader);
  events.tell("after", Json::object());  // no SIGPIPE
  CHECK(events.trouble().find("Broken pipe") != std::string::npos);
}

TEST_CASE("phases and snapshots are told when they change, progress once a second") {
  StatusEvents events;
  Status status;
  status.phase = JobPhase::assembling;
  CHECK(names_of(events.observe(status, {}, kStart)) == std::vector<std::string>{"phase"});
  CHECK(events.observe(status, {}, kStart).empty());
  CHECK(names_of(events.observe(training(0), {}, kStart)) == std::vector<std::string>{"phase", "snapshot", "progress"});
  CHECK(events.observe(training(1), {}, kStart + milliseconds(999)).empty());
  const auto due = events.observe(training(2), 50.0, kStart + milliseconds(1000));
  REQUIRE(names_of(due) == std::vector<std::string>{"progress"});
  CHECK(due[0].fields["step"] == 2);
  CHECK(due[0].fields["steps"] == 100);
  CHECK(due[0].fields["examples_per_second"] == 50.0);
  auto kept = training(10);
  kept.snapshot = 8;
  const auto snapshot = events.observe(kept, {}, kStart + milliseconds(1001));
  REQUIRE(names_of(snapshot) == std::vector<std::string>{"snapshot"});
  CHECK(snapshot[0].fields["step"] == 8);
  kept.phase = JobPhase::failed;
  kept.failure = "the disk";
  const auto end = events.observe(kept, {}, kStart + milliseconds(1002));
  REQUIRE(names_of(end) == std::vector<std::string>{"phase", "progress"});
  CHECK(end[0].fields["failure"] == "the disk");
}

// What a Progress writes to its two streams.
class Streams {
 public:
  explicit Streams(LineStyle style)
      : out_(open_memstream(&out_text_, &out_size_)),
        err_(open_memstream(&err_text_, &err_size_)),
        progress(out_, err_, style, nullptr) {}
  ~Streams() {
    std::fclose(out_);
    std::fclose(err_);
    std::free(out_text_);  // NOLINT: open_memstream's
    std::free(err_text_);  // NOLINT
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  std::string out() {
    std::fflush(out_);
    return {out_text_, out_size_};
  }
  std::string err() {
    std::fflush(err_);
    return {err_text_, err_size_};
  }

 private:
  char* out_text_ = nullptr;
  std::size_t out_size_ = 0;
  char* err_text_ = nullptr;
  std::size_t err_size_ = 0;
  std::FILE* out_;
  std::FILE* err_;

 public:
  Progress progress;
};

TEST_CASE("quiet: nothing but what is wrong, and that on the error output") {
  Streams streams({.quiet = true});
  streams.progress.line("news");
  streams.progress.show(training(1), kStart);
  streams.progress.result("finished");
  CHECK(streams.err().empty());
  auto status = training(2);
  status.trouble = "the disk is full";
  streams.progress.show(status, kStart);
  streams.progress.error("the job failed");
  CHECK(streams.out().empty());
  CHECK(streams.err() == "trouble: the disk is full\nthe job failed\n");
}

TEST_CASE("the first status tells what is wrong already, and not what was") {
  Streams streams({});
  auto status = training(20);
  status.trouble = "the disk is full";
  status.skipped_steps = 7;
  streams.progress.show(status, kStart);
  CHECK(streams.out().find("trouble: the disk is full\n") == 0);
  CHECK(streams.out().find("skipped") == std::string::npos);
}

TEST_CASE("each line has its time where that is wanted") {
  Streams streams({.timestamps = true});
  streams.progress.result("two\nlines");
  const auto text = streams.out();
  const auto length = std::string("2026-01-31T12:34:56Z ").size();
  REQUIRE(text.size() == 2 * length + std::string("two\nlines\n").size());
  CHECK(text.substr(length, 4) == "two\n");
  CHECK(text.substr(2 * length + 4) == "lines\n");
}

TEST_CASE("colour marks whole lines, and only where it is wanted") {
  Streams plain({});
  plain.progress.warn("lost");
  CHECK(plain.out() == "lost\n");
  Streams coloured({.colour = true});
  coloured.progress.warn("lost");
  CHECK(coloured.out() == "\x1b[33mlost\x1b[0m\n");
  coloured.progress.error("failed");  // the error output is no terminal
  CHECK(coloured.err() == "failed\n");
}

TEST_CASE("a job is over when it has finished, was stopped or has failed") {
  for (std::size_t i = 0; i < kJobPhaseNames.size(); ++i) {
    const std::string name = kJobPhaseNames[i];
    const bool is_end = name == "finished" || name == "stopped" || name == "failed";
    CHECK_MESSAGE(is_over(static_cast<JobPhase>(i)) == is_end, name);
  }
}

TEST_CASE("what programs read has null for a number that is not finite") {
  CHECK(finite(0.5) == Json(0.5));
  CHECK(finite(std::numeric_limits<double>::infinity()).is_null());
  CHECK(finite(std::numeric_limits<double>::quiet_NaN()).is_null());
}

}  // namespace
}  // namespace ballast

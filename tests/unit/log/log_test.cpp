#include "common/log/log.h"

#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ballast {
namespace {

class LogFile {
 public:
  explicit LogFile(LogLevel level = LogLevel::info) {
    std::string name = (std::filesystem::temp_directory_path() / "ballast-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    start_logging({"shard", "0", path(), level});
  }
  ~LogFile() {
    start_logging({"test", "", "", LogLevel::warn});
    std::filesystem::remove_all(folder_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "logs" / "shard-0.log").string(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) {
      found.push_back(line);
    }
    return found;
  }

 private:
  std::filesystem::path folder_;
};

TEST_CASE("a line has UTC time with milliseconds, level, role, index, prefix and message") {
  const LogFile file;
  log_warn("step {} took {:.1f} s", 7, 1.25);
  set_log_prefix("lane 3: ");
  log_info("ready");
  set_log_prefix("");
  const auto lines = file.lines();
  REQUIRE(lines.size() == 2);
  CHECK(std::regex_match(lines[0],
                         std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warn  shard/0 step 7 took 1\.2 s)")));
  CHECK(lines[1].ends_with("Z info  shard/0 lane 3: ready"));
}

TEST_CASE("lines below the level are not written") {
  const LogFile file(LogLevel::warn);
  CHECK_FALSE(log_enabled(LogLevel::info));
  CHECK(log_enabled(LogLevel::error));
  log_debug("no");
  log_info("no");
  log_error("yes");
  REQUIRE(file.lines().size() == 1);
  CHECK(file.lines()[0].ends_with("Z error shard/0 yes"));
}

TEST_CASE("no text from outside can forge a line or reach the terminal") {
  const LogFile file;
  log_info("worker {}", "a\nerror shard/0 all is lost\x1b[2J\x7f\r{}");
  REQUIRE(file.lines().size() == 1);
  CHECK(file.lines()[0].ends_with(R"(worker a\x0aerror shard/0 all is lost\x1b[2J\x7f\x0d{})"));
}

TEST_CASE("a second start appends") {
  const LogFile file;
  log_info("first life");
  start_logging({"shard", "0", file.path(), LogLevel::info});
  log_info("second life");
  CHECK(file.lines().size() == 2);
}

TEST_CASE("threads share the log without mixing lines") {
  const LogFile file;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      set_log_prefix("lane " + std::to_string(thread) + ": ");
      for (int line = 0; line < 100; ++line) {
        log_info("line {} end", line);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  const auto lines = file.lines();
  CHECK(lines.size() == 400);
  const std::regex whole(R"(\S+Z info  shard/0 lane \d: line \d+ end)");
  for (const auto& line : lines) {
    REQUIRE(std::regex_match(line, whole));
  }
}

TEST_CASE("what was logged survives kill -9, and a fatal line ends the process with status 1") {
  const LogFile file;
  for (const bool fatal : {false, true}) {
    const auto pid = ::fork();
    if (pid == 0) {
      log_info("about to go");
      if (fatal) {
        log_fatal("cannot go on: {}", "reason");
      }
      ::raise(SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK((fatal ? WIFEXITED(status) && WEXITSTATUS(status) == 1 : WIFSIGNALED(status)));
  }
  const auto lines = file.lines();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].ends_with("about to go"));
  CHECK(lines[2].ends_with("Z error shard/0 cannot go on: reason"));
}

TEST_CASE("a file that cannot be written is told with its name") {
  try {
    start_logging({"shard", "0", "/proc/no/such/place.log", LogLevel::info});
    FAIL("it was accepted");
  } catch (const std::runtime_error& failure) {
    CHECK(std::string(failure.what()).find("/proc/no/such/place.log") != std::string::npos);
  }
}

TEST_CASE("levels are read by name, and others are refused with the list") {
  CHECK(parse_log_level("debug") == LogLevel::debug);
  CHECK(parse_log_level("off") == LogLevel::off);
  CHECK_THROWS_WITH_AS(parse_log_level("loud"), "\"loud\" is not a log level; use debug, info, warn, error or off",
                       std::invalid_argument);
}

}  // namespace
}  // namespace ballast

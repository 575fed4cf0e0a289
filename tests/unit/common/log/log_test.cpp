#include "common/log/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/log_file.h"

namespace ballast {
namespace {

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

TEST_CASE("what was logged survives kill -9") {
  const LogFile file;
  const auto pid = ::fork();
  if (pid == 0) {
    log_error("about to go: {}", "reason");
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status));
  const auto lines = file.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].ends_with("Z error shard/0 about to go: reason"));
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
  for (const auto name : kLogLevelNames) {
    CHECK(kLogLevelNames.at(static_cast<std::size_t>(parse_log_level(name))) == name);
  }
  CHECK(parse_log_level("debug") == LogLevel::debug);
  CHECK(parse_log_level("off") == LogLevel::off);
  CHECK_THROWS_WITH_AS(parse_log_level("loud"), "\"loud\" is not a log level; use debug, info, warn, error or off",
                       std::invalid_argument);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    found.push_back(line);
  }
  return found;
}

TEST_CASE("a line that comes a thousand times is written a few times, and its number is told at the end") {
  const LogFile file;
  const auto pid = ::fork();
  if (pid == 0) {
    for (int i = 0; i < 1000; ++i) {
      log_warn("refused a message: {}", i);
    }
    log_info("something else");
    log_error("the end");
    std::exit(EXIT_FAILURE);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  const auto lines = file.lines();
  REQUIRE(lines.size() == 23);
  CHECK(lines[19].ends_with("warn  shard/0 refused a message: 19"));
  CHECK(lines[20].ends_with("info  shard/0 something else"));
  CHECK(lines[21].ends_with("error shard/0 the end"));
  CHECK(std::regex_match(
      lines[22],
      std::regex(R"(\S+Z warn  shard/0 980 more lines like this in \d+ s, the newest: refused a message: 999)")));
}

TEST_CASE("what one lane repeats does not hold back another's lines, nor one level another's") {
  const LogFile file;
  for (const auto* prefix : {"lane 0: ", "lane 1: "}) {
    set_log_prefix(prefix);
    for (int i = 0; i < 50; ++i) {
      log_warn("not well");
    }
    log_error("not well");
  }
  set_log_prefix("");
  CHECK(file.lines().size() == 2 * 21);
}

TEST_CASE("what was held back is told in the log in which it was, and holds nothing back in the next one") {
  const LogFile first;
  for (int i = 0; i < 30; ++i) {
    log_warn("said often");
  }
  const LogFile second;
  log_warn("said often");
  CHECK(first.count("10 more lines like this") == 1);
  CHECK(second.count("warn  shard/0 said often") == 1);
}

// A folder with a log file of at most a megabyte, and the standard error stream in it as well.
TEST_CASE("a large file is put aside, so many are kept, and the standard error stream goes along") {
  const LogFile file;
  const auto pid = ::fork();
  if (pid == 0) {
    const int same = ::open(file.path().c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
    ::dup2(same, STDERR_FILENO);
    start_logging({"shard", "0", file.path(), LogLevel::info, 1, 3});
    const std::string filler(1000, 'x');
    for (int line = 0; line < 4500; ++line) {
      if (line % 1000 == 0) {
        ::dprintf(STDERR_FILENO, "a word that is not the log's, at %d\n", line);
      }
      set_log_prefix(std::to_string(line % 20));  // as many kinds as are not held back
      log_info("{} {}", line, filler);
    }
    ::dprintf(STDERR_FILENO, "the last word\n");
    std::_Exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(lines_of(file.path()).back() == "the last word");
  CHECK(std::filesystem::exists(file.path() + ".1"));
  CHECK(std::filesystem::exists(file.path() + ".2"));
  CHECK_FALSE(std::filesystem::exists(file.path() + ".3"));
  CHECK_FALSE(std::filesystem::exists(file.path() + ".new"));
  for (const auto* end : {"", ".1", ".2"}) {
    CHECK(std::filesystem::file_size(file.path() + end) <= 1'000'100);
  }
  // Together they are the end of what was logged, without a gap.
  auto lines = lines_of(file.path() + ".2");
  for (const auto* end : {".1", ""}) {
    const auto more = lines_of(file.path() + end);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  std::erase_if(lines, [](const std::string& line) { return !line.ends_with("xxx"); });
  REQUIRE(lines.size() > 1900);
  const auto first = 4500 - static_cast<int>(lines.size());
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    REQUIRE(lines[static_cast<std::size_t>(i)].find(std::to_string(first + i) + " xxx") != std::string::npos);
  }
}

TEST_CASE("a file of an earlier life counts, and 0 means that none is put aside") {
  const LogFile file;
  for (const bool is_limited : {false, true}) {
    const auto pid = ::fork();
    if (pid == 0) {
      start_logging({"shard", "0", file.path(), LogLevel::info, is_limited ? 1U : 0U, 2});
      for (int line = 0; line < 1500; ++line) {
        set_log_prefix(std::to_string(line % 20));
        log_info("{}", std::string(1000, 'x'));
      }
      std::_Exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(std::filesystem::exists(file.path() + ".1") == is_limited);
  }
  CHECK(std::filesystem::file_size(file.path() + ".1") > 1'000'000 - 2'000);
}

TEST_CASE("the log is on standard error where that is its file, under whatever name, and nowhere else") {
  const LogFile file;
  const auto pid = ::fork();
  if (pid == 0) {
    const bool is_elsewhere = !is_log_on_stderr();
    ::dup2(::open(file.path().c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
    start_logging({"shard", "0", file.path(), LogLevel::info});
    const bool is_there = is_log_on_stderr();
    start_logging({"shard", "0", "", LogLevel::info});
    std::_Exit(is_elsewhere && is_there && is_log_on_stderr() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace ballast

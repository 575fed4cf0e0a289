#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "cli/processes/process.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

struct Shell {
  TemporaryFolder folder;
  std::filesystem::path log = folder.path() / "log";

  pid_t start(const std::string& script) { return start_process({"/bin/sh", {"-c", script}, {}, log}); }
  Exit run(const std::string& script) {
    const auto pid = start(script);
    while (true) {
      if (const auto ended = reap()) {
        CHECK(ended->pid == pid);
        return ended->exit;
      }
      usleep(1000);
    }
  }
};

TEST_CASE("a child's end is told as it was") {
  Shell shell;
  const auto good = shell.run("exit 0");
  CHECK(good.good());
  const auto bad = shell.run("exit 3");
  CHECK_FALSE(bad.good());
  CHECK(describe(bad) == "exited with code 3");
  const auto killed = shell.run("kill -9 $$");
  CHECK_FALSE(killed.good());
  CHECK(describe(killed) == "was killed by signal 9 (SIGKILL)");
  CHECK_FALSE(reap().has_value());
}

TEST_CASE("output of one life after the other is appended to the log") {
  Shell shell;
  shell.run("echo one; echo two >&2");
  shell.run("echo three");
  CHECK(read_file(shell.log) == "one\ntwo\nthree\n");
}

TEST_CASE("a child reads nothing, inherits our environment and takes additions") {
  Shell shell;
  setenv("BALLAST_TEST_KEPT", "kept", 1);
  setenv("BALLAST_TEST_CHANGED", "old", 1);
  const auto pid = start_process({"/bin/sh",
                                  {"-c", "cat; echo $BALLAST_TEST_KEPT $BALLAST_TEST_CHANGED"},
                                  {"BALLAST_TEST_CHANGED=new"},
                                  shell.log});
  CHECK(waitpid(pid, nullptr, 0) == pid);
  CHECK(read_file(shell.log) == "kept new\n");
}

TEST_CASE("a child is its own group, with no signal blocked") {
  Shell shell;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  const auto pid = shell.start("echo started; sleep 1000");
  while (read_file(shell.log).empty()) {
    usleep(1000);
  }
  CHECK(getpgid(pid) == pid);
  signal_group(pid, SIGTERM);
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a program that cannot be executed is named with the reason") {
  TemporaryFolder folder;
  const auto start = [&](const std::string& program) { start_process({program, {}, {}, folder.path() / "log"}); };
  CHECK_THROWS_WITH(start("/nonexistent/program"), "cannot start /nonexistent/program: No such file or directory");
  const auto plain = (folder.path() / "plain").string();
  std::ofstream(plain) << "no program";
  CHECK_THROWS_WITH(start(plain), ("cannot start " + plain + ": Permission denied").c_str());
  CHECK_FALSE(reap().has_value());
  CHECK_THROWS_AS(start_process({"/bin/true", {}, {}, folder.path() / "no" / "log"}), std::runtime_error);
}

TEST_CASE("the last lines of a log") {
  TemporaryFolder folder;
  const auto file = folder.path() / "log";
  CHECK(last_lines(file, 3).empty());
  std::ofstream(file) << "one\n\ntwo\nthree\n  \nfour";
  CHECK(last_lines(file, 3) == std::vector<std::string>{"two", "three", "four"});
  CHECK(last_lines(file, 10).size() == 4);
  std::ofstream(file) << std::string(100'000, 'x') << "\nend\n";
  CHECK(last_lines(file, 1) == std::vector<std::string>{"end"});
}

TEST_CASE("a program that is not there is named with every place looked at") {
  try {
    find_program("ballast-nothing", "nowhere");
    FAIL("it was found");
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    CHECK(text.find("cannot find ballast-nothing") == 0);
    CHECK(text.find("nowhere/ballast-nothing") != std::string::npos);
  }
}

}  // namespace
}  // namespace ballast

#include "cli/asking/footprint.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace ballast {
namespace {

using namespace std::chrono_literals;

TEST_CASE("footprint: of a connection whose segments are sent again, and of no other") {
  const std::string line =
      "   3: 0100007F:1F90 0200000A:D2F0 01 000012C4:00000000 01:00000A2C 00000005  1000        0 4711 2 "
      "0000000000000000";
  const auto read = read_tcp_line(line);
  REQUIRE(read);
  CHECK(read->inode == 4711);
  CHECK(read->stuck.peer == "10.0.0.2:54000");
  CHECK(read->stuck.again == 5);
  CHECK(read->stuck.bytes == 0x12C4);
  auto once = line;
  once.replace(once.find("00000005"), 8, "00000001");
  CHECK_FALSE(read_tcp_line(once));
  auto idle = line;
  idle.replace(idle.find(" 01:0000"), 4, " 02:");
  CHECK_FALSE(read_tcp_line(idle));
}

TEST_CASE("footprint: of a connection by IPv6, and of what is none") {
  const auto read = read_tcp_line(
      "  0: 00000000000000000000000001000000:1F90 000080FE00000000FF005450B6DD28FE:D2F0 01 00000001:00000000 "
      "01:00000010 "
      "00000002 0 0 12 2 0");
  REQUIRE(read);
  CHECK(read->stuck.peer == "[fe80::5054:ff:fe28:ddb6]:54000");
  CHECK_FALSE(read_tcp_line(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"));
  CHECK_FALSE(read_tcp_line(""));
  CHECK_FALSE(read_tcp_line("0: x y 01 00000001:0 01:0 00000003 0 0 12"));
}

TEST_CASE("footprint: what this process takes") {
  const FootprintSpan span(getpid());
  const auto until = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < until) {
  }
  const int descriptor = open("/dev/null", O_RDONLY);
  const auto found = span.end();
  close(descriptor);
  REQUIRE(found);
  CHECK(found->state != 'T');
  CHECK(found->processor > 0.01);
  CHECK(found->memory > 1'000'000);
  CHECK(found->descriptors > 3);
  CHECK(found->descriptor_limit >= found->descriptors);
  CHECK(found->stuck.empty());
}

TEST_CASE("footprint: a process that is stopped, and one that has ended") {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const FootprintSpan span(child);
  kill(child, SIGSTOP);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  REQUIRE(span.end());
  CHECK(span.end()->state == 'T');
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  CHECK_FALSE(span.end());
  CHECK_FALSE(FootprintSpan(child).end());
}

TEST_CASE("footprint: processes by what they were told") { CHECK(processes_of("ballast-no-such-program", "").empty()); }

}  // namespace
}  // namespace ballast

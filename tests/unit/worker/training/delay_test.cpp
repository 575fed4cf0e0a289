#include "worker/training/delay.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/training/small_model.h"

namespace ballast {
namespace {

using namespace testing;
using std::chrono::milliseconds;

Delays delays_of(const std::string& text, std::string_view worker) {
  return Delays::parse("BALLAST_DELAY", text, worker);
}

TEST_CASE("a delay is that of the worker's name, or that of all others") {
  const std::string text = "worker-0:20,*:5,worker-1:0,a:b:7";
  CHECK(delays_of(text, "worker-0").at(3, 0) == milliseconds(20));
  CHECK(delays_of(text, "worker-1").empty());
  CHECK(delays_of(text, "worker-2").at(0, 0) == milliseconds(5));
  CHECK(delays_of(text, "a:b").at(0, 0) == milliseconds(7));
  CHECK(delays_of("worker-0:20", "worker-1").empty());
  CHECK(delays_of("", "worker-0").empty());
}

TEST_CASE("a delay holds in the steps that it names, and what is said of a worker adds up") {
  const auto delays = delays_of("w:20@30-32,w:200@31/10,w:1,*:7@2", "w");
  CHECK(delays.at(29, 0) == milliseconds(1));
  CHECK(delays.at(30, 0) == milliseconds(21));
  CHECK(delays.at(31, 0) == milliseconds(221));
  CHECK(delays.at(32, 0) == milliseconds(21));
  CHECK(delays.at(33, 0) == milliseconds(1));
  CHECK(delays.at(41, 0) == milliseconds(201));
  CHECK(delays_of("w:20@30-32,*:7@2", "v").at(1, 0) == milliseconds(0));
  CHECK(delays_of("w:20@30-32,*:7@2", "v").at(2, 0) == milliseconds(7));
}

TEST_CASE("a delay that is spread is another for each slot, the same each time, and never less than none") {
  constexpr Slot kSlots = 10'000;
  const auto delays = delays_of("w:20~4", "w");
  const auto again = delays_of("w:20~4", "w");
  const auto other = delays_of("*:20~4", "v");
  double sum = 0;
  double squares = 0;
  int alike = 0;
  for (Slot slot = 0; slot < kSlots; ++slot) {
    const auto delay = delays.at(1, slot);
    CHECK(again.at(1, slot) == delay);
    alike += other.at(1, slot) == delay ? 1 : 0;
    const auto ms = static_cast<double>(delay.count()) / 1e3;
    sum += ms;
    squares += (ms - 20) * (ms - 20);
  }
  CHECK(alike < kSlots / 100);
  CHECK(sum / kSlots == doctest::Approx(20).epsilon(0.01));
  CHECK(std::sqrt(squares / kSlots) == doctest::Approx(4).epsilon(0.05));
  const auto wide = delays_of("w:1~100", "w");
  for (Slot slot = 0; slot < 100; ++slot) {
    CHECK(wide.at(1, slot) >= milliseconds(0));
  }
}

TEST_CASE("a delay that cannot be read is refused, whoever it is for") {
  for (const std::string text :
       {"worker-0", "worker-0:", "*:5ms", "*:-1", "*:123456789", "worker-1:1,,*:2", "*:1@", "*:1@3-", "*:1@-3", "*:1/0",
        "*:1/", "*:1~", "*:1~a", "*:1@3~2", "*:1@a", "*:1@3/2/1", "*:1@9-3"}) {
    CAPTURE(text);
    const auto refusal = error_of([&] { delays_of(text, "worker-1"); });
    CHECK(refusal.find("BALLAST_DELAY") == 0);
    CHECK(refusal.find("NAME:MILLISECONDS") != std::string::npos);
  }
}

TEST_CASE("a delayed model takes the time, says so, and gives the same gradients") {
  const auto arena = small_arena();
  const auto plain = small_model(arena);
  const auto delayed = with_delay(small_model(arena), delays_of("w:30", "w"));
  const std::vector<float> weights(arena.elements, 0.5F);
  const std::vector<std::int32_t> labels(2);
  std::vector<float> expected(arena.elements);
  std::vector<float> found(arena.elements);
  plain->train({3, 1, 8, 1}, {2, {}, labels}, weights, expected, [](std::size_t) {});
  const auto begin = std::chrono::steady_clock::now();
  delayed->train({3, 1, 8, 1}, {2, {}, labels}, weights, found, [](std::size_t) {});
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(30));
  CHECK(delayed->last_times().forward_us >= 30'000);
  CHECK(found == expected);
}

// What the other process says, or nothing if it ends without.
template <typename Value>
Value said_by(int pipe) {
  Value value{};
  return ::read(pipe, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? value : Value{};
}

bool has_something(int pipe) {
  pollfd asked{pipe, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

// How long another process waits that is to wait for `delay` and is stopped for `stop` in its midst. None: it was over
// before it was stopped.
std::optional<milliseconds> waited(milliseconds delay, milliseconds stop) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const auto child = ::fork();
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    auto told = ::write(pipe[1], "b", 1);
    wait_for(delay);
    const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count();
    told = ::write(pipe[1], &took, sizeof took);
    ::_exit(told == sizeof took ? 0 : 1);
  }
  REQUIRE(child > 0);
  REQUIRE(said_by<char>(pipe[0]) == 'b');
  CHECK(::kill(child, SIGSTOP) == 0);
  int status = 0;
  CHECK(::waitpid(child, &status, WUNTRACED) == child);
  const bool is_stopped = WIFSTOPPED(status);
  const bool is_over = !is_stopped || has_something(pipe[0]);
  if (is_stopped) {
    std::this_thread::sleep_for(stop);
    CHECK(::kill(child, SIGCONT) == 0);
  }
  const milliseconds took{said_by<long>(pipe[0])};
  if (is_stopped) {
    CHECK(::waitpid(child, &status, 0) == child);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
  return is_over ? std::nullopt : std::optional(took);
}

TEST_CASE("time in which the process is stopped is no part of a delay") {
  constexpr milliseconds kDelay{1000};
  constexpr milliseconds kStop{200};
  std::optional<milliseconds> took;
  for (int tries = 0; tries < 5 && !took; ++tries) {  // on a busy machine we may come too late
    took = waited(kDelay, kStop);
  }
  REQUIRE(took);
  CHECK(*took >= kDelay + kStop - milliseconds(20));
}

}  // namespace
}  // namespace ballast

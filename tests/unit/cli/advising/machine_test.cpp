// What is really measured on this machine: that it is there and hangs together, not how much it is.

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "cli/advising/lane_probe.h"
#include "cli/advising/link_probe.h"
#include "cli/advising/link_server.h"
#include "cli/advising/slot_probe.h"
#include "cli/advising/tcp_stream.h"
#include "common/command/usage_error.h"
#include "common/job/load.h"
#include "tests/unit/cli/advising/fleet.h"

namespace ballast {
namespace {

constexpr double kShort = 0.05;  // seconds

SlotProbing probing() { return {"", {"cpu", 0, 1, Precision::float32}, kShort}; }

TEST_CASE("slots are computed: the emulated model takes at least what it waits for") {
  const auto job = make_job(
      parse_job("job: a\nmodel: {name: emulated, compute_ms: 40, parameters: [{name: w, shape: [600, 1000]}]}\n"
                "data: {name: none}\n"
                "training: {slots: 4, batch: 4, max_steps: 5, optimizer: {name: sgd, learning_rate: 0.1}}\n",
                "test"));
  const auto found = probe_slots(job, probing());
  REQUIRE(found.alone.size() >= 3);
  CHECK(found.joined.size() == found.alone.size());
  CHECK(std::ranges::min(found.alone) >= 39'000);
  CHECK(found.ready.size() == job.arena.chunks.size());
  // The last parameters' gradients are there first.
  CHECK(found.ready.front() > 0.7);
  CHECK(found.ready.back() > 0.7);  // the statistics'
  CHECK(std::ranges::min(found.ready) > 0.3);
  CHECK(found.fetch);
  CHECK(found.data_trouble.empty());
}

TEST_CASE("slots of a network are computed, also where the data are not") {
  const std::string text =
      "job: a\nmodel: {name: mlp, hidden: [32]}\ndata: {name: mnist, path: /nowhere/at/all}\n"
      "training: {slots: 1, batch: 16, max_steps: 5, optimizer: {name: sgd, learning_rate: 0.1}}\n";
  const auto found = probe_slots(make_job(parse_job(text, "test")), probing());
  CHECK(found.alone.size() >= 3);
  CHECK(found.joined.empty());
  CHECK(std::ranges::min(found.alone) > 0);
  CHECK_FALSE(found.fetch);
  CHECK(found.data_trouble.find("/nowhere/at/all") != std::string::npos);
  CHECK(found.processors > 0);
  CHECK(found.backend.find("cpu") != std::string::npos);
}

TEST_CASE("a lane's work takes time, by the byte and by the message") {
  const auto found = probe_lane(testing::job_of(4), 4 * kShort);
  CHECK(found.message > 0);
  CHECK(found.reply > 0);
  CHECK(found.sum > 0);
  CHECK(found.apply > 0);
  CHECK(found.wire_message > 0);
}

TEST_CASE("updates that wait for the lead are told from others") {
  CHECK_FALSE(waits_for_the_lead(testing::job_of(1)));
  const auto with = [](const std::string& training) {
    return waits_for_the_lead(make_job(
        parse_job("job: a\nmodel: {name: emulated, parameters: [{name: w, shape: [100]}]}\ndata: {name: none}\n"
                  "training: {batch: 8, slots: 8, max_steps: 5, " +
                      training + "}\n",
                  "test")));
  };
  CHECK(with("optimizer: {name: sgd, learning_rate: 0.1}, clip: {global_norm: 1}"));
  CHECK(with("optimizer: {name: sgd, learning_rate: 0.1}, non_finite: skip"));
  CHECK(with("optimizer: {name: lamb, learning_rate: 0.1}"));
  CHECK_FALSE(with("optimizer: {name: adam, learning_rate: 0.1}"));
}

class Listening {
 public:
  Listening() : server_("127.0.0.1:0"), thread_([this] { server_.serve(stop_, 60); }) {}
  ~Listening() {
    const std::uint64_t one = 1;
    CHECK(::write(stop_, &one, sizeof(one)) == sizeof(one));
    thread_.join();
    ::close(stop_);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  [[nodiscard]] const std::string& address() const { return server_.address(); }
  [[nodiscard]] TcpStream connected() const { return TcpStream::connect(resolve_http_address(address())); }

 private:
  int stop_ = ::eventfd(0, EFD_CLOEXEC);
  LinkServer server_;
  std::thread thread_;
};

TEST_CASE("a link is measured both ways, with one client at a time") {
  const Listening machine;
  const auto other = machine.connected();
  other.send("ballast-probe 1 hello\n");
  REQUIRE(other.line(200).value_or("").starts_with("ok "));
  CHECK_THROWS_WITH_AS(probe_link(machine.address()), doctest::Contains("busy"), std::runtime_error);
  ::shutdown(other.descriptor(), SHUT_RDWR);
  for (int tries = 0; tries < 100; ++tries) {
    try {
      const auto found = probe_link(machine.address());
      CHECK(found.to == machine.address());
      CHECK(found.up > 0);
      CHECK(found.down > 0);
      CHECK(found.up >= found.up_of_one);
      CHECK(found.down >= found.down_of_one);
      CHECK(found.round_trip > 0);
      return;
    } catch (const std::runtime_error& error) {
      REQUIRE(std::string(error.what()).find("busy") != std::string::npos);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  FAIL("it stays busy");
}

TEST_CASE("whoever says anything else is cut, and nobody waits for it") {
  const Listening machine;
  for (const auto& said : {std::string("GET / HTTP/1.0\r\n\r\n"), std::string("ballast-probe 2 hello\n"),
                           std::string("ballast-probe 1 down 7\n"), std::string("ballast-probe 1 \n"),
                           std::string(300, 'x'), std::string("\0\xff\n", 3)}) {
    const auto stranger = machine.connected();
    stranger.send(said);
    CHECK_FALSE(stranger.byte());
  }
  const auto good = machine.connected();
  good.send("ballast-probe 1 hello\n");
  CHECK(good.line(200).value_or("").starts_with("ok "));
}

TEST_CASE("a stranger who says its line byte by byte is cut before it has said it") {
  const Listening machine;
  const auto stranger = machine.connected();
  stranger.drop_unsent();
  int said = 0;
  for (pollfd one{stranger.descriptor(), POLLIN, 0}; said < 150 && ::poll(&one, 1, 50) == 0;) {
    said += stranger.send_now("b") ? 1 : 0;
  }
  CHECK(said > 0);
  CHECK(said < 150);  // a line may have 200
}

TEST_CASE("of a conversation no more connections are served at a time than a probe has") {
  const Listening machine;
  const auto control = machine.connected();
  control.send("ballast-probe 1 hello\n");
  const auto token = control.line(200).value_or("").substr(3);
  std::vector<TcpStream> streams;
  std::vector<pollfd> looks;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(machine.connected());
    streams.back().send("ballast-probe 1 up " + token + "\n");
    looks.push_back({streams.back().descriptor(), POLLIN, 0});
  }
  REQUIRE(::poll(looks.data(), looks.size(), 20'000) > 0);
  CHECK(std::ranges::count_if(looks, [](const auto& look) { return look.revents != 0; }) == 1);
  for (auto& stream : streams) {
    stream.close();
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(control.line(200) == "up 0 0");
  }
  const auto another = machine.connected();
  another.send("ballast-probe 1 down " + token + "\n");
  CHECK(another.byte());
}

TEST_CASE("whom nobody answers, and what cannot be listened on, is named with the remedy") {
  CHECK_THROWS_WITH_AS(probe_link("127.0.0.1:1"), doctest::Contains("127.0.0.1:1: Connection refused"),
                       std::runtime_error);
  const Listening machine;
  CHECK_THROWS_WITH_AS(LinkServer(machine.address()), doctest::Contains("a port that is free"), UsageError);
  CHECK_THROWS_AS(LinkServer("nonsense"), UsageError);
}

}  // namespace
}  // namespace ballast

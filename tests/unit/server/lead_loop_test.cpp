// What the lead's loop does for peers that ask and do not read, over real sockets.
#include "server/lead_loop.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/net/peer.h"
#include "common/net/unsent_replies.h"
#include "common/wire/wire.h"
#include "storage/store/store.h"
#include "tests/unit/common/net/net_test.h"
#include "tests/unit/log_file.h"

namespace ballast {
namespace {

LeadConfig of_a_job() {
  LeadConfig config;
  config.factors = [](Step, std::uint64_t) { return StepFactors(); };
  config.parameter_name = [](std::uint32_t) { return std::string("weight"); };
  return config;
}

// A lead of which no shard is heard.
class LeadOfTest {
 public:
  LeadOfTest(LeadConfig config, const std::string& transport)
      : loop_(context_, ServerKeys(), std::move(config), addresses_.make(transport), "", store_, room_, &metrics_) {}
  ~LeadOfTest() {
    if (thread_.joinable()) {
      loop_.interrupt("the test is over");
      thread_.join();
    }
    loop_.close();
    context_.close();
  }
  LeadOfTest(const LeadOfTest&) = delete;
  LeadOfTest& operator=(const LeadOfTest&) = delete;

  LeadLoop& loop() { return loop_; }
  [[nodiscard]] const std::string& address() const { return loop_.address(); }
  // Runs it in a thread of its own, until this goes.
  void begin() {
    thread_ = std::thread([this] { loop_.run(); });
  }
  double refused() { return metrics_.counter("ballast_lead_messages_refused_total")->value(); }

 private:
  Addresses addresses_;
  Metrics metrics_;
  DiskRoom room_{nullptr};
  ShardStore store_{std::make_unique<MemoryStore>("shard-0")};
  zmq::context_t context_ = make_context();
  LeadLoop loop_;
  std::thread thread_;
};

// A command line.
class LeadClient {
 public:
  LeadClient(zmq::context_t& context, const std::string& address, std::uint64_t number, bool reads = true)
      : dealer_(context, client_routing_id(number), {.linger_ms = 0, .buffer_bytes = 65536}) {
    if (!reads) {
      dealer_.raw().set(zmq::sockopt::rcvhwm, 1);
    }
    dealer_.connect(address);
  }
  void say(const Message& message) { REQUIRE(dealer_.send("", encoder_.encode(message))); }
  void say_nonsense() { REQUIRE(dealer_.send("", bytes_of("nonsense"))); }
  // The next message, if one has come, and its bytes.
  std::optional<Message> next() {
    const auto received = dealer_.receive();
    if (!received) {
      return std::nullopt;
    }
    heard_bytes_ += received->header.size();
    auto decoded = decode(received->header.bytes(), 0, false);
    REQUIRE(std::holds_alternative<Message>(decoded));
    return std::move(std::get<Message>(decoded));
  }
  Message await() {
    return *eventually([this] { return next(); });
  }
  // Messages that had been said when the lead came to say that it does not take this one. Which it says again and
  // again, for whoever does not read for a moment is told less than it asks.
  std::size_t read_all(const std::function<void(const Message&)>& hear = [](const Message& /*message*/) {}) {
    std::size_t count = 0;
    eventually([&] {
      say(Pull{1, 0, {0}});
      while (const auto message = next()) {
        const auto* refused = std::get_if<Refused>(&*message);
        if (refused != nullptr && refused->code == RefusalCode::wrong_target) {
          return true;
        }
        hear(*message);
        ++count;
      }
      return false;
    });
    return count;
  }
  [[nodiscard]] std::uint64_t heard_bytes() const { return heard_bytes_; }

 private:
  Dealer dealer_;
  Encoder encoder_;
  std::uint64_t heard_bytes_ = 0;
};

// Long texts, and many: so that bytes are too many long before messages are.
LeadConfig of_long_status() {
  auto config = of_a_job();
  config.name = std::string(wire::kMaxTextBytes, 'n');
  config.mode = std::string(wire::kMaxTextBytes, 'm');
  return config;
}

// Each adds its name to the status, and each has another one.
std::vector<std::unique_ptr<Dealer>> with_long_names(zmq::context_t& context, const std::string& address) {
  std::vector<std::unique_ptr<Dealer>> workers;
  Encoder encoder;
  for (SessionId session = 1; session <= 24; ++session) {
    auto& worker = workers.emplace_back(
        std::make_unique<Dealer>(context, session_routing_id(session), SocketOptions{.linger_ms = 0}));
    worker->connect(address);
    const auto name = std::string(wire::kMaxTextBytes - 1, 'w') + static_cast<char>('a' + session);
    REQUIRE(worker->send("", encoder.encode(WorkerHello{name})));
  }
  return workers;
}

TEST_CASE("who asks the lead without end and does not read is told no more, and others are answered") {
  constexpr int kAsked = 1'000;
  constexpr std::uint64_t kLong = 100'000;     // a status at least
  constexpr std::uint64_t kMost = 16U << 20U;  // what a peer may have unsent, and several times what a system keeps
  static_assert(kAsked * kLong > 2 * kMost);
  const LogFile logged;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    LeadOfTest lead(of_long_status(), transport);
    lead.begin();
    zmq::context_t others;
    const auto workers = with_long_names(others, lead.address());
    LeadClient other(others, lead.address(), 2);
    eventually([&] {
      other.say(StatusRequest{});
      return std::get<Status>(other.await()).sessions.size() == workers.size();
    });

    LeadClient deaf(others, lead.address(), 1, false);
    for (int i = 0; i < kAsked; ++i) {
      deaf.say(StatusRequest{});
    }
    deaf.say_nonsense();
    eventually([&] { return lead.refused() == 1; });  // all that it said before has been read
    other.say(StatusRequest{});
    CHECK(std::get<Status>(other.await()).sessions.size() == workers.size());

    // Once it reads it is told again, and nobody has kept the rest for it.
    const auto told = deaf.read_all();
    CHECK(deaf.heard_bytes() > told * kLong);
    CHECK(deaf.heard_bytes() < kMost);
  }
  CHECK(logged.count("lead: a command line does not read what it is told") > 0);
}

// Of short messages there are too many before there are too many bytes.
TEST_CASE("for who does not read the lead keeps no more than so many messages") {
  constexpr int kAsked = 4'000;
  constexpr std::size_t kMost = 2'000;  // several times what it keeps, and what the system takes beside them
  LeadOfTest lead(of_a_job(), "ipc");
  lead.begin();
  zmq::context_t others;
  LeadClient deaf(others, lead.address(), 1, false);
  for (int i = 0; i < kAsked; ++i) {
    deaf.say(StatusRequest{});
  }
  deaf.say_nonsense();
  eventually([&] { return lead.refused() == 1; });
  CHECK(deaf.read_all() < kMost);
}

// Each time that it is paused or goes on a status put together then would say so.
TEST_CASE("the lead puts its status together seldom, however many ask") {
  constexpr int kAsked = 300;
  constexpr std::size_t kKept = 256;  // for whoever does not read for a moment
  LeadOfTest lead(of_a_job(), "ipc");
  zmq::context_t others;
  LeadClient client(others, lead.address(), 1);
  const auto began = monotonic_micros();
  lead.begin();
  for (int i = 0; i < kAsked; ++i) {
    client.say(Control{i % 2 == 0 ? Control::Command::pause : Control::Command::resume});
  }
  std::uint64_t changes = 0;
  std::optional<JobPhase> phase;
  const auto answers = client.read_all([&](const Message& message) {
    const auto now = std::get<Status>(message).phase;
    changes += phase && phase != now ? 1 : 0;
    phase = now;
  });
  CHECK(answers >= kKept);
  CHECK(changes <= 1 + (monotonic_micros() - began) / StatusAnswers::kAge);
}

// Each byte may name something that is to be looked up.
TEST_CASE("long headers alone end a turn of the lead") {
  constexpr std::size_t kMessages = 32;  // less than those of a turn, and than may wait to be read
  constexpr std::size_t kBytes = 64U << 10U;
  constexpr auto kOfATurn = static_cast<double>(Turn::kBytes / (kBytes * Turn::kHeaderByte));
  static_assert(kMessages * kBytes < Turn::kBytes);
  UnsentReplies unread(false);
  zmq::context_t others;
  LeadOfTest lead(of_a_job(), "tcp");
  // All of them wait at the lead before its first turn, and so does what ends it: a turn looks for that last.
  Dealer worker(others, session_routing_id(7), {.linger_ms = 0, .buffer_bytes = 65536});
  worker.connect(lead.address());
  const std::vector<std::byte> nonsense(kBytes);
  for (std::size_t i = 0; i < kMessages; ++i) {
    auto frame = unread.frame({"lead"}, nonsense);
    REQUIRE(frame);
    REQUIRE(worker.Socket::send("", *frame));
  }
  eventually([&] { return unread.bytes() == 0; });
  lead.loop().interrupt("enough");
  CHECK(lead.loop().run() == "enough");
  set_log_prefix("");
  CHECK(lead.refused() >= 1);
  CHECK(lead.refused() <= kOfATurn);
}

TEST_CASE("who asks for measurements is told who has them, and of whom there are none") {
  LeadOfTest lead(of_a_job(), "tcp");
  zmq::context_t context = make_context();
  LeadClient client(context, lead.address(), 1);
  lead.begin();
  const auto answer = [&](const TraceAsked& asked) {
    client.say(asked);
    const auto message = client.await();
    REQUIRE(std::holds_alternative<TracePart>(message));
    return std::get<TracePart>(message);
  };
  const auto who = answer({4, std::nullopt, 0, 0});
  CHECK(who.number == 4);
  CHECK(who.sources == std::vector{TraceSource{TraceRole::lead, {}, 0}, TraceSource{TraceRole::lane, {0, 0}, 0}});
  CHECK(who.ends);
  const auto own = answer({5, TraceSource{TraceRole::lead, {}, 0}, 0, 20});
  CHECK(own.number == 5);
  REQUIRE(own.clock.has_value());
  CHECK(own.clock->own == own.clock->lead);
  CHECK(own.ends);
  for (const auto& nobody : {TraceSource{TraceRole::worker, {}, 9}, TraceSource{TraceRole::lane, {3, 1}, 0}}) {
    const auto part = answer({6, nobody, 0, 20});
    CHECK(part.number == 6);
    CHECK(part.source == nobody);
    CHECK(part.records.empty());
    CHECK(part.ends);
  }
  // What nobody has asked for is dropped, and the lead goes on.
  TracePart unasked;
  unasked.number = 1;
  client.say(unasked);
  CHECK(answer({7, std::nullopt, 0, 0}).number == 7);
}

}  // namespace
}  // namespace ballast

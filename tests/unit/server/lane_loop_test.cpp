#include "server/lane_loop.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/job/load.h"
#include "common/net/peer.h"
#include "storage/store/store.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

// Small buffers of the system: nearly all that has been sent has then been received.
Job small_buffers(const std::string& hidden) {
  return make_job(parse_job(R"(
job: turns
model: {name: mlp, hidden: [)" + hidden +
                                R"(]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, max_steps: 9}
cluster: {socket_buffer_bytes: 65536}
)",
                            "test"));
}

LaneConfig config_of(const Job& job) {
  LaneConfig config;
  for (const auto& chunk : job.arena.chunks) {
    config.chunks.push_back({chunk.id, chunk.bytes(), chunk.group == Group::statistics});
  }
  config.slots = job.spec.training.slots;
  config.steps = job.steps.steps;
  return config;
}

// A lane of its own shard, reached over the transport, and a lead that the test speaks for. `trouble`: what the lane
// asks the shard at each tick, before it looks at anything else.
class LaneOfTest {
 public:
  LaneOfTest(
      const Job& job, LaneConfig config, const std::string& transport,
      std::function<std::string()> trouble = [] { return std::string(); })
      : lead_(context_),
        storage_(std::make_unique<ShardStorage>(store_, nullptr, room_, 1, 1)),
        at_{addresses_.make(transport), "", lead_.bind(addresses_.make("ipc"))},
        lane_(context_, ServerKeys(), job, std::move(config), at_,
              {*storage_, nullptr, nullptr, nullptr, false, std::move(trouble)}, &metrics_) {}
  ~LaneOfTest() {
    if (thread_.joinable()) {
      lane_.interrupt("the test is over");
      thread_.join();
    }
    lane_.close();
    lead_.close();
    storage_.reset();
    context_.close();
  }
  LaneOfTest(const LaneOfTest&) = delete;
  LaneOfTest& operator=(const LaneOfTest&) = delete;

  LaneLoop& loop() { return lane_; }
  [[nodiscard]] const std::string& address() const { return lane_.address(); }
  [[nodiscard]] zmq::context_t& context() { return context_; }
  // Runs it in a thread of its own, until this goes.
  void begin() {
    thread_ = std::thread([this] { lane_.run(); });
  }
  // Of metrics of lane 0.
  double counter(const std::string& name, const Metrics::Labels& more = {}) {
    Metrics::Labels labels{"0"};
    labels.insert(labels.end(), more.begin(), more.end());
    return metrics_.counter("ballast_shard_" + name, labels)->value();
  }
  double gauge(const std::string& name) { return metrics_.gauge("ballast_shard_" + name, {"0"})->value(); }

  // Says what a lead would, of a job that has begun timeline 1 with drawn weights, and of all steps' factors; what the
  // lane has reported last.
  const LaneReport& hear_lane() {
    while (const auto received = lead_.receive()) {
      const auto decoded = decode(received->header.bytes(), 0, false);
      REQUIRE(std::holds_alternative<Message>(decoded));
      const auto& message = std::get<Message>(decoded);
      if (const auto* report = std::get_if<LaneReport>(&message)) {
        report_ = *report;
      }
      if (report_.serving) {
        Plan plan{1, 0, std::vector<StepFactors>(9), {}, {}, {}, 0, 1};
        plan.number = {1, 1};
        lead_.send(received->peer, encoder_.encode(plan));
      } else {
        lead_.send(received->peer, encoder_.encode(Confirm{1, 1, {}}));
      }
    }
    return report_;
  }

 private:
  Addresses addresses_;
  Metrics metrics_;
  DiskRoom room_{nullptr};
  ShardStore store_{std::make_unique<MemoryStore>("shard-0")};
  zmq::context_t context_ = make_context();
  Router lead_;
  std::unique_ptr<ShardStorage> storage_;
  const LaneLoop::Addresses at_;
  LaneLoop lane_;
  Encoder encoder_;
  LaneReport report_;
  std::thread thread_;
};

TEST_CASE("a lane ends its turn after so many bytes, whatever more has come") {
  constexpr std::size_t kPushes = 32;  // less than the messages of a turn
  constexpr std::size_t kBytes = 1U << 20U;
  static_assert(kPushes * kBytes > 2 * Turn::kBytes);
  const auto job = small_buffers("4");
  ReleaseQueue releases;
  LaneOfTest lane(job, config_of(job), "tcp");

  // All of them wait at the lane before its first turn, and so does what ends it: a turn looks for that last.
  Dealer worker(lane.context(), session_routing_id(7), {.buffer_bytes = 65536});
  worker.connect(lane.address());
  const std::vector<std::byte> gradient(kBytes);
  Encoder encoder;
  Push push;
  push.timeline = 1;
  push.node = {0, 1};
  for (std::size_t i = 0; i < kPushes; ++i) {
    REQUIRE(worker.send("", encoder.encode(push), {gradient.data(), kBytes, {7, i, nullptr, kBytes}, &releases}));
  }
  wait_for_releases(releases, kPushes);
  lane.loop().interrupt("enough");
  CHECK(lane.loop().run() == "enough");

  const auto taken = lane.counter("bytes_total", {"in"});
  CHECK(taken >= kBytes);
  CHECK(taken <= Turn::kBytes);
  worker.close();
}

// ---- weights that are read slowly

// A lane of the job's largest chunk alone, which may keep one version of it for readers.
LaneConfig one_chunk_of(const Job& job) {
  auto config = config_of(job);
  const auto largest = std::ranges::max(config.chunks, {}, &LaneChunk::bytes);
  config.chunks = {largest};
  config.kept_bytes = largest.bytes;
  config.all_replies_bytes = largest.bytes;
  config.kept_patience = 200'000;
  config.database = {1, 1};
  return config;
}

// A worker's connection to a lane.
class LaneClient {
 public:
  LaneClient(zmq::context_t& context, const std::string& address, SessionId session, bool reads = true,
             bool takes_calls = false)
      : dealer_(context, session_routing_id(session), {.linger_ms = 0, .buffer_bytes = 65536}) {
    if (!reads) {
      dealer_.raw().set(zmq::sockopt::rcvhwm, 1);
    }
    dealer_.connect(address);
    say(LaneHello{"worker " + std::to_string(session), "", "", takes_calls});
  }

  void say(const Message& message) { dealer_.send("", encoder_.encode(message)); }
  // Its only chunk's gradient of the step, of all slots.
  void push(Step step, const LaneChunk& chunk, ReleaseQueue& releases, std::uint64_t call = 0) {
    gradient_.resize(chunk.bytes);
    const Push push{1, step, chunk.id, {0, 4}, false, kNoSlot, {}, {}, call};
    dealer_.send("", encoder_.encode(push),
                 {gradient_.data(), gradient_.size(), {0, step, nullptr, chunk.bytes}, &releases});
  }
  // The next message of this kind, if one has come; others are passed over.
  template <typename Kind>
  std::optional<Kind> next() {
    while (const auto received = dealer_.receive()) {
      const auto bytes = received->payload ? received->payload->size() : 0;
      const auto decoded = decode(received->header.bytes(), bytes, received->payload.has_value());
      if (const auto* message = std::get_if<Message>(&decoded); message && std::holds_alternative<Kind>(*message)) {
        return std::get<Kind>(*message);
      }
    }
    return std::nullopt;
  }
  // How often its connection was ended.
  std::uint32_t ends() {
    dealer_.tick(monotonic_micros());
    return dealer_.connections();
  }
  [[nodiscard]] bool is_connected() const { return dealer_.is_connected(); }
  void close() { dealer_.close(); }

 private:
  Dealer dealer_;
  Encoder encoder_;
  std::vector<std::byte> gradient_;
};

// Beside it the lane's socket is never found empty.
class EndlessTalker {
 public:
  EndlessTalker(const std::string& address, SessionId session)
      : dealer_(context_, session_routing_id(session), {.linger_ms = 0, .unsent = 64}) {
    dealer_.connect(address);
    Encoder encoder;
    LaneHello hello{"talker", "", ""};
    hello.takes_calls = true;
    REQUIRE(dealer_.send("", encoder.encode(hello)));
    thread_ = std::jthread([this](const std::stop_token& stop) { talk(stop); });
  }
  // How often its connection was ended; it talks no more.
  std::uint32_t stop() {
    thread_.request_stop();
    thread_.join();
    dealer_.tick(monotonic_micros());
    return dealer_.connections();
  }

 private:
  void talk(const std::stop_token& stop) {
    Encoder encoder;
    const auto bytes = encoder.encode(CallVoid{1});
    while (!stop.stop_requested()) {
      if (!dealer_.raw().send(zmq::const_buffer(bytes.data(), bytes.size()), zmq::send_flags::dontwait)) {
        ::usleep(100);
      }
    }
  }

  zmq::context_t context_;
  Dealer dealer_;
  std::jthread thread_;
};

// Asks for the newest weights, which are of this version, until what it was sent stays at the lane, for all on the way
// is full.
void read_nothing(LaneOfTest& lane, LaneClient& reader, const LaneChunk& chunk, Version version) {
  const auto sent = [&lane] { return lane.counter("bytes_total", {"out"}); };
  const auto before = sent();
  for (bool is_full = false; !is_full;) {
    const auto sent_until_now = sent();
    const auto deferred = lane.counter("replies_deferred_total");
    reader.say(Pull{1, version, {chunk.id}});
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    eventually([&] {
      lane.hear_lane();
      is_full = lane.counter("replies_deferred_total") > deferred && std::chrono::steady_clock::now() >= until;
      return is_full || sent() > sent_until_now;
    });
  }
  REQUIRE(sent() > before);
}

void bring(LaneOfTest& lane, LaneClient& worker, Step step, const LaneChunk& chunk, ReleaseQueue& releases) {
  worker.push(step, chunk, releases);
  eventually([&] {
    lane.hear_lane();
    const auto receipt = worker.next<Receipt>();
    return receipt && receipt->step == step && receipt->outcome == ReceiptOutcome::accepted;
  });
}

void come_to(LaneOfTest& lane, Step step) {
  eventually([&] { return lane.hear_lane().open_step >= step; });
}

TEST_CASE("beside one that never stops an update waits for readers, and ends the connection of the first alone") {
  const auto job = small_buffers("20");
  const auto config = one_chunk_of(job);
  const auto chunk = config.chunks.front();
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    ReleaseQueue releases;
    zmq::context_t others;
    LaneOfTest lane(job, config, transport);
    lane.begin();
    eventually([&] { return lane.hear_lane().serving; });
    EndlessTalker talker(lane.address(), 90);
    LaneClient worker(others, lane.address(), 1);
    eventually([&] { return worker.next<LaneWelcome>(); });
    LaneClient first(others, lane.address(), 2, false);
    LaneClient second(others, lane.address(), 3, false);

    // Of each version that was read one is kept, and then there is room for no more.
    read_nothing(lane, first, chunk, 0);
    bring(lane, worker, 0, chunk, releases);
    come_to(lane, 1);
    read_nothing(lane, second, chunk, 1);
    bring(lane, worker, 1, chunk, releases);
    come_to(lane, 2);
    CHECK(lane.counter("waited_for_readers_total") == 0);
    bring(lane, worker, 2, chunk, releases);
    come_to(lane, 3);
    eventually([&] { return lane.counter("readers_cut_total") == 1; });
    CHECK(lane.counter("waited_for_readers_total") == 1);

    // Whoever was cut comes again by itself, and gets what is newest.
    eventually([&] {
      while (first.next<Weights>()) {  // who takes in nothing does not see the end either
      }
      return first.ends() == 1 && first.is_connected();
    });
    first.say(LaneHello{"first again", "", ""});
    first.say(Pull{1, 3, {chunk.id}});
    std::optional<Weights> newest;
    eventually([&] {
      lane.hear_lane();
      newest = first.next<Weights>();
      return newest.has_value();
    });
    CHECK(newest->version == 3);
    CHECK(second.ends() == 0);
    CHECK(worker.ends() == 0);
    CHECK(talker.stop() == 0);
    CHECK(lane.counter("readers_cut_total") == 1);

    // What the other one had is kept for it, and nothing of the first one's.
    eventually([&] { return lane.gauge("kept_weights_bytes") == chunk.bytes; });
    second.close();
    eventually([&] {
      lane.hear_lane();
      return lane.gauge("kept_weights_bytes") == 0;
    });
    worker.close();
    first.close();
    others.close();
  }
}

// ---- calls that are paid late

// Keeps who enters while it is shut.
class Barrier {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    is_kept_ = is_shut_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_kept_ || !is_shut_; });
    is_kept_ = false;
  }
  void shut() {
    std::unique_lock lock(mutex_);
    is_shut_ = true;
    changed_.wait(lock, [this] { return is_kept_; });
  }
  // Who is kept goes on until it enters again.
  void let_by() {
    std::unique_lock lock(mutex_);
    is_kept_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_kept_; });
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    is_shut_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_shut_ = false;
  bool is_kept_ = false;
};

// The payload may be at its socket behind more messages than it reads at a time.
TEST_CASE("a lane that stood still takes no call back before it has read what came meanwhile") {
  constexpr int kBefore = 200;  // of many turns, and less than may wait at the socket
  constexpr Micros kOverdue = 500'000;
  const auto job = small_buffers("4");
  auto config = config_of(job);
  config.call_overdue = kOverdue;
  config.database = {1, 1};
  const auto chunk = config.chunks.front();
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    ReleaseQueue releases;
    zmq::context_t others;
    Barrier barrier;
    LaneOfTest lane(job, config, transport, [&barrier] {
      barrier.enter();
      return std::string();
    });
    lane.begin();
    eventually([&] { return lane.hear_lane().serving; });
    LaneClient worker(others, lane.address(), 1, true, true);
    eventually([&] { return worker.next<LaneWelcome>(); });
    const std::unique_ptr<Barrier, void (*)(Barrier*)> open_at_last(&barrier, [](Barrier* shut) { shut->open(); });
    barrier.shut();
    worker.say(Offers{1, {{0, chunk.id, {0, 4}}}});
    std::optional<Call> call;
    eventually([&] {
      barrier.let_by();
      ::usleep(20'000);
      call = worker.next<Call>();
      return call.has_value();
    });
    for (int i = 0; i < kBefore; ++i) {
      worker.say(CallVoid{call->number + 1});
    }
    worker.push(0, chunk, releases, call->number);
    ::usleep(2 * kOverdue);
    barrier.open();
    eventually([&] {
      lane.hear_lane();
      const auto receipt = worker.next<Receipt>();
      return receipt && receipt->outcome == ReceiptOutcome::accepted;
    });
    CHECK(worker.ends() == 0);

    // And one that is never paid is taken back.
    worker.say(Offers{1, {{1, chunk.id, {0, 4}}}});
    eventually([&] {
      lane.hear_lane();
      worker.next<Call>();
      return worker.ends() == 1;
    });
    worker.close();
    others.close();
  }
}

}  // namespace
}  // namespace ballast

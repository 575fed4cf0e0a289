#include "cli/advising/message_probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/machine/processor_time.h"
#include "common/machine/processor_use.h"
#include "common/net/clock.h"
#include "common/net/dealer.h"
#include "common/net/peer.h"
#include "common/net/router.h"
#include "common/wire/wire.h"

namespace ballast {
namespace {

constexpr std::uint64_t kAhead = 16U << 20U;  // bytes that are sent before others have come
constexpr std::uint64_t kMostAhead = 64;      // messages
constexpr std::uint64_t kLeastMessages = 20;
constexpr long kPollMs = 1;
constexpr Micros kPatience = 10'000'000;  // without a message

using Nanoseconds = std::chrono::nanoseconds;

double micros(Nanoseconds span) { return std::chrono::duration<double, std::micro>(span).count(); }

zmq::context_t context_of(const Job& job) {
  auto context = make_context();
  context.set(zmq::ctxopt::io_threads, static_cast<int>(io_threads_of(job.spec.cluster)));
  return context;
}

class Exchange {
 public:
  Exchange(const Job& job, std::uint64_t bytes)
      : payload_(bytes), context_(context_of(job)), router_(context_, {.linger_ms = 0}) {
    address_ = router_.bind("tcp://127.0.0.1:*");
    ahead_ = std::clamp<std::uint64_t>(kAhead / std::max<std::uint64_t>(bytes, 1), 2, kMostAhead);
  }

  MessageProbe run(const Job& job, double seconds) {
    std::jthread sender([&](const std::stop_token& stop) { send(context_of(job), stop); });
    receive(kLeastMessages);  // connected, and warm
    const auto all = processor_seconds();
    const auto own = processor_time();
    const auto others = spent_.load();
    const auto sent_before = sent_.load();
    const auto before = came_.load();
    const auto until = monotonic_micros() + static_cast<Micros>(seconds * 1e6);
    do {
      receive(1);
    } while (monotonic_micros() < until || came_.load() < before + kLeastMessages);
    const auto count = static_cast<double>(came_.load() - before);
    const auto received = micros(processor_time() - own);
    const auto sent = micros(Nanoseconds(spent_.load() - others));
    const auto carried = (processor_seconds() - all) * 1e6 - received - sent;
    const auto sent_count = std::max(1.0, static_cast<double>(sent_.load() - sent_before));
    sender.request_stop();
    sender.join();
    router_.close();
    return {sent / sent_count, received / count, std::max(0.0, carried) / count / 2};
  }

 private:
  // So many more. Throws std::runtime_error if they do not come.
  void receive(std::uint64_t count) {
    Poll poll;
    poll.add(router_);
    for (auto heard = monotonic_micros(); count > 0;) {
      if (const auto received = router_.receive()) {
        const auto bytes = received->payload ? received->payload->size() : 0;
        const auto decoded = decode(received->header.bytes(), bytes, received->payload.has_value());
        if (!std::holds_alternative<Message>(decoded)) {
          throw std::runtime_error("a message over loopback cannot be read: " + std::get<Refused>(decoded).text);
        }
        heard = monotonic_micros();
        ++came_;
        --count;
      } else if (monotonic_micros() > heard + kPatience) {
        throw std::runtime_error("no message came over loopback (" + address_ + ") within 10 seconds");
      } else {
        poll.wait(kPollMs);
      }
    }
  }

  // Never more than `ahead_` beyond those that have come.
  void send(zmq::context_t context, const std::stop_token& stop) {
    Dealer dealer(context, session_routing_id(1), {.linger_ms = 0});
    dealer.connect(address_);
    Poll poll;
    poll.add(dealer);
    while (!stop.stop_requested()) {
      dealer.tick(monotonic_micros());
      while (dealer.is_connected() && sent_.load() < came_.load() + ahead_ && send_one(dealer)) {
      }
      released_.take();
      spent_ = processor_time().count();
      poll.wait(kPollMs);
    }
    dealer.close();
    context.close();  // by then the payload is not read any more
  }

  bool send_one(Dealer& dealer) {
    Push push;
    push.step = sent_.load();
    push.node = {0, 1};
    const Borrowed payload{payload_.data(), payload_.size(), {}, &released_};
    const bool taken = dealer.send({}, encoder_.encode(push, kProtocolVersion, {monotonic_micros()}), payload);
    sent_ += taken ? 1 : 0;
    return taken;
  }

  std::vector<std::byte> payload_;
  ReleaseQueue released_;  // outlives the contexts, as does the payload
  zmq::context_t context_;
  Router router_;
  std::string address_;
  std::uint64_t ahead_ = 0;
  Encoder encoder_;  // of the thread that sends
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> came_ = 0;
  std::atomic<Nanoseconds::rep> spent_ = 0;  // by the thread that sends, so far
};

}  // namespace

MessageProbe probe_messages(const Job& job, std::uint64_t bytes, double seconds) {
  return Exchange(job, bytes).run(job, seconds);
}

}  // namespace ballast

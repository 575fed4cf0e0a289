#include "cli/asking/trace_collector.h"

#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/net/socket.h"
#include "common/wire/wire.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

const TraceSource kLead{TraceRole::lead, {}, 0};
const TraceSource kWorker{TraceRole::worker, {}, 5};

TraceRecord slot_of(Step step) {
  TraceRecord record;
  record.step = step;
  record.kind = TraceKind::slot;
  return record;
}

// A lead of one worker, which answers as the test says.
class Asked {
 public:
  using Answer = std::function<TracePart(const TraceAsked& asked)>;

  explicit Asked(Answer of_worker) : of_worker_(std::move(of_worker)) {
    poll_.add(router_);
    address_ = router_.bind(addresses_.make("tcp"));
  }
  ~Asked() { router_.close(); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  std::optional<insight::JobTrace> collect(Step steps) {
    auto collected = std::async(std::launch::async, [&] {
      TraceCollector collector(address_, nullptr);
      auto trace = collector.collect(steps);
      silent_ = trace->silent;
      return trace;
    });
    while (collected.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      answer();
    }
    return collected.get();
  }
  [[nodiscard]] const std::vector<std::string>& silent() const { return silent_; }
  [[nodiscard]] Step first() const { return first_; }

 private:
  void answer() {
    if (!poll_.wait(20)) {
      return;
    }
    while (const auto received = router_.receive()) {
      const auto decoded = decode(received->header.bytes(), 0, false);
      const auto& message = std::get<Message>(decoded);
      if (const auto* asked = std::get_if<TraceAsked>(&message)) {
        answer(received->peer, *asked);
      } else {
        Status status;
        status.job = "a";
        status.step = 100;
        status.sessions.resize(1);
        status.sessions[0].session = kWorker.session;
        status.sessions[0].name = "w";
        router_.send(received->peer, encoder_.encode(status));
      }
    }
  }
  void answer(const std::string& peer, const TraceAsked& asked) {
    TracePart part;
    part.ends = true;
    if (!asked.source) {
      part.sources = {kLead, kWorker};
    } else if (*asked.source == kWorker) {
      first_ = asked.first;
      part = of_worker_(asked);
    }
    part.number = asked.number;
    router_.send(peer, encoder_.encode(part));
  }

  Answer of_worker_;
  Addresses addresses_;
  zmq::context_t context_ = make_context();
  Router router_{context_};
  Poll poll_;
  Encoder encoder_;
  std::string address_;
  std::vector<std::string> silent_;
  Step first_ = 0;
};

TEST_CASE("traces are collected part by part, from one step on, by the names that the status has") {
  Asked asked([](const TraceAsked& question) {
    TracePart part;
    part.next = std::max<std::uint64_t>(question.from, 1) + 2;
    part.records = {slot_of(part.next), slot_of(part.next + 1)};
    part.ends = part.next > 5;
    part.lost = 3;
    return part;
  });
  const auto trace = asked.collect(20);
  REQUIRE(trace.has_value());
  CHECK(asked.first() == 80);
  REQUIRE(trace->processes.size() == 2);
  CHECK(trace->processes[0].name == "lead");
  CHECK(trace->processes[1].name == "worker w");
  CHECK(trace->processes[1].records.size() == 6);
  CHECK(trace->processes[1].lost == 9);
  CHECK(asked.silent().empty());
}

TEST_CASE("of more steps than there have been all are asked for") {
  Asked asked([](const TraceAsked& /*question*/) {
    TracePart part;
    part.ends = true;
    return part;
  });
  CHECK(asked.collect(1'000).has_value());
  CHECK(asked.first() == 0);
}

TEST_CASE("who goes on without an end, and has nothing or the same again, is left") {
  for (const bool has_records : {false, true}) {
    Asked asked([&](const TraceAsked& question) {
      TracePart part;
      part.next = has_records ? std::max<std::uint64_t>(question.from, 1) : question.from + 5;
      part.records.resize(has_records ? 3 : 0, slot_of(1));
      return part;  // `ends` is false
    });
    const auto trace = asked.collect(20);
    REQUIRE(trace.has_value());
    CHECK(trace->processes[1].records.size() <= 6);
  }
}

TEST_CASE("records of kinds that a process of its role cannot have are left out") {
  Asked asked([](const TraceAsked& /*question*/) {
    TracePart part;
    part.records = {slot_of(1), slot_of(2), slot_of(3)};
    part.records[1].kind = TraceKind::decision;
    part.next = 4;
    part.ends = true;
    return part;
  });
  const auto trace = asked.collect(20);
  REQUIRE(trace.has_value());
  REQUIRE(trace->processes[1].records.size() == 2);
  CHECK(trace->processes[1].records[1].step == 3);
}

}  // namespace
}  // namespace ballast

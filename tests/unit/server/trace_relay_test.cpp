#include "server/trace_relay.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TraceAsked asked_of(TraceSource source, std::uint64_t number) {
  TraceAsked asked;
  asked.number = number;
  asked.source = source;
  asked.from = 3;
  asked.first = 20;
  return asked;
}

TracePart part_of_number(std::uint64_t number) {
  TracePart part;
  part.number = number;
  part.next = 9;
  part.records.resize(2);
  return part;
}

const TraceSource kWorker{TraceRole::worker, {}, 5};
const TraceSource kLane{TraceRole::lane, {1, 0}, 0};

TEST_CASE("trace relay: an answer finds who has asked, by his own number") {
  TraceRelay relay;
  const auto first = relay.pass_on("one", asked_of(kWorker, 70));
  const auto second = relay.pass_on("two", asked_of(kWorker, 70));
  CHECK(first.number != second.number);
  CHECK(first.from == 3);
  CHECK(first.first == 20);
  const auto answer = relay.answered(kWorker, part_of_number(second.number));
  REQUIRE(answer.has_value());
  CHECK(answer->client == "two");
  CHECK(answer->part.number == 70);
  CHECK(answer->part.source == kWorker);
  CHECK(answer->part.records.size() == 2);
  CHECK(relay.answered(kWorker, part_of_number(first.number))->client == "one");
}

TEST_CASE("trace relay: nobody answers for another, twice, or what was not asked") {
  TraceRelay relay;
  const auto asked = relay.pass_on("one", asked_of(kWorker, 1));
  CHECK_FALSE(relay.answered(kLane, part_of_number(asked.number)).has_value());
  CHECK_FALSE(relay.answered({TraceRole::worker, {}, 6}, part_of_number(asked.number)).has_value());
  CHECK_FALSE(relay.answered(kWorker, part_of_number(asked.number + 1)).has_value());
  CHECK(relay.answered(kWorker, part_of_number(asked.number)).has_value());
  CHECK_FALSE(relay.answered(kWorker, part_of_number(asked.number)).has_value());
}

TEST_CASE("trace relay: who poses as another source, or names others, is put right") {
  TraceRelay relay;
  const auto asked = relay.pass_on("one", asked_of(kWorker, 1));
  auto part = part_of_number(asked.number);
  part.source = kLane;
  part.sources = {kLane, kWorker};
  const auto answer = relay.answered(kWorker, part);
  REQUIRE(answer.has_value());
  CHECK(answer->part.source == kWorker);
  CHECK(answer->part.sources.empty());
}

TEST_CASE("trace relay: questions that nobody answers make way for newer ones") {
  TraceRelay relay;
  const auto oldest = relay.pass_on("one", asked_of(kWorker, 1));
  auto newest = oldest;
  for (std::size_t i = 0; i < TraceRelay::kMost; ++i) {
    newest = relay.pass_on("two", asked_of(kWorker, i));
  }
  CHECK_FALSE(relay.answered(kWorker, part_of_number(oldest.number)).has_value());
  CHECK(relay.answered(kWorker, part_of_number(newest.number))->client == "two");
}

}  // namespace
}  // namespace ballast

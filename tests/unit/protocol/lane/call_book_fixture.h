// A lane's book of calls beside its rounds or items, whose sessions' messages the test writes itself.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/lane/call_book.h"

namespace ballast::one_book {

inline constexpr SessionId kAnn = 1;
inline constexpr SessionId kBob = 2;
inline constexpr Micros kOverdue = 2'000'000;
// Of four slots and chunks of 10 bytes: two nodes before the first missing slot, and one that contains it.
inline constexpr std::uint64_t kReserve = 30;
// Of two such chunks where the decision needs the whole gradient: both, and two nodes before the first missing slot.
inline constexpr std::uint64_t kWholeReserve = 40;

using Calls = std::vector<Call>;

// Each session answers for itself, over its first connection, unless the test says otherwise.
class BookFixture {
 public:
  // `more`: memory beyond the reserve. `statistics`: that chunk, which has a room of its own, and its bytes.
  explicit BookFixture(std::uint64_t more, std::vector<LaneChunk> chunks = {{0, 10, false}, {1, 10, false}},
                       std::optional<ItemRules> items = {}, std::optional<LaneChunk> statistics = {},
                       bool needs_whole_gradient = false, std::uint64_t owned = 0)
      : applier(config_of(std::move(chunks), items, needs_whole_gradient)),
        book({reserve + more, reserve, 10, kOverdue, 0, statistics ? std::optional(statistics->id) : std::nullopt,
              statistics ? 2 * statistics->bytes : 0, owned}) {
    plan.begin(0);
    plan.extend(0, std::vector<StepFactors>(8), 0);
    applier.begin(0, 1);
    greet(kAnn);
    greet(kBob);
  }

  // Of a job whose decision needs the whole gradient, and is still to come: the plan has no factors.
  static BookFixture of_whole_gradients(std::uint64_t more) {
    BookFixture fixture(more, {{0, 10, false}, {1, 10, false}}, {}, {}, true);
    fixture.plan.clear();
    return fixture;
  }

  void greet(SessionId session, ConnectionId connection = 1) {
    book.greet(session, connection, static_cast<PayerId>(session), true);
  }
  bool offers(SessionId session, const std::vector<Work>& works, ConnectionId connection = 1) {
    return book.offers(session, connection, works);
  }
  lane::Actions turn() { return book.turn(1, applier, plan); }
  // What a turn calls of the session, and of nobody else.
  Calls calls_of(SessionId session) { return to<Call>(turn(), session); }
  Call only_call_of(SessionId session) {
    const auto calls = calls_of(session);
    REQUIRE(calls.size() == 1);
    return calls.front();
  }

  CallBook::Payment::Kind push(SessionId session, const Work& work, std::uint64_t number, std::uint64_t bytes = 10,
                               ConnectionId connection = 1) {
    Push push{1, work.step, work.chunk, work.node, false, kNoSlot, {}};
    push.call = number;
    const auto paid = book.pays(session, connection, push, bytes);
    if (paid.kind == CallBook::Payment::Kind::paid) {
      const auto taken = applier.offer(session, push, ++payload, plan);
      if (paid.payer) {
        book.useful(session, *paid.payer);
      }
      if (taken.measure) {
        measured(*taken.measure);
      }
    }
    return paid.kind;
  }
  void pay(SessionId session, const Call& call, ConnectionId connection = 1) {
    CHECK(push(session, call.work, call.number, 10, connection) == CallBook::Payment::Kind::paid);
  }
  void none(SessionId session, const Call& call, ConnectionId connection = 1, Timeline timeline = 1) {
    book.has_none(session, connection, call.number, applier, plan, timeline);
  }
  // Called, and answered that there is nothing.
  void fail(SessionId session) {
    const auto call = only_call_of(session);
    none(session, call);
  }
  // All of a step is covered, and its factors become known.
  void decide() {
    plan.extend(0, std::vector<StepFactors>(8), 0);
    note(applier.planned(plan));
  }
  // The journal has all up to that ticket.
  void commit(std::uint64_t ticket) { note(applier.committed(ticket, ticket, plan)); }
  [[nodiscard]] std::uint64_t in_use() const { return book.in_use(applier); }

  // Those of the messages to the session, in their order.
  template <typename Body>
  static std::vector<Body> to(const lane::Actions& actions, SessionId session) {
    std::vector<Body> found;
    for (const auto& action : actions) {
      const auto* send = std::get_if<lane::SendToWorker>(&action);
      if (send != nullptr && send->session == session && std::holds_alternative<Body>(send->message)) {
        found.push_back(std::get<Body>(send->message));
      }
    }
    return found;
  }

  std::uint64_t reserve = kReserve;
  LaneApplier applier;
  CallBook book;
  FactorPlan plan;
  PayloadId payload = 0;
  bool measures = true;  // what is covered is measured, and applied, at once

 private:
  LaneConfig config_of(std::vector<LaneChunk> chunks, const std::optional<ItemRules>& items,
                       bool needs_whole_gradient) {
    LaneConfig config;
    config.slots = 4;
    config.steps = 8;
    config.chunks = std::move(chunks);
    config.items = items;
    config.needs_whole_gradient = needs_whole_gradient;
    reserve = items ? 10 : needs_whole_gradient ? kWholeReserve : kReserve;
    return config;
  }
  void measured(const lane::Measure& measure) {
    if (!measures) {
      return;
    }
    const ChunkMeasure found{measure.chunk, measure.step, {}, true, 0, kNoSlot};
    note(applier.measured({found, measure.root}, plan));
  }
  void note(const ApplierOutcome& outcome) {
    for (const auto& update : outcome.applied) {
      const auto receipts = book.applied(1, {update.apply.step, update.apply.chunk, update.node});
      told.insert(told.end(), receipts.begin(), receipts.end());
    }
  }

 public:
  lane::Actions told;  // when something was applied
};

inline Work leaf(ChunkId chunk, Slot slot, Step step = 0) { return {step, chunk, {slot, slot + 1}}; }

}  // namespace ballast::one_book

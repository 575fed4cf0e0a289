#include "common/wire/read.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/text.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {
namespace {

using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;

// Copies lists and strings out of a table and keeps the first refusal. What follows a refusal reads as empty.
class Reader {
 public:
  std::string line(const char* field, const String* text) {
    return bounded(field, text, kMaxTextBytes, TextKind::line);
  }
  std::string job(const char* field, const String* text) { return bounded(field, text, kMaxJobBytes, TextKind::lines); }

  // `convert` takes an element: a number, a pointer to a struct or a pointer to a table.
  template <typename Element, typename Convert>
  auto list(const char* field, const Vector<Element>* list, std::size_t limit, Convert convert) {
    std::vector<decltype(convert(list->Get(0)))> values;
    if (list == nullptr || refusal_ || !list_allowed(field, list->size(), limit)) {
      return values;
    }
    if (!is_aligned(*list)) {
      refuse(RefusalCode::malformed, std::string(field) + " is not aligned as FlatBuffers requires");
      return values;
    }
    values.reserve(list->size());
    for (flatbuffers::uoffset_t i = 0; i < list->size() && !refusal_; ++i) {
      values.push_back(convert(list->Get(i)));
    }
    return values;
  }

  [[nodiscard]] std::optional<Refused>& refusal() { return refusal_; }

 private:
  // The verifier checks the alignment of a vector's size, not of its elements.
  template <typename Element>
  static bool is_aligned(const Vector<Element>& list) {
    constexpr bool kStruct = std::is_pointer_v<Element>;
    constexpr std::size_t kAlignment = kStruct ? alignof(std::remove_pointer_t<Element>) : alignof(Element);
    return reinterpret_cast<std::uintptr_t>(list.Data()) % kAlignment == 0;
  }

  bool list_allowed(const char* field, std::size_t size, std::size_t limit) {
    if (size > limit) {
      refuse(RefusalCode::out_of_range, std::string(field) + " has " + std::to_string(size) + " entries; at most " +
                                            std::to_string(limit) + " are allowed");
    }
    return size <= limit;
  }

  std::string bounded(const char* field, const String* text, std::size_t limit, TextKind kind) {
    if (text == nullptr || refusal_) {
      return {};
    }
    if (text->size() > limit) {
      refuse(RefusalCode::out_of_range, std::string(field) + " is " + std::to_string(text->size()) +
                                            " bytes long; at most " + std::to_string(limit) + " are allowed");
      return {};
    }
    if (const auto fault = text_fault({text->c_str(), text->size()}, kind)) {
      refuse(RefusalCode::malformed, std::string(field) + " holds " + *fault + "; printable UTF-8 is allowed");
      return {};
    }
    return text->str();
  }

  void refuse(RefusalCode code, std::string text) { refusal_ = Refused{code, std::move(text)}; }

  std::optional<Refused> refusal_;
};

// ---- parts; an absent one is all zero, which check() judges

LaneId lane_id(const schema::LaneId* lane) { return lane != nullptr ? LaneId{lane->shard(), lane->lane()} : LaneId{}; }

SlotRange range(const schema::SlotRange& range) { return {range.begin(), range.end()}; }
SlotRange range(const schema::SlotRange* at) { return at != nullptr ? range(*at) : SlotRange{}; }

PhaseTimes phase_times(const schema::PhaseTimes* times) {
  if (times == nullptr) {
    return {};
  }
  return {times->data_wait(), times->pull(), times->forward(), times->backward(), times->push()};
}

StepFactors step_factors(const schema::StepFactors* factors) { return {factors->learning_rate()}; }

StepStatistics step_statistics(const schema::StepStatistics* statistics) {
  return {statistics->step(), statistics->loss(), statistics->correct(), statistics->examples()};
}

SessionSlots session_slots(const schema::SessionSlots* slots) { return {slots->session(), slots->slots()}; }

Standing standing(const schema::Standing* standing) {
  return standing != nullptr ? Standing{standing->from(), standing->until(), range(standing->slots())} : Standing{};
}

std::optional<Extra> extra(const schema::Extra* extra) {
  return extra != nullptr ? std::optional(Extra{extra->step(), range(extra->slots())}) : std::nullopt;
}

std::optional<Evaluation> evaluation(const schema::Evaluation* at) {
  return at != nullptr ? std::optional(Evaluation{at->item(), at->version(), at->begin(), at->end()}) : std::nullopt;
}

template <typename Number>
Number same(Number number) {
  return number;
}

// ---- worker to lane

Message body(Reader& reader, const schema::LaneHello& at) {
  return LaneHello{reader.line("LaneHello.name", at.name()), reader.line("LaneHello.spec_digest", at.spec_digest()),
                   reader.line("LaneHello.layout_digest", at.layout_digest())};
}

Message body(Reader& reader, const schema::Pull& at) {
  return Pull{at.timeline(), at.version(),
              reader.list("Pull.chunks", at.chunks(), kMaxPullChunks, same<std::uint32_t>)};
}

Message body(Reader&, const schema::Push& at) {
  return Push{at.timeline(), at.step(), at.chunk(), range(at.node()), at.want_next(), phase_times(at.phases())};
}

// ---- lane to worker

Message body(Reader&, const schema::LaneWelcome& at) {
  return LaneWelcome{at.timeline(), at.incarnation(), at.credit_bytes()};
}

Message body(Reader&, const schema::Receipt& at) {
  return Receipt{at.timeline(), at.step(), at.chunk(), range(at.node()), static_cast<ReceiptOutcome>(at.outcome())};
}

Message body(Reader&, const schema::Weights& at) {
  return Weights{at.timeline(), at.incarnation(), at.chunk(), at.version()};
}

Message body(Reader&, const schema::Gone& at) { return Gone{at.timeline(), at.chunk(), at.version(), at.held()}; }

Message body(Reader&, const schema::Stale& at) { return Stale{at.timeline()}; }

Message body(Reader& reader, const schema::Refused& at) {
  return Refused{static_cast<RefusalCode>(at.code()), reader.line("Refused.text", at.text())};
}

// ---- worker to lead

Message body(Reader& reader, const schema::WorkerHello& at) {
  return WorkerHello{reader.line("WorkerHello.name", at.name())};
}

Message body(Reader& reader, const schema::Heartbeat& at) {
  return Heartbeat{at.order(),
                   at.step(),
                   at.ready(),
                   at.idle(),
                   reader.line("Heartbeat.fingerprint", at.fingerprint()),
                   phase_times(at.phases()),
                   at.slots()};
}

Message body(Reader&, const schema::EvaluationResult& at) {
  return EvaluationResult{at.item(), at.version(), at.loss_sum(), at.correct(), at.examples()};
}

Message body(Reader& reader, const schema::Goodbye& at) { return Goodbye{reader.line("Goodbye.reason", at.reason())}; }

// ---- lead to worker

Message body(Reader& reader, const schema::WorkerWelcome& at) {
  const auto address = [&reader](const schema::LaneAddress* one) {
    return LaneAddress{lane_id(one->lane()), reader.line("WorkerWelcome.addresses.address", one->address())};
  };
  return WorkerWelcome{reader.job("WorkerWelcome.job", at.job()),
                       reader.line("WorkerWelcome.spec_digest", at.spec_digest()),
                       reader.line("WorkerWelcome.layout_digest", at.layout_digest()),
                       at.shards(),
                       at.lanes(),
                       reader.list("WorkerWelcome.addresses", at.addresses(), kMaxAddresses, address)};
}

Message body(Reader&, const schema::Assign& at) {
  return Assign{at.order(),        at.timeline(),
                at.generation(),   standing(at.standing()),
                extra(at.extra()), evaluation(at.evaluation())};
}

// ---- lane to lead

Message body(Reader& reader, const schema::ShardHello& at) {
  return ShardHello{lane_id(at.lane()),
                    at.shards(),
                    at.lanes(),
                    at.incarnation(),
                    reader.line("ShardHello.spec_digest", at.spec_digest()),
                    reader.line("ShardHello.layout_digest", at.layout_digest()),
                    reader.line("ShardHello.address", at.address())};
}

Message body(Reader& reader, const schema::LaneReport& at) {
  return LaneReport{lane_id(at.lane()),
                    at.incarnation(),
                    at.sequence(),
                    at.timeline(),
                    at.serving(),
                    at.open_step(),
                    reader.list("LaneReport.missing", at.missing(), kMaxMissingWords, same<std::uint64_t>),
                    at.planned(),
                    reader.list("LaneReport.statistics", at.statistics(), kMaxPlannedSteps, step_statistics),
                    reader.list("LaneReport.slots_by_session", at.slots_by_session(), kMaxSessions, session_slots),
                    at.duplicates(),
                    at.superseded(),
                    at.persisted(),
                    at.leaving(),
                    reader.line("LaneReport.failure", at.failure())};
}

// ---- lead to lane

Message body(Reader&, const schema::Confirm& at) { return Confirm{at.incarnation(), at.timeline(), at.base()}; }

Message body(Reader& reader, const schema::Plan& at) {
  return Plan{at.timeline(), at.first(), reader.list("Plan.factors", at.factors(), kMaxPlannedSteps, step_factors),
              at.statistics_through()};
}

Message body(Reader&, const schema::Persist& at) { return Persist{at.timeline(), at.step()}; }

// ---- lead to anyone, command line to lead and back

Message body(Reader& reader, const schema::JobFinish& at) {
  return Finish{at.timeline(), at.step(), reader.line("Finish.failure", at.failure())};
}

Message body(Reader&, const schema::StatusRequest& at) { return StatusRequest{at.last()}; }

Message body(Reader& reader, const schema::Status& at) {
  const auto session = [&reader](const schema::SessionStatus* one) {
    return SessionStatus{one->session(),
                         reader.line("Status.sessions.name", one->name()),
                         one->live(),
                         one->step(),
                         one->slots(),
                         reader.line("Status.sessions.fingerprint", one->fingerprint()),
                         phase_times(one->phases())};
  };
  return Status{reader.line("Status.phase", at.phase()),
                reader.line("Status.failure", at.failure()),
                at.timeline(),
                at.step(),
                at.steps(),
                at.epoch(),
                at.training(),
                at.examples(),
                at.train_loss(),
                at.recent_loss(),
                at.test_loss(),
                at.test_accuracy(),
                at.evaluated(),
                at.duplicates(),
                at.superseded(),
                at.lost_workers(),
                at.backups(),
                reader.list("Status.sessions", at.sessions(), kMaxSessions, session)};
}

// ---- which table is which

using ReadBody = Message (*)(Reader&, const void*);

template <typename Table>
Message body_of(Reader& reader, const void* table) {
  return body(reader, *static_cast<const Table*>(table));
}

// One function for each kind of body, by its number in the union; none for NONE.
template <typename... Tables>
constexpr auto readers_of() {
  static_assert(sizeof...(Tables) == static_cast<std::size_t>(schema::Body::MAX));
  static_assert(sizeof...(Tables) == std::variant_size_v<Message>);
  std::array<ReadBody, sizeof...(Tables) + 1> readers{};
  ((readers[static_cast<std::size_t>(schema::BodyTraits<Tables>::enum_value)] = body_of<Tables>), ...);
  return readers;
}

constexpr auto kReaders =
    readers_of<schema::LaneHello, schema::Pull, schema::Push, schema::LaneWelcome, schema::Receipt, schema::Weights,
               schema::Gone, schema::Stale, schema::Refused, schema::WorkerHello, schema::Heartbeat,
               schema::EvaluationResult, schema::Goodbye, schema::WorkerWelcome, schema::Assign, schema::ShardHello,
               schema::LaneReport, schema::Confirm, schema::Plan, schema::Persist, schema::JobFinish,
               schema::StatusRequest, schema::Status>();

}  // namespace

Decoded read(const schema::Envelope& envelope) {
  const auto kind = static_cast<std::size_t>(envelope.body_type());
  if (kind == 0 || kind >= kReaders.size() || envelope.body() == nullptr) {
    return Refused{RefusalCode::malformed, "Envelope.body is of kind " + std::to_string(kind) +
                                               (envelope.body() == nullptr ? " and absent" : "") + "; kinds 1 to " +
                                               std::to_string(kReaders.size() - 1) + " are allowed, with a body"};
  }
  Reader reader;
  auto message = kReaders[kind](reader, envelope.body());
  if (reader.refusal()) {
    return std::move(*reader.refusal());
  }
  return message;
}

}  // namespace ballast::wire

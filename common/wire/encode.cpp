#include <string>
#include <vector>

#include "common/wire/text.h"
#include "common/wire/wire.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::String;

// ---- parts

// An empty string is left out: absent reads as empty.
Offset<String> write(Builder& builder, const std::string& text) {
  return text.empty() ? Offset<String>{} : builder.CreateString(text);
}

Offset<String> write_free_text(Builder& builder, const std::string& text) {
  const bool fits = text.size() <= wire::kMaxTextBytes && !wire::text_fault(text, wire::TextKind::line);
  return write(builder, fits ? text : wire::as_line(text, wire::kMaxTextBytes));
}

schema::LaneId part(const LaneId& lane) { return {lane.shard, lane.lane}; }
schema::SlotRange part(const SlotRange& range) { return {range.begin, range.end}; }
schema::PhaseTimes part(const PhaseTimes& times) {
  return {times.data_wait, times.pull, times.forward, times.backward, times.push};
}
schema::StepFactors part(const StepFactors& factors) { return schema::StepFactors{factors.learning_rate}; }
schema::StepStatistics part(const StepStatistics& statistics) {
  return {statistics.step, statistics.loss, statistics.correct, statistics.examples};
}
schema::SessionSlots part(const SessionSlots& slots) { return {slots.session, slots.slots}; }
schema::Standing part(const Standing& standing) { return {standing.from, standing.until, part(standing.slots)}; }
schema::Extra part(const Extra& extra) { return {extra.step, part(extra.slots)}; }
schema::Evaluation part(const Evaluation& evaluation) {
  return {evaluation.item, evaluation.version, evaluation.begin, evaluation.end};
}

template <typename Value>
auto write_parts(Builder& builder, const std::vector<Value>& values) {
  using Part = decltype(part(values.front()));
  if (values.empty()) {
    return Offset<flatbuffers::Vector<const Part*>>{};
  }
  Part* parts = nullptr;
  const auto offset = builder.CreateUninitializedVectorOfStructs(values.size(), &parts);
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[i] = part(values[i]);
  }
  return offset;
}

template <typename Number>
Offset<flatbuffers::Vector<Number>> write_numbers(Builder& builder, const std::vector<Number>& numbers) {
  return numbers.empty() ? Offset<flatbuffers::Vector<Number>>{} : builder.CreateVector(numbers);
}

// ---- worker to lane

auto write(Builder& builder, const LaneHello& hello) {
  const auto name = write(builder, hello.name);
  const auto spec_digest = write(builder, hello.spec_digest);
  const auto layout_digest = write(builder, hello.layout_digest);
  return schema::CreateLaneHello(builder, name, spec_digest, layout_digest);
}

auto write(Builder& builder, const Pull& pull) {
  return schema::CreatePull(builder, pull.timeline, pull.version, write_numbers(builder, pull.chunks));
}

auto write(Builder& builder, const Push& push) {
  const auto node = part(push.node);
  const auto phases = part(push.phases);
  return schema::CreatePush(builder, push.timeline, push.step, push.chunk, &node, push.want_next, &phases);
}

// ---- lane to worker

auto write(Builder& builder, const LaneWelcome& welcome) {
  return schema::CreateLaneWelcome(builder, welcome.timeline, welcome.incarnation, welcome.credit_bytes);
}

auto write(Builder& builder, const Receipt& receipt) {
  const auto node = part(receipt.node);
  return schema::CreateReceipt(builder, receipt.timeline, receipt.step, receipt.chunk, &node,
                               static_cast<schema::ReceiptOutcome>(receipt.outcome));
}

auto write(Builder& builder, const Weights& weights) {
  return schema::CreateWeights(builder, weights.timeline, weights.incarnation, weights.chunk, weights.version);
}

auto write(Builder& builder, const Gone& gone) {
  return schema::CreateGone(builder, gone.timeline, gone.chunk, gone.version, gone.held);
}

auto write(Builder& builder, const Stale& stale) { return schema::CreateStale(builder, stale.timeline); }

auto write(Builder& builder, const Refused& refused) {
  return schema::CreateRefused(builder, static_cast<schema::RefusalCode>(refused.code),
                               write_free_text(builder, refused.text));
}

// ---- worker to lead

auto write(Builder& builder, const WorkerHello& hello) {
  return schema::CreateWorkerHello(builder, write(builder, hello.name));
}

auto write(Builder& builder, const Heartbeat& beat) {
  const auto fingerprint = write(builder, beat.fingerprint);
  const auto phases = part(beat.phases);
  return schema::CreateHeartbeat(builder, beat.order, beat.step, beat.ready, beat.idle, fingerprint, &phases,
                                 beat.slots);
}

auto write(Builder& builder, const EvaluationResult& result) {
  return schema::CreateEvaluationResult(builder, result.item, result.version, result.loss_sum, result.correct,
                                        result.examples);
}

auto write(Builder& builder, const Goodbye& goodbye) {
  return schema::CreateGoodbye(builder, write_free_text(builder, goodbye.reason));
}

// ---- lead to worker

auto write(Builder& builder, const LaneAddress& address) {
  const auto lane = part(address.lane);
  return schema::CreateLaneAddress(builder, &lane, write(builder, address.address));
}

auto write(Builder& builder, const WorkerWelcome& welcome) {
  const auto job = write(builder, welcome.job);
  const auto spec_digest = write(builder, welcome.spec_digest);
  const auto layout_digest = write(builder, welcome.layout_digest);
  std::vector<Offset<schema::LaneAddress>> addresses;
  addresses.reserve(welcome.addresses.size());
  for (const auto& address : welcome.addresses) {
    addresses.push_back(write(builder, address));
  }
  return schema::CreateWorkerWelcome(builder, job, spec_digest, layout_digest, welcome.shards, welcome.lanes,
                                     builder.CreateVector(addresses));
}

auto write(Builder& builder, const Assign& assign) {
  const auto standing = part(assign.standing);
  const auto extra = part(assign.extra.value_or(Extra{}));
  const auto evaluation = part(assign.evaluation.value_or(Evaluation{}));
  return schema::CreateAssign(builder, assign.order, assign.timeline, assign.generation, &standing,
                              assign.extra ? &extra : nullptr, assign.evaluation ? &evaluation : nullptr);
}

// ---- lane to lead

auto write(Builder& builder, const ShardHello& hello) {
  const auto lane = part(hello.lane);
  const auto spec_digest = write(builder, hello.spec_digest);
  const auto layout_digest = write(builder, hello.layout_digest);
  const auto address = write(builder, hello.address);
  return schema::CreateShardHello(builder, &lane, hello.shards, hello.lanes, hello.incarnation, spec_digest,
                                  layout_digest, address);
}

auto write(Builder& builder, const LaneReport& report) {
  const auto lane = part(report.lane);
  const auto missing = write_numbers(builder, report.missing);
  const auto statistics = write_parts(builder, report.statistics);
  const auto slots_by_session = write_parts(builder, report.slots_by_session);
  const auto failure = write_free_text(builder, report.failure);
  return schema::CreateLaneReport(builder, &lane, report.incarnation, report.sequence, report.timeline, report.serving,
                                  report.open_step, missing, report.planned, statistics, slots_by_session,
                                  report.duplicates, report.superseded, report.persisted, report.leaving, failure);
}

// ---- lead to lane

auto write(Builder& builder, const Confirm& confirm) {
  return schema::CreateConfirm(builder, confirm.incarnation, confirm.timeline, confirm.base);
}

auto write(Builder& builder, const Plan& plan) {
  return schema::CreatePlan(builder, plan.timeline, plan.first, write_parts(builder, plan.factors),
                            plan.statistics_through);
}

auto write(Builder& builder, const Persist& persist) {
  return schema::CreatePersist(builder, persist.timeline, persist.step);
}

// ---- lead to anyone, command line to lead and back

auto write(Builder& builder, const Finish& finish) {
  return schema::CreateJobFinish(builder, finish.timeline, finish.step, write_free_text(builder, finish.failure));
}

auto write(Builder& builder, const StatusRequest& request) {
  return schema::CreateStatusRequest(builder, request.last);
}

auto write(Builder& builder, const SessionStatus& session) {
  const auto name = write(builder, session.name);
  const auto fingerprint = write(builder, session.fingerprint);
  const auto phases = part(session.phases);
  return schema::CreateSessionStatus(builder, session.session, name, session.live, session.step, session.slots,
                                     fingerprint, &phases);
}

auto write(Builder& builder, const Status& status) {
  const auto phase = write(builder, status.phase);
  const auto failure = write_free_text(builder, status.failure);
  std::vector<Offset<schema::SessionStatus>> sessions;
  sessions.reserve(status.sessions.size());
  for (const auto& session : status.sessions) {
    sessions.push_back(write(builder, session));
  }
  return schema::CreateStatus(builder, phase, failure, status.timeline, status.step, status.steps, status.epoch,
                              status.training, status.examples, status.train_loss, status.recent_loss, status.test_loss,
                              status.test_accuracy, status.evaluated, status.duplicates, status.superseded,
                              status.lost_workers, status.backups, builder.CreateVector(sessions));
}

template <typename Table>
void finish(Builder& builder, Offset<Table> body) {
  constexpr auto kKind = schema::BodyTraits<Table>::enum_value;
  schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, kKind, body.Union()));
}

}  // namespace

Encoder::Encoder() : builder_(std::make_unique<Builder>()) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::span<const std::byte> Encoder::encode(const Message& message) {
  builder_->Clear();
  std::visit([this](const auto& body) { finish(*builder_, write(*builder_, body)); }, message);
  return std::as_bytes(std::span(builder_->GetBufferPointer(), builder_->GetSize()));
}

}  // namespace ballast

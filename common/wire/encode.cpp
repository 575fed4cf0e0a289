#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/text/text.h"
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
  const bool fits = text.size() <= wire::kMaxTextBytes && !text_fault(text, TextKind::line);
  return write(builder, fits ? text : as_line(text, wire::kMaxTextBytes));
}

schema::LaneId part(const LaneId& lane) { return {lane.shard, lane.lane}; }
schema::SlotRange part(const SlotRange& range) { return {range.begin, range.end}; }
schema::PhaseTimes part(const PhaseTimes& times) {
  return {times.data_wait, times.pull, times.forward, times.backward, times.push};
}
schema::SnapshotId part(const SnapshotId& snapshot) { return {snapshot.timeline, snapshot.step}; }
schema::CopyState part(const CopyState& copies) {
  return {copies.run, part(copies.named), part(copies.complete), copies.life, copies.turn};
}
schema::CopyProgress part(const CopyProgress& copy) {
  return {copy.run, part(copy.snapshot), copy.bytes, copy.failures, copy.done, copy.taken};
}
schema::CopyStatus part(const CopyStatus& status) {
  return {status.run,    status.copied, status.copying, status.bytes,
          status.shards, status.of,     status.kept,    status.awaited};
}
schema::ItemRange part(const ItemRange& range) { return {range.begin, range.end}; }
schema::JournalMark part(const JournalMark& mark) { return {mark.shard, mark.incarnation, mark.sequence}; }
schema::ShardLife part(const ShardLife& life) { return {life.incarnation, life.begun}; }
schema::Grant part(const Grant& grant) { return {grant.item, grant.clock}; }
schema::StepFactors part(const StepFactors& factors) {
  return {factors.learning_rate, factors.step_size, factors.second_moment_root,
          static_cast<std::uint32_t>(factors.scales.size()), factors.skip};
}
schema::DecidedStep part(const DecidedStep& decided) { return {decided.step, part(decided.factors)}; }
schema::ChunkMeasure part(const ChunkMeasure& measure) {
  return {measure.step,      measure.chunk, static_cast<std::uint32_t>(measure.sums.size()),
          measure.parameter, measure.slot,  measure.finite};
}
schema::StepStatistics part(const StepStatistics& statistics) {
  return {statistics.step, statistics.loss, statistics.correct, statistics.examples};
}
schema::SessionSlots part(const SessionSlots& slots) { return {slots.session, slots.slots}; }
schema::Standing part(const Standing& standing) { return {standing.from, standing.until, part(standing.slots)}; }
schema::Extra part(const Extra& extra) { return {extra.step, part(extra.slots)}; }
schema::Evaluation part(const Evaluation& evaluation) {
  return {static_cast<schema::Split>(evaluation.split), evaluation.item, evaluation.version, evaluation.begin,
          evaluation.end};
}
schema::SplitStatus part(const SplitStatus& status) {
  return {status.evaluated, status.step, status.loss, status.accuracy};
}

template <typename Value>
auto write_parts(Builder& builder, const std::vector<Value>& values) {
  using Part = decltype(part(values.front()));
  if (values.empty()) {
    return Offset<flatbuffers::Vector<const Part*>>{};
  }
  // Not CreateUninitializedVectorOfStructs: FlatBuffers 2 aligns that by the struct's size, e.g. to 20 bytes.
  return builder.CreateVectorOfStructs<Part>(values.size(),
                                             [&values](std::size_t i, Part* at) { *at = part(values[i]); });
}

template <typename Number>
Offset<flatbuffers::Vector<Number>> write_numbers(Builder& builder, const std::vector<Number>& numbers) {
  return numbers.empty() ? Offset<flatbuffers::Vector<Number>>{} : builder.CreateVector(numbers);
}

// The numbers that belong to each of `values`, one value's after the other's. `numbers_of` may be a member.
template <typename Value, typename NumbersOf>
auto write_joined(Builder& builder, const std::vector<Value>& values, NumbersOf numbers_of) {
  using Number = typename std::remove_cvref_t<std::invoke_result_t<NumbersOf, const Value&>>::value_type;
  std::size_t size = 0;
  for (const auto& value : values) {
    size += std::invoke(numbers_of, value).size();
  }
  if (size == 0) {
    return Offset<flatbuffers::Vector<Number>>{};
  }
  Number* joined = nullptr;
  const auto offset = builder.CreateUninitializedVector(size, &joined);
  for (const auto& value : values) {
    for (const auto number : std::invoke(numbers_of, value)) {
      *joined++ = flatbuffers::EndianScalar(number);
    }
  }
  return offset;
}

// ---- worker to lane

auto write(Builder& builder, const LaneHello& hello) {
  const auto name = write(builder, hello.name);
  const auto spec_digest = write(builder, hello.spec_digest);
  const auto layout_digest = write(builder, hello.layout_digest);
  return schema::CreateLaneHello(builder, name, spec_digest, layout_digest);
}

auto write(Builder& builder, const Pull& pull) {
  return schema::CreatePull(builder, pull.timeline, pull.version, write_numbers(builder, pull.chunks), pull.ticket);
}

auto write(Builder& builder, const Push& push) {
  const auto node = part(push.node);
  const auto phases = part(push.phases);
  const auto marks = write_parts(builder, push.marks);
  return schema::CreatePush(builder, push.timeline, push.step, push.chunk, &node, push.want_next, push.fault, &phases,
                            push.base, push.ticket, marks);
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
  return schema::CreateWeights(builder, weights.timeline, weights.incarnation, weights.chunk, weights.version,
                               weights.ticket, weights.sequence);
}

auto write(Builder& builder, const Gone& gone) {
  return schema::CreateGone(builder, gone.timeline, gone.chunk, gone.version, gone.held);
}

auto write(Builder& builder, const Stale& stale) { return schema::CreateStale(builder, stale.timeline); }

auto write(Builder& builder, const Refused& refused) {
  const auto text = write_free_text(builder, refused.text);
  const auto job = write(builder, refused.job);
  return schema::CreateRefused(builder, static_cast<schema::RefusalCode>(refused.code), text, job);
}

// ---- worker to lead

auto write(Builder& builder, const WorkerHello& hello) {
  return schema::CreateWorkerHello(builder, write(builder, hello.name));
}

auto write(Builder& builder, const Heartbeat& beat) {
  const auto waits_for = write_free_text(builder, beat.waits_for);
  const auto fingerprint = write(builder, beat.fingerprint);
  const auto data_digest = write(builder, beat.data_digest);
  const auto phases = part(beat.phases);
  const auto brought = write_numbers(builder, beat.brought);
  return schema::CreateHeartbeat(builder, beat.timeline, beat.order, beat.step, beat.ready, beat.idle, waits_for,
                                 fingerprint, data_digest, &phases, beat.slots, beat.placement, brought);
}

auto write(Builder& builder, const EvaluationResult& result) {
  return schema::CreateEvaluationResult(builder, result.timeline, static_cast<schema::Split>(result.split), result.item,
                                        result.version, result.loss_sum, result.correct, result.examples);
}

auto write(Builder& builder, const Goodbye& goodbye) {
  return schema::CreateGoodbye(builder, write_free_text(builder, goodbye.reason));
}

// ---- lead to worker

auto write(Builder& builder, const LaneAddress& address) {
  const auto lane = part(address.lane);
  return schema::CreateLaneAddress(builder, &lane, address.incarnation, write(builder, address.address));
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
  return schema::CreateWorkerWelcome(builder, welcome.timeline, job, spec_digest, layout_digest, welcome.shards,
                                     welcome.lanes, builder.CreateVector(addresses), welcome.placement);
}

auto write(Builder& builder, const Assign& assign) {
  const auto standing = part(assign.standing);
  const auto extra = part(assign.extra.value_or(Extra{}));
  const auto evaluation = part(assign.evaluation.value_or(Evaluation{}));
  const auto grants = write_parts(builder, assign.grants);
  return schema::CreateAssign(builder, assign.order, assign.timeline, assign.generation, &standing,
                              assign.extra ? &extra : nullptr, assign.evaluation ? &evaluation : nullptr, grants);
}

// ---- lane to lead

auto write(Builder& builder, const StalenessCounts& staleness) {
  return schema::CreateStalenessCounts(builder, write_numbers(builder, staleness.counts), staleness.sum,
                                       staleness.largest, staleness.expired, staleness.skipped);
}

auto write(Builder& builder, const ShardHello& hello) {
  const auto lane = part(hello.lane);
  const auto spec_digest = write(builder, hello.spec_digest);
  const auto layout_digest = write(builder, hello.layout_digest);
  const auto initial_weights = write(builder, hello.initial_weights);
  const auto address = write(builder, hello.address);
  const auto held = write_parts(builder, hello.held);
  const auto lives = write_parts(builder, hello.lives);
  return schema::CreateShardHello(builder, &lane, hello.shards, hello.lanes, hello.incarnation, hello.database.database,
                                  hello.database.count, spec_digest, layout_digest, initial_weights, address,
                                  hello.timeline, hello.reached, held, lives);
}

auto write(Builder& builder, const LaneReport& report) {
  const auto lane = part(report.lane);
  const auto missing = write_numbers(builder, report.missing);
  const auto measures = write_parts(builder, report.measures);
  const auto sums = write_joined(builder, report.measures, &ChunkMeasure::sums);
  const auto decided = write_parts(builder, report.decided);
  const auto scales = write_joined(
      builder, report.decided, [](const DecidedStep& step) -> const auto& { return step.factors.scales; });
  const auto held = write_parts(builder, report.held);
  const auto writing = write_parts(builder, report.writing);
  const auto failed = write_parts(builder, report.failed);
  const auto trouble = write_free_text(builder, report.trouble);
  const auto statistics = write_parts(builder, report.statistics);
  const auto slots_by_session = write_parts(builder, report.slots_by_session);
  const auto failure = write_free_text(builder, report.failure);
  const auto covered = write_parts(builder, report.covered);
  const auto staleness = write(builder, report.staleness);
  const auto marks = write_parts(builder, report.marks);
  const auto copy = part(report.copy);
  return schema::CreateLaneReport(
      builder, &lane, report.incarnation, report.sequence, report.timeline, report.serving, report.open_step, missing,
      report.planned, measures, sums, decided, scales, held, writing, failed, trouble, statistics, slots_by_session,
      report.duplicates, report.superseded, report.leaving, failure, covered, staleness, marks, report.reached, &copy);
}

// ---- lead to lane

auto write(Builder& builder, const Confirm& confirm) {
  const auto base = part(confirm.base);
  return schema::CreateConfirm(builder, confirm.incarnation, confirm.timeline, &base, confirm.resumes);
}

auto write(Builder& builder, const Plan& plan) {
  const auto factors = write_parts(builder, plan.factors);
  const auto scales = write_joined(builder, plan.factors, &StepFactors::scales);
  const auto snapshots = write_numbers(builder, plan.snapshots);
  const auto keep = write_parts(builder, plan.keep);
  const auto copies = part(plan.copies);
  return schema::CreatePlan(builder, plan.timeline, plan.first, factors, scales, snapshots, keep,
                            plan.statistics_through, &copies);
}

// ---- lead to anyone, command line to lead and back

auto write(Builder& builder, const Finish& finish) {
  return schema::CreateJobFinish(builder, finish.timeline, finish.step, static_cast<schema::Ending>(finish.ending),
                                 write_free_text(builder, finish.failure));
}

auto write(Builder& builder, const StatusRequest& request) {
  return schema::CreateStatusRequest(builder, request.last);
}

auto write(Builder& builder, const Control& control) {
  return schema::CreateControl(builder, static_cast<schema::ControlCommand>(control.command));
}

auto write(Builder& builder, const SessionStatus& session) {
  const auto name = write(builder, session.name);
  const auto fingerprint = write(builder, session.fingerprint);
  const auto refusal = write_free_text(builder, session.refusal);
  const auto phases = part(session.phases);
  return schema::CreateSessionStatus(builder, session.session, name, session.live, session.step, session.slots,
                                     fingerprint, refusal, &phases);
}

auto write(Builder& builder, const Told& told) {
  const auto value = write(builder, told.value);
  return schema::CreateTold(builder, value, write_free_text(builder, told.by));  // a name and a word before it
}

auto write(Builder& builder, const Status& status) {
  const auto job = write(builder, status.job);
  const auto phase = write(builder, status.phase);
  const auto mode = write(builder, status.mode);
  const auto failure = write_free_text(builder, status.failure);
  const auto waits_for = write_free_text(builder, status.waits_for);
  const auto trouble = write_free_text(builder, status.trouble);
  const auto bits_trouble = write_free_text(builder, status.bits_trouble);
  const auto base = part(status.base);
  const auto validation = part(status.validation);
  const auto test = part(status.test);
  const auto best = part(status.best);
  std::vector<Offset<schema::SessionStatus>> sessions;
  sessions.reserve(status.sessions.size());
  for (const auto& session : status.sessions) {
    sessions.push_back(write(builder, session));
  }
  const auto staleness = write(builder, status.staleness);
  const auto data = status.data == Told{} ? Offset<schema::Told>{} : write(builder, status.data);
  std::vector<Offset<schema::Told>> arithmetics;
  for (const auto& kind : status.arithmetics) {
    arithmetics.push_back(write(builder, kind));
  }
  const auto copies = part(status.copies);
  return schema::CreateStatus(
      builder, job, phase, failure, waits_for, trouble, bits_trouble, status.timeline, &base, status.snapshot,
      status.step, status.beyond_snapshot, status.steps, status.epoch, status.epochs, status.start_workers,
      status.training, status.examples, status.examples_per_second, status.steps_per_second, status.learning_rate,
      status.gradient_norm, status.train_loss, status.recent_loss, &validation, &test, &best, status.duplicates,
      status.superseded, status.lost_workers, status.refused_workers, status.backups, status.rollbacks,
      status.rolled_back_steps, status.skipped_steps, status.snapshots_missed, data, builder.CreateVector(arithmetics),
      builder.CreateVector(sessions), status.resumed_shards, staleness, mode, &copies);
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

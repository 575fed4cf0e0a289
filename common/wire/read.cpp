#include "common/wire/read.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/reader.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {
namespace {

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

SnapshotId snapshot_id(const schema::SnapshotId* snapshot) {
  return snapshot != nullptr ? SnapshotId{snapshot->timeline(), snapshot->step()} : SnapshotId{};
}

CopyState copies(const schema::CopyState* at) {
  return at != nullptr
             ? CopyState{at->run(), snapshot_id(&at->named()), snapshot_id(&at->complete()), at->life(), at->turn()}
             : CopyState{};
}

CopyProgress copy_progress(const schema::CopyProgress* at) {
  return at != nullptr ? CopyProgress{at->run(),  snapshot_id(&at->snapshot()), at->bytes(), at->failures(), at->done(),
                                      at->taken()}
                       : CopyProgress{};
}

CopyStatus copy_status(const schema::CopyStatus* at) {
  return at != nullptr ? CopyStatus{at->kept(),   at->run(), at->copied(), at->copying(),
                                    at->shards(), at->of(),  at->bytes(),  at->awaited()}
                       : CopyStatus{};
}

ItemRange item_range(const schema::ItemRange* range) { return {range->begin(), range->end()}; }
JournalMark journal_mark(const schema::JournalMark* mark) {
  return {mark->shard(), mark->incarnation(), mark->sequence()};
}
ShardLife shard_life(const schema::ShardLife* life) { return {life->incarnation(), life->begun()}; }
Grant grant(const schema::Grant* grant) { return {grant->item(), grant->clock()}; }

StalenessCounts staleness(Reader& reader, const schema::StalenessCounts* at) {
  if (at == nullptr) {
    return {};
  }
  return {reader.numbers("StalenessCounts.counts", at->counts(), kMaxStalenessCounts), at->sum(), at->largest(),
          at->expired(), at->skipped()};
}

StepFactors step_factors(const schema::StepFactors& factors, Pieces<float>& scales) {
  return {factors.learning_rate(), factors.step_size(), factors.second_moment_root(), factors.skip(),
          scales.take(factors.scale_count())};
}

std::vector<StepFactors> factors(Reader& reader, const schema::Plan& at) {
  Pieces<float> scales(reader, "Plan.scales", at.scales(), kMaxScales);
  auto all = reader.list("Plan.factors", at.factors(), kMaxPlanned,
                         [&scales](const auto* one) { return step_factors(*one, scales); });
  scales.finish();
  return all;
}

std::vector<DecidedStep> decided(Reader& reader, const schema::LaneReport& at) {
  Pieces<float> scales(reader, "LaneReport.decided_scales", at.decided_scales(), kMaxScales);
  auto all = reader.list("LaneReport.decided", at.decided(), kMaxDecidedSteps, [&scales](const auto* one) {
    return DecidedStep{one->step(), step_factors(one->factors(), scales)};
  });
  scales.finish();
  return all;
}

std::vector<ChunkMeasure> measures(Reader& reader, const schema::LaneReport& at) {
  Pieces<double> sums(reader, "LaneReport.measure_sums", at.measure_sums(), kMaxSums);
  auto all = reader.list("LaneReport.measures", at.measures(), kMaxMeasures, [&sums](const auto* one) {
    return ChunkMeasure{one->chunk(),  one->step(),      sums.take(one->sum_count()),
                        one->finite(), one->parameter(), one->slot()};
  });
  sums.finish();
  return all;
}

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
  if (at == nullptr) {
    return std::nullopt;
  }
  return Evaluation{static_cast<Split>(at->split()), at->item(), at->version(), at->begin(), at->end()};
}

SplitStatus split_status(const schema::SplitStatus* at) {
  return at != nullptr ? SplitStatus{at->evaluated(), at->step(), at->loss(), at->accuracy()} : SplitStatus{};
}

// ---- worker to lane

Message body(Reader& reader, const schema::LaneHello& at) {
  return LaneHello{reader.line("LaneHello.name", at.name()), reader.line("LaneHello.spec_digest", at.spec_digest()),
                   reader.line("LaneHello.layout_digest", at.layout_digest())};
}

Message body(Reader& reader, const schema::Pull& at) {
  return Pull{at.timeline(), at.version(), reader.numbers("Pull.chunks", at.chunks(), kMaxPullChunks), at.ticket()};
}

Message body(Reader& reader, const schema::Push& at) {
  return Push{at.timeline(),
              at.step(),
              at.chunk(),
              range(at.node()),
              at.want_next(),
              at.fault(),
              phase_times(at.phases()),
              at.base(),
              at.ticket(),
              reader.list("Push.marks", at.marks(), kMaxMarks, journal_mark)};
}

// ---- lane to worker

Message body(Reader&, const schema::LaneWelcome& at) {
  return LaneWelcome{at.timeline(), at.incarnation(), at.credit_bytes()};
}

Message body(Reader&, const schema::Receipt& at) {
  return Receipt{at.timeline(), at.step(), at.chunk(), range(at.node()), static_cast<ReceiptOutcome>(at.outcome())};
}

Message body(Reader&, const schema::Weights& at) {
  return Weights{at.timeline(), at.incarnation(), at.chunk(), at.version(), at.ticket(), at.sequence()};
}

Message body(Reader&, const schema::Gone& at) { return Gone{at.timeline(), at.chunk(), at.version(), at.held()}; }

Message body(Reader&, const schema::Stale& at) { return Stale{at.timeline()}; }

Message body(Reader& reader, const schema::Refused& at) {
  return Refused{static_cast<RefusalCode>(at.code()), reader.line("Refused.text", at.text()),
                 reader.job("Refused.job", at.job())};
}

// ---- worker to lead

Message body(Reader& reader, const schema::WorkerHello& at) {
  return WorkerHello{reader.line("WorkerHello.name", at.name())};
}

Message body(Reader& reader, const schema::Heartbeat& at) {
  return Heartbeat{at.timeline(),
                   at.order(),
                   at.step(),
                   at.ready(),
                   at.idle(),
                   reader.line("Heartbeat.waits_for", at.waits_for()),
                   reader.line("Heartbeat.fingerprint", at.fingerprint()),
                   reader.line("Heartbeat.data_digest", at.data_digest()),
                   phase_times(at.phases()),
                   at.slots(),
                   at.placement(),
                   reader.numbers("Heartbeat.brought", at.brought(), kMaxGrants)};
}

Message body(Reader&, const schema::EvaluationResult& at) {
  return EvaluationResult{
      at.timeline(), static_cast<Split>(at.split()), at.item(), at.version(), at.loss_sum(), at.correct(),
      at.examples()};
}

Message body(Reader& reader, const schema::Goodbye& at) { return Goodbye{reader.line("Goodbye.reason", at.reason())}; }

// ---- lead to worker

Message body(Reader& reader, const schema::WorkerWelcome& at) {
  const auto address = [&reader](const schema::LaneAddress* one) {
    return LaneAddress{lane_id(one->lane()), one->incarnation(),
                       reader.line("WorkerWelcome.addresses.address", one->address())};
  };
  return WorkerWelcome{at.timeline(),
                       reader.job("WorkerWelcome.job", at.job()),
                       reader.line("WorkerWelcome.spec_digest", at.spec_digest()),
                       reader.line("WorkerWelcome.layout_digest", at.layout_digest()),
                       at.shards(),
                       at.lanes(),
                       reader.list("WorkerWelcome.addresses", at.addresses(), kMaxAddresses, address),
                       at.placement()};
}

Message body(Reader& reader, const schema::Assign& at) {
  return Assign{at.order(),
                at.timeline(),
                at.generation(),
                standing(at.standing()),
                extra(at.extra()),
                evaluation(at.evaluation()),
                reader.list("Assign.grants", at.grants(), kMaxGrants, grant)};
}

// ---- lane to lead

Message body(Reader& reader, const schema::ShardHello& at) {
  return ShardHello{lane_id(at.lane()),
                    at.shards(),
                    at.lanes(),
                    at.incarnation(),
                    {at.database(), at.database_life()},
                    reader.line("ShardHello.spec_digest", at.spec_digest()),
                    reader.line("ShardHello.layout_digest", at.layout_digest()),
                    reader.line("ShardHello.initial_weights", at.initial_weights()),
                    reader.line("ShardHello.address", at.address()),
                    at.timeline(),
                    at.reached(),
                    reader.list("ShardHello.held", at.held(), kMaxHeld, snapshot_id),
                    reader.list("ShardHello.lives", at.lives(), kMaxShardLives, shard_life)};
}

Message body(Reader& reader, const schema::LaneReport& at) {
  return LaneReport{lane_id(at.lane()),
                    at.incarnation(),
                    at.sequence(),
                    at.timeline(),
                    at.serving(),
                    at.open_step(),
                    reader.numbers("LaneReport.missing", at.missing(), kMaxMissingWords),
                    at.planned(),
                    reader.list("LaneReport.covered", at.covered(), kMaxCoveredRanges, item_range),
                    at.reached(),
                    staleness(reader, at.staleness()),
                    reader.list("LaneReport.marks", at.marks(), kMaxReportMarks, journal_mark),
                    measures(reader, at),
                    decided(reader, at),
                    reader.list("LaneReport.held", at.held(), kMaxSnapshots, snapshot_id),
                    reader.list("LaneReport.writing", at.writing(), kMaxSnapshots, snapshot_id),
                    reader.list("LaneReport.failed", at.failed(), kMaxSnapshots, snapshot_id),
                    copy_progress(at.copy()),
                    reader.line("LaneReport.trouble", at.trouble()),
                    reader.list("LaneReport.statistics", at.statistics(), kMaxPlanned, step_statistics),
                    reader.list("LaneReport.slots_by_session", at.slots_by_session(), kMaxSessions, session_slots),
                    at.duplicates(),
                    at.superseded(),
                    at.leaving(),
                    reader.line("LaneReport.failure", at.failure())};
}

// ---- lead to lane

Message body(Reader&, const schema::Confirm& at) {
  return Confirm{at.incarnation(), at.timeline(), snapshot_id(at.base()), at.resumes()};
}

Message body(Reader& reader, const schema::Plan& at) {
  return Plan{at.timeline(),
              at.first(),
              factors(reader, at),
              reader.numbers("Plan.snapshots", at.snapshots(), kMaxSnapshots),
              reader.list("Plan.keep", at.keep(), kMaxSnapshots, snapshot_id),
              copies(at.copies()),
              at.statistics_through()};
}

// ---- lead to anyone, command line to lead and back

Message body(Reader& reader, const schema::JobFinish& at) {
  return Finish{at.timeline(), at.step(), static_cast<Ending>(at.ending()),
                reader.line("Finish.failure", at.failure())};
}

Message body(Reader&, const schema::StatusRequest& at) { return StatusRequest{at.last()}; }

Message body(Reader&, const schema::Control& at) { return Control{static_cast<Control::Command>(at.command())}; }

Message body(Reader& reader, const schema::Status& at) {
  const auto session = [&reader](const schema::SessionStatus* one) {
    return SessionStatus{one->session(),
                         reader.line("Status.sessions.name", one->name()),
                         one->live(),
                         one->step(),
                         one->slots(),
                         reader.line("Status.sessions.fingerprint", one->fingerprint()),
                         reader.line("Status.sessions.refusal", one->refusal()),
                         phase_times(one->phases())};
  };
  const auto told = [&reader](const schema::Told* one) {
    return one == nullptr
               ? Told{}
               : Told{reader.line("Status.told.value", one->value()), reader.line("Status.told.by", one->by())};
  };
  return Status{reader.line("Status.job", at.job()),
                reader.line("Status.phase", at.phase()),
                reader.line("Status.failure", at.failure()),
                reader.line("Status.waits_for", at.waits_for()),
                reader.line("Status.trouble", at.trouble()),
                reader.line("Status.bits_trouble", at.bits_trouble()),
                at.timeline(),
                snapshot_id(at.base()),
                at.snapshot(),
                copy_status(at.copies()),
                at.step(),
                at.beyond_snapshot(),
                at.steps(),
                at.epoch(),
                at.epochs(),
                at.start_workers(),
                at.training(),
                at.examples(),
                at.examples_per_second(),
                at.steps_per_second(),
                at.learning_rate(),
                at.gradient_norm(),
                at.train_loss(),
                at.recent_loss(),
                split_status(at.validation()),
                split_status(at.test()),
                split_status(at.best()),
                at.duplicates(),
                at.superseded(),
                at.lost_workers(),
                at.refused_workers(),
                at.backups(),
                at.rollbacks(),
                at.rolled_back_steps(),
                at.skipped_steps(),
                at.snapshots_missed(),
                at.resumed_shards(),
                staleness(reader, at.staleness()),
                told(at.data()),
                reader.list("Status.arithmetics", at.arithmetics(), kMaxArithmetics, told),
                reader.list("Status.sessions", at.sessions(), kMaxSessions, session),
                reader.line("Status.mode", at.mode())};
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
               schema::LaneReport, schema::Confirm, schema::Plan, schema::JobFinish, schema::StatusRequest,
               schema::Control, schema::Status>();

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

#include "storage/store/records.h"

#include <array>
#include <bit>
#include <cstdio>
#include <type_traits>

#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {
namespace {

constexpr std::string_view kMagic = "BLST";
// Versions of a kind of record that are read; the newest is written.
struct Versions {
  std::uint16_t oldest = 1;
  std::uint16_t newest = 1;
};
// Version 3 ends before the life that copies, version 4 before the cut and the causes of rollbacks; older ones were
// written in databases of older formats alone.
constexpr Versions kLedgerVersions = {3, 5};
constexpr Versions kEvaluationVersions = {1, 2};  // version 1 ends before the metrics
constexpr std::size_t kCheckedHead = 4 + 2 + 2 + 8;
constexpr std::size_t kHead = kCheckedHead + 4;
constexpr std::size_t kTensorHead = 8 + 8 + 1 + 4;

Versions versions_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::ledger:
      return kLedgerVersions;
    case RecordKind::evaluation:
      return kEvaluationVersions;
    default:
      return {};
  }
}

std::uint32_t checksum(std::string_view head, std::string_view payload) { return crc32c(payload, crc32c(head)); }

void write_head(ByteWriter& record, RecordKind kind, std::uint64_t size) {
  record.raw(kMagic).number(static_cast<std::uint16_t>(kind)).number(versions_of(kind).newest).number(size);
}

std::string seal(RecordKind kind, std::string_view payload) {
  ByteWriter head;
  write_head(head, kind, payload.size());
  auto record = head.take();
  const auto sum = checksum(record, payload);
  ByteWriter tail;
  tail.number(sum).raw(payload);
  return record + tail.take();
}

StoreStatus damaged(std::string text) { return {StoreCode::corrupt, std::move(text)}; }

struct Payload {
  std::string_view bytes;
  std::uint16_t version = 0;
};

// The payload of a record of this kind, or what is wrong with the record.
StoreResult<Payload> unseal(RecordKind kind, std::string_view record) {
  if (record.size() < kHead) {
    return damaged("the record has " + std::to_string(record.size()) + " bytes, fewer than a record's head");
  }
  ByteReader reader(record);
  if (reader.raw(kMagic.size()) != kMagic) {
    return damaged("the record is not one of this program's (wrong magic)");
  }
  const auto found_kind = reader.number<std::uint16_t>();
  const auto version = reader.number<std::uint16_t>();
  const auto size = reader.number<std::uint64_t>();
  const auto sum = reader.number<std::uint32_t>();
  if (size != reader.left()) {
    return damaged("the record says " + std::to_string(size) + " bytes and has " + std::to_string(reader.left()));
  }
  const auto payload = reader.rest();
  if (sum != checksum(record.substr(0, kCheckedHead), payload)) {
    return damaged("the record is damaged: its checksum does not match");
  }
  if (found_kind != static_cast<std::uint16_t>(kind)) {
    return damaged("the record is of kind " + std::to_string(found_kind) + ", expected " +
                   std::to_string(static_cast<std::uint16_t>(kind)));
  }
  const auto [oldest, newest] = versions_of(kind);
  if (version < oldest || version > newest) {
    return StoreStatus{StoreCode::mismatch,
                       "the record has version " + std::to_string(version) + "; this program reads version " +
                           (oldest == newest ? "" : std::to_string(oldest) + " to ") + std::to_string(newest)};
  }
  return Payload{payload, version};
}

// Reads a payload by `fill(reader, value)`, or `fill(reader, value, version)`; whatever is missing or left over is
// damage.
template <typename T, typename Fill>
StoreResult<T> decode(RecordKind kind, std::string_view record, Fill fill) {
  const auto payload = unseal(kind, record);
  if (!payload.ok()) {
    return payload.status();
  }
  ByteReader reader(payload.value().bytes);
  T value;
  if constexpr (std::is_invocable_v<Fill, ByteReader&, T&>) {
    fill(reader, value);
  } else {
    fill(reader, value, payload.value().version);
  }
  if (!reader.done()) {
    return damaged("the record " + std::string(reader.fault()));
  }
  return value;
}

void write(ByteWriter& to, const SnapshotId& snapshot) { to.number(snapshot.timeline).number(snapshot.step); }

void read(ByteReader& from, SnapshotId& snapshot) {
  snapshot.timeline = from.number<Timeline>();
  snapshot.step = from.number<Step>();
}

void write(ByteWriter& to, const std::optional<SnapshotId>& snapshot) {
  to.number(static_cast<std::uint8_t>(snapshot ? 1 : 0));
  if (snapshot) {
    write(to, *snapshot);
  }
}

void read(ByteReader& from, std::optional<SnapshotId>& snapshot) {
  if (from.flag()) {
    read(from, snapshot.emplace());
  }
}

void write(ByteWriter& to, const std::optional<Step>& step) {
  to.number(static_cast<std::uint8_t>(step ? 1 : 0));
  if (step) {
    to.number(*step);
  }
}

void read(ByteReader& from, std::optional<Step>& step) {
  if (from.flag()) {
    step = from.number<Step>();
  }
}

void write(ByteWriter& to, Incarnation incarnation) { to.number(incarnation); }
void read(ByteReader& from, Incarnation& incarnation) { incarnation = from.number<Incarnation>(); }

void write(ByteWriter& to, const DatabaseLife& life) { to.number(life.database).number(life.count); }
void read(ByteReader& from, DatabaseLife& life) {
  life.database = from.number<std::uint64_t>();
  life.count = from.number<std::uint64_t>();
}

// A flag, and where there is a pause whether it holds.
void write(ByteWriter& to, Pause pause) {
  to.number(static_cast<std::uint8_t>(pause == Pause::none ? 0 : 1));
  if (pause != Pause::none) {
    to.number(static_cast<std::uint8_t>(pause == Pause::held ? 1 : 0));
  }
}

void read(ByteReader& from, Pause& pause) {
  pause = Pause::none;
  if (from.flag()) {
    pause = from.flag() ? Pause::held : Pause::wanted;
  }
}

void write(ByteWriter& to, const Told& told) { to.text(told.value).text(told.by); }
void read(ByteReader& from, Told& told) {
  told.value = from.text();
  told.by = from.text();
}

void write(ByteWriter& to, const StepRange& range) { to.number(range.from).number(range.until); }
void read(ByteReader& from, StepRange& range) {
  range.from = from.number<Step>();
  range.until = from.number<Step>();
}

void write_real(ByteWriter& to, double value) { to.number(std::bit_cast<std::uint64_t>(value)); }
void write_real(ByteWriter& to, float value) { to.number(std::bit_cast<std::uint32_t>(value)); }
void read_real(ByteReader& from, double& value) { value = std::bit_cast<double>(from.number<std::uint64_t>()); }
void read_real(ByteReader& from, float& value) { value = std::bit_cast<float>(from.number<std::uint32_t>()); }

// At most one of each kind.
void write(ByteWriter& to, const std::vector<Metric>& metrics) {
  to.number(static_cast<std::uint8_t>(metrics.size()));
  for (const auto& metric : metrics) {
    to.number(static_cast<std::uint8_t>(metric.kind));
    write_real(to, metric.value);
  }
}

void read(ByteReader& from, std::vector<Metric>& metrics) {
  metrics.resize(from.number_below(kMetricKinds + 1));
  for (auto& metric : metrics) {
    metric.kind = static_cast<MetricKind>(from.number_below(kMetricKinds));
    read_real(from, metric.value);
  }
}

template <typename T>
void write(ByteWriter& to, const std::vector<T>& items) {
  to.number(static_cast<std::uint32_t>(items.size()));
  for (const auto& item : items) {
    write(to, item);
  }
}

// No memory is reserved for a claimed count.
template <typename T>
void read(ByteReader& from, std::vector<T>& items) {
  const auto count = from.number<std::uint32_t>();
  for (std::uint32_t index = 0; index < count && from.ok(); ++index) {
    read(from, items.emplace_back());
  }
}

}  // namespace

std::string encode(const Identity& identity) {
  ByteWriter payload;
  payload.number(identity.format).text(identity.job).text(identity.spec_digest).text(identity.layout_digest);
  payload.number(identity.shard).number(identity.shards).text(identity.effective_job);
  return seal(RecordKind::identity, payload.take());
}

StoreResult<Identity> decode_identity(std::string_view record) {
  const auto payload = unseal(RecordKind::identity, record);
  if (!payload.ok()) {
    return payload.status();
  }
  // Of another format only the number is known.
  const auto format = ByteReader(payload.value().bytes).number<std::uint32_t>();
  if (format != kDatabaseFormat) {
    return StoreStatus{StoreCode::mismatch,
                       "this database was made by another version of Ballast: it has format " + std::to_string(format) +
                           ", and this version reads format " + std::to_string(kDatabaseFormat) +
                           ". Go on with the version that made it; or export its weights with that version (`ballast "
                           "export`), and begin a run of its own from them (training.init_from)"};
  }
  return decode<Identity>(RecordKind::identity, record, [](ByteReader& reader, Identity& identity) {
    identity.format = reader.number<std::uint32_t>();
    identity.job = reader.text();
    identity.spec_digest = reader.text();
    identity.layout_digest = reader.text();
    identity.shard = reader.number<std::uint32_t>();
    identity.shards = reader.number<std::uint32_t>();
    identity.effective_job = reader.text();
  });
}

std::string encode(const DatabaseLife& life) {
  ByteWriter payload;
  write(payload, life);
  return seal(RecordKind::life, payload.take());
}

StoreResult<DatabaseLife> decode_life(std::string_view record) {
  return decode<DatabaseLife>(RecordKind::life, record,
                              [](ByteReader& reader, DatabaseLife& life) { read(reader, life); });
}

std::string encode(const TimelineRecord& timeline) {
  ByteWriter payload;
  payload.number(timeline.number);
  write(payload, timeline.base);
  payload.number(timeline.incarnation);
  return seal(RecordKind::timeline, payload.take());
}

StoreResult<TimelineRecord> decode_timeline(std::string_view record) {
  return decode<TimelineRecord>(RecordKind::timeline, record, [](ByteReader& reader, TimelineRecord& timeline) {
    timeline.number = reader.number<Timeline>();
    read(reader, timeline.base);
    timeline.incarnation = reader.number<Incarnation>();
  });
}

std::string encode_finished(const SnapshotId& end) {
  ByteWriter payload;
  write(payload, end);
  return seal(RecordKind::finished, payload.take());
}

StoreResult<SnapshotId> decode_finished(std::string_view record) {
  return decode<SnapshotId>(RecordKind::finished, record,
                            [](ByteReader& reader, SnapshotId& end) { read(reader, end); });
}

std::string encode_sealed(const SnapshotId& snapshot) {
  ByteWriter payload;
  write(payload, snapshot);
  return seal(RecordKind::sealed, payload.take());
}

StoreResult<SnapshotId> decode_sealed(std::string_view record) {
  return decode<SnapshotId>(RecordKind::sealed, record,
                            [](ByteReader& reader, SnapshotId& snapshot) { read(reader, snapshot); });
}

void write(ByteWriter& to, const Provenance& provenance) {
  write(to, provenance.data);
  write(to, provenance.arithmetics);
  write(to, provenance.initial_weights);
}

void read(ByteReader& from, Provenance& provenance) {
  read(from, provenance.data);
  read(from, provenance.arithmetics);
  read(from, provenance.initial_weights);
}

// Those of unknown cause stand elsewhere, and with them torn ones, for which this version of the record has no place: a
// release before must read it. The next life of a lead tells them as unknown.
void write(ByteWriter& to, const RollbackCounts& rollbacks) {
  to.number(rollbacks.shard).number(rollbacks.mark).number(rollbacks.below_cut);
  to.number(rollbacks.lives).number(rollbacks.non_finite);
}

void read(ByteReader& from, RollbackCounts& rollbacks) {
  rollbacks.shard = from.number<std::uint64_t>();
  rollbacks.mark = from.number<std::uint64_t>();
  rollbacks.below_cut = from.number<std::uint64_t>();
  rollbacks.lives = from.number<std::uint64_t>();
  rollbacks.non_finite = from.number<std::uint64_t>();
}

std::string encode(const Ledger& ledger) {
  ByteWriter payload;
  payload.number(ledger.timeline);
  write(payload, ledger.base);
  write(payload, ledger.incarnations);
  write(payload, ledger.complete);
  write(payload, ledger.best);
  write(payload, ledger.skipped);
  payload.number(ledger.rollbacks.unknown + ledger.rollbacks.torn)
      .number(ledger.rolled_back_steps)
      .number(ledger.snapshots_missed);
  write(payload, ledger.finished);
  payload.number(ledger.placement).number(ledger.resumed_shards);
  write(payload, ledger.databases);
  write(payload, ledger.pause);
  write(payload, ledger.provenance);
  payload.number(ledger.copies.run);
  write(payload, ledger.copies.named);
  write(payload, ledger.copies.complete);
  payload.number(ledger.copies_in).number(ledger.copies.life).number(ledger.copies.turn);
  write(payload, ledger.copy_lives);
  write(payload, ledger.named_before);
  write(payload, ledger.cut);
  write(payload, ledger.kept);
  write(payload, ledger.rollbacks);
  return seal(RecordKind::ledger, payload.take());
}

StoreResult<Ledger> decode_ledger(std::string_view record) {
  return decode<Ledger>(RecordKind::ledger, record, [](ByteReader& reader, Ledger& ledger, std::uint16_t version) {
    ledger.timeline = reader.number<Timeline>();
    read(reader, ledger.base);
    read(reader, ledger.incarnations);
    read(reader, ledger.complete);
    read(reader, ledger.best);
    read(reader, ledger.skipped);
    ledger.rollbacks.unknown = reader.number<std::uint64_t>();  // all, before version 5
    ledger.rolled_back_steps = reader.number<std::uint64_t>();
    ledger.snapshots_missed = reader.number<std::uint64_t>();
    read(reader, ledger.finished);
    ledger.placement = reader.number<std::uint64_t>();
    ledger.resumed_shards = reader.number<std::uint64_t>();
    read(reader, ledger.databases);
    read(reader, ledger.pause);
    read(reader, ledger.provenance);
    ledger.copies.run = reader.number<RunId>();
    read(reader, ledger.copies.named);
    read(reader, ledger.copies.complete);
    ledger.copies_in = reader.number<std::uint64_t>();
    if (version > 3) {
      ledger.copies.life = reader.number<std::uint64_t>();
      ledger.copies.turn = reader.number<std::uint64_t>();
      read(reader, ledger.copy_lives);
      read(reader, ledger.named_before);
    }
    if (version > 4) {
      read(reader, ledger.cut);
      read(reader, ledger.kept);
      read(reader, ledger.rollbacks);
    }
  });
}

std::string encode_held(Timeline timeline) {
  ByteWriter payload;
  payload.number(timeline);
  return seal(RecordKind::held, payload.take());
}

StoreResult<Timeline> decode_held(std::string_view record) {
  return decode<Timeline>(RecordKind::held, record,
                          [](ByteReader& reader, Timeline& timeline) { timeline = reader.number<Timeline>(); });
}

std::string encode(const EvaluationRecord& evaluation) {
  ByteWriter payload;
  payload.number(evaluation.step).number(static_cast<std::uint8_t>(evaluation.split == Split::test ? 1 : 0));
  write_real(payload, evaluation.loss);
  write_real(payload, evaluation.accuracy);
  payload.number(evaluation.examples);
  write(payload, evaluation.metrics);
  return seal(RecordKind::evaluation, payload.take());
}

StoreResult<EvaluationRecord> decode_evaluation(std::string_view record) {
  const auto fill = [](ByteReader& reader, EvaluationRecord& evaluation, std::uint16_t version) {
    evaluation.step = reader.number<Step>();
    evaluation.split = reader.flag() ? Split::test : Split::validation;
    read_real(reader, evaluation.loss);
    read_real(reader, evaluation.accuracy);
    evaluation.examples = reader.number<std::uint64_t>();
    if (version > 1) {
      read(reader, evaluation.metrics);
    }
  };
  return decode<EvaluationRecord>(RecordKind::evaluation, record, fill);
}

std::string encode(const StepStatistics& statistics) {
  ByteWriter payload;
  payload.number(statistics.step);
  write_real(payload, statistics.loss);
  write_real(payload, statistics.correct);
  write_real(payload, statistics.examples);
  return seal(RecordKind::statistics, payload.take());
}

StoreResult<StepStatistics> decode_statistics(std::string_view record) {
  return decode<StepStatistics>(RecordKind::statistics, record, [](ByteReader& reader, StepStatistics& statistics) {
    statistics.step = reader.number<Step>();
    read_real(reader, statistics.loss);
    read_real(reader, statistics.correct);
    read_real(reader, statistics.examples);
  });
}

std::string encode_tensor(const TensorKey& key, std::span<const std::byte> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ByteWriter head;
  write_head(head, RecordKind::tensor, kTensorHead + bytes.size());
  ByteWriter place;
  write(place, key.snapshot);
  place.number(static_cast<std::uint8_t>(key.kind)).number(key.chunk);
  const auto checked = head.take();
  const auto where = place.take();
  const auto sum = crc32c(content, crc32c(where, crc32c(checked)));
  ByteWriter record;
  record.reserve(kHead + kTensorHead + bytes.size());
  record.raw(checked).number(sum).raw(where).raw(content);
  return record.take();
}

StoreResult<std::span<const std::byte>> decode_tensor(const TensorKey& key, std::string_view record) {
  const auto payload = unseal(RecordKind::tensor, record);
  if (!payload.ok()) {
    return payload.status();
  }
  ByteReader reader(payload.value().bytes);
  TensorKey found;
  read(reader, found.snapshot);
  found.kind = static_cast<TensorKind>(reader.number<std::uint8_t>());
  found.chunk = reader.number<ChunkId>();
  if (!reader.ok()) {
    return damaged("the record ends too early");
  }
  if (found != key) {
    return damaged("the record belongs to another key");
  }
  const auto content = reader.rest();
  return std::as_bytes(std::span(content.data(), content.size()));
}

namespace {

template <typename T>
StoreStatus outcome(const StoreResult<T>& result) {
  return result.ok() ? StoreStatus{} : result.status();
}

StoreStatus outcome_under(std::string_view own_key, std::string_view key) {
  return own_key == key ? StoreStatus{} : damaged("the record belongs to another key");
}

}  // namespace

StoreStatus check_record(std::string_view key, std::string_view record) {
  if (key == kIdentityKey) {
    return outcome(decode_identity(record));
  }
  if (key == kLifeKey) {
    return outcome(decode_life(record));
  }
  if (key == kTimelineKey) {
    return outcome(decode_timeline(record));
  }
  if (key == kFinishedKey) {
    return outcome(decode_finished(record));
  }
  if (key == kLedgerKey) {
    return outcome(decode_ledger(record));
  }
  if (key == kHeldKey) {
    return outcome(decode_held(record));
  }
  if (key.starts_with(kSealedPrefix)) {
    const auto found = decode_sealed(record);
    return found.ok() ? outcome_under(sealed_key(found.value()), key) : found.status();
  }
  if (key.starts_with(kEvaluationPrefix)) {
    const auto found = decode_evaluation(record);
    return found.ok() ? outcome_under(evaluation_key(found.value().step, found.value().split), key) : found.status();
  }
  if (key.starts_with(kStatisticsPrefix)) {
    const auto found = decode_statistics(record);
    return found.ok() ? outcome_under(statistics_key(found.value().step), key) : found.status();
  }
  const auto tensor = parse_tensor_key(key);
  return tensor ? outcome(decode_tensor(*tensor, record)) : damaged("the key is not one of this program's");
}

}  // namespace ballast

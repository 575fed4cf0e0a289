#include "common/store/records.h"

#include <array>
#include <cstdio>

#include "common/store/bytes.h"
#include "common/store/checksum.h"

namespace ballast {
namespace {

constexpr std::string_view kMagic = "BLST";
constexpr std::uint16_t kRecordVersion = 1;  // of every kind until now
constexpr std::size_t kCheckedHead = 4 + 2 + 2 + 8;
constexpr std::size_t kHead = kCheckedHead + 4;
constexpr std::size_t kTensorHead = 8 + 8 + 1 + 4;

std::uint32_t checksum(std::string_view head, std::string_view payload) { return crc32c(payload, crc32c(head)); }

void write_head(ByteWriter& record, RecordKind kind, std::uint64_t size) {
  record.raw(kMagic).number(static_cast<std::uint16_t>(kind)).number(kRecordVersion).number(size);
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

// The payload of a record of this kind, or what is wrong with the record.
StoreResult<std::string_view> unseal(RecordKind kind, std::string_view record) {
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
  if (version != kRecordVersion) {
    return StoreStatus{StoreCode::mismatch, "the record has version " + std::to_string(version) +
                                                "; this program reads version " + std::to_string(kRecordVersion)};
  }
  return payload;
}

// Reads a payload by `fill(reader, value)`; whatever is missing or left over is damage.
template <typename T, typename Fill>
StoreResult<T> decode(RecordKind kind, std::string_view record, Fill fill) {
  const auto payload = unseal(kind, record);
  if (!payload.ok()) {
    return payload.status();
  }
  ByteReader reader(payload.value());
  T value;
  fill(reader, value);
  if (!reader.done()) {
    return damaged(reader.ok() ? "the record has bytes left over" : "the record ends too early");
  }
  return value;
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (digit >= '0' && digit <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(digit - 'a') + 10;
    } else {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace

// ---- keys

std::string_view to_string(TensorKind kind) { return kind == TensorKind::weights ? "weights" : "momentum"; }

std::string tensor_prefix(Timeline timeline, Step step, TensorKind kind) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "/%016llx/%016llx/", static_cast<unsigned long long>(timeline),
                static_cast<unsigned long long>(step));
  return std::string(to_string(kind)) + text.data();
}

std::string tensor_key(const TensorKey& key) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08x", key.chunk);
  return tensor_prefix(key.timeline, key.step, key.kind) + text.data();
}

std::optional<TensorKey> parse_tensor_key(std::string_view key) {
  for (const auto kind : {TensorKind::weights, TensorKind::momentum}) {
    const auto name = to_string(kind);
    if (!key.starts_with(name) || key.size() != name.size() + 3 + 16 + 16 + 8) {
      continue;
    }
    const auto rest = key.substr(name.size());
    const auto timeline = parse_hex(rest.substr(1, 16));
    const auto step = parse_hex(rest.substr(18, 16));
    const auto chunk = parse_hex(rest.substr(35, 8));
    if (rest[0] == '/' && rest[17] == '/' && rest[34] == '/' && timeline && step && chunk) {
      return TensorKey{*timeline, *step, kind, static_cast<ChunkId>(*chunk)};
    }
  }
  return std::nullopt;
}

// ---- records

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
  const auto format = ByteReader(payload.value()).number<std::uint32_t>();
  if (format != kDatabaseFormat) {
    return StoreStatus{StoreCode::mismatch, "the database has format " + std::to_string(format) +
                                                "; this program reads format " + std::to_string(kDatabaseFormat) +
                                                ": use the program that wrote it, or another run folder"};
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

std::string encode(const TimelineRecord& timeline) {
  ByteWriter payload;
  payload.number(timeline.number).number(timeline.base);
  payload.number(static_cast<std::uint32_t>(timeline.incarnations.size()));
  for (const auto incarnation : timeline.incarnations) {
    payload.number(incarnation);
  }
  return seal(RecordKind::timeline, payload.take());
}

StoreResult<TimelineRecord> decode_timeline(std::string_view record) {
  return decode<TimelineRecord>(RecordKind::timeline, record, [](ByteReader& reader, TimelineRecord& timeline) {
    timeline.number = reader.number<Timeline>();
    timeline.base = reader.number<Step>();
    const auto count = reader.number<std::uint32_t>();
    for (std::uint32_t index = 0; index < count && reader.ok(); ++index) {  // no memory is reserved for a claimed count
      timeline.incarnations.push_back(reader.number<Incarnation>());
    }
  });
}

std::string encode(const FinishedRecord& finished) {
  ByteWriter payload;
  payload.number(finished.timeline).number(finished.step);
  return seal(RecordKind::finished, payload.take());
}

StoreResult<FinishedRecord> decode_finished(std::string_view record) {
  return decode<FinishedRecord>(RecordKind::finished, record, [](ByteReader& reader, FinishedRecord& finished) {
    finished.timeline = reader.number<Timeline>();
    finished.step = reader.number<Step>();
  });
}

std::string encode(const FailureRecord& failure) {
  ByteWriter payload;
  payload.number(failure.timeline).text(failure.text);
  return seal(RecordKind::failure, payload.take());
}

StoreResult<FailureRecord> decode_failure(std::string_view record) {
  return decode<FailureRecord>(RecordKind::failure, record, [](ByteReader& reader, FailureRecord& failure) {
    failure.timeline = reader.number<Timeline>();
    failure.text = reader.text();
  });
}

std::string encode_tensor(const TensorKey& key, std::span<const std::byte> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ByteWriter head;
  write_head(head, RecordKind::tensor, kTensorHead + bytes.size());
  ByteWriter place;
  place.number(key.timeline).number(key.step).number(static_cast<std::uint8_t>(key.kind)).number(key.chunk);
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
  ByteReader reader(payload.value());
  TensorKey found;
  found.timeline = reader.number<Timeline>();
  found.step = reader.number<Step>();
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

}  // namespace ballast

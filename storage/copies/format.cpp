#include "storage/copies/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <tuple>
#include <utility>

#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {
namespace {

constexpr std::string_view kMagic = "BLSTCOPY";
constexpr std::uint32_t kFormatWithoutRun = 1;
constexpr std::size_t kFormatBytes = 8 + 4;  // of a head, up to its format
constexpr std::size_t kHeadBytesWithoutRun = kFormatBytes + 4 + 4 + 8 + 8 + 4;
constexpr std::size_t kHeadBytes = kHeadBytesWithoutRun + 8;
constexpr std::size_t kEntryBytes = 4 + 4;
constexpr std::size_t kHashBytes = 64;
constexpr std::size_t kEndBytes = 4 + kHashBytes;  // beside the zero and the first half of the count, read as an entry
constexpr std::size_t kDigestDigits = 8;
constexpr std::size_t kRunDigits = 16;
constexpr std::string_view kRun = "run-";
constexpr std::size_t kMaxKeyBytes = 4096;
constexpr std::uint32_t kMaxShards = 100'000;

StoreStatus damaged(const std::string& text) { return {StoreCode::corrupt, text}; }

bool take_prefix(std::string_view& text, std::string_view prefix) {
  const bool there = text.starts_with(prefix);
  text.remove_prefix(there ? prefix.size() : 0);
  return there;
}

template <typename Number>
bool take_number(std::string_view& text, Number& value, int base) {
  const auto* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value, base);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return failure == std::errc();
}

std::string encode_head(const CopyName& name) {
  ByteWriter head;
  head.raw(kMagic).number(name.run == 0 ? kFormatWithoutRun : kCopyFormat).number(name.shard).number(name.shards);
  if (name.run != 0) {
    head.number(name.run);
  }
  head.number(name.snapshot.timeline).number(name.snapshot.step);
  auto bytes = head.take();
  ByteWriter sum;
  sum.number(crc32c(bytes));
  return bytes + sum.take();
}

}  // namespace

// ---- names

std::string copied_job(const Identity& identity) {
  auto job = identity.job;
  std::ranges::replace_if(
      job,
      [](char letter) {
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
        return !plain;
      },
      '_');
  return job + "-" + identity.spec_digest.substr(0, kDigestDigits);
}

std::optional<RunId> parse_run(std::string_view text) {
  RunId run = 0;
  const bool is_number = text.size() == kRunDigits && take_number(text, run, 16) && text.empty() && run != 0;
  return text == kNoRun || is_number ? std::optional(run) : std::nullopt;
}

std::string run_prefix(const std::string& job, RunId run) {
  return job + "/" + (run == 0 ? std::string() : std::string(kRun) + run_text(run) + "/");
}

std::string to_string(const CopyName& name) {
  std::array<char, 96> tail{};
  std::snprintf(tail.data(), tail.size(), "t%016llx-s%016llx/shard-%u-of-%u",
                static_cast<unsigned long long>(name.snapshot.timeline),
                static_cast<unsigned long long>(name.snapshot.step), name.shard, name.shards);
  return run_prefix(name.job, name.run) + tail.data();
}

std::string to_string(const LossesName& name) {
  std::array<char, 32> tail{};
  std::snprintf(tail.data(), tail.size(), "losses/s%016llx", static_cast<unsigned long long>(name.first));
  return run_prefix(name.job, name.run) + tail.data();
}

CopyName head_of(const LossesName& name) { return {name.job, {0, name.first}, 0, 0, name.run}; }

namespace {

// The part of the name behind its last "/", which goes with it; all of it, if there is none.
std::string_view take_last(std::string_view& name) {
  const auto slash = name.rfind('/');
  const auto last = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
  name = name.substr(0, slash == std::string_view::npos ? 0 : slash);
  return last;
}

// Job and run, either of which the place itself may name.
void take_run(std::string_view name, std::string& job, RunId& run) {
  auto rest = name;
  auto last = take_last(rest);
  if (const auto parsed = take_prefix(last, kRun) ? parse_run(last) : std::nullopt; parsed && *parsed != 0) {
    run = *parsed;
    name = rest;
  }
  job = name;
}

}  // namespace

std::optional<CopyName> parse_copy_name(std::string_view name) {
  CopyName parsed;
  auto shard = take_last(name);
  auto snapshot = take_last(name);
  const bool whole = take_prefix(snapshot, "t") && take_number(snapshot, parsed.snapshot.timeline, 16) &&
                     take_prefix(snapshot, "-s") && take_number(snapshot, parsed.snapshot.step, 16) &&
                     snapshot.empty() && take_prefix(shard, "shard-") && take_number(shard, parsed.shard, 10) &&
                     take_prefix(shard, "-of-") && take_number(shard, parsed.shards, 10) && shard.empty();
  take_run(name, parsed.job, parsed.run);
  return whole && parsed.shard < parsed.shards && parsed.shards <= kMaxShards ? std::optional(parsed) : std::nullopt;
}

std::optional<LossesName> parse_losses_name(std::string_view name) {
  LossesName parsed;
  auto block = take_last(name);
  const bool whole = take_last(name) == "losses" && take_prefix(block, "s") && take_number(block, parsed.first, 16) &&
                     block.empty() && parsed.first % kLossesInBlock == 0;
  take_run(name, parsed.job, parsed.run);
  return whole ? std::optional(parsed) : std::nullopt;
}

bool CopySet::complete() const {
  return has_all_shards() && std::ranges::none_of(losses, [](const auto& name) { return name.empty(); });
}

bool CopySet::has_all_shards() const {
  return !objects.empty() && std::ranges::none_of(objects, [](const auto& name) { return name.empty(); });
}

namespace {

// Format 1 has all statistics in shard 0's object. A set whose run the place itself names is not told from one of those
// by its name: the blocks that are there say it.
std::vector<std::string> blocks_of(const CopySet& set, const std::map<Step, std::string>& there) {
  std::vector<std::string> blocks;
  if (set.run == 0 && there.empty()) {
    return blocks;
  }
  for (Step block = 0; block < losses_blocks(set.snapshot.step); ++block) {
    const auto found = there.find(block * kLossesInBlock);
    blocks.push_back(found == there.end() ? std::string() : found->second);
  }
  return blocks;
}

}  // namespace

std::map<std::string, std::vector<CopySet>> group_copies(const std::vector<std::string>& names) {
  std::map<std::string, std::map<std::tuple<RunId, SnapshotId, std::uint32_t>, CopySet>> found;
  std::map<std::pair<std::string, RunId>, std::map<Step, std::string>> blocks;
  for (const auto& name : names) {
    if (const auto parsed = parse_copy_name(name)) {
      auto& set = found[parsed->job][{parsed->run, parsed->snapshot, parsed->shards}];
      set.run = parsed->run;
      set.snapshot = parsed->snapshot;
      set.shards = parsed->shards;
      set.objects.resize(parsed->shards);
      set.objects[parsed->shard] = name;
    } else if (const auto losses = parse_losses_name(name)) {
      blocks[{losses->job, losses->run}][losses->first] = name;
    }
  }
  std::map<std::string, std::vector<CopySet>> grouped;
  for (auto& [job, sets] : found) {
    for (auto& [key, set] : sets) {
      set.losses = blocks_of(set, blocks[{job, set.run}]);
      grouped[job].push_back(std::move(set));
    }
  }
  return grouped;
}

bool may_be_plain(std::string_view bytes) {
  const auto begins_as = [bytes](std::string_view whole) {
    const auto known = std::min(bytes.size(), whole.size());
    return bytes.substr(0, known) == whole.substr(0, known);
  };
  return begins_as(kMagic) || begins_as(kMarkContent);
}

// ---- encoding

CopyEncoder::CopyEncoder(ObjectWriter& writer, const CopyName& name) : writer_(writer) {
  static_cast<void>(append(encode_head(name)));
}

StoreStatus CopyEncoder::append(std::string_view bytes) {
  if (status_.ok()) {
    sum_.update(bytes);
    status_ = writer_.append(bytes);
  }
  return status_;
}

StoreStatus CopyEncoder::entry(std::string_view key, std::string_view record) {
  ByteWriter sizes;
  sizes.number(static_cast<std::uint32_t>(key.size())).number(static_cast<std::uint32_t>(record.size())).raw(key);
  ++entries_;
  if (auto status = append(sizes.take()); !status.ok()) {
    return status;
  }
  return append(record);
}

StoreStatus CopyEncoder::finish() {
  ByteWriter end;
  end.number(std::uint32_t{0}).number(entries_);
  if (auto status = append(end.take()); !status.ok()) {
    return status;
  }
  status_ = writer_.append(sum_.hex());
  if (status_.ok()) {
    status_ = writer_.finish();
  }
  return status_;
}

// ---- decoding

// As far as its format is known.
std::size_t CopyDecoder::head_bytes() const {
  if (held_.size() < kFormatBytes) {
    return kFormatBytes;
  }
  ByteReader reader(std::string_view(held_).substr(kMagic.size()));
  return reader.number<std::uint32_t>() == kFormatWithoutRun ? kHeadBytesWithoutRun : kHeadBytes;
}

std::size_t CopyDecoder::wanted() const {
  switch (part_) {
    case Part::head:
      return head_bytes();
    case Part::entry:
      return kEntryBytes;
    case Part::record:
      return key_bytes_ + record_bytes_;
    case Part::end:
      return kEndBytes;
    case Part::done:
      break;
  }
  return 0;
}

StoreStatus CopyDecoder::take(std::string_view bytes) {
  held_.append(bytes);
  std::size_t used = 0;
  StoreStatus status;
  while (status.ok() && part_ != Part::done && held_.size() - used >= wanted()) {
    const auto piece = std::string_view(held_).substr(used, wanted());
    used += piece.size();
    switch (part_) {
      case Part::head:
        status = decode_head(piece);
        break;
      case Part::entry:
        status = decode_entry(piece);
        break;
      case Part::record:
        status = decode_record(piece);
        break;
      case Part::end:
        status = decode_end(piece);
        break;
      case Part::done:
        break;
    }
  }
  held_.erase(0, used);
  if (status.ok() && part_ == Part::done && !held_.empty()) {
    return damaged("there are bytes behind the copy's end");
  }
  return status;
}

StoreStatus CopyDecoder::finish() { return part_ == Part::done ? StoreStatus{} : damaged("the copy ends too early"); }

StoreStatus CopyDecoder::decode_head(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.raw(kMagic.size()) != kMagic) {
    return damaged("this is no copy of a snapshot (wrong magic)");
  }
  const auto format = reader.number<std::uint32_t>();
  if (format != kCopyFormat && format != kFormatWithoutRun) {
    return {StoreCode::mismatch, "the copy has format " + std::to_string(format) + "; this program reads formats " +
                                     std::to_string(kFormatWithoutRun) + " and " + std::to_string(kCopyFormat)};
  }
  if (expected_.run == 0 && format == kCopyFormat) {  // the place itself names it
    reader.number<std::uint64_t>();                   // shard and shards
    expected_.run = reader.number<RunId>();
  }
  if (bytes != encode_head(expected_)) {
    return damaged("the copy's head is damaged, or is that of another shard or snapshot than its name says");
  }
  sum_.update(bytes);
  part_ = Part::entry;
  return {};
}

// Of the end, these eight bytes are the zero and the first half of the count.
StoreStatus CopyDecoder::decode_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  key_bytes_ = reader.number<std::uint32_t>();
  record_bytes_ = reader.number<std::uint32_t>();
  sum_.update(bytes);
  if (key_bytes_ > kMaxKeyBytes || (key_bytes_ != 0 && record_bytes_ > kMaxCopiedRecord)) {
    return damaged("the copy is damaged: a record of " + std::to_string(record_bytes_) + " bytes under a key of " +
                   std::to_string(key_bytes_));
  }
  part_ = key_bytes_ == 0 ? Part::end : Part::record;
  return {};
}

StoreStatus CopyDecoder::decode_record(std::string_view bytes) {
  sum_.update(bytes);
  const auto key = bytes.substr(0, key_bytes_);
  const auto record = bytes.substr(key_bytes_);
  if (const auto checked = check_record(key, record); !checked.ok()) {
    return {checked.code(), "key " + std::string(key) + ": " + checked.text()};
  }
  ++entries_;
  part_ = Part::entry;
  return visit_(key, record);
}

StoreStatus CopyDecoder::decode_end(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto upper = reader.raw(4);
  sum_.update(upper);
  const auto count = std::uint64_t{ByteReader(upper).number<std::uint32_t>()} << 32U | record_bytes_;
  if (reader.rest() != sum_.hex() || count != entries_) {
    return damaged("the copy is damaged: its checksum does not match");
  }
  part_ = Part::done;
  return {};
}

// ---- reading

StoreStatus in_object(const CopyPlace& place, const std::string& object, const StoreStatus& status) {
  return {status.code(), place.describe(object) + ": " + status.text()};
}

StoreStatus read_object(CopyPlace& place, const std::string& object, const CopyName& head,
                        const CopyDecoder::Visitor& visit) {
  CopyDecoder decoder(head, visit);
  StoreStatus wrong;
  const auto read = place.read(object, [&](std::string_view bytes) {
    wrong = decoder.take(bytes);
    return wrong.ok();
  });
  if (wrong.ok() && read.ok()) {
    wrong = decoder.finish();
  }
  return wrong.ok() ? read : in_object(place, object, wrong);
}

}  // namespace ballast

// One object of a copy: a shard's part of one complete snapshot. Its records are those of the shard's database.
//
//   name    := run "/t" hex16(timeline) "-s" hex16(step) "/shard-" I "-of-" N
//   run     := job "-" digest8 "/run-" hex16(run)
//   object  := head entry* end
//   head    := "BLSTCOPY" u32 format (2), u32 shard, u32 shards, u64 run, u64 timeline, u64 step,
//              u32 CRC-32C of what is before it
//   entry   := u32 size of the key (not 0), u32 size of the record, key, record
//   end     := u32 0, u64 entries, 64 bytes: SHA-256 of everything before them, in hexadecimal
//
//   entries := identity, the snapshot's tensors, and of shard 0 the ledger as it is at the snapshot: it lists this
//              snapshot alone, the evaluations up to its step, the statistics before it that are in no block
//
// The statistics of kLossesInBlock steps are an object of their own, a block, made once for all later snapshots of the
// run: what lies before a complete snapshot never changes.
//
//   block   := run "/losses/s" hex16(first step)       its head has shards, shard and timeline 0, and the first step
//
// Beside them lie the run's claim and hold: storage/copies/claim.h.
//
// Format 1 has no run, in name and head, and no blocks: shard 0's object has all statistics.
//
// All numbers are little-endian. digest8 are the first digits of the job's digest: jobs of one name that differ do not
// mix. Letters of the job's name that are not in A-Z a-z 0-9 . _ - become "_".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/numeric/sha256.h"
#include "common/telling/run_text.h"
#include "protocol/ids.h"
#include "storage/copies/place.h"
#include "storage/store/records.h"

namespace ballast {

inline constexpr std::uint32_t kCopyFormat = 2;
inline constexpr Step kLossesInBlock = 8192;
inline constexpr std::uint32_t kMaxCopiedRecord = 64U << 20U;  // bytes; a longer one is damage

struct CopyName {
  std::string job;  // with its digest
  SnapshotId snapshot;
  std::uint32_t shard = 0;
  std::uint32_t shards = 0;
  RunId run = 0;  // 0: of format 1, which has none
  bool operator==(const CopyName&) const = default;
};

// What there is in objects that say all by their names: the run's claim and hold.
inline constexpr std::string_view kMarkContent = "see docs/durability.md, Copies\n";
// Whether an object of a place may begin so, as far as it is here, where nothing encrypts it.
bool may_be_plain(std::string_view bytes);

std::string copied_job(const Identity& identity);
// What the names of all of a run's objects begin with.
std::string run_prefix(const std::string& job, RunId run);
std::optional<RunId> parse_run(std::string_view text);
std::string to_string(const CopyName& name);
std::optional<CopyName> parse_copy_name(std::string_view name);

// The statistics of the steps from `first` on.
struct LossesName {
  std::string job;
  RunId run = 0;
  Step first = 0;
  bool operator==(const LossesName&) const = default;
};

std::string to_string(const LossesName& name);
std::optional<LossesName> parse_losses_name(std::string_view name);
// As the head of such an object says it.
CopyName head_of(const LossesName& name);
// Of a snapshot of the step: so many blocks.
constexpr Step losses_blocks(Step step) { return step / kLossesInBlock; }

// All objects of one snapshot.
struct CopySet {
  RunId run = 0;
  SnapshotId snapshot;
  std::uint32_t shards = 0;
  std::vector<std::string> objects;  // by shard; empty where there is none
  std::vector<std::string> losses;   // by block, of the run; empty where there is none
  // Whether it can be restored.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool has_all_shards() const;
};

// By job, ascending by run and snapshot. Names that are no copies' are left out.
std::map<std::string, std::vector<CopySet>> group_copies(const std::vector<std::string>& names);

// A text that names the object.
StoreStatus in_object(const CopyPlace& place, const std::string& object, const StoreStatus& status);

// Encodes an object into a writer. After a failure nothing more is written.
class CopyEncoder {
 public:
  CopyEncoder(ObjectWriter& writer, const CopyName& name);
  StoreStatus entry(std::string_view key, std::string_view record);
  StoreStatus finish();  // the writer's as well

 private:
  StoreStatus append(std::string_view bytes);

  ObjectWriter& writer_;
  Sha256 sum_;
  std::uint64_t entries_ = 0;
  StoreStatus status_;
};

// Takes an object's bytes in pieces of any size and gives out its entries, each with a record that was checked against
// its key. Holds one entry at a time.
class CopyDecoder {
 public:
  using Visitor = std::function<StoreStatus(std::string_view key, std::string_view record)>;

  CopyDecoder(const CopyName& expected, Visitor visit) : expected_(expected), visit_(std::move(visit)) {}

  StoreStatus take(std::string_view bytes);
  // Whether the object ended where it should, with the right checksum.
  StoreStatus finish();

 private:
  enum class Part : std::uint8_t { head, entry, record, end, done };
  [[nodiscard]] std::size_t head_bytes() const;
  StoreStatus decode_head(std::string_view bytes);
  StoreStatus decode_entry(std::string_view bytes);
  StoreStatus decode_record(std::string_view bytes);
  StoreStatus decode_end(std::string_view bytes);
  [[nodiscard]] std::size_t wanted() const;

  CopyName expected_;
  Visitor visit_;
  Sha256 sum_;
  std::string held_;
  Part part_ = Part::head;
  std::size_t key_bytes_ = 0;
  std::size_t record_bytes_ = 0;
  std::uint64_t entries_ = 0;
};

// Gives out the entries of an object. Not `io`: it is of no use, `missing` if there is none.
StoreStatus read_object(CopyPlace& place, const std::string& object, const CopyName& head,
                        const CopyDecoder::Visitor& visit);

}  // namespace ballast

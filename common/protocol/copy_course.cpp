#include "common/protocol/copy_course.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

constexpr std::uint32_t kFailuresAtTheEnd = 3;  // of one shard: then the job ends without its last copy

std::string number(std::uint64_t value) { return std::to_string(value); }

bool has_copied(const CopyPart& part, SnapshotId snapshot) {
  return part.progress.snapshot == snapshot && part.progress.done;
}

std::string since(const CopyState& copies) {
  return copies.complete == SnapshotId{} ? "; there is no complete copy yet"
                                         : "; no complete copy since step " + number(copies.complete.step);
}

}  // namespace

bool CopyCourse::follow(Ledger& ledger, const std::vector<CopyPart>& parts) {
  const auto before = ledger.copies;
  auto& copies = ledger.copies;
  const auto place = rules_ ? rules_->place : 0;
  if (ledger.copies_in != place) {
    ledger.copies_in = place;
    copies.named = {};
    copies.complete = {};
    trouble_.clear();
  }
  if (!rules_) {
    return !(copies == before);
  }
  if (copies.run == 0) {
    copies.run = run_;  // a ledger from before runs had ids, or from a copy of another run
  }
  const auto newest = ledger.complete.back();
  const bool is_copied = copies.named != SnapshotId{} && std::ranges::all_of(parts, [&](const CopyPart& part) {
                           return has_copied(part, copies.named);
                         });
  if (is_copied) {
    copies.complete = std::exchange(copies.named, SnapshotId{});
    trouble_.clear();
  } else if (copies.named != SnapshotId{} && copies.named == named_ && waited_ > rules_->patience) {
    trouble_ = "the snapshot of step " + number(copies.named.step) + " was not copied within " +
               number(rules_->patience / 1'000'000) + " s (durability.copy_patience)" + lacking(copies.named, parts) +
               since(copies);
    if (newest > copies.named) {
      copies.named = {};
    }
  }
  if (copies.named == SnapshotId{} && newest > copies.complete) {
    copies.named = newest;
  }
  if (named_ != copies.named) {
    named_ = copies.named;
    waited_ = 0;
  }
  return !(copies == before);
}

// Who has not copied it, and why.
std::string CopyCourse::lacking(SnapshotId snapshot, const std::vector<CopyPart>& parts) {
  const auto part = std::ranges::find_if(parts, [&](const CopyPart& each) { return !has_copied(each, snapshot); });
  return part == parts.end() ? std::string()
                             : " by shard " + number(part->shard) +
                                   (part->trouble.empty() ? std::string() : " (" + part->trouble + ")");
}

void CopyCourse::end(const Ledger& durable, const std::vector<CopyPart>& parts) {
  if (!rules_ || durable.complete.empty()) {
    return;
  }
  const auto newest = durable.complete.back();
  trouble_.clear();
  if (newest != SnapshotId{} && newest != durable.copies.complete) {
    trouble_ = "the newest snapshot, of step " + number(newest.step) + ", was not copied" + lacking(newest, parts) +
               since(durable.copies);
  }
}

bool CopyCourse::awaits(const Ledger& durable, SnapshotId newest, const std::vector<CopyPart>& parts) const {
  if (!rules_ || newest == SnapshotId{} || durable.copies.complete == newest || waited_ > rules_->patience) {
    return false;
  }
  return std::ranges::none_of(parts, [&](const CopyPart& part) {
    return part.progress.snapshot == named_ && !part.progress.done && part.progress.failures >= kFailuresAtTheEnd;
  });
}

void CopyCourse::tell(const CopyState& durable, const std::vector<CopyPart>& parts, CopyStatus& status) const {
  status.kept = rules_.has_value();
  status.copied = durable.complete.step;
  status.copying = durable.named.step;
  status.of = static_cast<std::uint32_t>(parts.size());
  for (const auto& part : parts) {
    if (durable.named == SnapshotId{} || part.progress.snapshot != durable.named) {
      continue;
    }
    status.shards += part.progress.done ? 1 : 0;
    status.bytes += part.progress.done ? 0 : part.progress.bytes;
  }
}

}  // namespace ballast

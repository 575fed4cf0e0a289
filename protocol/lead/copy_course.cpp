#include "protocol/lead/copy_course.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ballast {

namespace {

constexpr std::uint32_t kFailuresAtTheEnd = 3;  // of one shard: then the job ends without its last copy

// A place that the job goes back to (durability.copy_to) may hold the claim of any of them.
constexpr std::size_t kLivesRemembered = 256;

bool has_copied(const CopyPart& part, RunId run, SnapshotId snapshot) {
  return part.progress.run == run && part.progress.snapshot == snapshot && part.progress.done;
}

bool is_taken(const CopyPart& part, RunId run) { return part.progress.run == run && part.progress.taken; }

std::string since(const CopyState& copies) {
  return copies.complete == SnapshotId{} ? "; there is no complete copy yet"
                                         : "; no complete copy since step " + std::to_string(copies.complete.step);
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
    ledger.named_before = {};
    trouble_.clear();
  }
  if (!rules_) {
    return !(copies == before);
  }
  const bool is_new_life = settle_name(ledger, parts);
  const auto newest = ledger.complete.back();
  const bool is_copied = copies.named != SnapshotId{} && std::ranges::all_of(parts, [&](const CopyPart& part) {
                           return has_copied(part, copies.run, copies.named);
                         });
  if (is_copied) {
    copies.complete = std::exchange(copies.named, SnapshotId{});
    note_copied(copies.complete.step);
    trouble_.clear();
  } else if (copies.named != SnapshotId{} && copies.named == named_ && waited_ > rules_->patience) {
    trouble_ = "the snapshot of step " + std::to_string(copies.named.step) + " was not copied within " +
               std::to_string(rules_->patience / 1'000'000) + " s (durability.copy_patience)" +
               lacking(copies.run, copies.named, parts) + since(copies);
    if (newest > copies.named) {
      copies.named = {};
    }
  }
  if (copies.named == SnapshotId{} && newest > copies.complete && !is_taken_) {
    copies.named = newest;
  }
  if (named_ != copies.named) {
    named_ = copies.named;
    waited_ = 0;
    is_new_ = true;
  }
  if (is_new_life) {
    ledger.named_before = std::max(ledger.named_before, newest_named(copies));
  }
  return !(copies == before);
}

// Under which run's name this life copies; whether it is new to the ledger. Each life adds itself to those that the
// place may know the run by. Where the place knows another life, a copy of this ledger has gone on under the name: it
// is that one's, and this one draws anew.
bool CopyCourse::settle_name(Ledger& ledger, const std::vector<CopyPart>& parts) {
  auto& copies = ledger.copies;
  const bool is_new_life = copies.life != life_;
  if (is_new_life) {
    if (copies.life != 0) {
      ledger.copy_lives.push_back(copies.life);
      if (ledger.copy_lives.size() > kLivesRemembered) {
        ledger.copy_lives.erase(ledger.copy_lives.begin());
      }
    }
    copies.life = life_;
    ++copies.turn;
  }
  if (copies.run == 0) {
    copies.run = run_;  // a ledger from before runs had ids, or from a copy of another run
  }
  const bool is_another = std::ranges::any_of(parts, [&](const CopyPart& part) { return is_taken(part, copies.run); });
  if (rules_->named && copies.run == run_) {
    if (is_another && !std::exchange(is_taken_, true)) {
      trouble_ =
          "another job copies under the name of this run (durability.run): nothing is copied, and a shard that "
          "loses its disk cannot be restored. Stop this one and resume it under a name of its own (--set "
          "durability.run=NAME)";
      forget_copies(ledger);
    }
  } else if (is_another || rules_->named) {
    copies.run = copies.run == run_ && !rules_->named ? ++run_ : run_;
    forget_copies(ledger);
    ledger.copy_lives.clear();
    ledger.named_before = {};
  }
  return is_new_life;
}

void CopyCourse::forget_copies(Ledger& ledger) {
  ledger.copies.named = {};
  ledger.copies.complete = {};
  named_ = {};  // patience begins anew
  ++ledger.copies.turn;
}

void CopyCourse::note_copied(Step step) {
  if (rules_->named) {
    copied_.push_back(step);
  }
}

// Sets of earlier leads stay until as many have been copied by this one as are kept.
Step CopyCourse::oldest(std::size_t keep) const {
  if (!rules_ || !rules_->named) {
    return std::numeric_limits<Step>::max();
  }
  return copied_.size() <= keep ? 0 : copied_[copied_.size() - keep - 1];
}

// Who has not copied it, and why.
std::string CopyCourse::lacking(RunId run, SnapshotId snapshot, const std::vector<CopyPart>& parts) {
  const auto part = std::ranges::find_if(parts, [&](const CopyPart& each) { return !has_copied(each, run, snapshot); });
  return part == parts.end() ? std::string()
                             : " by shard " + std::to_string(part->shard) +
                                   (part->trouble.empty() ? std::string() : " (" + part->trouble + ")");
}

void CopyCourse::end(const Ledger& durable, const std::vector<CopyPart>& parts) {
  if (!rules_ || durable.complete.empty() || is_taken_) {
    return;
  }
  const auto newest = durable.complete.back();
  trouble_.clear();
  if (newest != SnapshotId{} && newest != durable.copies.complete) {
    trouble_ = "the newest snapshot, of step " + std::to_string(newest.step) + ", was not copied" +
               lacking(durable.copies.run, newest, parts) + since(durable.copies);
  }
}

bool CopyCourse::awaits(const Ledger& durable, SnapshotId newest, const std::vector<CopyPart>& parts) const {
  if (!rules_ || is_taken_ || newest == SnapshotId{} || durable.copies.complete == newest ||
      waited_ > rules_->patience) {
    return false;
  }
  return std::ranges::none_of(parts, [&](const CopyPart& part) {
    const auto& progress = part.progress;
    return progress.run == durable.copies.run && progress.snapshot == named_ && !progress.done &&
           progress.failures >= kFailuresAtTheEnd;
  });
}

void CopyCourse::tell(const CopyState& durable, const std::vector<CopyPart>& parts, CopyStatus& status) const {
  status.kept = rules_.has_value();
  status.run = status.kept ? durable.run : 0;
  status.copied = durable.complete.step;
  status.copying = durable.named.step;
  status.of = static_cast<std::uint32_t>(parts.size());
  for (const auto& part : parts) {
    if (durable.named == SnapshotId{} || part.progress.snapshot != durable.named || part.progress.run != durable.run) {
      continue;
    }
    status.shards += part.progress.done ? 1 : 0;
    status.bytes += part.progress.done ? 0 : part.progress.bytes;
  }
}

}  // namespace ballast

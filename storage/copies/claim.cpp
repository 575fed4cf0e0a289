#include "storage/copies/claim.h"

#include <algorithm>
#include <optional>

#include "storage/copies/format.h"

namespace ballast {
namespace {

constexpr std::string_view kClaims = "claims/";
constexpr std::string_view kHolds = "holds/";
constexpr std::string_view kMarks = "restored/";

// More timelines than any run begins between two losses of its ledger.
constexpr Timeline kFarAhead = 1'000'000'000;
// No run comes further, however often it is restored.
constexpr Timeline kMostMarked = Timeline{1} << (kTimelineBits - 1);

std::string claim_name(const std::string& run, LeadLife life) { return run + std::string(kClaims) + hex16(life); }
std::string hold_name(const std::string& run, LeadLife life) { return run + std::string(kHolds) + hex16(life); }

StoreStatus put(CopyPlace& place, const std::string& name) {
  auto writer = place.write(name);
  if (!writer.ok()) {
    return writer.status();
  }
  const auto status = writer.value()->append(kMarkContent);
  return status.ok() ? writer.value()->finish() : status;
}

// The hold goes first: what is left of a life that leaves is found by its claim.
StoreStatus leave(CopyPlace& place, const std::string& run, LeadLife life) {
  const auto status = place.remove(hold_name(run, life));
  return status.ok() ? place.remove(claim_name(run, life)) : status;
}

using Names = std::vector<std::string>;

bool is_among(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

// What lives that were killed have left of their claims and holds.
StoreStatus remove_unfinished(CopyPlace& place, const std::string& run, const Claimant& claimant) {
  return place.remove_unfinished(run, [&](const std::string& name) {
    return std::ranges::any_of(
        claimant.before, [&](LeadLife life) { return name == claim_name(run, life) || name == hold_name(run, life); });
  });
}

// All that lies under the run's name, with the life's claim: written before the list is made, now or at an earlier
// time.
StoreResult<Names> list_with_claim(CopyPlace& place, const std::string& run, const Claimant& claimant) {
  const auto own = claim_name(run, claimant.life);
  auto names = place.list(run);
  if (!names.ok() || is_among(names.value(), own)) {
    return names;
  }
  auto status = remove_unfinished(place, run, claimant);
  if (status = status.ok() ? put(place, own) : status; !status.ok()) {
    return status;
  }
  names = place.list(run);
  if (names.ok() && !is_among(names.value(), own)) {
    return StoreStatus{StoreCode::io, place.describe(own) + " was written, and the place does not list it"};
  }
  return names;
}

// Of a mark's name.
std::optional<Timeline> marked_timeline(const std::string& run, const std::string& name) {
  const auto prefix = run + std::string(kMarks);
  return name.starts_with(prefix) ? parse_run(std::string_view(name).substr(prefix.size())) : std::nullopt;
}

bool is_anothers(const std::string& run, const Claimant& claimant, const SnapshotId& named, const std::string& name) {
  if (const auto mark = marked_timeline(run, name)) {
    return *mark > claimant.timeline;
  }
  if (name.starts_with(run + std::string(kClaims))) {
    return name != claim_name(run, claimant.life) &&
           std::ranges::none_of(claimant.before, [&](LeadLife life) { return name == claim_name(run, life); });
  }
  const auto copy = parse_copy_name(name);
  return copy && copy->snapshot > named;
}

}  // namespace

StoreResult<Claimed> claim(CopyPlace& place, const std::string& run, const Claimant& claimant) {
  const auto listed = list_with_claim(place, run, claimant);
  if (!listed.ok()) {
    return listed.status();
  }
  const auto& names = listed.value();
  const auto hold = hold_name(run, claimant.life);
  const bool is_held = is_among(names, hold);
  const auto& named = is_held ? claimant.named : claimant.named_before;
  if (std::ranges::any_of(names, [&](const std::string& name) { return is_anothers(run, claimant, named, name); })) {
    const auto status = leave(place, run, claimant.life);
    return status.ok() ? StoreResult<Claimed>(Claimed::taken) : status;
  }
  // The other shards read it by the keys of now, of which the one may have gone that it was written by.
  const auto seen = is_held ? place.look(hold) : StoreStatus{};
  if (seen.code() == StoreCode::io) {
    return seen;
  }
  auto status = is_held && seen.ok() ? StoreStatus{} : put(place, hold);
  for (const auto life : claimant.before) {
    if (status.ok() && is_among(names, claim_name(run, life))) {
      status = leave(place, run, life);
    }
  }
  return status.ok() ? StoreResult<Claimed>(Claimed::held) : status;
}

StoreResult<TakenOver> take_over(CopyPlace& place, const std::string& run, std::uint64_t chance) {
  const auto names = place.list(run);
  if (!names.ok()) {
    return names.status();
  }
  TakenOver taken;
  for (const auto& name : names.value()) {
    if (const auto mark = marked_timeline(run, name)) {
      if (*mark > kMostMarked) {
        return StoreStatus{StoreCode::corrupt,
                           place.describe(name) + ": no run ever comes to that timeline; remove it"};
      }
      taken.timeline = std::max(taken.timeline, *mark);
    } else if (const auto copy = parse_copy_name(name)) {
      taken.timeline = std::max(taken.timeline, copy->snapshot.timeline);
      taken.newest = std::max(taken.newest, copy->snapshot);
    }
  }
  taken.timeline += kFarAhead + chance % kFarAhead;
  // First: whoever still goes on under the name leaves it by that, and no later one comes to the same timeline.
  auto status = put(place, run + std::string(kMarks) + hex16(taken.timeline));
  for (const auto& name : names.value()) {
    const bool is_of_a_life =
        name.starts_with(run + std::string(kClaims)) || name.starts_with(run + std::string(kHolds));
    status = status.ok() && is_of_a_life ? place.remove(name) : status;
  }
  return status.ok() ? StoreResult<TakenOver>(taken) : status;
}

StoreResult<bool> is_held(CopyPlace& place, const std::string& run, LeadLife life) {
  const auto hold = place.look(hold_name(run, life));
  return hold.ok() || hold.code() == StoreCode::missing ? StoreResult<bool>(hold.ok()) : hold;
}

}  // namespace ballast

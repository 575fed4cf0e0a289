#include "common/copies/claim.h"

#include <algorithm>

#include "common/copies/format.h"

namespace ballast {
namespace {

constexpr std::string_view kContent = "see docs/durability.md, Copies\n";  // an object has some content

std::string claim_name(const std::string& run, LeadLife life) { return run + "claims/" + hex16(life); }
std::string hold_name(const std::string& run, LeadLife life) { return run + "holds/" + hex16(life); }

StoreStatus put(CopyPlace& place, const std::string& name) {
  auto writer = place.write(name);
  if (!writer.ok()) {
    return writer.status();
  }
  const auto status = writer.value()->append(kContent);
  return status.ok() ? writer.value()->finish() : status;
}

// The hold goes first: where there is one, there is a claim.
StoreStatus leave(CopyPlace& place, const std::string& run, LeadLife life) {
  const auto status = place.remove(hold_name(run, life));
  return status.ok() ? place.remove(claim_name(run, life)) : status;
}

using Names = std::vector<std::string>;

bool is_among(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

// All claims, with that of the life among them: written before they are listed, at this time or an earlier one.
StoreResult<Names> list_claims(CopyPlace& place, const std::string& run, const std::string& own) {
  auto claims = place.list(run + "claims/");
  if (!claims.ok() || is_among(claims.value(), own)) {
    return claims;
  }
  const auto status = put(place, own);
  return status.ok() ? place.list(run + "claims/") : status;
}

StoreStatus hold(CopyPlace& place, const std::string& run, LeadLife life) {
  const auto held = is_held(place, run, life);
  if (!held.ok()) {
    return held.status();
  }
  return held.value() ? StoreStatus{} : put(place, hold_name(run, life));
}

}  // namespace

StoreResult<Claimed> claim(CopyPlace& place, const std::string& run, LeadLife life,
                           const std::vector<LeadLife>& before) {
  const auto own = claim_name(run, life);
  const auto claims = list_claims(place, run, own);
  if (!claims.ok()) {
    return claims.status();
  }
  const auto is_ours = [&](const std::string& name) {
    return name == own || std::ranges::any_of(before, [&](LeadLife other) { return name == claim_name(run, other); });
  };
  if (!std::ranges::all_of(claims.value(), is_ours)) {
    const auto status = leave(place, run, life);
    return status.ok() ? StoreResult<Claimed>(Claimed::taken) : status;
  }
  auto status = hold(place, run, life);
  for (const auto other : before) {
    if (status.ok() && is_among(claims.value(), claim_name(run, other))) {
      status = leave(place, run, other);
    }
  }
  return status.ok() ? StoreResult<Claimed>(Claimed::held) : status;
}

StoreResult<bool> is_held(CopyPlace& place, const std::string& run, LeadLife life) {
  return place.has(hold_name(run, life));
}

}  // namespace ballast

#include "insight/lasting_causes.h"

#include <algorithm>

namespace ballast::insight {
namespace {

constexpr double kCosts = 1.03;
constexpr double kPassingCosts = 1.05;
constexpr std::size_t kPersists = 2;

const Finding* found_in(const WindowVerdict& window, const Finding& like) {
  const auto found = std::ranges::find_if(
      window.verdict.found, [&](const Finding& each) { return each.cause == like.cause && each.who == like.who; });
  return found == window.verdict.found.end() ? nullptr : &*found;
}

// `newest`: the place of the newest window that has it.
LastingCause lasting_cause(const Finding& finding, const std::vector<WindowVerdict>& windows, std::size_t newest,
                           std::size_t whole) {
  LastingCause lasting{finding, windows[newest].window, windows[newest].window.first};
  lasting.is_over = newest + 1 < windows.size();
  std::size_t of_whole = 0;
  bool goes_on = true;
  for (auto at = newest + 1; at-- > 0;) {
    const auto* found = found_in(windows[at], finding);
    goes_on = goes_on && found != nullptr;
    lasting.since = goes_on ? windows[at].window.first : lasting.since;
    if (found == nullptr) {
      continue;
    }
    const bool is_whole = windows[at].window.steps() >= whole;
    if (finding.cause == Cause::passing) {
      lasting.alarms = lasting.alarms || (is_whole && found->cost > kPassingCosts);
    }
    if (found->cost > kCosts) {
      ++lasting.costs;
      of_whole += is_whole ? 1 : 0;
    }
  }
  lasting.persists = lasting.costs >= kPersists;
  // Scatter is no fault of anybody's.
  lasting.alarms = lasting.alarms || (of_whole >= kPersists && finding.cause != Cause::barrier);
  return lasting;
}

}  // namespace

std::vector<LastingCause> lasting_causes(const std::vector<WindowVerdict>& windows, std::size_t whole) {
  std::vector<LastingCause> all;
  for (auto at = windows.size(); at-- > 0;) {
    for (const auto& finding : windows[at].verdict.found) {
      const bool is_known = std::ranges::any_of(all, [&](const LastingCause& each) {
        return each.finding.cause == finding.cause && each.finding.who == finding.who;
      });
      if (!is_known) {
        all.push_back(lasting_cause(finding, windows, at, whole));
      }
    }
  }
  return all;
}

}  // namespace ballast::insight

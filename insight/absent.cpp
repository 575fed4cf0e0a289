#include "insight/absent.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ballast::insight {
namespace {

constexpr std::size_t kMostAbsent = 100;

std::set<std::string> live_names(const Status& status) {
  std::set<std::string> names;
  for (const auto& session : status.sessions) {
    if (session.live) {
      names.insert(session.name);
    }
  }
  return names;
}

// Of each name that nobody lives under now and for which `value` has one: the largest.
template <typename Value>
auto of_dead(const Status& status, Value&& value) {
  const auto live = live_names(status);
  std::map<std::string, typename decltype(value(status.sessions.front()))::value_type> dead;
  for (const auto& session : status.sessions) {
    const auto own = session.live || live.contains(session.name) ? std::nullopt : value(session);
    if (own) {
      const auto [known, is_new] = dead.try_emplace(session.name, *own);
      known->second = is_new ? *own : std::max(known->second, *own);
    }
  }
  return dead;
}

}  // namespace

std::string names_not_back(const Status& status, std::size_t most) {
  const auto gone = of_dead(status, [](const SessionStatus& session) {
    return session.refusal.empty() ? std::optional(session.step) : std::nullopt;
  });
  std::string text;
  std::size_t told = 0;
  for (const auto& [name, step] : gone) {
    if (told == most) {
      return text + " and " + std::to_string(gone.size() - most) + " more";
    }
    text += (told++ == 0 ? "" : ", ") + name;
  }
  return text;
}

AllAbsent absent(const Status& status, bool goes_on) {
  AllAbsent all;
  if (status.phase != JobPhase::training) {
    return all;
  }
  const auto add = [&all](const std::string& name, std::string why) {
    ++all.count;
    if (all.first.size() < kMostAbsent) {
      all.first.push_back({"worker " + name, std::move(why)});
    }
  };
  for (const auto& session : status.sessions) {
    if (session.live && !session.held_up.empty() && goes_on) {
      add(session.name, "is not counted on: " + session.held_up);
    }
  }
  for (const auto& [name, why] : of_dead(status, [](const SessionStatus& session) {
         return session.refusal.empty() ? std::nullopt : std::optional(session.refusal);
       })) {
    add(name, "is refused: " + why);
  }
  std::vector<std::pair<Step, std::string>> lost;
  for (const auto& [name, step] : of_dead(status, [](const SessionStatus& session) {
         return session.refusal.empty() && !session.said_goodbye ? std::optional(session.step) : std::nullopt;
       })) {
    lost.emplace_back(step, name);
  }
  std::ranges::stable_sort(lost, std::greater(), &std::pair<Step, std::string>::first);
  for (const auto& [step, name] : lost) {
    add(name, "was lost at step " + std::to_string(step) + ", and is not back");
  }
  return all;
}

std::string held(const Status& status) {
  if (status.phase == JobPhase::paused || status.phase == JobPhase::pausing) {
    return "its user has paused it";
  }
  return status.waits_for.empty() ? std::string() : "it waits for " + status.waits_for;
}

}  // namespace ballast::insight

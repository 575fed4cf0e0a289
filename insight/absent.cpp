#include "insight/absent.h"

#include <algorithm>
#include <set>

namespace ballast::insight {
namespace {

constexpr std::size_t kMostAbsent = 100;

}  // namespace

std::vector<std::string> not_back(const Status& status) {
  std::set<std::string> gone;
  for (const auto& session : status.sessions) {
    if (!session.live && session.refusal.empty()) {
      gone.insert(session.name);
    }
  }
  for (const auto& session : status.sessions) {
    if (session.live) {
      gone.erase(session.name);
    }
  }
  return {gone.begin(), gone.end()};
}

std::string names_not_back(const Status& status, std::size_t most) {
  const auto names = not_back(status);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::vector<Absent> absent(const Status& status) {
  std::vector<Absent> all;
  if (status.phase != JobPhase::training) {
    return all;
  }
  for (const auto& name : not_back(status)) {
    all.push_back({"worker " + name, "has gone, and is not back"});
  }
  for (const auto& session : status.sessions) {
    if (session.live && !session.refusal.empty()) {
      all.push_back({"worker " + session.name, "is refused: " + session.refusal});
    } else if (session.live && !session.held_up.empty()) {
      all.push_back({"worker " + session.name, "is not counted on: " + session.held_up});
    }
  }
  if (all.size() > kMostAbsent) {
    all.resize(kMostAbsent);
  }
  return all;
}

}  // namespace ballast::insight

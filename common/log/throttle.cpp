#include "common/log/throttle.h"

#include <algorithm>
#include <utility>

namespace ballast {

bool Throttle::admit(std::string_view kind, std::size_t burst, std::uint64_t tag, std::string_view line, Time now) {
  const std::string name(kind);
  auto found = kinds_.find(name);
  if (found == kinds_.end()) {
    if (kinds_.size() == kMostKinds) {
      return true;
    }
    found = kinds_.emplace(name, Kind{now}).first;
    next_ = std::min(next_, now + kWindow);
  }
  auto& counted = found->second;
  const bool has_room = counted.written == 0 || counted.bytes + line.size() <= kMostBytes;
  if (has_room && counted.written < (counted.is_flood ? 1 : burst)) {
    ++counted.written;
    counted.bytes += line.size();
    return true;
  }
  counted.held.tag = tag;
  ++counted.held.count;
  counted.held.newest = line;
  return false;
}

std::vector<HeldLines> Throttle::due(Time now) {
  std::vector<HeldLines> told;
  if (now < next_) {
    return told;
  }
  next_ = Time::max();
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    auto& kind = at->second;
    if (now >= kind.begun + kind.window) {
      if (kind.held.count == 0) {
        at = kinds_.erase(at);
        continue;
      }
      kind.held.over = std::chrono::duration_cast<std::chrono::seconds>(now - kind.begun);
      told.push_back(std::exchange(kind.held, {}));
      kind = Kind{now, std::min(2 * kind.window, kLongestWindow)};
      kind.is_flood = true;
    }
    next_ = std::min(next_, kind.begun + kind.window);
    ++at;
  }
  return told;
}

std::vector<HeldLines> Throttle::all() {
  std::vector<HeldLines> told;
  for (auto& [name, kind] : kinds_) {
    if (kind.held.count > 0) {
      kind.held.over = kind.window;
      told.push_back(std::move(kind.held));
    }
  }
  kinds_.clear();
  next_ = Time::max();
  return told;
}

}  // namespace ballast

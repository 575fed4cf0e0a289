// Keys that are refused for a while.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "protocol/ids.h"

namespace ballast {

// The first time that a key is blamed may be a mistake, of whoever has it or of whoever blames, and costs it nothing.
// Then it is refused, each time for twice as long as the time before. Who has kept still for as long as the longest
// time begins anew. Pure. One thread.
class BarredKeys {
 public:
  static constexpr Micros kShortest = 60'000'000;
  static constexpr Micros kLongest = 3'600'000'000;
  static constexpr std::size_t kMost = 65536;  // beyond that all is forgiven

  // For how long it is refused from now on; 0: it is not.
  Micros blame(const std::string& key, Micros now) {
    if (blames_.size() >= kMost) {
      blames_.clear();
    }
    auto& blame = blames_[key];
    if (blame.is_known && now < blame.until) {
      return blame.until - now;  // by a connection from before
    }
    if (!blame.is_known || now - blame.until >= kLongest) {
      blame = {true, 0, now};
      return 0;
    }
    blame.span = blame.span == 0 ? kShortest : std::min(2 * blame.span, kLongest);
    blame.until = now + blame.span;
    return blame.span;
  }
  [[nodiscard]] bool is_barred(const std::string& key, Micros now) const {
    const auto found = blames_.find(key);
    return found != blames_.end() && now < found->second.until;
  }

 private:
  struct Blame {
    bool is_known = false;
    Micros span = 0;   // of the newest refusal; 0: there was none
    Micros until = 0;  // its end, or when it was blamed first
  };
  std::unordered_map<std::string, Blame> blames_;
};

}  // namespace ballast

#include "server/unended_messages.h"

#include <unordered_map>

namespace ballast {

namespace {

// By address: whose connections have said nothing whole yet; empty where there are several.
std::unordered_map<std::string, std::string> silent_keys(const ConnectionCounts& let_in,
                                                         const ConnectionCounts& heard) {
  std::unordered_map<std::string, std::string> silent;
  for (const auto& [place, count] : let_in) {
    const auto known = heard.find(place);
    if (known == heard.end() || known->second < count) {
      const auto [entry, is_first] = silent.try_emplace(place.first, place.second);
      if (!is_first) {
        entry->second.clear();
      }
    }
  }
  return silent;
}

}  // namespace

std::optional<std::string> sole_sender(const std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in,
                                       const ConnectionCounts& heard) {
  const auto silent = silent_keys(let_in, heard);
  std::unordered_map<std::string, std::uint64_t> bytes;  // by key; empty: it cannot be told
  for (const auto& rest : rests) {
    const auto only = silent.find(rest.address);
    bytes[rest.key.value_or(only == silent.end() ? std::string() : only->second)] += rest.bytes;
  }
  std::optional<std::string> found;
  for (const auto& [key, count] : bytes) {
    if (count >= kMuchUnended) {
      if (found || key.empty()) {
        return std::nullopt;
      }
      found = key;
    }
  }
  return found;
}

}  // namespace ballast

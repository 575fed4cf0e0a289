#include "server/unended_messages.h"

#include <algorithm>
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

// Empty: it cannot be told.
std::vector<std::string> keys_with_much(const std::vector<Intake::Rest>& rests) {
  std::unordered_map<std::string, std::uint64_t> bytes;
  for (const auto& rest : rests) {
    bytes[rest.key.value_or(std::string())] += rest.bytes;
  }
  std::vector<std::string> keys;
  for (const auto& [key, count] : bytes) {
    if (count >= kMuchUnended) {
      keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace

void name_silent(std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in, const ConnectionCounts& heard) {
  const auto silent = silent_keys(let_in, heard);
  for (auto& rest : rests) {
    if (!rest.key) {
      const auto only = silent.find(rest.address);
      rest.key = only == silent.end() ? std::string() : only->second;
    }
  }
}

void count_unheard(Unheard& unheard, const std::vector<Intake::Rest>& rests, const ConnectionCounts& let_in,
                   const ConnectionCounts& heard) {
  std::unordered_map<std::string, std::uint64_t> standing;  // by address
  for (const auto& rest : rests) {
    standing[rest.address] += rest.key ? 0 : 1;
  }
  for (const auto& [place, count] : let_in) {
    const auto known = heard.find(place);
    const auto others = (known == heard.end() ? 0 : known->second) + standing[place.first];
    if (count > others) {
      unheard[place.second] += count - others;
    }
  }
}

std::optional<std::string> most_unheard(const Unheard& unheard) {
  std::uint64_t all = 0;
  for (const auto& [key, count] : unheard) {
    all += count;
  }
  const auto most = std::ranges::max_element(unheard, {}, [](const auto& of_key) { return of_key.second; });
  return all > 0 && most->second >= kManyUnheard && 4 * most->second >= 3 * all ? std::optional(most->first)
                                                                                : std::nullopt;
}

std::optional<std::string> sole_sender(const std::vector<Intake::Rest>& rests) {
  const auto much = keys_with_much(rests);
  return much.size() == 1 && !much.front().empty() ? std::optional(much.front()) : std::nullopt;
}

bool has_much(const std::vector<Intake::Rest>& rests) { return !keys_with_much(rests).empty(); }

}  // namespace ballast

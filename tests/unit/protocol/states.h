// Two cores' states, compared by their lists (protocol/state_list.h).
#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "protocol/state_list.h"

namespace ballast {

struct Leaf {
  listed::Kind kind = listed::Kind::plain;
  std::any value;
  bool (*same)(const std::any& left, const std::any& right) = nullptr;
};

template <typename T>
inline constexpr bool is_shared = false;
template <typename T>
inline constexpr bool is_shared<std::shared_ptr<T>> = true;

template <typename Value>
bool same(const std::any& left, const std::any& right) {
  const auto* one = std::any_cast<Value>(&left);
  const auto* other = std::any_cast<Value>(&right);
  if (one == nullptr || other == nullptr) {
    return false;
  }
  if constexpr (is_shared<Value>) {
    return *one == *other || (*one && *other && **one == **other);
  } else {
    return *one == *other;
  }
}

// All that is compared of a core, in order.
template <typename Core>
std::vector<Leaf> leaves(const Core& core) {
  std::vector<Leaf> all;
  listed::walk(core, [&](listed::Kind kind, const auto& value) {
    all.push_back({kind, value, &same<std::remove_cvref_t<decltype(value)>>});
  });
  return all;
}

// How many values of each kind differ, by kind; nothing if the cores do not even have the same number of values.
using Differences = std::map<listed::Kind, int>;
template <typename Core>
std::optional<Differences> differences(const Core& left, const Core& right) {
  const auto one = leaves(left);
  const auto other = leaves(right);
  if (one.size() != other.size()) {
    return std::nullopt;
  }
  Differences found;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].kind != other[i].kind || !one[i].same(one[i].value, other[i].value)) {
      ++found[one[i].kind];
    }
  }
  return found;
}

}  // namespace ballast

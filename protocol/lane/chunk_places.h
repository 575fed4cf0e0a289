// A set of a lane's chunks, by their places in the order of their ids: a bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "protocol/state_list.h"

namespace ballast {

// Costs an eighth of a byte for each chunk before the last one that was ever in it. Pure and copyable.
class ChunkPlaces {
 public:
  // Whether it was not in it.
  bool insert(std::uint32_t place) {
    if (contains(place)) {
      return false;
    }
    words_.resize(std::max<std::size_t>(words_.size(), place / kBits + 1));
    words_[place / kBits] |= bit(place);
    return true;
  }
  // Whether it was.
  bool erase(std::uint32_t place) {
    const bool was_in_it = contains(place);
    if (was_in_it) {
      words_[place / kBits] &= ~bit(place);
    }
    return was_in_it;
  }
  [[nodiscard]] bool contains(std::uint32_t place) const {
    return place / kBits < words_.size() && (words_[place / kBits] & bit(place)) != 0;
  }
  [[nodiscard]] std::optional<std::uint32_t> first() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != 0) {
        return static_cast<std::uint32_t>(i) * kBits + static_cast<std::uint32_t>(std::countr_zero(words_[i]));
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t count() const {
    return std::accumulate(words_.begin(), words_.end(), std::size_t{0}, [](std::size_t sum, std::uint64_t word) {
      return sum + static_cast<std::size_t>(std::popcount(word));
    });
  }
  [[nodiscard]] bool empty() const { return !first(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(words_));
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static std::uint64_t bit(std::uint32_t place) { return std::uint64_t{1} << (place % kBits); }

  std::vector<std::uint64_t> words_;
};

}  // namespace ballast

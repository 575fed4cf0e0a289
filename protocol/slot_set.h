// A set of slots of one step.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

class SlotSet {
 public:
  SlotSet() = default;
  explicit SlotSet(std::uint32_t slots) : slots_(slots), words_((slots + 63) / 64) {}

  static SlotSet full(std::uint32_t slots) {
    SlotSet set(slots);
    set.insert({0, slots});
    return set;
  }
  // From words of 64 slots, lowest slot in the lowest bit; bits past `slots` are dropped, missing words are empty.
  static SlotSet from_words(std::uint32_t slots, const std::vector<std::uint64_t>& words) {
    SlotSet set(slots);
    std::copy_n(words.begin(), std::min(words.size(), set.words_.size()), set.words_.begin());
    if (slots % 64 != 0) {
      set.words_.back() &= (std::uint64_t{1} << (slots % 64)) - 1;
    }
    return set;
  }

  void insert(SlotRange range) {
    for (Slot slot = range.begin; slot < range.end && slot < slots_; ++slot) {
      words_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }
  }
  void erase(SlotRange range) {
    for (Slot slot = range.begin; slot < range.end && slot < slots_; ++slot) {
      words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }
  }
  void insert(const SlotSet& other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  void erase(const SlotSet& other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) {
      words_[i] &= ~other.words_[i];
    }
  }

  [[nodiscard]] bool contains(Slot slot) const {
    return slot < slots_ && ((words_[slot / 64] >> (slot % 64)) & 1U) != 0;
  }
  [[nodiscard]] bool contains_some_of(SlotRange range) const {
    for (Slot slot = range.begin; slot < range.end; ++slot) {
      if (contains(slot)) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t count = 0;
    for (const auto word : words_) {
      count += static_cast<std::uint32_t>(std::popcount(word));
    }
    return count;
  }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  bool operator==(const SlotSet&) const = default;

  // The maximal contiguous runs, in order.
  [[nodiscard]] std::vector<SlotRange> runs() const {
    std::vector<SlotRange> runs;
    for (Slot slot = 0; slot < slots_; ++slot) {
      if (!contains(slot)) {
        continue;
      }
      if (!runs.empty() && runs.back().end == slot) {
        runs.back().end = slot + 1;
      } else {
        runs.push_back({slot, slot + 1});
      }
    }
    return runs;
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, words_));
  }

 private:
  std::uint32_t slots_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace ballast

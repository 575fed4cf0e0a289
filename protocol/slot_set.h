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
    for (Piece piece(range, slots_); piece.mask != 0; piece.advance()) {
      words_[piece.word] |= piece.mask;
    }
  }
  void erase(SlotRange range) {
    for (Piece piece(range, slots_); piece.mask != 0; piece.advance()) {
      words_[piece.word] &= ~piece.mask;
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
    for (Piece piece(range, slots_); piece.mask != 0; piece.advance()) {
      if ((words_[piece.word] & piece.mask) != 0) {
        return true;
      }
    }
    return false;
  }
  // The first slot of the range that is in this set and not in `without`, of as many slots, which may be null;
  // range.end: there is none.
  [[nodiscard]] Slot first_of(SlotRange range, const SlotSet* without) const {
    for (Piece piece(range, slots_); piece.mask != 0; piece.advance()) {
      const auto excluded = without == nullptr ? 0 : without->words_[piece.word];
      if (const auto found = words_[piece.word] & ~excluded & piece.mask; found != 0) {
        return static_cast<Slot>(64 * piece.word) + static_cast<Slot>(std::countr_zero(found));
      }
    }
    return range.end;
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
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (auto bits = words_[word]; bits != 0; bits &= bits - 1) {
        const auto slot = static_cast<Slot>(64 * word) + static_cast<Slot>(std::countr_zero(bits));
        if (!runs.empty() && runs.back().end == slot) {
          runs.back().end = slot + 1;
        } else {
          runs.push_back({slot, slot + 1});
        }
      }
    }
    return runs;
  }

  // The last of them; the set must not be empty.
  [[nodiscard]] SlotRange last_run() const {
    auto word = words_.size() - 1;
    while (words_[word] == 0) {
      --word;
    }
    const auto end = static_cast<Slot>(64 * word) + static_cast<Slot>(std::bit_width(words_[word]));
    auto begin = end - 1;
    while (begin > 0 && contains(begin - 1)) {
      --begin;
    }
    return {begin, end};
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, words_));
  }

 private:
  // A range's slots that lie in one word: the first ones, then those of the next word; mask 0: there are no more.
  struct Piece {
    Piece(SlotRange range, Slot slots) : word(range.begin / 64), next(range.begin), end(std::min(range.end, slots)) {
      cut();
    }
    void advance() {
      ++word;
      cut();
    }
    void cut() {
      const auto last = std::min<std::uint64_t>(64 * (word + 1), end);
      mask = next < last ? ~std::uint64_t{0} >> (64 - (last - next)) << (next % 64) : 0;
      next = last;
    }

    std::size_t word;
    std::uint64_t next;  // slot
    Slot end;
    std::uint64_t mask = 0;
  };

  std::uint32_t slots_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace ballast

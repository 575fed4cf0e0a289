#include "protocol/slot_set.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace ballast;

namespace {

// The same, slot by slot.
class PlainSlots {
 public:
  explicit PlainSlots(Slot slots) : slots_(slots) {}

  void insert(SlotRange range) {
    for (auto slot = range.begin; slot < range.end && slot < slots_; ++slot) {
      members_.insert(slot);
    }
  }
  void erase(SlotRange range) {
    std::erase_if(members_, [&](Slot slot) { return range.contains(slot); });
  }
  [[nodiscard]] bool contains(Slot slot) const { return members_.contains(slot); }
  [[nodiscard]] Slot first_of(SlotRange range, const PlainSlots& without) const {
    for (const auto slot : members_) {
      if (range.contains(slot) && !without.contains(slot)) {
        return slot;
      }
    }
    return range.end;
  }
  [[nodiscard]] std::vector<SlotRange> runs() const {
    std::vector<SlotRange> runs;
    for (const auto slot : members_) {
      if (runs.empty() || runs.back().end != slot) {
        runs.push_back({slot, slot});
      }
      runs.back().end = slot + 1;
    }
    return runs;
  }

 private:
  Slot slots_;
  std::set<Slot> members_;
};

}  // namespace

TEST_CASE("sets of slots answer like sets that are asked slot by slot, across words and past their end") {
  std::mt19937 random(1);
  for (const Slot slots : {1U, 5U, 63U, 64U, 65U, 128U, 200U}) {
    CAPTURE(slots);
    SlotSet set(slots);
    SlotSet other(slots);
    PlainSlots plain(slots);
    PlainSlots plain_other(slots);
    for (int i = 0; i < 400; ++i) {
      const auto begin = static_cast<Slot>(random() % (slots + 3));
      const SlotRange range{begin, begin + static_cast<Slot>(random() % (i % 2 == 0 ? 6 : slots + 3))};
      switch (random() % 3) {
        case 0:
          set.insert(range);
          plain.insert(range);
          break;
        case 1:
          set.erase(range);
          plain.erase(range);
          break;
        default:
          other.insert(range);
          plain_other.insert(range);
      }
      const auto runs = plain.runs();
      CHECK(set.runs() == runs);
      CHECK((runs.empty() || set.last_run() == runs.back()));
      CHECK(set.empty() == runs.empty());
      CHECK(set.first_of(range, nullptr) == plain.first_of(range, PlainSlots(slots)));
      CHECK(set.first_of(range, &other) == plain.first_of(range, plain_other));
      CHECK(set.contains_some_of(range) == (plain.first_of(range, PlainSlots(slots)) < range.end));
    }
  }
}

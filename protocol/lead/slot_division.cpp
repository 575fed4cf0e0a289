#include "protocol/lead/slot_division.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "protocol/tree.h"

namespace ballast {

namespace {

constexpr std::uint64_t kFarthest = 16;

struct Cost {
  std::uint64_t nodes = 0;
  std::uint64_t unevenness = 0;  // how far the boundaries lie from their proportional places
  auto operator<=>(const Cost&) const = default;
};

// The best way to put boundaries up to one that lies at a slot.
struct Way {
  Cost cost{std::numeric_limits<std::uint64_t>::max(), 0};
  Slot from = 0;  // where the boundary before it lies
};

class Division {
 public:
  Division(Slot slots, std::size_t workers)
      : slots_(slots), workers_(workers), longest_(static_cast<Slot>((slots + workers - 1) / workers)) {}

  [[nodiscard]] std::vector<SlotRange> best() const {
    std::vector<Boundary> boundaries{{0, {Way{{}, 0}}}};
    for (std::size_t i = 1; i <= workers_; ++i) {
      boundaries.push_back(after(boundaries.back(), i));
    }
    std::vector<SlotRange> ranges(workers_);
    auto end = slots_;
    for (auto i = workers_; i > 0; --i) {
      const auto begin = boundaries[i].at(end).from;
      ranges[i - 1] = {begin, end};
      end = begin;
    }
    return ranges;
  }

 private:
  // The ways to each of the places where it may lie.
  struct Boundary {
    Slot first = 0;
    std::vector<Way> ways;

    [[nodiscard]] Slot end() const { return first + static_cast<Slot>(ways.size()); }
    [[nodiscard]] const Way& at(Slot slot) const { return ways[slot - first]; }
  };

  [[nodiscard]] std::uint64_t place(std::size_t boundary) const { return std::uint64_t{boundary} * slots_ / workers_; }

  // Where the ranges before and after it can be as long as they have to be.
  [[nodiscard]] Boundary boundary(std::size_t number) const {
    const auto window = std::min<std::uint64_t>(longest_, kFarthest);
    const auto after = (workers_ - number) * std::uint64_t{longest_};
    const auto first =
        std::max(slots_ - std::min<std::uint64_t>(after, slots_), place(number) - std::min(place(number), window));
    const auto last = std::min({std::uint64_t{slots_}, number * std::uint64_t{longest_}, place(number) + window});
    return {static_cast<Slot>(first), std::vector<Way>(last - first + 1)};
  }

  [[nodiscard]] Boundary after(const Boundary& before, std::size_t number) const {
    auto boundary = this->boundary(number);
    for (auto begin = before.first; begin < before.end(); ++begin) {
      const auto last = std::min<std::uint64_t>(boundary.end() - 1, std::uint64_t{begin} + longest_);
      for (auto end = std::max(begin, boundary.first); end <= last; ++end) {
        auto cost = before.at(begin).cost;
        cost.nodes += tree::nodes_in({begin, end}, slots_);
        cost.unevenness += std::max<std::uint64_t>(end, place(number)) - std::min<std::uint64_t>(end, place(number));
        if (auto& way = boundary.ways[end - boundary.first]; cost < way.cost) {
          way = {cost, begin};
        }
      }
    }
    return boundary;
  }

  Slot slots_;
  std::size_t workers_;
  Slot longest_;
};

}  // namespace

std::vector<SlotRange> divide_slots(Slot slots, std::size_t workers) { return Division(slots, workers).best(); }

}  // namespace ballast

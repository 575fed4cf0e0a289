// What a field of a message may hold. Each rule says why a value breaks it, and what it allows.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/wire/wire_limits.h"
#include "protocol/ids.h"
#include "protocol/messages/parts.h"

namespace ballast::wire {

// Follows the name of a field: " is 0; it must not be". None: all is well.
using Fault = std::optional<std::string>;

// Why the value breaks the rule, if it does. A text is put together only then: messages hold many numbers.
template <typename Rule, typename Value>
Fault fault_by(const Rule& rule, const Value& value) {
  return rule.holds(value) ? Fault{} : Fault{rule.why(value)};
}

// ---- numbers

// What the value means is the receiver's to judge. Not for whole numbers: each of them has a range.
struct Any {
  static std::string allowed() { return {}; }
};

// Drawn at random, and only ever compared.
struct Name {
  static std::string allowed() { return "any"; }
};

// 64 slots, each there or not.
struct Bits {
  static std::string allowed() { return "any"; }
};

// What is counted or measured. Powers of two, so that the range of a sum or a product can be seen.
struct Below {
  unsigned bits;
  [[nodiscard]] constexpr std::uint64_t last() const { return (std::uint64_t{1} << bits) - 1; }
  [[nodiscard]] bool holds(std::uint64_t value) const { return value <= last(); }
  [[nodiscard]] std::string why(std::uint64_t value) const {
    return " is " + std::to_string(value) + "; " + allowed() + " is allowed";
  }
  [[nodiscard]] std::string allowed() const { return "below 2^" + std::to_string(bits); }
};

// Likewise, and not 0.
struct Counted {
  Below below;
  [[nodiscard]] constexpr std::uint64_t last() const { return below.last(); }
  [[nodiscard]] bool holds(std::uint64_t value) const { return value != 0 && below.holds(value); }
  [[nodiscard]] std::string why(std::uint64_t value) const {
    return value == 0 ? std::string(" is 0; it must not be") : below.why(value);
  }
  [[nodiscard]] std::string allowed() const { return "not 0, " + below.allowed(); }
};

// Likewise, or all bits set, which means something else.
struct BelowOr {
  Below below;
  const char* word;  // for that
  [[nodiscard]] constexpr std::uint64_t last() const { return below.last(); }
  [[nodiscard]] bool holds(std::uint64_t value) const { return below.holds(value) || value == ~std::uint64_t{0}; }
  [[nodiscard]] std::string why(std::uint64_t value) const {
    return " is " + std::to_string(value) + "; " + allowed() + ", is allowed";
  }
  [[nodiscard]] std::string allowed() const { return below.allowed() + ", or 2^64 - 1: " + word; }
};

struct NotZero {
  static bool holds(std::uint64_t value) { return value != 0; }
  static std::string why(std::uint64_t /*value*/) { return " is 0; it must not be"; }
  static std::string allowed() { return "not 0"; }
};

// By which something is found again.
struct OfALead {
  static bool holds(LeadNumber value) { return value.life != 0; }
  static std::string why(LeadNumber /*value*/) { return ".life is 0; it must not be"; }
  static std::string allowed() { return "life not 0"; }
};

struct Finite {
  static bool holds(double value) { return std::isfinite(value); }
  static std::string why(double value) { return " is " + std::to_string(value) + "; it must be finite"; }
  static std::string allowed() { return "finite"; }
};

struct NotNegative {
  static bool holds(double value) { return std::isfinite(value) && value >= 0; }
  static std::string why(double value) {
    return " is " + std::to_string(value) + "; it must be finite and not negative";
  }
  static std::string allowed() { return "finite and not negative"; }
};

struct AtMost {
  std::uint64_t limit;
  [[nodiscard]] constexpr std::uint64_t last() const { return limit; }
  [[nodiscard]] bool holds(std::uint64_t value) const { return value <= limit; }
  [[nodiscard]] std::string why(std::uint64_t value) const {
    return " is " + std::to_string(value) + "; at most " + std::to_string(limit) + " is allowed";
  }
  [[nodiscard]] std::string allowed() const { return "at most " + std::to_string(limit); }
};

// A slot, or none.
struct SlotOrNone {
  [[nodiscard]] static constexpr std::uint64_t last() { return kMaxSlots - 1; }
  static bool holds(Slot value) { return value < kMaxSlots || value == kNoSlot; }
  static std::string why(Slot value) {
    return " is " + std::to_string(value) + "; at most " + std::to_string(kMaxSlots - 1) + ", or " +
           std::to_string(kNoSlot) + " for none, is allowed";
  }
  static std::string allowed() {
    return "at most " + std::to_string(kMaxSlots - 1) + ", or " + std::to_string(kNoSlot) + ": none";
  }
};

// Up to the last word of an enumeration.
template <typename Enum>
struct Known {
  Enum last;
  [[nodiscard]] bool holds(Enum value) const { return value <= last; }
  [[nodiscard]] std::string why(Enum value) const {
    return AtMost{static_cast<std::uint64_t>(last)}.why(static_cast<std::uint64_t>(value));
  }
  [[nodiscard]] static std::string allowed() { return {}; }  // the words are its form
};
template <typename Enum>
Known(Enum) -> Known<Enum>;

// ---- ranges

inline std::string bounds(std::uint64_t begin, std::uint64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

// The slots of some work.
struct SomeSlots {
  static bool holds(SlotRange range) { return range.begin < range.end && range.end <= kMaxSlots; }
  static std::string why(SlotRange range) {
    return " is " + bounds(range.begin, range.end) + "; " + allowed() + " is allowed";
  }
  static std::string allowed() { return "begin < end <= " + std::to_string(kMaxSlots); }
};

// The slots of a standing assignment: there may be none.
struct SlotsIfAny {
  static bool holds(SlotRange range) { return range.begin <= range.end && range.end <= kMaxSlots; }
  static std::string why(SlotRange range) {
    return " is " + bounds(range.begin, range.end) + "; " + allowed() + " is allowed";
  }
  static std::string allowed() { return "begin <= end <= " + std::to_string(kMaxSlots); }
};

// ---- rules on several fields

// A fault of a part, named as a part of the whole.
inline Fault inside(const std::string& part, Fault fault) {
  if (fault) {
    fault->insert(0, part);
  }
  return fault;
}

// Holds `rule` to the values of a list until one breaks it. A name is put together only then: lists may be long.
template <typename Values, typename Rule>
Fault each(std::string_view name, const Values& values, Rule rule) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (auto fault = rule(values[i])) {
      return inside(std::string(name) + "[" + std::to_string(i) + "]", std::move(fault));
    }
  }
  return {};
}

inline std::string entry_text(std::uint64_t number) { return std::to_string(number); }
inline std::string entry_text(const Work& work) {
  return "step " + std::to_string(work.step) + ", chunk " + std::to_string(work.chunk) + ", node " +
         bounds(work.node.begin, work.node.end);
}

// Each entry is more than the one before, so that none is there twice.
template <typename Values>
Fault ascending(std::string_view name, const Values& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) {
      return std::string(name) + "[" + std::to_string(i) + "] is " + entry_text(values[i]) + ", after " +
             entry_text(values[i - 1]) + "; more than the entry before is allowed";
    }
  }
  return {};
}

inline Fault lane_within(const std::string& name, LaneId lane, std::uint32_t shards, std::uint32_t lanes) {
  if (lane.shard < shards && lane.lane < lanes) {
    return {};
  }
  return name + " is shard " + std::to_string(lane.shard) + ", lane " + std::to_string(lane.lane) + "; below " +
         std::to_string(shards) + " shards and " + std::to_string(lanes) + " lanes is allowed";
}

// ---- texts and lists, which are bounded before they are copied

// One line of printable UTF-8.
struct Line {
  static std::string allowed() { return std::to_string(kMaxTextBytes) + " bytes"; }
};

// Likewise; the encoder makes it one.
struct FreeText {
  static std::string allowed() { return Line::allowed() + "; the encoder cuts it and makes it printable"; }
};

// Several lines.
struct JobText {
  static std::string allowed() { return std::to_string(kMaxJobBytes) + " bytes; newline, carriage return, tab"; }
};

template <typename Rule = Any>
struct List {
  std::size_t limit;
  Rule rule = {};  // of each entry
  [[nodiscard]] std::string allowed() const {
    const auto each = rule.allowed();
    return "at most " + std::to_string(limit) + " entries" + (each.empty() ? "" : ", each " + each);
  }
};
List(std::size_t)->List<Any>;
template <typename Rule>
List(std::size_t, Rule) -> List<Rule>;

}  // namespace ballast::wire

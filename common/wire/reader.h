// Bounded copies of the lists and strings of verified FlatBuffers tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/text/text.h"
#include "common/wire/fields.h"
#include "common/wire/wire_limits.h"
#include "protocol/messages.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {

// Copies lists and strings out of a table and keeps the first refusal. What follows a refusal reads as empty.
class Reader {
 public:
  // `version`: in which the tables were written.
  explicit Reader(std::uint32_t version) : version_(version) {}

  [[nodiscard]] std::uint32_t version() const { return version_; }
  std::string line(const Path& field, const flatbuffers::String* text) {
    return bounded(field, text, kMaxTextBytes, TextKind::line);
  }
  std::string job(const Path& field, const flatbuffers::String* text) {
    return bounded(field, text, kMaxJobBytes, TextKind::lines);
  }

  // `convert` takes an element: a number, a pointer to a struct or a pointer to a table.
  template <typename Element, typename Convert>
  auto list(const Path& field, const flatbuffers::Vector<Element>* list, std::size_t limit, Convert convert) {
    std::vector<decltype(convert(list->Get(0)))> values;
    if (list == nullptr || refusal_ || !list_allowed(field, list->size(), limit)) {
      return values;
    }
    if (!is_aligned(*list)) {
      refuse(RefusalCode::malformed, field.text() + " is not aligned as FlatBuffers requires");
      return values;
    }
    values.reserve(list->size());
    for (flatbuffers::uoffset_t i = 0; i < list->size() && !refusal_; ++i) {
      values.push_back(convert(list->Get(i)));
    }
    return values;
  }

  [[nodiscard]] std::optional<Refused>& refusal() { return refusal_; }
  void refuse(RefusalCode code, std::string text) { refusal_ = Refused{code, std::move(text)}; }

 private:
  // The verifier checks the alignment of a vector's size, not of its elements.
  template <typename Element>
  static bool is_aligned(const flatbuffers::Vector<Element>& list) {
    constexpr bool kStruct = std::is_pointer_v<Element>;
    constexpr std::size_t kAlignment = kStruct ? alignof(std::remove_pointer_t<Element>) : alignof(Element);
    return reinterpret_cast<std::uintptr_t>(list.Data()) % kAlignment == 0;
  }

  bool list_allowed(const Path& field, std::size_t size, std::size_t limit) {
    if (size > limit) {
      refuse(RefusalCode::out_of_range, field.text() + " has " + std::to_string(size) + " entries; at most " +
                                            std::to_string(limit) + " are allowed");
    }
    return size <= limit;
  }

  std::string bounded(const Path& field, const flatbuffers::String* text, std::size_t limit, TextKind kind) {
    if (text == nullptr || refusal_) {
      return {};
    }
    if (text->size() > limit) {
      refuse(RefusalCode::out_of_range, field.text() + " is " + std::to_string(text->size()) + " bytes long; at most " +
                                            std::to_string(limit) + " are allowed");
      return {};
    }
    if (const auto fault = text_fault({text->c_str(), text->size()}, kind)) {
      refuse(RefusalCode::malformed, field.text() + " holds " + *fault + "; printable UTF-8 is allowed");
      return {};
    }
    return text->str();
  }

  std::uint32_t version_;
  std::optional<Refused> refusal_;
};

// Deals the numbers of one list to the structs of another, in order: each struct says how many are its own.
template <typename Number>
class Pieces {
 public:
  // `field`: of the list of numbers; at most `limit` of them.
  Pieces(Reader& reader, const Path& field, const flatbuffers::Vector<Number>* list, std::size_t limit)
      : reader_(reader),
        field_(field),
        numbers_(reader.list(field, list, limit, [](Number number) { return number; })) {}

  std::vector<Number> take(std::size_t count) {
    wanted_ += count;
    if (wanted_ > numbers_.size()) {
      return {};
    }
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(wanted_);
    return {end - static_cast<std::ptrdiff_t>(count), end};
  }

  // When all has been dealt: refuses if the structs do not want exactly what there is.
  void finish() {
    if (!reader_.refusal() && wanted_ != numbers_.size()) {
      reader_.refuse(RefusalCode::malformed, field_.text() + " has " + std::to_string(numbers_.size()) +
                                                 " entries; it must have the " + std::to_string(wanted_) +
                                                 " that the structs beside it count");
    }
  }

 private:
  Reader& reader_;
  Path field_;
  std::vector<Number> numbers_;
  std::size_t wanted_ = 0;
};

}  // namespace ballast::wire

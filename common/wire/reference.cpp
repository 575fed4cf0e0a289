#include "common/wire/reference.h"

#include <cctype>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/wire/messages_table.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace wire {
namespace {

constexpr const char* kHead = R"(# Messages, field by field

This page is written from `common/wire/messages_table.h` and `parts_table.h`, by which messages are encoded, read and checked. What a field means
stands in [`protocol/messages/`](../protocol/messages); how a message travels, in [wire.md](wire.md). *Absent* fields read as
0, empty or none. A field *since* a version of the protocol is neither sent to a peer of an older one nor read from it
([versions.md](versions.md)). A sender's text is one line of printable UTF-8 unless it says otherwise.

)";

// ---- forms

std::string words(const char* const* names) {
  std::string text;
  for (; *names != nullptr; ++names) {
    text += (text.empty() ? "" : ", ") + std::string(*names);
  }
  return text;
}

std::string words_of(schema::ReceiptOutcome) { return words(schema::EnumNamesReceiptOutcome()); }
std::string words_of(schema::RefusalCode) { return words(schema::EnumNamesRefusalCode()); }
std::string words_of(schema::Split) { return words(schema::EnumNamesSplit()); }
std::string words_of(schema::MetricKind) { return words(schema::EnumNamesMetricKind()); }
std::string words_of(schema::Ending) { return words(schema::EnumNamesEnding()); }
std::string words_of(schema::JobPhase) { return words(schema::EnumNamesJobPhase()); }
std::string words_of(schema::TraceKind) { return words(schema::EnumNamesTraceKind()); }
std::string words_of(schema::TraceRole) { return words(schema::EnumNamesTraceRole()); }
std::string words_of(schema::ControlCommand) { return words(schema::EnumNamesControlCommand()); }

// As a page's anchors are written.
std::string lower_case(std::string text) {
  for (auto& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

template <typename T>
std::string form() {
  if constexpr (IsDescribed<T>) {
    return std::string("[`") + Described<T>::name + "`](#" + lower_case(Described<T>::name) + ")";
  } else if constexpr (is_list<T>) {
    return "list of " + form<typename T::value_type>();
  } else if constexpr (is_optional<T>) {
    return form<typename T::value_type>() + ", may be absent";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "text";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float" + std::to_string(8 * sizeof(T));
  } else {
    return "uint" + std::to_string(8 * sizeof(T));
  }
}

template <typename Field>
struct MemberType;
template <typename Struct, typename Value, typename Rule>
struct MemberType<Field<Struct, Value, Rule>> {
  using Type = Value;
};
template <typename Kind>
using MemberOf = typename MemberType<Kind>::Type;

// ---- rows

std::string row(const std::string& field, const std::string& form, const std::string& allowed) {
  return "| `" + field + "` | " + form + " | " + allowed + " |\n";
}

// What is allowed, and since when there is such a field.
template <typename Field>
std::string allowed_since(const Field& field, const std::string& allowed) {
  if (field.since == 0) {
    return allowed;
  }
  return allowed + (allowed.empty() ? "" : "; ") + "since version " + std::to_string(field.since);
}

template <typename Stored, typename Field>
std::string row_of(const Field& field) {
  if constexpr (is_count<Field>) {
    return row(field.name, "uint32", "entries of the list beside it that are this one's");
  } else if constexpr (is_former<Field>) {
    return row(field.name, form<typename Field::Value>(),
               "through version " + std::to_string(field.last) + "; what it says follows from the others");
  } else if constexpr (is_numbers_of<Field>) {
    using Number = std::remove_cvref_t<decltype(std::declval<Stored>()->Get(0))>;
    return row(field.name, "list of " + form<Number>(),
               allowed_since(
                   field, "at most " + std::to_string(field.limit) + " entries, exactly as many as the structs count"));
  } else if constexpr (std::is_enum_v<Stored>) {
    return row(field.name, "one of " + words_of(Stored{}), allowed_since(field, ""));
  } else {
    return row(field.name, form<MemberOf<Field>>(), allowed_since(field, field.rule.allowed()));
  }
}

template <typename T>
void add(std::string& page) {
  page += std::string("### ") + Described<T>::name + "\n\n";
  if (Described<T>::known_since != 0) {
    page += "Since version " + std::to_string(Described<T>::known_since) + ".\n\n";
  }
  if (!Described<T>::allowed.empty()) {
    page += "Allowed: " + std::string(Described<T>::allowed) + ".\n\n";
  }
  page += "| field | form | allowed |\n| --- | --- | --- |\n";
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    using Stored = std::remove_cvref_t<decltype(std::declval<const SchemaOf<T>&>().template get_field<I>())>;
    page += row_of<Stored>(field);
  });
  page += "\n";
}

template <typename... T>
void add_all(std::string& page, const std::variant<T...>* /*message*/) {
  (add<T>(page), ...);
}
template <typename... T>
void add_all(std::string& page, Types<T...> /*types*/) {
  (add<T>(page), ...);
}

}  // namespace
}  // namespace wire

std::string messages_reference() {
  std::string page = wire::kHead;
  page += "## Messages\n\n";
  wire::add_all(page, static_cast<const Message*>(nullptr));
  page += "## Parts\n\n";
  wire::add_all(page, wire::Parts{});
  page.pop_back();
  return page;
}

}  // namespace ballast

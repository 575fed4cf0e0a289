#include "common/job/schema.h"

#include <algorithm>

#include "common/job/words.h"
#include "common/job/yaml_tree.h"

namespace ballast {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const auto extent : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  }
  return "[" + text + "]";
}

std::string parameters_text(const std::vector<EmulatedParameter>& parameters) {
  std::string text;
  for (const auto& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + std::string("{name: ") + yaml_quoted(parameter.name) +
            ", shape: " + shape_text(parameter.shape) + "}";
  }
  return "[" + text + "]";
}

const char* non_finite_name(NonFinite reaction) {
  switch (reaction) {
    case NonFinite::skip:
      return "skip";
    case NonFinite::rollback:
      return "rollback";
    case NonFinite::halt:
      break;
  }
  return "halt";
}

template <class T>
std::string optional_text(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string();
}

}  // namespace

const Key* Schema::find_key(const std::string& path) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

bool Schema::is_section(const std::string& path) const {
  return std::any_of(sections.begin(), sections.end(), [&](const Section& section) { return section.path == path; });
}

std::string value_text(const Key& key) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string(); },
          [](const std::string* text) { return text->empty() ? std::string() : yaml_quoted(*text); },
          [](const bool* flag) { return std::string(*flag ? "true" : "false"); },
          [](const Mode* /*mode*/) { return std::string("sync"); },
          [](const NonFinite* reaction) { return std::string(non_finite_name(*reaction)); },
          [](const std::uint32_t* number) { return std::to_string(*number); },
          [](const std::uint64_t* number) { return std::to_string(*number); },
          [](const double* number) { return number_text(*number); },
          [](const std::optional<std::uint32_t>* number) { return optional_text(*number); },
          [](const std::optional<std::uint64_t>* number) { return optional_text(*number); },
          [](const std::optional<double>* number) { return *number ? number_text(**number) : std::string(); },
          [](const std::vector<std::uint32_t>* list) { return list->empty() ? std::string() : shape_text(*list); },
          [](const std::vector<EmulatedParameter>* list) {
            return list->empty() ? std::string() : parameters_text(*list);
          },
      },
      key.target);
}

bool applies(const Schema& schema, const Key& key) {
  if (key.only_with.key.empty()) {
    return true;
  }
  const std::string value = value_text(*schema.find_key(key.only_with.key));
  return std::find(key.only_with.values.begin(), key.only_with.values.end(), value) != key.only_with.values.end();
}

}  // namespace ballast

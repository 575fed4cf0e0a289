#include "common/job/schema.h"

#include <algorithm>
#include <type_traits>

#include "common/job/layer_list.h"
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

std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : ", ") + yaml_quoted(word);
  }
  return "[" + text + "]";
}

std::string parameters_text(const std::vector<EmulatedParameter>& parameters) {
  std::string text;
  for (const auto& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + std::string("{name: ") + yaml_quoted(parameter.name) +
            ", shape: " + shape_text(parameter.shape) + (parameter.group.empty() ? "" : ", group: " + parameter.group) +
            (parameter.momentum == 0 ? "" : ", momentum: " + number_text(parameter.momentum)) + "}";
  }
  return "[" + text + "]";
}

std::string groups_text(const std::vector<ParameterGroup>& groups) {
  std::string text;
  for (const auto& group : groups) {
    text += (text.empty() ? "" : ", ") + std::string("{match: ") + yaml_quoted(group.match) +
            ", learning_rate: " + number_text(group.learning_rate) +
            (group.weight_decay ? ", weight_decay: " + number_text(*group.weight_decay) : "") +
            (group.trust_ratio ? std::string(", trust_ratio: ") + (*group.trust_ratio ? "true" : "false") : "") + "}";
  }
  return "[" + text + "]";
}

std::string columns_text(const std::vector<CsvColumn>& columns) {
  std::string text;
  for (const auto& column : columns) {
    text += (text.empty() ? "" : ", ") + std::string("{name: ") + yaml_quoted(column.name) +
            ", kind: " + name_of(column.kind);
    if (column.mean != 0 || column.deviation != 1) {
      text += ", mean: " + number_text(column.mean) + ", deviation: " + number_text(column.deviation);
    }
    text += (column.values.empty() ? "" : ", values: " + words_text(column.values)) + "}";
  }
  return "[" + text + "]";
}

std::string reals_text(const std::vector<double>& numbers) {
  std::string text;
  for (const auto number : numbers) {
    text += (text.empty() ? "" : ", ") + number_text(number);
  }
  return "[" + text + "]";
}

std::string pair_text(Pair pair) { return pair.h == pair.w ? std::to_string(pair.h) : shape_text({pair.h, pair.w}); }

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
          [](std::monostate) {
    return std::string(); },
          [](const std::string* text) {
    return text->empty() ? std::string() : yaml_quoted(*text); },
          [](const bool* flag) {
    return std::string(*flag ? "true" : "false"); },
          [&]<class Word>(const Word* word) requires std::is_enum_v<Word> {
            return key.choices.at(static_cast<std::size_t>(*word));
}
, [](const std::uint32_t* number) { return std::to_string(*number); },
    [](const std::uint64_t* number) { return std::to_string(*number); },
    [](const double* number) { return number_text(*number); }, [](const float* number) { return float_text(*number); },
    [](const Pair* pair) { return pair_text(*pair); },
    [](const std::optional<std::uint32_t>* number) { return optional_text(*number); },
    [](const std::optional<std::uint64_t>* number) { return optional_text(*number); },
    [](const std::optional<double>* number) { return *number ? number_text(**number) : std::string(); },
    [](const std::vector<std::uint32_t>* list) { return list->empty() ? std::string() : shape_text(*list); },
    [](const std::vector<double>* list) { return list->empty() ? std::string() : reals_text(*list); },
    [](const std::vector<EmulatedParameter>* list) { return list->empty() ? std::string() : parameters_text(*list); },
    [](const std::vector<LayerSpec>* list) { return list->empty() ? std::string() : layers_text(*list, ", "); },
    [](const std::vector<std::string>* list) { return list->empty() ? std::string() : words_text(*list); },
    [](const std::vector<CsvColumn>* list) { return list->empty() ? std::string() : columns_text(*list); },
    [](const std::vector<ParameterGroup>* list) { return list->empty() ? std::string() : groups_text(*list); },
}  // namespace ballast
,
      key.target);
}

bool is_written(const Schema& schema, const Key& key) {
  if (value_text(key).empty() || !applies(schema, key)) {
    return false;
  }
  const auto came_later = [&] {
    const auto& values = key.later_with;
    return !values.empty() &&
           std::ranges::find(values, value_text(*schema.find_key(key.only_with.key))) != values.end();
  };
  if (!key.is_new && !came_later()) {
    return true;
  }
  JobSpec defaults;
  return value_text(*job_schema(defaults).find_key(key.path)) != value_text(key);
}

bool applies(const Schema& schema, const Key& key) { return unmet_condition(schema, key) == nullptr; }

const OnlyWith* unmet_condition(const Schema& schema, const Key& key) {
  const auto& condition = key.only_with;
  if (condition.key.empty()) {
    return nullptr;
  }
  const Key& decides = *schema.find_key(condition.key);
  if (const auto* outer = unmet_condition(schema, decides)) {
    return outer;
  }
  // A word that YAML wants in quotes is meant without them.
  const auto* const* text = std::get_if<std::string*>(&decides.target);
  const auto value = text == nullptr ? value_text(decides) : **text;
  const bool met = std::find(condition.values.begin(), condition.values.end(), value) != condition.values.end();
  return met ? nullptr : &condition;
}

}  // namespace ballast

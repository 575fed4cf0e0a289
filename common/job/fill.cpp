// Values into the members of a spec.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>

#include "common/job/config_error.h"
#include "common/job/given.h"
#include "common/job/group_list.h"
#include "common/job/layer_list.h"
#include "common/job/value.h"
#include "common/job/words.h"
#include "common/text/endpoint.h"
#include "common/text/text.h"

namespace ballast {

std::string kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a section";
    case YamlNode::Kind::scalar:
      break;
  }
  return shown(node.text);
}

const std::string& scalar(const YamlNode& node, const std::string& wanted) {
  if (node.kind != YamlNode::Kind::scalar) {
    throw Unfit{kind_name(node) + " where " + wanted + " is needed"};
  }
  return node.text;
}

bool is_name(const std::string& text, std::size_t most) {
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::string missing_text(const Key& key) {
  std::string text = "is missing";
  if (!key.choices.empty()) {
    text += "; allowed: " + comma_list(key.choices);
  } else if (key.rule == TextRule::endpoint) {
    text += "; e.g. tcp://10.0.0.5:7070";
  } else {
    text += "; write a value";
  }
  return text;
}

namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxParameterName = 128;  // of a parameter

std::string range_text(const Key& key) {
  // Whole numbers are written out; the largest 64-bit one is not exact as a double.
  const auto number = [](double value) {
    if (value >= 18446744073709551615.0) {
      return std::to_string(std::numeric_limits<std::uint64_t>::max());
    }
    return value >= 1 && value == std::floor(value) ? std::to_string(static_cast<std::uint64_t>(value))
                                                    : number_text(value);
  };
  return "allowed: " + number(key.minimum) + " to " + number(key.maximum) + (key.unit.empty() ? "" : " " + key.unit);
}

const std::string& number_digits(const YamlNode& node, const std::string& wanted, const Key& key) {
  const std::string& text = scalar(node, wanted + " (" + range_text(key) + ")");
  if (node.quoted) {
    throw Unfit{shown(text) + " is text because of its quotes; remove them, " + wanted + " is needed; " +
                range_text(key)};
  }
  return text;
}

std::uint64_t whole_number(const YamlNode& node, const Key& key) {
  const std::string& text = number_digits(node, "a whole number", key);
  const bool negative = text.size() > 1 && text[0] == '-';
  const bool digits = !text.empty() && std::all_of(text.begin() + (negative ? 1 : 0), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) {
    throw Unfit{shown(text) + " is not a whole number in plain digits; " + range_text(key)};
  }
  if (text.size() > 1 && text[0] == '0') {
    throw Unfit{shown(text) + " begins with a zero, which some read as octal; remove it"};
  }
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits = result.ec == std::errc() && result.ptr == text.data() + text.size();
  if (!fits || static_cast<double>(value) < key.minimum || static_cast<double>(value) > key.maximum) {
    throw Unfit{shown(text) + " is out of range; " + range_text(key)};
  }
  return value;
}

double real_number(const YamlNode& node, const Key& key) {
  const std::string& text = number_digits(node, "a number", key);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size() || text.empty() || result.ec == std::errc::invalid_argument) {
    throw Unfit{shown(text) + " is not a number; " + range_text(key)};
  }
  if (result.ec != std::errc() || !std::isfinite(value) || value < key.minimum || value > key.maximum) {
    throw Unfit{shown(text) + " is out of range; " + range_text(key)};
  }
  return value == 0 ? 0 : value;  // -0 reads as 0
}

void check_choice(const std::string& text, const Key& key) {
  if (std::find(key.choices.begin(), key.choices.end(), text) != key.choices.end()) {
    return;
  }
  const std::string allowed = "allowed: " + comma_list(key.choices);
  const std::string meant = nearest(text, key.choices);
  throw Unfit{shown(text) + " is not known; " + allowed + (meant.empty() ? "" : "; did you mean '" + meant + "'?")};
}

bool is_job_name(const std::string& text) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 64 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_copy_target(std::string_view text) {
  constexpr std::string_view kS3 = "s3://";
  if (text.starts_with(kS3)) {
    return text.size() > kS3.size() && text[kS3.size()] != '/';
  }
  return text.find("://") == std::string_view::npos;
}

bool is_http_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) {
      return text.size() > scheme.size() && text[scheme.size()] != '/' && text.find(' ') == std::string_view::npos;
    }
  }
  return false;
}

bool is_data_digest(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void check_rule(const std::string& text, TextRule rule) {
  if (text_fault(text, TextKind::line)) {
    throw Unfit{"contains a line break or another control character; remove it"};
  }
  if (text.size() > kMaxText) {
    throw Unfit{"is longer than " + std::to_string(kMaxText) + " bytes"};
  }
  if (rule == TextRule::job_name && !is_job_name(text)) {
    throw Unfit{shown(text) + " is no name; allowed: 1 to 64 of a-z 0-9 - _ . beginning with a letter or digit"};
  }
  if (rule == TextRule::host_port && !is_host_port(text)) {
    throw Unfit{shown(text) + " is no address; allowed: host:port, e.g. 127.0.0.1:9100"};
  }
  if (rule == TextRule::endpoint && !is_endpoint(text)) {
    throw Unfit{shown(text) + " is no address; allowed: tcp://host:port, e.g. tcp://10.0.0.5:7070, or ipc://path"};
  }
  if (rule == TextRule::copy_target && !is_copy_target(text)) {
    throw Unfit{shown(text) + " is no place for copies; allowed: a folder, or s3://bucket/prefix"};
  }
  if (rule == TextRule::data_digest && !is_data_digest(text)) {
    throw Unfit{shown(text) + " is no digest of data; allowed: 32 hexadecimal digits, as `ballast status` tells it"};
  }
  if (rule == TextRule::http_url && !is_http_url(text)) {
    throw Unfit{shown(text) + " is no address; allowed: http://host[:port] or https://host[:port]"};
  }
}

// Read as a float: by way of a double the last bit might be another.
float single_number(const YamlNode& node, const Key& key) {
  real_number(node, key);
  float value = 0;
  const auto result = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  if (result.ec != std::errc()) {
    throw Unfit{shown(node.text) + " is out of range; " + range_text(key)};
  }
  return value == 0 ? 0 : value;
}

bool truth(const YamlNode& node) {
  const std::string& text = scalar(node, "true or false");
  if (node.quoted || (text != "true" && text != "false")) {
    throw Unfit{shown(text) + " is neither true nor false; allowed: true, false"};
  }
  return text == "true";
}

std::string free_text(const YamlNode& node, const Key& key) {
  const std::string& text = scalar(node, "text");
  if (key.choices.empty()) {
    check_rule(text, key.rule);
    if (text.empty()) {
      throw Unfit{"is empty; write a value or remove the key"};
    }
  } else {
    check_choice(text, key);
  }
  return text;
}

// Of a list of 1 to `longest` numbers.
const std::vector<YamlNode>& number_nodes(const YamlNode& node, std::size_t longest, const std::string& example) {
  if (node.kind != YamlNode::Kind::list) {
    throw Unfit{kind_name(node) + " where a list is needed; e.g. " + example};
  }
  if (node.items.empty() || node.items.size() > longest) {
    throw Unfit{"a list of " + std::to_string(node.items.size()) + "; allowed: 1 to " + std::to_string(longest) +
                " numbers, e.g. " + example};
  }
  return node.items;
}

std::vector<std::uint32_t> number_list(const YamlNode& node, const Key& key, std::size_t longest,
                                       const std::string& example) {
  std::vector<std::uint32_t> numbers;
  for (const auto& item : number_nodes(node, longest, example)) {
    numbers.push_back(static_cast<std::uint32_t>(whole_number(item, key)));
  }
  return numbers;
}

std::vector<double> real_list(const YamlNode& node, const Key& key) {
  std::vector<double> numbers;
  for (const auto& item : number_nodes(node, kMaxRealNumbers, "[1, 2.5]")) {
    numbers.push_back(real_number(item, key));
  }
  return numbers;
}

// One number for both directions, or a list of two.
Pair number_pair(const YamlNode& node, const Key& key) {
  if (node.kind != YamlNode::Kind::list) {
    return static_cast<std::uint32_t>(whole_number(node, key));
  }
  if (node.items.size() != 2) {
    throw Unfit{"a list of " + std::to_string(node.items.size()) + "; one number is needed, or two: [height, width]"};
  }
  return {static_cast<std::uint32_t>(whole_number(node.items[0], key)),
          static_cast<std::uint32_t>(whole_number(node.items[1], key))};
}

std::vector<std::string> word_list(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list || node.items.empty() || node.items.size() > kMaxWords) {
    throw Unfit{"a list of 1 to " + std::to_string(kMaxWords) + " texts is needed; e.g. [cat, dog]"};
  }
  std::vector<std::string> words;
  for (const auto& item : node.items) {
    words.push_back(scalar(item, "text"));
    check_rule(words.back(), TextRule::printable);
  }
  auto sorted = words;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw Unfit{shown(*twice) + " stands there twice; remove one of them"};
  }
  return words;
}

EmulatedParameter emulated_parameter(const YamlNode& node, const Key& key) {
  EmulatedParameter parameter;
  if (node.kind != YamlNode::Kind::map) {
    throw Unfit{kind_name(node) + " where {name: ..., shape: [...]} is needed"};
  }
  for (const auto& entry : node.entries) {
    if (entry.key == "name") {
      parameter.name = scalar(entry.value, "a parameter's name");
    } else if (entry.key == "shape") {
      parameter.shape = number_list(entry.value, key, kMaxDimensions, "[64, 3, 7, 7]");
    } else if (entry.key == "group") {
      parameter.group = scalar(entry.value, "a parameter's group");
      if (parameter.group != "decay" && parameter.group != "no_decay" && parameter.group != "state") {
        throw Unfit{shown(parameter.group) + " is no group of a parameter; allowed: decay, no_decay, state"};
      }
    } else if (entry.key == "momentum") {
      Key momentum;
      momentum.target = &parameter.momentum;
      momentum.maximum = 1;
      read_value(momentum, entry.value);
    } else {
      throw Unfit{"unknown key " + shown(entry.key) + " of a parameter; allowed: name, shape, group, momentum"};
    }
  }
  if (!is_name(parameter.name, kMaxParameterName)) {
    throw Unfit{shown(parameter.name) + " is no name of a parameter; allowed: 1 to 128 of A-Z a-z 0-9 . _ -"};
  }
  if (parameter.shape.empty()) {
    throw Unfit{"parameter '" + parameter.name + "' has no shape; e.g. shape: [64, 3, 7, 7]"};
  }
  if (parameter.momentum != 0 && parameter.group != "state") {
    throw Unfit{"parameter '" + parameter.name +
                "' has a momentum, which only running statistics have; add group: state, or remove it"};
  }
  return parameter;
}

std::vector<EmulatedParameter> parameter_list(const YamlNode& node, const Key& key) {
  if (node.kind != YamlNode::Kind::list || node.items.empty() || node.items.size() > kMaxParameters) {
    throw Unfit{"a list of 1 to " + std::to_string(kMaxParameters) +
                " parameters is needed; e.g. [{name: fc.weight, shape: [1000, 2048]}]"};
  }
  std::vector<EmulatedParameter> parameters;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    try {
      parameters.push_back(emulated_parameter(node.items[i], key));
    } catch (const Unfit& unfit) {
      throw Unfit{"parameter " + std::to_string(i + 1) + ": " + unfit.text, node.items[i].line};
    }
  }
  return parameters;
}

CsvColumn::Kind column_kind(const std::string& text) {
  using enum CsvColumn::Kind;
  for (const auto kind : {number, category, ignored, label, flag, target}) {
    if (text == name_of(kind)) {
      return kind;
    }
  }
  throw Unfit{shown(text) + " is no kind of a column; allowed: number, category, ignored, label, flag, target"};
}

CsvColumn csv_column(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::map) {
    throw Unfit{kind_name(node) + " where {name: ..., kind: ...} is needed"};
  }
  Key number{.minimum = -1e30, .maximum = 1e30};
  Key deviation{.minimum = 1e-30, .maximum = 1e30};
  CsvColumn column;
  for (const auto& entry : node.entries) {
    if (entry.key == "name") {
      column.name = scalar(entry.value, "a column's name");
      check_rule(column.name, TextRule::printable);
    } else if (entry.key == "kind") {
      column.kind = column_kind(scalar(entry.value, "a column's kind"));
    } else if (entry.key == "mean") {
      column.mean = real_number(entry.value, number);
    } else if (entry.key == "deviation") {
      column.deviation = real_number(entry.value, deviation);
    } else if (entry.key == "values") {
      column.values = word_list(entry.value);
    } else {
      throw Unfit{"unknown key " + shown(entry.key) + " of a column; allowed: name, kind, mean, deviation, values"};
    }
  }
  if (column.name.empty()) {
    throw Unfit{"a column has no name; e.g. {name: age, kind: number}"};
  }
  if (column.values.empty() == (column.kind == CsvColumn::Kind::category)) {
    throw Unfit{"column " + shown(column.name) +
                (column.values.empty() ? " is a category without values; list them: values: [red, green]"
                                       : " has values, which only a column of kind: category has; remove them")};
  }
  return column;
}

std::vector<CsvColumn> column_list(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list || node.items.empty() || node.items.size() > kMaxColumns) {
    throw Unfit{"a list of 1 to " + std::to_string(kMaxColumns) +
                " columns is needed; e.g. [{name: age, kind: number, mean: 38.6, deviation: 13.6}]"};
  }
  std::vector<CsvColumn> columns;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    try {
      columns.push_back(csv_column(node.items[i]));
    } catch (const Unfit& unfit) {
      throw Unfit{"column " + std::to_string(i + 1) + ": " + unfit.text, node.items[i].line};
    }
    names.push_back(columns.back().name);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    throw Unfit{"two columns are named " + shown(*twice)};
  }
  return columns;
}

// One overload for each kind of target.
class Filler {
 public:
  Filler(const Key& key, const YamlNode& node) : key_(key), node_(node) {}

  void operator()(std::monostate /*none*/) const { throw Unfit{"is not built yet; remove it"}; }
  void operator()(std::string* text) const { *text = free_text(node_, key_); }
  void operator()(bool* flag) const { *flag = truth(node_); }
  template <class Word>
  requires std::is_enum_v<Word>
  void operator()(Word* word) const {
    const std::string& text = scalar(node_, "text");
    check_choice(text, key_);
    *word = static_cast<Word>(std::find(key_.choices.begin(), key_.choices.end(), text) - key_.choices.begin());
  }
  void operator()(std::uint32_t* number) const { *number = static_cast<std::uint32_t>(whole_number(node_, key_)); }
  void operator()(std::uint64_t* number) const { *number = whole_number(node_, key_); }
  void operator()(double* number) const { *number = real_number(node_, key_); }
  void operator()(float* number) const { *number = single_number(node_, key_); }
  void operator()(Pair* pair) const { *pair = number_pair(node_, key_); }
  void operator()(std::optional<std::uint32_t>* number) const {
    *number = static_cast<std::uint32_t>(whole_number(node_, key_));
  }
  void operator()(std::optional<std::uint64_t>* number) const { *number = whole_number(node_, key_); }
  void operator()(std::optional<double>* number) const { *number = real_number(node_, key_); }
  void operator()(std::vector<std::uint32_t>* list) const {
    *list = number_list(node_, key_, kMaxHiddenLayers, "[256, 128]");
  }
  void operator()(std::vector<double>* list) const { *list = real_list(node_, key_); }
  void operator()(std::vector<EmulatedParameter>* list) const { *list = parameter_list(node_, key_); }
  void operator()(std::vector<LayerSpec>* list) const { *list = read_layers(node_); }
  void operator()(std::vector<ParameterGroup>* list) const { *list = read_groups(node_); }
  void operator()(std::vector<std::string>* list) const { *list = word_list(node_); }
  void operator()(std::vector<CsvColumn>* list) const { *list = column_list(node_); }

 private:
  const Key& key_;
  const YamlNode& node_;
};

}  // namespace

void read_value(const Key& key, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::null && key.built()) {
    throw Unfit{"has no value; write one or remove the key"};
  }
  std::visit(Filler(key, node), key.target);
}

std::vector<std::string> fill(const Schema& schema, const Given& given, Mistakes& mistakes) {
  std::vector<std::string> unreadable;
  const auto tell = [&](const Key& key, Place place, const std::vector<Unfit>& unfits) {
    for (const Unfit& unfit : unfits) {
      place.line = !place.is_override() && unfit.line > 0 ? unfit.line : place.line;
      mistakes.add(place, key.path + unfit.within, unfit.text);
    }
    unreadable.push_back(key.path);
  };
  for (const auto& key : schema.keys) {
    const auto value = given.find(key.path);
    try {
      if (value != given.end()) {
        read_value(key, value->second.node);
      } else if (key.required) {
        tell(key, {}, {{missing_text(key)}});
      }
    } catch (const Unfit& unfit) {
      tell(key, value->second.place, {unfit});
    } catch (const Unfits& unfits) {
      tell(key, value->second.place, unfits.all);
    }
  }
  return unreadable;
}

}  // namespace ballast

#include "cli/rendering/yaml_text.h"

#include <yaml-cpp/yaml.h>

#include <stdexcept>

#include "cli/data/portable_yaml.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

// A block that keeps every line as it is: its first line tells the indentation, and its last one ends in a line break.
bool fits_literal(const std::string& text) {
  return text.size() > 1 && text.front() > ' ' && text.back() == '\n' && text[text.size() - 2] != '\n' &&
         text.find_first_of("\t\r") == std::string::npos;
}

void emit_text(YAML::Emitter& out, const std::string& text) {
  if (fits_literal(text)) {
    out << YAML::Literal << text;
  } else if (text.empty() || text.find('\n') != std::string::npos || portable_text(text).starts_with('"')) {
    out << YAML::DoubleQuoted << text;
  } else {
    out << text;
  }
}

void emit_value(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    if (value.empty()) {
      out << YAML::Flow;
    }
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      out << YAML::Key;
      emit_text(out, key);
      out << YAML::Value;
      emit_value(out, member);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) {
      out << YAML::Flow;
    }
    out << YAML::BeginSeq;
    for (const auto& element : value) {
      emit_value(out, element);
    }
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    emit_text(out, value.get<std::string>());
  } else if (value.is_boolean()) {
    out << value.get<bool>();
  } else if (value.is_number_unsigned()) {
    out << value.get<std::uint64_t>();
  } else if (value.is_number_integer()) {
    out << value.get<std::int64_t>();
  } else {
    throw std::logic_error("manifests have no values of this type: " + value.dump());
  }
}

}  // namespace

std::string yaml_text(const Json& object) {
  YAML::Emitter out;
  emit_value(out, object);
  if (!out.good()) {
    throw std::logic_error("YAML: " + out.GetLastError());
  }
  std::string text = out.c_str();
  return text.ends_with('\n') ? text : text + '\n';  // a block at the end has brought its own
}

std::string yaml_documents(const std::vector<Json>& objects) {
  std::string text;
  for (const auto& object : objects) {
    text += "---\n" + yaml_text(object);
  }
  return text;
}

}  // namespace ballast

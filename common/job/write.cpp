// The effective job as YAML, its digest, and what differs between two.
#include <algorithm>
#include <map>
#include <utility>

#include "common/job/differing.h"
#include "common/job/layer_list.h"
#include "common/job/load.h"
#include "common/job/schema.h"
#include "common/numeric/sha256.h"

namespace ballast {
namespace {

std::string section_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

// Writes "a:\n  b:\n" for the parts of `section` that `previous` does not already have open.
std::string section_header(const std::string& section, const std::string& previous) {
  std::string text;
  std::string indent;
  for (std::size_t begin = 0; begin < section.size();) {
    const std::size_t end = std::min(section.find('.', begin), section.size());
    const std::string part = section.substr(0, end);
    const bool open = previous == part || previous.starts_with(part + ".");
    if (!open) {
      text += indent + section.substr(begin, end - begin) + ":\n";
    }
    indent += "  ";
    begin = end + 1;
  }
  return text;
}

std::string indent_of(const std::string& path) {
  return std::string(2 * static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')), ' ');
}

// As value_text, but for what is better read on several lines.
std::string written_value(const Key& key) {
  const auto* const layers = std::get_if<std::vector<LayerSpec>*>(&key.target);
  if (layers == nullptr || (*layers)->empty()) {
    return value_text(key);
  }
  return layers_text(**layers, ",\n" + indent_of(key.path) + "  ");
}

// The keys that decide the bits, with their values; those without a value or meaning are left out.
std::map<std::string, std::string> identity_of(JobSpec spec) {
  std::map<std::string, std::string> values;
  const Schema schema = job_schema(spec);
  for (const auto& key : schema.keys) {
    if (key.identity && is_written(schema, key)) {
      values[key.path] = value_text(key);
    }
  }
  return values;
}

}  // namespace

std::string to_yaml(const JobSpec& spec) {
  JobSpec copy = spec;
  const Schema schema = job_schema(copy);
  std::string text;
  std::string open_section;
  for (const auto& key : schema.keys) {
    if (!is_written(schema, key)) {
      continue;
    }
    const std::string value = written_value(key);
    const std::string section = section_of(key.path);
    text += section_header(section, open_section);
    open_section = section;
    const std::string name = section.empty() ? key.path : key.path.substr(section.size() + 1);
    text += indent_of(key.path) + name + ": " + value + "\n";
  }
  return text;
}

std::string spec_digest(const JobSpec& spec) {
  Sha256 digest;
  for (const auto& [path, value] : identity_of(spec)) {
    digest.update(path + "=" + value + "\n");
  }
  return digest.hex();
}

std::vector<DifferingKey> differing(const JobSpec& a, const JobSpec& b) {
  const auto in_a = identity_of(a);
  const auto in_b = identity_of(b);
  auto all = in_a;
  all.insert(in_b.begin(), in_b.end());
  const auto value_in = [](const std::map<std::string, std::string>& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? std::string("none") : found->second;
  };
  std::vector<DifferingKey> keys;
  for (const auto& [path, value] : all) {
    DifferingKey key{path, value_in(in_a, path), value_in(in_b, path)};
    if (key.a != key.b) {
      keys.push_back(std::move(key));
    }
  }
  return keys;
}

std::string differing_keys(const std::string& a_yaml, const std::string& b_yaml) {
  std::string text;
  try {
    for (const auto& [key, a, b] : differing(parse_job(a_yaml, "the first job"), parse_job(b_yaml, "the second job"))) {
      text += (text.empty() ? "" : ", ") + key + " (" + a + " against " + b + ")";
    }
  } catch (const ConfigError& error) {
    return "one of the two can't be read by this version (" + error.errors().front() + ")";
  }
  return text;
}

}  // namespace ballast

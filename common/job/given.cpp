#include "common/job/given.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/job/config_error.h"
#include "common/job/words.h"

namespace ballast {
namespace {

std::string child_path(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

std::string unknown_key_text(const Schema& schema, const std::string& path) {
  std::vector<std::string> known;
  for (const auto& key : schema.keys) {
    known.push_back(key.path);
  }
  for (const auto& section : schema.sections) {
    known.push_back(section.path);
  }
  const std::string meant = nearest(path, known);
  if (!meant.empty()) {
    return "unknown key; did you mean '" + meant + "'?";
  }
  std::vector<std::string> siblings;
  const auto dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot + 1);
  for (const auto& name : known) {
    if (name.starts_with(section) && name.find('.', section.size()) == std::string::npos) {
      siblings.push_back(name.substr(section.size()));
    }
  }
  return siblings.empty() ? "unknown key" : "unknown key; allowed here: " + listed(siblings);
}

std::string shortened(const std::string& path) {
  const std::string text = shown(path);
  return text.substr(1, text.size() - 2);
}

class Collector {
 public:
  Collector(const Schema& schema, Mistakes& mistakes) : schema_(schema), mistakes_(mistakes) {}

  void walk(const std::string& section, const YamlNode& map) {
    for (const auto& entry : map.entries) {
      take(child_path(section, entry.key), entry);
    }
  }

  Given given;

 private:
  void take(const std::string& path, const YamlEntry& entry) {
    const Place place{entry.line};
    if (schema_.find_key(path) != nullptr) {
      given[path] = {entry.value, place};
    } else if (!schema_.is_section(path)) {
      mistakes_.add(place, shortened(path), unknown_key_text(schema_, path));
    } else if (entry.value.kind == YamlNode::Kind::map) {
      walk(path, entry.value);
    } else if (entry.value.kind != YamlNode::Kind::null) {  // a section whose keys are all commented out is empty
      mistakes_.add(place, path, "is a section; write its keys below it, indented");
    }
  }

  const Schema& schema_;
  Mistakes& mistakes_;
};

constexpr Place kOverride = {0, true};

void apply_override(const Schema& schema, const std::string& text, Given& given, Mistakes& mistakes) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    mistakes.add(kOverride, shortened(text), "has no value; write --set key.path=value");
    return;
  }
  const std::string path = text.substr(0, equals);
  if (schema.is_section(path)) {
    mistakes.add(kOverride, path, "is a section; name one of its keys, as in --set " + path + ".key=value");
    return;
  }
  if (schema.find_key(path) == nullptr) {
    mistakes.add(kOverride, shortened(path), unknown_key_text(schema, path));
    return;
  }
  try {
    YamlNode node = parse_yaml(text.substr(equals + 1), "--set " + path);
    if (node.kind == YamlNode::Kind::null) {
      given.erase(path);
    } else {
      given[path] = {std::move(node), kOverride};
    }
  } catch (const ConfigError& error) {
    mistakes.add(kOverride, path, std::string("the value is not readable; ") + error.what());
  }
}

}  // namespace

void Mistakes::add(Place place, const std::string& path, const std::string& text) {
  std::string where = label_ + ": ";
  if (place.is_override) {
    where = "--set: ";
  } else if (place.line > 0) {
    where = label_ + ":" + std::to_string(place.line) + ": ";
  }
  mistakes_.push_back({place, where + path + ": " + text});
}

void Mistakes::throw_if_any() {
  if (mistakes_.empty()) {
    return;
  }
  std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const Mistake& a, const Mistake& b) {
    return std::tie(a.place.is_override, a.place.line) < std::tie(b.place.is_override, b.place.line);
  });
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < std::min(mistakes_.size(), kMaxConfigErrors); ++i) {
    errors.push_back(std::move(mistakes_[i].text));
  }
  if (mistakes_.size() > kMaxConfigErrors) {
    errors.push_back(label_ + ": and " + std::to_string(mistakes_.size() - kMaxConfigErrors) + " more mistakes");
  }
  throw ConfigError(std::move(errors));
}

Given collect(const Schema& schema, const YamlNode& root, Mistakes& mistakes) {
  Collector collector(schema, mistakes);
  collector.walk("", root);
  return std::move(collector.given);
}

void apply_overrides(const Schema& schema, std::span<const std::string> overrides, Given& given, Mistakes& mistakes) {
  for (const auto& text : overrides) {
    apply_override(schema, text, given, mistakes);
  }
}

}  // namespace ballast

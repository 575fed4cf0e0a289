#include "common/job/given.h"

#include <algorithm>
#include <utility>

#include "common/job/config_error.h"
#include "common/job/words.h"

namespace ballast {
namespace {

std::string child_path(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

// "lr" of "learning_rate"
std::string initials_of(const std::string& word) {
  std::string initials;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (i == 0 || word[i - 1] == '_') {
      initials += word[i];
    }
  }
  return initials;
}

// The key of the same section of which the path's last part is an abbreviation; empty: none.
std::string abbreviated(const Schema& schema, const std::string& path) {
  const auto part = path.rfind('.') + 1;  // 0 without a section
  for (const auto& key : schema.keys) {
    if (key.path.rfind('.') + 1 == part && key.path.starts_with(path.substr(0, part)) && path.size() > part + 1 &&
        initials_of(key.path.substr(part)) == path.substr(part)) {
      return key.path;
    }
  }
  return {};
}

std::string unknown_key_text(const Schema& schema, const std::string& path) {
  std::vector<std::string> known;
  for (const auto& key : schema.keys) {
    known.push_back(key.path);
  }
  for (const auto& section : schema.sections) {
    if (!path.starts_with(section.path + ".")) {  // of which the path is meant to be a key
      known.push_back(section.path);
    }
  }
  const std::string full = abbreviated(schema, path);
  const std::string meant = full.empty() ? nearest(path, known) : full;
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
  return siblings.empty() ? "unknown key" : "unknown key; allowed here: " + comma_list(siblings);
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

// As the command line's are: what somebody typed after --set may begin with anything.
bool is_option(std::string_view word) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-";
  constexpr std::size_t kLongest = 30;
  return word.starts_with("--") && word.size() > 2 && word.size() <= kLongest &&
         word.find_first_not_of(kLetters) == std::string_view::npos;
}

// "--workers cluster.workers=8" in its two parts.
std::pair<Place, std::string> typed_as(const std::string& text) {
  const auto space = text.find(' ');
  if (space != std::string::npos && is_option(std::string_view(text).substr(0, space))) {
    return {{0, text.substr(0, space)}, text.substr(space + 1)};
  }
  return {{0, "--set"}, text};
}

void apply_override(const Schema& schema, const std::string& typed, Given& given, Mistakes& mistakes) {
  const auto [place, text] = typed_as(typed);
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    mistakes.add(place, shortened(text), "has no value; write --set key.path=value");
    return;
  }
  const std::string path = text.substr(0, equals);
  if (schema.is_section(path)) {
    mistakes.add(place, path, "is a section; name one of its keys, as in --set " + path + ".key=value");
    return;
  }
  if (schema.find_key(path) == nullptr) {
    mistakes.add(place, shortened(path), unknown_key_text(schema, path));
    return;
  }
  try {
    YamlNode node = parse_yaml(text.substr(equals + 1), "--set " + path);
    if (node.kind == YamlNode::Kind::null) {
      given.erase(path);
    } else {
      given[path] = {std::move(node), place};
    }
  } catch (const ConfigError& error) {
    mistakes.add(place, path, std::string("the value is not readable; ") + error.what());
  }
}

}  // namespace

void Mistakes::add(Place place, const std::string& path, const std::string& text) {
  std::string where = label_ + ": ";
  if (place.is_override()) {
    where = place.option + ": ";
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
    return std::pair(a.place.is_override(), a.place.line) < std::pair(b.place.is_override(), b.place.line);
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

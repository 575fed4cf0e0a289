#include "storage/store/job_difference.h"

#include <algorithm>
#include <map>
#include <vector>

namespace ballast {
namespace {

using Settings = std::map<std::string, std::string>;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The keys of the lines above, outermost first, as far as they enclose the line being read.
class Path {
 public:
  void leave(std::size_t indent) {
    while (!parts_.empty() && parts_.back().indent >= indent) {
      parts_.pop_back();
    }
  }
  void enter(std::size_t indent, std::string_view key) { parts_.push_back({indent, std::string(key)}); }
  [[nodiscard]] std::string name() const {
    std::string joined;
    for (const auto& part : parts_) {
      joined += (joined.empty() || part.key.starts_with('[') ? "" : ".") + part.key;
    }
    return joined;
  }

 private:
  struct Part {
    std::size_t indent = 0;
    std::string key;
  };
  std::vector<Part> parts_;
};

Settings read_settings(std::string_view yaml) {
  Settings settings;
  Path path;
  std::map<std::string, std::size_t> items;  // of each list so far
  while (!yaml.empty()) {
    const auto end = yaml.find('\n');
    auto line = yaml.substr(0, end);
    yaml.remove_prefix(end == std::string_view::npos ? yaml.size() : end + 1);
    auto text = trim(line);
    if (text.empty() || text.starts_with('#') || text == "---") {
      continue;
    }
    auto indent = 2 * line.find_first_not_of(' ');
    if (text.starts_with("- ") || text == "-") {  // stands deeper than the key above it, at whatever column
      path.leave(indent + 1);
      const auto list = path.name();
      path.enter(indent + 1, std::string(1, '[').append(std::to_string(items[list]++)).append("]"));
      text = trim(text.substr(1));
      indent += 4;
    } else {
      path.leave(indent);
    }
    const auto colon = text.find(": ");
    const bool opens = text.ends_with(':');
    if (colon == std::string_view::npos && !opens) {
      settings[path.name()] += std::string(text);
      continue;
    }
    path.enter(indent, opens ? text.substr(0, text.size() - 1) : text.substr(0, colon));
    settings[path.name()] = opens ? "" : std::string(trim(text.substr(colon + 2)));
  }
  return settings;
}

std::string value_of(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "not set" : found->second.empty() ? "(nothing)" : found->second;
}

}  // namespace

std::string describe_job_difference(std::string_view there, std::string_view here, std::size_t limit) {
  const auto old_settings = read_settings(there);
  const auto new_settings = read_settings(here);
  auto keys = old_settings;
  keys.insert(new_settings.begin(), new_settings.end());
  std::string text;
  std::size_t differing = 0;
  for (const auto& [key, unused] : keys) {
    const auto before = value_of(old_settings, key);
    const auto now = value_of(new_settings, key);
    if (before != now && ++differing <= limit) {
      text += (text.empty() ? "" : "; ") + key + ": " + before + " there, " + now + " here";
    }
  }
  if (differing > limit) {
    text += "; and " + std::to_string(differing - limit) + " more";
  }
  return text;
}

bool have_same_model(std::string_view there, std::string_view here) {
  const auto new_settings = read_settings(here);
  return std::ranges::all_of(read_settings(there), [&](const auto& setting) {
    const auto& [key, value] = setting;
    const auto found = new_settings.find(key);
    const bool is_of_model = key.starts_with("model.") || key == "data.name";
    return !is_of_model || found == new_settings.end() || found->second == value;
  });
}

}  // namespace ballast

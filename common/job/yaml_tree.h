// A small, strict subset of YAML as a tree that knows its lines: maps with plain keys, lists and scalars.
// Refused, because no configuration needs them and each is a way to hide something: anchors and aliases, tags,
// several documents in one file, repeated keys, keys that are not plain text, nesting deeper than kMaxYamlDepth.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

inline constexpr std::size_t kMaxYamlBytes = 1U << 20;
inline constexpr std::size_t kMaxYamlDepth = 16;

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::size_t line = 0;  // counted from 1
  std::string text;      // scalar
  bool quoted = false;   // scalar: written in quotes, so never a number
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;  // map: in the order of the file, keys distinct
};

struct YamlEntry {
  std::string key;
  std::size_t line = 0;
  YamlNode value;
};

// Throws ConfigError naming `label` and the line. An empty text (or one of comments alone) gives Kind::null.
YamlNode parse_yaml(std::string_view text, const std::string& label);

// `text` as a double-quoted YAML scalar, or as it stands where that reads back as the same scalar.
std::string yaml_quoted(std::string_view text);

}  // namespace ballast

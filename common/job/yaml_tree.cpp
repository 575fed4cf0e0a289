#include "common/job/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

#include "common/job/config_error.h"
#include "common/text/text.h"

namespace ballast {
namespace {

std::string at_line(const std::string& label, std::size_t line) { return label + ":" + std::to_string(line) + ": "; }

std::size_t line_of(const YAML::Mark& mark) { return mark.line < 0 ? 1 : static_cast<std::size_t>(mark.line) + 1; }

// yaml-cpp takes byte 4 for the end of its input and would silently drop what follows, and guesses other encodings
// from the first bytes: so text is checked before it sees any.
void check_characters(std::string_view text, const std::string& label) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const Character found = character_at(text, at);
    if (found.bytes == 0) {
      throw ConfigError(at_line(label, line) + "the text is not UTF-8; save the file as UTF-8");
    }
    if (is_control(found.code) && found.code != '\n' && found.code != '\r' && found.code != '\t') {
      std::array<char, 16> value{};
      std::snprintf(value.data(), value.size(), "0x%02X", static_cast<unsigned>(found.code));
      throw ConfigError(at_line(label, line) + "control character " + value.data() +
                        "; remove it (is this a text file?)");
    }
    line += found.code == '\n' ? 1 : 0;
    at += found.bytes;
  }
}

// A control character as YAML 1.2.2, 5.7 escapes it in double quotes: a line break as it stands would be read as a
// blank, and others are refused.
std::string escaped(char32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), code <= 0xFF ? "\\x%02X" : "\\u%04X", static_cast<unsigned>(code));
  return text.data();
}

// Builds the tree from yaml-cpp's events. It refuses as it goes, so that hostile text costs no more than its size.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string label) : label_(std::move(label)) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      refuse(mark, "a second document begins; a file holds one");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    if (expects_key()) {
      refuse(mark, "a key is missing");
    }
    add({}, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "an alias (*name); write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (expects_key()) {
      take_key(mark, value);
      return;
    }
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node), mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlEntry> entry;  // map: the key whose value is next
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    throw ConfigError(at_line(label_, line_of(mark)) + what);
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      refuse(mark, "an anchor (&name); write the value out where it is used");
    }
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(mark, "a tag (" + tag + "); remove it, types follow from the key");
    }
  }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::map && !open_.back().entry;
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    const auto& entries = open_.back().node.entries;
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& e) { return e.key == key; });
    if (same != entries.end()) {
      refuse(mark, key + ": this key stands here twice; it stands already in line " + std::to_string(same->line) +
                       ", remove one of them");
    }
    if (entries.size() == kMaxKeys) {
      refuse(mark, "more than " + std::to_string(kMaxKeys) + " keys in one section");
    }
    open_.back().entry = YamlEntry{key, line_of(mark), {}};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check(mark, tag, anchor);
    if (expects_key()) {
      refuse(mark, "a list or map as a key; a key is plain text");
    }
    if (open_.size() == kMaxYamlDepth) {
      refuse(mark, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
    }
    Open opened;
    opened.node.kind = kind;
    opened.node.line = line_of(mark);
    open_.push_back(std::move(opened));
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(node));
  }

  void add(YamlNode node, const YAML::Mark& mark) {
    node.line = line_of(mark);
    place(std::move(node));
  }

  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (auto& parent = open_.back(); parent.node.kind == YamlNode::Kind::map) {
      // yaml-cpp marks an empty value where the next token stands, which may be lines below.
      if (node.kind == YamlNode::Kind::null) {
        node.line = parent.entry->line;
      }
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  static constexpr std::size_t kMaxKeys = 1000;  // keeps the search for repeated keys cheap

  std::string label_;
  std::vector<Open> open_;
  YamlNode root_;
  std::size_t documents_ = 0;
};

}  // namespace

YamlNode parse_yaml(std::string_view text, const std::string& label) {
  if (text.size() > kMaxYamlBytes) {
    throw ConfigError(label + ": larger than " + std::to_string(kMaxYamlBytes) + " bytes; is this the right file?");
  }
  check_characters(text, label);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(label);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw ConfigError(at_line(label, line_of(error.mark)) + "not readable as YAML: " + error.msg);
  }
  return builder.take();
}

std::string yaml_quoted(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '/' || c == '-';
  };
  const bool starts_plain = !text.empty() && text.front() != '-' && text.front() != '.';
  constexpr std::array<std::string_view, 3> kNulls = {"null", "Null", "NULL"};
  if (starts_plain && std::all_of(text.begin(), text.end(), plain) &&
      std::find(kNulls.begin(), kNulls.end(), text) == kNulls.end()) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto found = character_at(text, at);
    const auto bytes = std::max<std::size_t>(found.bytes, 1);
    if (found.bytes > 0 && is_control(found.code)) {
      quoted += escaped(found.code);
    } else {
      quoted += found.code == U'"' || found.code == U'\\' ? "\\" : "";
      quoted += text.substr(at, bytes);
    }
    at += bytes;
  }
  return quoted + '"';
}

}  // namespace ballast

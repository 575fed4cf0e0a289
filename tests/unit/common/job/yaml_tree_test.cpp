#include "common/job/yaml_tree.h"

#include <doctest/doctest.h>

#include <string>

#include "common/job/config_error.h"

namespace ballast {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_yaml(text, "f");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a tree knows its lines and which scalars were quoted") {
  const YamlNode root = parse_yaml("a: 1\n# note\nb:\n  - x\n  - 'y'\nc:\nd: {e: \"2\"}\n", "f");
  REQUIRE(root.kind == YamlNode::Kind::map);
  REQUIRE(root.entries.size() == 4);
  CHECK(root.entries[0].value.text == "1");
  CHECK_FALSE(root.entries[0].value.quoted);
  CHECK(root.entries[1].line == 3);
  REQUIRE(root.entries[1].value.items.size() == 2);
  CHECK(root.entries[1].value.items[1].line == 5);
  CHECK(root.entries[1].value.items[1].quoted);
  CHECK(root.entries[2].value.kind == YamlNode::Kind::null);
  CHECK(root.entries[2].value.line == 6);
  CHECK(root.entries[3].value.entries[0].value.quoted);
}

TEST_CASE("line ends and marks of other systems") {
  const YamlNode root = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n",
      "f");
  REQUIRE(root.entries.size() == 2);
  CHECK(root.entries[0].key == "a");
  CHECK(root.entries[1].value.text == "2");
  CHECK(root.entries[1].line == 2);
}

TEST_CASE("what is refused") {
  CHECK(error_of("a: 1\nb: *x\n").starts_with("f:2: "));
  CHECK(error_of("a: &x 1\n") == "f:1: an anchor (&name); write the value out where it is used");
  CHECK(error_of("a: &x 1\nb: *x\n") == "f:1: an anchor (&name); write the value out where it is used");
  CHECK(error_of("a: !thing 1\n") == "f:1: a tag (!thing); remove it, types follow from the key");
  CHECK(error_of("a: 1\na: 2\n") ==
        "f:2: a: this key stands here twice; it stands already in line 1, remove one of them");
  CHECK(error_of("{a: 1, 'a': 2}") ==
        "f:1: a: this key stands here twice; it stands already in line 1, remove one of them");
  CHECK(error_of("? [1]\n: 2\n") == "f:1: a list or map as a key; a key is plain text");
  CHECK(error_of("~: 2\n") == "f:1: a key is missing");
  CHECK(error_of("a: 1\n...\n---\nb: 2\n").starts_with("f:3: a second document begins"));
  CHECK(error_of("a: \xC0\x80\n") == "f:1: the text is not UTF-8; save the file as UTF-8");      // overlong
  CHECK(error_of("a: \xED\xA0\x80\n") == "f:1: the text is not UTF-8; save the file as UTF-8");  // surrogate
  CHECK(error_of("a: \xF4\x90\x80\x80\n") == "f:1: the text is not UTF-8; save the file as UTF-8");
  CHECK(error_of("a: \xE2\x82") == "f:1: the text is not UTF-8; save the file as UTF-8");  // cut off
  // Controls beyond ASCII: a line end to some, a terminal's command to others.
  CHECK(error_of("a: 1\nb: \xC2\x85\n") == "f:2: control character 0x85; remove it (is this a text file?)");
  CHECK(error_of("a: \xE2\x80\xA8\n") == "f:1: control character 0x2028; remove it (is this a text file?)");
  CHECK(error_of("\"a\\e[2J\\n\": 1\n\"a\\e[2J\\n\": 2\n").starts_with("f:2: a [2J : this key stands here twice"));
  CHECK(error_of("a: \xE2\x82\xAC \xF0\x9F\x98\x80 \xC3\xA4").empty());
}

TEST_CASE("quoted text reads back as itself") {
  for (const auto& text : std::vector<std::string>{
           "plain", "with space", "null", "~", "", "a: b", "#x", "it's", "say \"hi\"", "back\\slash", "/data/mnist",
           "-", "- a", "*a", "&a", "tcp://h:1", "\xC3\xA4", "a,b", "[x]", "1.5", ".", "...", "---", "%a", "@a", "`a",
           // Control characters, which as they stand would be read otherwise or refused.
           "a\tb", "a\nb: c", "\r", std::string("a\0b", 3), "\x1b[2J", "\x7f", "\xC2\x85", "\xE2\x80\xA8x"}) {
    CAPTURE(text);
    const YamlNode root = parse_yaml("k: " + yaml_quoted(text) + "\n", "f");
    REQUIRE(root.entries.size() == 1);
    CHECK(root.entries[0].value.kind == YamlNode::Kind::scalar);
    CHECK(root.entries[0].value.text == text);
  }
}

}  // namespace
}  // namespace ballast

#include "cli/rendering/yaml_text.h"

#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("texts that YAML would take for something else are in quotes, numbers are not") {
  CHECK(yaml_text({{"number", 143}, {"text", "143"}}) == "number: 143\ntext: \"143\"\n");
  CHECK(yaml_text({{"is", true}, {"no", "no"}}) == "is: true\n\"no\": \"no\"\n");
  CHECK(yaml_text({{"size", "512Mi"}}) == "size: 512Mi\n");
}

TEST_CASE("whatever a text holds is read again") {
  for (const std::string text :
       {"", " ", "a: b", "# c", "- d", "$(A_HOST):7000", "tcp://0.0.0.0:7100", "'", "\"", "1e5", "0x10", "~", "null",
        "%", "@x", "a\nb\n", "  indented\nlines\n", "ends without\na break", "\xC3\xA4"}) {
    CAPTURE(text);
    CHECK(YAML::Load(yaml_text({{"key", text}}))["key"].as<std::string>() == text);
  }
}

TEST_CASE("empty maps and lists stay what they are") {
  const auto read = YAML::Load(yaml_text({{"map", Json::object()}, {"list", Json::array()}, {"next", 1}}));
  CHECK(read["map"].IsMap());
  CHECK(read["list"].IsSequence());
  CHECK(read["next"].as<int>() == 1);
}

TEST_CASE("each document begins with a line of its own") {
  CHECK(yaml_documents({{{"a", 1}}, {{"b", 2}}}) == "---\na: 1\n---\nb: 2\n");
  CHECK(YAML::LoadAll(yaml_documents({{{"a", 1}}, {{"b", 2}}})).size() == 2);
}

}  // namespace
}  // namespace ballast

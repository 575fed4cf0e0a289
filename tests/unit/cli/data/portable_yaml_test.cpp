#include "cli/data/portable_yaml.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/job/words.h"
#include "common/job/yaml_tree.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

const std::vector<std::string> kMistaken = {"no",    "No",         "NO",
                                            "yes",   "Yes",        "on",
                                            "On",    "off",        "OFF",
                                            "true",  "False",      "y",
                                            "N",     "null",       "Null",
                                            "~",     "",           "0",
                                            "1",     "10",         "012",
                                            "1.5",   "1e5",        "1e-05",
                                            "1E+5",  "0x10",       "0X1F",
                                            "0o17",  "0b101",      "1_000",
                                            "1:30",  "-1",         "+1",
                                            ".5",    ".inf",       ".NaN",
                                            "-.inf", "2001-12-14", "2001-12-14 21:59:43",
                                            "=",     "<<",         "- a",
                                            "a: b",  "#c",         "a #b",
                                            "%a",    "@a",         "`a",
                                            "!a",    "*a",         "&a",
                                            "[a]",   "{a}",        "a,b",
                                            "?",     "|",          ">",
                                            " a",    "a ",         "\"a\""};

TEST_CASE("a text that YAML 1.1 or 1.2 takes for something else is quoted") {
  for (const auto& text : kMistaken) {
    CAPTURE(text);
    const auto written = portable_text(text);
    CHECK(written.starts_with('"'));
    CHECK(written.ends_with('"'));
    const auto read = parse_yaml("k: " + written + "\n", "f");
    CHECK(read.entries[0].value.text == text);
  }
}

TEST_CASE("a text that every reader takes for itself stands as it is") {
  for (const std::string text : {"cat", "20news-bydate-train", "/data/mnist", "t10k-images-idx3-ubyte", "none", "nope",
                                 "yesterday", "alt.atheism", "sci.space", "a1", "x0", "nothing", "offset", "Null-1"}) {
    CHECK(portable_text(text) == text);
  }
  CHECK(portable_list({"no", "maybe", "1"}) == "\"no\", maybe, \"1\"");
}

TEST_CASE("a number with an exponent has a point, and reads back as the same number") {
  CHECK(portable_number("1e-05") == "1.0e-05");
  CHECK(portable_number("1.5e-07") == "1.5e-07");
  CHECK(portable_number("-3e+30") == "-3.0e+30");
  CHECK(portable_number("25") == "25");
  CHECK(portable_number("0.25") == "0.25");
  for (const double number : {1e-5, -1e-30, 1e30, 1.25e-9, 1e22, 123456.0}) {
    CHECK(std::stod(portable_number(number_text(number))) == number);
  }
}

// Of YAML 1.1. Lines of the second file are what each item of the list in the first one must be.
constexpr const char* kReadByPython =
    "import sys, yaml\n"
    "read = yaml.safe_load(open(sys.argv[1]))\n"
    "texts = open(sys.argv[2]).read().split('\\n')[:-1]\n"
    "assert read['texts'] == texts, read['texts']\n"
    "assert all(type(number) is float for number in read['numbers']), read['numbers']\n";

TEST_CASE("PyYAML, where it is installed, reads texts as themselves and numbers as numbers") {
  if (std::system("python3 -c 'import yaml' 2>/dev/null") != 0) {  // NOLINT: the words are ours
    MESSAGE("python3-yaml is not installed: nothing was read with it");
    return;
  }
  const testing::TemporaryFolder folder;
  std::string lines;
  for (const auto& text : kMistaken) {
    lines += text + "\n";
  }
  const auto yaml = folder.write(
      "list.yaml", testing::bytes("texts: [" + portable_list(kMistaken) + "]\nnumbers: [" + portable_number("1e-05") +
                                  ", " + portable_number("-3e+30") + ", " + portable_number("1.5e-07") + "]\n"));
  const auto texts = folder.write("texts", testing::bytes(lines));
  const auto script = folder.write("read.py", testing::bytes(kReadByPython));
  const auto command = "python3 " + script.string() + " " + yaml.string() + " " + texts.string();
  CHECK(std::system(command.c_str()) == 0);  // NOLINT: the words are ours
}

}  // namespace
}  // namespace ballast

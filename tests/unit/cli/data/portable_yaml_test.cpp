#include "cli/data/portable_yaml.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/words.h"
#include "common/job/yaml_tree.h"

namespace ballast {
namespace {

TEST_CASE("a text that YAML 1.1 or 1.2 takes for something else is quoted") {
  for (const std::string text : {"no",    "No",         "NO",
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
                                 " a",    "a ",         "\"a\""}) {
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

}  // namespace
}  // namespace ballast

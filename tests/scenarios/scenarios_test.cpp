// Runs each scenario and compares what happens, line by line, with its transcript. After a change that is meant,
// BALLAST_REWRITE_SCENARIOS=1 writes the transcripts anew: read the difference before committing it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/scenarios/scenarios.h"

namespace {

std::string run(const ballast::scenarios::Scenario& scenario) {
  std::string transcript = scenario.story + "\n\n";
  live(scenario, [&](const std::string& line) { transcript += line + "\n"; });
  return transcript;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first line that differs, with its number.
std::string difference(const std::string& expected, const std::string& found) {
  std::istringstream left(expected);
  std::istringstream right(found);
  std::string expected_line;
  std::string found_line;
  for (int line = 1;; ++line) {
    const bool has_expected = static_cast<bool>(std::getline(left, expected_line));
    const bool has_found = static_cast<bool>(std::getline(right, found_line));
    if (!has_expected && !has_found) {
      return "";
    }
    if (has_expected != has_found || expected_line != found_line) {
      return "line " + std::to_string(line) + "\n  expected: " + (has_expected ? expected_line : "the end") +
             "\n  found:    " + (has_found ? found_line : "the end");
    }
  }
}

}  // namespace

TEST_CASE("scenarios go as their transcripts say") {
  for (const auto& scenario : ballast::scenarios::all()) {
    const auto path = std::string(BALLAST_SCENARIOS) + "/" + scenario.name + ".txt";
    const auto found = run(scenario);
    if (std::getenv("BALLAST_REWRITE_SCENARIOS") != nullptr) {
      std::ofstream(path) << found;
    }
    CAPTURE(path);
    const auto differs = difference(read(path), found);
    CHECK_MESSAGE(differs.empty(), differs);
  }
}

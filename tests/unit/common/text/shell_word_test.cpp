#include "common/text/shell_word.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace ballast {
namespace {

// What a shell makes of the word.
std::string shell_says(const std::string& word) {
  std::string text;
  std::FILE* const shell = ::popen(("printf %s " + word).c_str(), "r");
  REQUIRE(shell != nullptr);
  for (int byte = std::fgetc(shell); byte != EOF; byte = std::fgetc(shell)) {
    text += static_cast<char>(byte);
  }
  CHECK(::pclose(shell) == 0);
  return text;
}

TEST_CASE("a word is quoted where a shell would take it for something else") {
  CHECK(shell_word("runs/a-1.b_2") == "runs/a-1.b_2");
  CHECK(shell_word("my runs") == "'my runs'");
  CHECK(shell_word("") == "''");
  for (const std::string& word :
       std::vector<std::string>{"my runs", "it's", "$HOME", "a;b", "~", "*", "a\nb", "`x`", "\\", "a\"b"}) {
    CAPTURE(word);
    CHECK(shell_says(shell_word(word)) == word);
  }
}

}  // namespace
}  // namespace ballast

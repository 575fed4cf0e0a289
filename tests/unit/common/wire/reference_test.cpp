// docs/messages.md is what the table of messages says. To write it anew:
//   BALLAST_UPDATE_DOCS=1 build/tests/unit/common/wire/wire-test
#include "common/wire/reference.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace ballast {
namespace {

TEST_CASE("docs/messages.md is up to date") {
  const std::string path = std::string(BALLAST_SOURCE_ROOT) + "/docs/messages.md";
  if (std::getenv("BALLAST_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << messages_reference();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool equal = text == messages_reference();
  CHECK_MESSAGE(equal, "write it anew: BALLAST_UPDATE_DOCS=1 build/tests/unit/common/wire/wire-test");
}

}  // namespace
}  // namespace ballast

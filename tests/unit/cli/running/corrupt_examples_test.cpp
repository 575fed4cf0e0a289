#include "cli/running/corrupt_examples.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/unit/temporary_folder.h"
#include "worker/corrupt_line.h"

namespace ballast {
namespace {

TEST_CASE("the most corrupt examples that a worker's log tells at its end count") {
  const TemporaryFolder folder;
  const auto log = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return folder.path() / name;
  };
  const std::string line = std::string("2026-01-31T12:34:56.789Z info  worker/a: ") + kCorruptLine;
  const auto of_two_lives = log("a", line + "7\nmore\n" + line + "2\nthe job has finished, or was stopped\n");
  const auto of_one = log("b", line + "3\nthe job has finished, or was stopped\n");
  const auto of_none = log("c", "the job has finished, or was stopped\n");
  const auto most = corrupt_examples({of_two_lives, of_one, of_none, folder.path() / "nowhere"});
  REQUIRE(most);
  CHECK(most->examples == 3);
  CHECK(most->log == of_one);
  CHECK_FALSE(corrupt_examples({of_none}));
}

}  // namespace
}  // namespace ballast

#include "cli/run_folder/scale_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

TEST_CASE("a wish is taken once, and the newest counts") {
  const TemporaryFolder folder;
  CHECK_FALSE(take_scale_wish(folder.path()));
  write_scale_wish(folder.path(), {~std::uint64_t{0}, 3});
  write_scale_wish(folder.path(), {8, 0});
  CHECK(take_scale_wish(folder.path()) == ScaleWish{8, 0});
  CHECK_FALSE(take_scale_wish(folder.path()));
  write_scale_wish(folder.path(), {~std::uint64_t{0}, kMostLocalWorkers});
  CHECK(take_scale_wish(folder.path()) == ScaleWish{~std::uint64_t{0}, kMostLocalWorkers});
}

TEST_CASE("what is no wish is refused, and gone") {
  const TemporaryFolder folder;
  for (const std::string text : {"", "{", "[1, 2]", R"({"id": 1})", R"({"id": -1, "workers": 2})",
                                 R"({"id": 1, "workers": 257})", R"({"id": 1, "workers": "2"})"}) {
    std::ofstream(std::filesystem::path(folder.path()) / "scale.wish") << text;
    CHECK_THROWS_AS(take_scale_wish(folder.path()), std::runtime_error);
    CHECK_FALSE(take_scale_wish(folder.path()));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an answer is read as it was written; what is none is not there") {
  const TemporaryFolder folder;
  CHECK_FALSE(read_scale_answer(folder.path()));
  const ScaleAnswer answer{7, 2, true, "worker 3", "no \"such\" backend\nits log", "the job waits"};
  write_scale_answer(folder.path(), answer);
  CHECK(read_scale_answer(folder.path()) == answer);
  forget_scale_files(folder.path());
  CHECK(std::filesystem::is_empty(folder.path()));
  std::ofstream(std::filesystem::path(folder.path()) / "scale.answer") << "{}";
  CHECK_FALSE(read_scale_answer(folder.path()));
}

}  // namespace
}  // namespace ballast

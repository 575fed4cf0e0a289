#include "worker/data/failures.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/job/load.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/arrays/zip.h"
#include "worker/data/class_files.h"
#include "worker/data/image_files.h"
#include "worker/data/job_data.h"
#include "worker/data/text/text_files.h"

namespace ballast {
namespace {

using testing::contains;
using testing::error_of;

std::error_code system_error_of(int number) { return {number, std::generic_category()}; }

TEST_CASE("what is not there, or must not be read, does not pass; what the system fails at may") {
  for (const int number : {ENOENT, ENOTDIR, EISDIR, EACCES, ELOOP}) {
    CHECK_FALSE(may_pass(system_error_of(number)));
    CHECK_FALSE(may_pass({number, std::system_category()}));
  }
  for (const int number : {EIO, EMFILE, ENFILE, ENOMEM, ESTALE, ETIMEDOUT}) {
    CHECK(may_pass(system_error_of(number)));
  }
}

TEST_CASE("an error while data are read is one of the data, unless it may pass") {
  const auto reading = [](auto throwing) { return [throwing] { reading_data([&] { throwing(); }); }; };
  CHECK_THROWS_AS(reading([] { throw std::runtime_error("a row is short"); })(), BadData);
  CHECK_THROWS_AS(reading([] { throw ReadFailure("the disk"); })(), ReadFailure);
  CHECK_THROWS_AS(reading([] { throw_unread("x", system_error_of(EIO)); })(), ReadFailure);
  CHECK_THROWS_AS(reading([] { throw_unread("x", system_error_of(ENOENT)); })(), BadData);
  CHECK_THROWS_AS(reading([] { throw std::filesystem::filesystem_error("x", system_error_of(EIO)); })(), ReadFailure);
  CHECK_THROWS_AS(reading([] { throw std::filesystem::filesystem_error("x", system_error_of(ENOENT)); })(), BadData);
  CHECK_THROWS_AS(reading([] { throw std::out_of_range("a program's fault"); })(), std::out_of_range);
  CHECK(reading_data([] { return 7; }) == 7);
}

// As long as it lives, no more than `more` files can be opened.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(STDIN_FILENO);
    close(next);
    auto few = before_;
    few.rlim_cur = static_cast<rlim_t>(next) + more;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("what the system cannot open for now is no corrupt text, and no damaged archive") {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("train/good/a", testing::bytes("a text"));
  bool taken = false;
  const auto read = [&] {
    read_text_files(
        folder.path(), {"train"}, [&](auto&&...) { taken = true; }, nullptr);
  };
  constexpr rlim_t kFolders = 2;  // that are listed meanwhile
  {
    const FewFiles few(kFolders);
    CHECK_THROWS_AS(read(), ReadFailure);
    CHECK_FALSE(taken);
  }
  read();
  CHECK(taken);
  const FewFiles none(0);
  CHECK_THROWS_AS(ZipFile{file}, ReadFailure);
}

TEST_CASE("a link to itself is told as one that leads nowhere, and images are read beside it") {
  const testing::TemporaryFolder folder;
  folder.write("train/good/a.png", testing::bytes("an image"));
  std::filesystem::create_symlink("loop", folder.path() / "train/good/loop");
  CHECK(left_aside(folder.path() / "train").dangling.count == 1);
  CHECK(ImageFiles(folder.path() / "train", 0).files().size() == 1);
}

TEST_CASE("a job's data have as many examples as it counts on") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", testing::bytes("a,b\n1,0\n2,1\n3,1\n"));
  const auto job = make_job(
      parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\ndata: {name: csv, train: train.csv, train_examples: 3, "
                "columns: [{name: a}, {name: b, kind: flag}]}\ntraining: {batch: 2, slots: 2, epochs: 1}\n",
                "the test's job"));
  CHECK(open_job_data(job, folder.path())->size(DataSplit::train) == 3);
  folder.write("train.csv", testing::bytes("a,b\n1,0\n"));
  CHECK_THROWS_AS(open_job_data(job, folder.path()), BadData);
  CHECK_THROWS_AS(open_job_data(job, folder.path() / "nowhere"), BadData);
}

}  // namespace
}  // namespace ballast

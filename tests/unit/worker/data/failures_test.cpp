#include "worker/data/failures.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>

#include "common/job/load.h"
#include "tests/unit/worker/data/files.h"

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

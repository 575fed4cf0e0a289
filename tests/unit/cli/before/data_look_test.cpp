#include "cli/before/data_look.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/before/check.h"
#include "common/job/load.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/worker/data/pictures.h"
#include "worker/data/failures.h"
#include "worker/data/job_data.h"

namespace ballast {
namespace {

using testing::bytes;
using testing::contains;
using testing::error_of;

Job job_of(const std::string& data, const std::vector<std::string>& overrides = {}) {
  return make_job(parse_job(
      "job: look\nmodel: {name: mlp, hidden: [4]}\ndata: {" + data + "}\ntraining: {slots: 2, batch: 4, epochs: 1}\n",
      "job.yaml", overrides));
}

std::string said_of(const Job& job, DataLook look, bool good = true) {
  return captured([&] { CHECK(look_at_data(job, look) == good); });
}

// What goes to standard error.
template <typename Command>
std::string told_as_error(const Command& command) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "errors";
  const int kept = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  command();
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  return read_file(path);
}

TEST_CASE("a table is counted by split and class, and a class that a split lacks is told") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("a,c\n1,no\n2,yes\n3,yes\nx,no\n4,no\n5,no\n"));
  folder.write("test.csv", bytes("a,c\n1,no\n2,no\n"));
  const auto job = job_of("name: csv, path: " + folder.path().string() +
                          ", train: train.csv, test: test.csv, train_examples: 5, test_examples: 2, "
                          "validation_examples: 1, classes: [no, yes], corrupt: skip, "
                          "columns: [{name: a}, {name: c, kind: label}]");
  const auto text = said_of(job, DataLook::opened);
  CHECK(contains(text, "opened as workers open it: 4 training, 1 validation and 2 test examples\n"));
  CHECK(contains(text, "class       no: 2 training, 1 validation and 2 test examples\n"));
  CHECK(contains(text, "class       yes: 2 training, 0 validation and 0 test examples\n"));
  CHECK(contains(text, "note        1 class has no validation example: yes\n"));
  CHECK(contains(text, "note        1 class has no test example: yes\n"));
  CHECK(contains(text, "corrupt     1 was left out (data.corrupt: skip)\n"));
  CHECK_FALSE(contains(text, "all were read"));
  CHECK(contains(said_of(job, DataLook::examples), "examples    all were read; 0 are corrupt\n"));
}

TEST_CASE("data that are not what the job says are refused as a worker refuses them") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("a,c\n1,0\n2,1\n3,x\n4,9\n"));
  const auto job = job_of("name: csv, path: " + folder.path().string() +
                          ", train: train.csv, train_examples: 4, columns: [{name: a}, {name: c, kind: flag}]");
  const auto why = error_of([&] { look_at_data(job, DataLook::opened); });
  CHECK(contains(why, "line 4, column 2: c: 'x' is neither 0 nor 1"));
  CHECK(contains(why, "line 5, column 2: c: '9' is neither 0 nor 1"));
  CHECK_THROWS_AS(look_at_data(job, DataLook::opened), BadData);
}

TEST_CASE("each image that cannot be decoded is found by reading all, and is wrong unless it is skipped") {
  const testing::TemporaryFolder folder;
  for (const std::string split : {"train/", "test/"}) {
    for (const std::string name : {"cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png"}) {
      folder.write(split + name, testing::png(testing::picture(3, 6, 6, 1)));
    }
  }
  folder.write("train/dog/2.png", bytes("no image"));
  folder.write("test/cat/1.png", bytes("nor this"));
  const auto job = job_of("name: images, path: " + folder.path().string() +
                          ", train: train, test: test, train_examples: 4, test_examples: 4, classes: [cat, dog], "
                          "channels: 3, height: 6, width: 6");
  CHECK(contains(said_of(job, DataLook::opened), "class       dog: 2 training, 0 validation and 2 test"));
  const auto faults = unreadable_examples(*open_job_data(job, ""), job);
  REQUIRE(faults.size() == 2);
  CHECK(contains(faults[0], "train/dog/2.png, byte 0"));
  CHECK(contains(faults[1], "test/cat/1.png, byte 0"));
  CHECK(contains(said_of(job, DataLook::examples, false), "examples    all were read; 2 are corrupt\n"));
  auto skipping = job;
  skipping.spec.data.corrupt = "skip";
  CHECK(contains(said_of(skipping, DataLook::examples), "2 are corrupt: others of their classes take their places"));
  const auto advice = [](const Job& looked_at) {
    return told_as_error([&] { said_of(looked_at, DataLook::examples, looked_at.spec.data.corrupt == "skip"); });
  };
  CHECK(contains(advice(job), "; repair it, take it away, or set data.corrupt: skip\n"));
  CHECK(contains(advice(skipping), "; repair it or take it away\n"));
  CHECK_FALSE(contains(advice(skipping), "set data.corrupt"));
}

TEST_CASE("over how many examples batch normalization is") {
  TrainingSpec training;
  training.batch = 128;
  training.slots = 8;
  CHECK(batch_norm_text(training) ==
        "statistics are over 16 examples, those of a slot (training.batch / training.slots), not over the step's 128");
  training.micro_batch = 4;
  CHECK(contains(batch_norm_text(training),
                 "over 4 examples, those of training.micro_batch, not over the step's 128; "
                 "that is few for most networks"));
  training.micro_batch = 0;
  training.mode = Mode::local;
  training.local.steps = 8;
  CHECK(contains(batch_norm_text(training), "over 2 examples, those of a local step"));
}

}  // namespace
}  // namespace ballast

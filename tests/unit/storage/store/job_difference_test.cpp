#include "storage/store/job_difference.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

constexpr const char* kJob =
    "job: mnist\n"
    "model:\n"
    "  name: mlp\n"
    "  hidden:\n"
    "    - 256\n"
    "    - 128\n"
    "training:\n"
    "  batch: 128\n"
    "  optimizer:\n"
    "    name: sgd\n"
    "    momentum: 0.9\n";

std::string with(std::string text, std::string_view before, std::string_view after) {
  return text.replace(text.find(before), before.size(), after);
}

TEST_CASE("equal jobs do not differ") { CHECK(describe_job_difference(kJob, kJob).empty()); }

TEST_CASE("a changed value is named by its whole key") {
  CHECK(describe_job_difference(kJob, with(kJob, "batch: 128", "batch: 256")) == "training.batch: 128 there, 256 here");
  CHECK(describe_job_difference(kJob, with(kJob, "momentum: 0.9", "momentum: 0")) ==
        "training.optimizer.momentum: 0.9 there, 0 here");
}

TEST_CASE("added and removed keys are named") {
  CHECK(describe_job_difference(kJob, with(kJob, "  batch: 128\n", "  batch: 128\n  seed: 7\n")) ==
        "training.seed: not set there, 7 here");
  CHECK(describe_job_difference(kJob, with(kJob, "    momentum: 0.9\n", "")) ==
        "training.optimizer.momentum: 0.9 there, not set here");
}

TEST_CASE("items of lists are named by their place, in either style of indentation") {
  CHECK(describe_job_difference(kJob, with(kJob, "- 128", "- 64")) == "model.hidden[1]: 128 there, 64 here");
  CHECK(describe_job_difference("a:\n- x: 1\n  y: 2\n- x: 3\nb: 1\n", "a:\n- x: 1\n  y: 5\n- x: 3\nb: 2\n") ==
        "a[0].y: 2 there, 5 here; b: 1 there, 2 here");
}

TEST_CASE("many differences are counted") {
  CHECK(describe_job_difference("a: 1\nb: 1\nc: 1\n", "a: 2\nb: 2\nc: 2\n", 1) == "a: 1 there, 2 here; and 2 more");
}

TEST_CASE("a model is the same unless a key that both jobs have differs") {
  CHECK(have_same_model(kJob, kJob));
  CHECK(have_same_model(kJob, "training:\n  batch: 7\n"));
  CHECK(have_same_model("model:\n  name: mlp\n", "model:\n  name: mlp\n  of_a_later_version: 1\n"));
  CHECK_FALSE(have_same_model(kJob, with(kJob, "- 128", "- 64")));
  CHECK_FALSE(have_same_model("data:\n  name: none\n", "data:\n  name: mnist\n"));
}

TEST_CASE("any text is read without harm") {
  for (const char* text :
       {"", "\n\n", ":", "-", "- -\n-", ": :\n :", "\t\t: x", "no colon at all\n  deeper\n", "a:\r\n"}) {
    CAPTURE(text);
    CHECK(describe_job_difference(text, text).empty());
    describe_job_difference(text, kJob);
    CHECK(have_same_model(text, text));
  }
}

}  // namespace
}  // namespace ballast

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "cli/telling/progress.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Progress::Moment kFirstMoment{};

Status training_at(Step step, std::uint64_t examples) {
  Status status;
  status.phase = JobPhase::training;
  status.step = step;
  status.steps = 200;
  status.epochs = 4;
  status.start_workers = 2;
  status.examples = examples;
  status.recent_loss = 0.25;
  return status;
}

// What a Progress writes.
class Written {
 public:
  explicit Written(bool terminal)
      : stream_(open_memstream(&text_, &size_)), progress_(stream_, stream_, {terminal}, nullptr) {}
  ~Written() {
    std::fclose(stream_);
    std::free(text_);  // NOLINT: open_memstream's
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  Progress* operator->() { return &progress_; }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
  Progress progress_;
};

TEST_CASE("the pace is what the lead says, once it can") {
  auto status = training_at(50, 5000);
  CHECK_FALSE(pace_of(status).has_value());
  status.examples_per_second = 500;
  status.steps_per_second = 2;
  CHECK(pace_of(status)->examples_per_second == 500);
  CHECK(pace_text(status, *pace_of(status), ", ") == "500 examples/s, 1:15 min left");
  status.step = status.steps;
  CHECK(pace_text(status, *pace_of(status), ", ") == "500 examples/s");
}

TEST_CASE("epochs that were done before the first status are not told") {
  Written out(false);
  auto status = training_at(120, 12000);
  status.epoch = 2;
  out->show(status, kFirstMoment);
  CHECK(out.text().find("epoch 2/4: ") == std::string::npos);
  status.epoch = 3;
  out->show(status, kFirstMoment + seconds(1));
  CHECK(out.text().find("epoch 3/4: ") != std::string::npos);
}

TEST_CASE("a status as one line") {
  auto status = training_at(50, 6400);
  status.epoch = 1;
  status.sessions = {{1, "a", true, 50, 0, "f", {}, {}}, {2, "b", false, 9, 0, "f", {}, {}}};
  CHECK(status_text(status, Pace{1000, 2}) ==
        "step 50/200  epoch 1/4  loss 0.2500  1000 examples/s  1:15 min left  1 worker");
  status.trouble = "the disk is full";
  CHECK(status_text(status, std::nullopt) == "step 50/200  epoch 1/4  loss 0.2500  stands still  1 worker");
  CHECK(status_text(status, Pace{7, 0}).find("7 examples/s") != std::string::npos);
  status.trouble.clear();
  CHECK(status_text(status, Pace{0, 0}).find("  0 examples/s") != std::string::npos);  // a long step
  status.test = {true, 40, 0.1, 0.985};
  status.phase = JobPhase::evaluating;
  CHECK(status_text(status, Pace{1000, 2}) ==
        "step 50/200  epoch 1/4  loss 0.2500  test accuracy 98.50 %  1 worker  evaluating");
  status.validation = {true, 40, 0.2, 0.97};
  CHECK(status_text(status, std::nullopt).find("validation accuracy 97.00 %  test accuracy 98.50 %") !=
        std::string::npos);
  status.recent_loss = std::numeric_limits<double>::quiet_NaN();
  CHECK(status_text(status, std::nullopt).find("loss nan") != std::string::npos);
}

TEST_CASE("what is waited for") {
  Status status;
  status.start_workers = 2;
  status.phase = JobPhase::assembling;
  CHECK(status_text(status, std::nullopt) == "waiting for the servers to come together");
  status.phase = JobPhase::waiting;
  status.sessions = {{1, "a", true, 0, 0, "fingerprint", {}, {}}, {2, "b", true, 0, 0, "", {}, {}}};
  CHECK(status_text(status, std::nullopt) == "waiting for workers: 1 of 2 ready");
  status.phase = JobPhase::recovering;
  status.snapshot = 40;
  status.waits_for = "shard 1 (lane 0), not heard of for 900 ms, at step 44";
  CHECK(status_text(status, std::nullopt) ==
        "recovering: back to the snapshot of step 40; waits for shard 1 (lane 0), not heard of for 900 ms, at step 44");
}

TEST_CASE("spans of time for people") {
  CHECK(time_text(0) == "0 s");
  CHECK(time_text(59.9) == "59 s");
  CHECK(time_text(65) == "1:05 min");
  CHECK(time_text(7325) == "2:02 h");
  CHECK(time_text(-1) == "0 s");
  CHECK(time_text(std::numeric_limits<double>::infinity()) == "277777:46 h");
}

TEST_CASE("without a terminal there is a line every few seconds and one for each epoch") {
  Written out(false);
  out->show(training_at(1, 100), kFirstMoment);
  out->show(training_at(2, 200), kFirstMoment + milliseconds(250));
  out->show(training_at(3, 300), kFirstMoment + milliseconds(500));
  auto status = training_at(50, 5000);
  status.examples_per_second = 2450;
  status.epoch = 1;
  status.train_loss = 0.5;
  status.phase = JobPhase::evaluating;
  out->show(status, kFirstMoment + seconds(1));  // the epoch's accuracy is not known yet
  status.phase = JobPhase::training;
  status.test = {true, 50, 0.1, 0.9};
  out->show(status, kFirstMoment + seconds(2));
  out->show(status, kFirstMoment + seconds(3));
  out->show(training_at(60, 6000), kFirstMoment + seconds(6));
  const auto text = out.text();
  CHECK(text.find("step 1/200") == 0);
  CHECK(text.find("step 2/200") == std::string::npos);
  CHECK(text.find("epoch 1/4: loss 0.5000, test accuracy 90.00 %, 2450 examples/s\n") != std::string::npos);
  CHECK(text.find("epoch 1/4: ") == text.rfind("epoch 1/4: "));
  CHECK(text.find("step 60/200") != std::string::npos);
}

TEST_CASE("on a terminal one line is rewritten") {
  Written out(true);
  out->show(training_at(1, 100), kFirstMoment);
  out->show(training_at(2, 200), kFirstMoment + milliseconds(250));
  out->line("worker 1 was lost");
  const auto text = out.text();
  CHECK(text.find("\r\x1b[Kstep 1/200") == 0);
  CHECK(text.find("\r\x1b[Kstep 2/200") != std::string::npos);
  CHECK(text.ends_with("\r\x1b[Kworker 1 was lost\n"));
}

}  // namespace
}  // namespace ballast

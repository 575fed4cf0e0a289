#include "cli/asking/scale.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "common/command/usage_error.h"
#include "common/net/random_id.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;
using ScaleClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAnswerEvery{100};
constexpr std::chrono::seconds kTakenIn{15};  // a supervisor looks a few times a second, once shard 0 listens

constexpr auto* kByHand =
    "start workers with `ballast-worker --lead ADDRESS`, and end them with SIGTERM, on the machines where they are to "
    "be";

std::string workers_run(std::uint32_t workers) {
  return workers == 0 ? "no worker runs" : count_text(workers, "worker") + (workers == 1 ? " runs" : " run");
}

void check_supervised(const std::string& folder) {
  if (folder.find("://") != std::string::npos) {
    throw UsageError("ballast scale takes the folder of a run that `ballast run` supervises on this machine, not " +
                     folder + ": elsewhere, " + kByHand);
  }
  if (!fs::is_directory(folder)) {
    throw UsageError("'" + folder + "' is not the folder of a run");
  }
  if (std::error_code unknown; fs::exists(fs::path(folder) / "lock", unknown)) {
    if (!has_living_run(folder)) {
      throw std::runtime_error("no process of the run in " + folder + " lives; `ballast run --resume " +
                               shell_word(folder) + " --workers N` goes on with a job that is not at its end");
    }
    return;
  }
  if (was_never_started(folder)) {
    throw std::runtime_error("the run in " + folder + " has not been started; `ballast run --resume " +
                             shell_word(folder) + " --workers N` goes on with a job that is not at its end");
  }
  throw std::runtime_error("no `ballast run` supervises " + folder + " (it has no file lock): if its servers were " +
                           "started by hand, " + kByHand);
}

// One command at a time: it has the folder itself locked (flock), and leaves nothing behind.
class ScaleTalk {
 public:
  ScaleTalk(fs::path folder, std::uint32_t workers)
      : folder_(std::move(folder)), fd_(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ < 0 || flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close_folder();
      throw std::runtime_error(error == EWOULDBLOCK
                                   ? "another `ballast scale` of the run in " + folder_.string() + " is under way"
                                   : "cannot lock " + folder_.string() + ": " + std::strerror(error));
    }
    forget_scale_files(folder_);
    wish_ = {random_id(), workers};
    try {
      write_scale_wish(folder_, wish_);
    } catch (...) {
      close_folder();
      throw;
    }
  }
  ~ScaleTalk() {
    forget_scale_files(folder_);
    close_folder();
  }
  ScaleTalk(const ScaleTalk&) = delete;
  ScaleTalk& operator=(const ScaleTalk&) = delete;

  [[nodiscard]] std::optional<ScaleAnswer> answer() const {
    auto newest = read_scale_answer(folder_);
    return newest && newest->id == wish_.id ? std::move(newest) : std::nullopt;
  }

 private:
  void close_folder() const {
    if (fd_ >= 0) {
      close(fd_);
    }
  }

  fs::path folder_;
  int fd_;
  ScaleWish wish_;
};

int tell_done(const ScaleAnswer& answer) {
  const auto text = workers_run(answer.workers) + (answer.note.empty() ? "" : ": " + answer.note);
  if (answer.refusal.empty()) {
    std::printf("%s\n", text.c_str());
    return 0;
  }
  std::fprintf(stderr, "%s\n%s\n", answer.refusal.c_str(), text.c_str());
  return 1;
}

int tell_late(const ScaleOptions& options, const ScaleAnswer& answer) {
  std::fprintf(stderr, "%s after %d s; the run still waits for %s. Nothing need be done again\n",
               workers_run(answer.workers).c_str(), options.patience, answer.waits_for.c_str());
  return 1;
}

}  // namespace

int scale_run(const ScaleOptions& options) {
  check_supervised(options.folder);
  const ScaleTalk talk(options.folder, options.workers);
  const auto began = ScaleClock::now();
  std::optional<ScaleAnswer> answer;
  while (true) {
    std::this_thread::sleep_for(kAnswerEvery);
    if (auto newer = talk.answer()) {
      answer = std::move(newer);
    }
    if (answer && answer->done) {
      break;
    }
    if (!has_living_run(options.folder)) {
      std::fprintf(stderr, "the run in %s has ended meanwhile\n", options.folder.c_str());
      return 1;
    }
    if (!answer && ScaleClock::now() - began >= kTakenIn) {
      std::fprintf(stderr,
                   "the `ballast run` in %s has not answered for %lld s, and will not do it later: is it stopped, or "
                   "does shard 0 not listen yet (its log tells), or is its disk full?\n",
                   options.folder.c_str(), static_cast<long long>(kTakenIn.count()));
      return 1;
    }
    if (answer && ScaleClock::now() - began >= std::chrono::seconds(options.patience)) {
      return tell_late(options, *answer);
    }
  }
  return tell_done(*answer);
}

}  // namespace ballast

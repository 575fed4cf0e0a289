#include "cli/asking/control.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/asking/lead_address.h"
#include "cli/asking/status_client.h"
#include "cli/keys/operator_keys.h"
#include "common/command/exit_codes.h"
#include "common/telling/changes.h"
#include "common/text/shell_word.h"

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTellEvery{250};
constexpr std::chrono::seconds kFirstAnswer{5};
constexpr std::chrono::seconds kSilence{60};  // a lead that was heard of may be on its way back

const char* verb(Control::Command command) {
  switch (command) {
    case Control::Command::stop:
      return "stop";
    case Control::Command::pause:
      return "pause";
    case Control::Command::resume:
      break;
  }
  return "resume";
}

std::string at_step(const Status& status) {
  return "at step " + std::to_string(status.step) + " of " + std::to_string(status.steps);
}

bool is_folder(const std::string& where) { return std::filesystem::is_directory(where); }

ControlOutcome stopped(const Status& status, const std::string& where) {
  const auto snapshot = !status.beyond_snapshot && status.trouble.empty()
                            ? ", with a snapshot of step " + std::to_string(status.snapshot)
                            : (status.trouble.empty() ? "" : ": " + status.trouble) +
                                  "; its newest complete snapshot is of step " + std::to_string(status.snapshot);
  return {0, "stopped " + at_step(status) + snapshot +
                 (is_folder(where) ? "; go on with: ballast run --resume " + shell_word(where)
                                   : "; it goes on when its servers and workers are started again as they were")};
}

// The end of a job that ended otherwise than it was told to.
std::optional<ControlOutcome> ended(Control::Command command, const Status& status) {
  if (status.phase == JobPhase::failed) {
    return ControlOutcome{1, "the job has failed: " + status.failure};
  }
  if (status.phase == JobPhase::finished) {
    const bool fine = command == Control::Command::stop;
    return ControlOutcome{fine ? 0 : 1, "the job has finished, " + at_step(status)};
  }
  if (status.phase == JobPhase::stopped) {
    return ControlOutcome{1, "the job has been stopped, " + at_step(status)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ControlOutcome> outcome_of(Control::Command command, const Status& status, const std::string& where,
                                         const std::string& keys) {
  if (command == Control::Command::stop && status.phase == JobPhase::stopped) {
    return stopped(status, where);
  }
  if (auto end = ended(command, status)) {
    return end;
  }
  if (command == Control::Command::pause && status.phase == JobPhase::paused) {
    return ControlOutcome{0, "paused " + at_step(status) + "; let it go on with: ballast resume " + shell_word(where) +
                                 (keys.empty() ? "" : " --keys " + shell_word(keys))};
  }
  if (command == Control::Command::resume && status.phase != JobPhase::paused && status.phase != JobPhase::pausing) {
    return ControlOutcome{0, "goes on " + at_step(status)};
  }
  return std::nullopt;
}

namespace {

// One command's talk with the lead.
class Talk {
 public:
  Talk(const std::string& lead, std::unique_ptr<ClientKeys> keys, Control::Command command)
      : client_(context_, lead, std::move(keys)), command_(command) {
    poll_.add(client_.socket());
  }

  // The lead's next word; nothing when none came for a moment. Tells it the wish again and again.
  std::optional<Status> listen() {
    if (Clock::now() >= tell_at_) {
      tell_at_ = Clock::now() + kTellEvery;
      client_.tell(command_);
    }
    poll_.wait(static_cast<long>(kTellEvery.count()));
    return client_.take();
  }
  void say_farewell() { client_.ask(true); }
  [[nodiscard]] std::optional<std::string> hopeless() const { return client_.hopeless(); }
  [[nodiscard]] bool is_refused() const { return client_.is_refused(); }
  [[nodiscard]] std::string why_silent() const { return client_.why_silent(); }

 private:
  zmq::context_t context_{1};
  StatusClient client_;
  Poll poll_;
  Control::Command command_;
  Clock::time_point tell_at_;
};

// That a silence lasts longer is no news.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char letter) { return letter >= '0' && letter <= '9'; });
  return text;
}

// A line on standard error whenever what is waited for changes.
void show_waiting(const Status& status, std::string& shown) {
  const auto whom = awaited_by(status);
  const auto text = name_of(status.phase) + std::string(status.copies.awaited ? ", copying its newest snapshot" : "") +
                    (whom.empty() ? "" : ", waits for " + whom) + (status.trouble.empty() ? "" : ", " + status.trouble);
  if (auto news = without_numbers(text); news != shown) {
    shown = std::move(news);
    std::fprintf(stderr, "waiting: the job is %s, %s\n", text.c_str(), at_step(status).c_str());
  }
}

}  // namespace

int control_job(const std::string& where, Control::Command command, const std::string& keys) {
  const auto lead = lead_address(where);
  Talk talk(lead, operator_keys(where, keys), command);
  std::string shown;
  auto silent_after = Clock::now() + kFirstAnswer;
  while (Clock::now() < silent_after && !talk.is_refused()) {
    const auto status = talk.listen();
    if (const auto why = talk.hopeless()) {
      std::fprintf(stderr, "%s\n", why->c_str());
      return kExitForGood;
    }
    if (!status) {
      continue;
    }
    silent_after = Clock::now() + kSilence;
    if (const auto outcome = outcome_of(command, *status, where, keys)) {
      talk.say_farewell();
      std::fprintf(outcome->exit_code == 0 ? stdout : stderr, "%s\n", outcome->text.c_str());
      return outcome->exit_code;
    }
    show_waiting(*status, shown);
  }
  const auto why = talk.why_silent();
  if (talk.is_refused()) {
    std::fprintf(stderr, "the lead at %s%s\n", lead.c_str(), why.c_str());
    return 1;
  }
  std::fprintf(stderr, "no lead answers at %s%s%s It has not said that it will %s\n", lead.c_str(),
               shown.empty() ? "" : " any more", why.empty() ? "; is the job still running?" : (why + ".").c_str(),
               verb(command));
  return 1;
}

}  // namespace ballast

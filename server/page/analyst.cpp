#include "server/page/analyst.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "common/net/clock.h"
#include "insight/analysis_text.h"
#include "server/page/job_text.h"
#include "server/page/json_text.h"

namespace ballast {
namespace {

constexpr std::size_t kWindow = 20;
constexpr std::size_t kWindows = 3;
// Steps that are asked for: as many as three windows take, as one does, as the shortest does.
constexpr std::array<Step, 3> kSteps{kWindow * kWindows + 2, kWindow + 2, 6};
constexpr std::chrono::milliseconds kLeadPatience{5000};
constexpr std::chrono::milliseconds kOthersPatience{2000};
constexpr std::size_t kRows = 96;   // of a waterfall
constexpr std::size_t kSpans = 48;  // of a work in a row
constexpr std::size_t kNames = 32;  // of those who did not answer
constexpr int kLowest = 19;         // niceness

std::string failed(const std::string& why, double asked_at) {
  JsonText text;
  return text.raw("{\"asked_at\":").seconds(asked_at).raw(",\"failure\":").text(why).raw("}").take();
}

}  // namespace

PageAnalyst::PageAnalyst(LeadLine& line, Micros zero)
    : line_(line), zero_(zero), thread_([this](const std::stop_token& ended) { work(ended); }) {}

PageAnalyst::~PageAnalyst() {
  thread_.request_stop();
  line_.end();
}

void PageAnalyst::ask() {
  const std::scoped_lock lock(mutex_);
  if (!is_asked_ && Clock::now() >= free_from_) {
    is_asked_ = true;
    asked_.notify_one();
  }
}

PageAnalyst::Answer PageAnalyst::newest() const {
  const std::scoped_lock lock(mutex_);
  return {is_asked_, result_};
}

void PageAnalyst::work(const std::stop_token& ended) {
  ::pthread_setname_np(::pthread_self(), "page-analyst");
  // Lanes and the lead come first. Where it may not be so, all are alike.
  [[maybe_unused]] const int outcome = ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowest);
  std::unique_lock lock(mutex_);
  while (asked_.wait(lock, ended, [this] { return is_asked_; })) {
    lock.unlock();
    auto result = std::make_shared<const std::string>(analyze(ended));
    lock.lock();
    result_ = std::move(result);
    is_asked_ = false;
    free_from_ = Clock::now() + kApart;
  }
}

// What fails is no reason for the lead's process to end.
std::string PageAnalyst::analyze(const std::stop_token& ended) {
  const auto began = monotonic_micros();
  const auto asked_at = static_cast<double>(began - zero_) * 1e-6;
  try {
    std::string why;
    const auto collected = collect(Clock::now() + kPatience, why);
    return collected ? told(*collected, asked_at, ended) : failed(why, asked_at);
  } catch (const std::exception& failure) {
    return failed(failure.what(), asked_at);
  }
}

std::optional<insight::Collected> PageAnalyst::collect(Clock::time_point until, std::string& why) {
  const auto ask = [&](const TraceAsked& asked) {
    return Clock::now() < until ? line_.ask(asked, kOthersPatience) : std::nullopt;
  };
  for (const auto steps : kSteps) {
    const auto view = line_.await_view(monotonic_micros(), kLeadPatience);
    const auto who = view ? line_.ask({}, kLeadPatience) : std::nullopt;
    if (!who) {
      why = "the lead does not answer";
      return std::nullopt;
    }
    auto collected = insight::collect(view->status, *who, steps, kRecords, ask);
    if (!collected.is_full) {
      return collected;
    }
  }
  why = "six steps have more than " + std::to_string(kRecords) +
        " records, which is more than the lead's process takes: `ballast analyze` looks at them from elsewhere";
  return std::nullopt;
}

std::string PageAnalyst::told(const insight::Collected& collected, double asked_at, const std::stop_token& ended) {
  const auto analysis =
      analyst_.analyze(collected.trace, {kWindow, kWindows}, {kMessages, [&ended] { return !ended.stop_requested(); }});
  JsonText text;
  text.raw("{\"asked_at\":").seconds(asked_at).raw(",\"took\":");
  text.seconds(static_cast<double>(monotonic_micros() - zero_) * 1e-6 - asked_at).raw(",\"text\":");
  text.text(analysis_lines(collected.trace, analysis, kWindow, false))
      .raw(",\"too_large\":")
      .boolean(analysis.is_too_large);
  text.raw(",\"silent\":[");
  bool is_first = true;
  for (std::size_t i = 0; i < collected.trace.silent.size() && i < kNames; ++i) {
    text.next(is_first).text(collected.trace.silent[i]);
  }
  text.raw("],\"silent_count\":").integer(collected.trace.silent.size()).raw(",\"waterfall\":");
  text.raw(waterfall_text(insight::waterfall_of(collected.trace, kRows, kSpans)));
  return text.raw("}").take();
}

}  // namespace ballast

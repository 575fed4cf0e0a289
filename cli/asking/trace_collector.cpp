#include "cli/asking/trace_collector.h"

#include <utility>

#include "insight/collection.h"

namespace ballast {
namespace {

constexpr std::chrono::milliseconds kLeadPatience{5000};
// For whom the lead passes a question on to: a worker's loop may be busy for a while.
constexpr std::chrono::milliseconds kOthersPatience{2000};

}  // namespace

TraceCollector::TraceCollector(const std::string& lead, std::unique_ptr<ClientKeys> keys)
    : lead_(lead), client_(context_, lead, std::move(keys)) {
  poll_.add(client_.socket());
}

std::string TraceCollector::why() const {
  if (const auto hopeless = client_.hopeless()) {
    return *hopeless;
  }
  if (client_.is_refused()) {
    return "the lead at " + lead_ + client_.why_silent();
  }
  if (client_.version() < kClocksSince) {
    return "the lead at " + lead_ + " speaks protocol version " + std::to_string(client_.version()) +
           ", which knows no traces: they are there from version " + std::to_string(kClocksSince) + " on";
  }
  const auto silent = client_.why_silent();
  return "no lead answers at " + lead_ + (silent.empty() ? "; is the job still running?" : silent);
}

std::optional<Status> TraceCollector::ask_status() {
  for (const auto until = Clock::now() + kLeadPatience; Clock::now() < until;) {
    client_.ask();
    poll_.wait(kAskEvery.count());
    if (auto status = client_.take()) {
      return status;
    }
    if (client_.hopeless() || client_.is_refused()) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<TracePart> TraceCollector::ask(TraceAsked asked, std::chrono::milliseconds patience) {
  asked.number = ++number_;
  const auto until = Clock::now() + patience;
  for (auto again = Clock::now(); Clock::now() < until;) {
    if (Clock::now() >= again) {
      again = Clock::now() + kAskEvery;
      client_.ask(asked);
    }
    poll_.wait(kAskEvery.count());
    if (auto part = client_.take_part(); part && part->number == asked.number) {
      return part;
    }
    if (client_.hopeless() || client_.is_refused()) {
      break;
    }
  }
  return std::nullopt;
}

TraceCollector::Silent TraceCollector::ask_who_is_silent(std::chrono::milliseconds all) {
  const auto until = Clock::now() + all;
  Silent silent;
  const auto status = ask_status();
  const auto who = status && client_.version() >= kClocksSince ? ask({}, kLeadPatience) : std::nullopt;
  for (const auto& source : who ? who->sources : std::vector<TraceSource>()) {
    if (Clock::now() + kOthersPatience > until) {
      ++silent.unasked;  // in less it might not answer though it is well
      continue;
    }
    TraceAsked asked;
    asked.source = source;
    asked.first = status->step + 1;  // an answer is enough: it has no records of that one
    if (!ask(asked, kOthersPatience)) {
      silent.names.push_back(insight::name_in(*status, source));
    }
  }
  return silent;
}

std::optional<insight::JobTrace> TraceCollector::collect(Step steps) {
  silent_.clear();
  const auto status = ask_status();
  if (!status || client_.version() < kClocksSince) {
    return std::nullopt;
  }
  const auto who = ask({}, kLeadPatience);
  if (!who) {
    return std::nullopt;
  }
  auto collected = insight::collect(*status, *who, steps, kMost,
                                    [this](const TraceAsked& asked) { return ask(asked, kOthersPatience); });
  silent_ = std::move(collected.silent);
  return std::move(collected.trace);
}

}  // namespace ballast

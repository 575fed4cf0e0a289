#include "cli/asking/trace_collector.h"

#include <algorithm>
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

template <typename Ask, typename Take>
auto TraceCollector::answer(std::chrono::milliseconds patience, const Ask& ask, const Take& take) -> decltype(take()) {
  const auto until = Clock::now() + patience;
  for (auto again = Clock::now(); Clock::now() < until;) {
    if (Clock::now() >= again) {
      again = Clock::now() + kAskEvery;
      ask();
    }
    poll_.wait(kAskEvery.count());
    if (auto taken = take()) {
      return taken;
    }
    if (client_.hopeless() || client_.is_refused()) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<Status> TraceCollector::ask_status() {
  return answer(
      kLeadPatience, [this] { client_.ask(); }, [this] { return client_.take(); });
}

std::optional<TracePart> TraceCollector::ask(TraceAsked asked, std::chrono::milliseconds patience) {
  asked.number = ++number_;
  return answer(
      patience, [&] { client_.ask(asked); },
      [&] {
        auto part = client_.take_part();
        return part && part->number == asked.number ? part : std::nullopt;
      });
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
  return collect(steps,
                 [this](const Status& /*status*/, const TraceAsked& asked) { return ask(asked, kOthersPatience); });
}

std::optional<insight::JobTrace> TraceCollector::collect_soon(Step steps, const std::vector<std::string>& without,
                                                              std::chrono::milliseconds all) {
  const auto until = Clock::now() + all;
  return collect(steps, [&](const Status& status, const TraceAsked& asked) {
    const bool is_left_out = std::ranges::find(without, insight::name_in(status, *asked.source)) != without.end();
    return is_left_out || Clock::now() + kOthersPatience > until ? std::nullopt : ask(asked, kOthersPatience);
  });
}

std::optional<insight::JobTrace> TraceCollector::collect(Step steps, const AskOne& ask_one) {
  const auto status = ask_status();
  if (!status || client_.version() < kClocksSince) {
    return std::nullopt;
  }
  is_over_ = ballast::is_over(status->phase);
  const auto who = ask({}, kLeadPatience);
  if (!who) {
    return std::nullopt;
  }
  auto collected =
      insight::collect(*status, *who, steps, kMost, [&](const TraceAsked& asked) { return ask_one(*status, asked); });
  return std::move(collected.trace);
}

}  // namespace ballast

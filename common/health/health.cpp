#include "common/health/health.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kAnswer{3000};  // of one look
constexpr std::chrono::milliseconds kGlance{100};

constexpr std::string_view kTurns = R"(ballast_turn_seconds_count{loop=")";
constexpr std::string_view kInfo = R"(ballast_process_info{role=")";
constexpr std::string_view kServing = R"(ballast_shard_serving{lane=")";
constexpr std::string_view kSilence = "ballast_worker_lead_silence_seconds";

// What stands between `begin` and the next quotation mark.
std::string quoted(const std::string& series, std::string_view begin) {
  const auto rest = series.substr(begin.size());
  return rest.substr(0, rest.find('"'));
}

// Those whose names begin like this.
template <typename Take>
void each_of(const Series& series, std::string_view begin, const Take& take) {
  for (auto at = series.lower_bound(begin); at != series.end() && at->first.starts_with(begin); ++at) {
    take(quoted(at->first, begin), at->second);
  }
}

// "shard" or "worker"; empty where the page does not say.
std::string role_of(const Series& series) {
  std::string role;
  each_of(series, kInfo, [&](const std::string& found, double) { role = found; });
  return role;
}

std::string server_complaint(const Series& now) {
  std::size_t lanes = 0;
  std::string idle;
  each_of(now, kServing, [&](const std::string& lane, double serves) {
    ++lanes;
    if (serves != 1) {
      idle += (idle.empty() ? "lane " : ", lane ") + lane;
    }
  });
  if (lanes == 0) {
    return "no lane is open yet";
  }
  return idle.empty() ? std::string() : idle + " does not serve: it waits for the lead, or for other shards";
}

std::string worker_complaint(const Series& now) {
  if (role_of(now).empty()) {
    return "the lead has not given it the job yet";
  }
  const auto silence = now.find(kSilence);
  if (silence == now.end()) {
    return "the page does not say when the lead was heard";
  }
  if (silence->second > kLeadHeardSeconds) {
    return "the lead was not heard for " + std::to_string(static_cast<long long>(silence->second)) + " s";
  }
  return {};
}

std::string listed(const std::vector<std::string>& loops) {
  std::string text;
  for (const auto& loop : loops) {
    text += (text.empty() ? "" : ", ") + loop;
  }
  return text;
}

}  // namespace

std::vector<std::string> standing_loops(const Series& first, const Series& now) {
  std::vector<std::string> standing;
  each_of(first, kTurns, [&](const std::string& loop, double turns) {
    const auto found = now.find(std::string(kTurns) + loop + "\"}");
    if (turns > 0 && found != now.end() && found->second == turns) {
      standing.push_back(loop);
    }
  });
  return standing;
}

std::string complaint(const Asked& asked, const Series& now) {
  const auto role = role_of(now);
  const bool is_other = asked.role == Role::server ? role != "shard" : !role.empty() && role != "worker";
  if (is_other) {
    return "this is the page of " + (role.empty() ? "no server" : "a " + role);
  }
  if (asked.question == Question::alive) {
    return {};
  }
  return asked.role == Role::server ? server_complaint(now) : worker_complaint(now);
}

Health look_at(const Asked& asked, const std::string& address) {
  const auto until = Clock::now() + kPatience;
  try {
    const auto first = read_series(fetch_page(address, kAnswer));
    for (;;) {
      std::this_thread::sleep_for(kGlance);
      const auto now = read_series(fetch_page(address, kAnswer));
      if (const auto why_not = complaint(asked, now); !why_not.empty()) {
        return {false, why_not};
      }
      const auto standing = standing_loops(first, now);
      if (standing.empty()) {
        return {true, asked.question == Question::alive ? "alive" : "ready"};
      }
      if (Clock::now() >= until) {
        return {false, "stands still for " + std::to_string(kPatience.count()) + " s: " + listed(standing)};
      }
    }
  } catch (const std::runtime_error& failure) {
    return {false, std::string(failure.what()) + "; it is served where --metrics says"};
  }
}

}  // namespace ballast

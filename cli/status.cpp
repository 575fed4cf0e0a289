#include "cli/status.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "cli/status_client.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPatience{5};
constexpr long kAskEveryMs = 500;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json session_json(const SessionStatus& session) {
  Json json;
  json["session"] = session.session;
  json["name"] = session.name;
  json["live"] = session.live;
  json["step"] = session.step;
  json["slots"] = session.slots;
  json["fingerprint"] = session.fingerprint;
  json["phases"] = {{"data_wait", session.phases.data_wait},
                    {"pull", session.phases.pull},
                    {"forward", session.phases.forward},
                    {"backward", session.phases.backward},
                    {"push", session.phases.push}};
  return json;
}

std::optional<Status> ask(const std::string& lead) {
  zmq::context_t context(1);
  StatusClient client(context, lead);
  Poll poll;
  poll.add(client.socket());
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    client.ask();
    poll.wait(kAskEveryMs);
    if (auto status = client.take()) {
      return status;
    }
  }
  return std::nullopt;
}

void print(const Status& status) {
  std::printf("%s, step %llu of %llu, %llu epochs done\n", status.phase.c_str(),
              static_cast<unsigned long long>(status.step), static_cast<unsigned long long>(status.steps),
              static_cast<unsigned long long>(status.epoch));
  if (!status.failure.empty()) {
    std::printf("failure: %s\n", status.failure.c_str());
  }
  std::printf("loss %.4f over the last steps", status.recent_loss);
  if (status.evaluated) {
    std::printf(", test accuracy %.2f %%", 100 * status.test_accuracy);
  }
  std::printf("\n%-24s %-6s %10s %10s\n", "worker", "", "step", "slots");
  for (const auto& session : status.sessions) {
    std::printf("%-24s %-6s %10llu %10llu\n", session.name.c_str(), session.live ? "live" : "gone",
                static_cast<unsigned long long>(session.step), static_cast<unsigned long long>(session.slots));
  }
}

}  // namespace

std::string status_json(const Status& status) {
  Json json;
  json["phase"] = status.phase;
  json["failure"] = status.failure;
  json["timeline"] = status.timeline;
  json["step"] = status.step;
  json["steps"] = status.steps;
  json["epoch"] = status.epoch;
  json["training_seconds"] = static_cast<double>(status.training) / 1e6;
  json["examples"] = status.examples;
  json["train_loss"] = finite(status.train_loss);
  json["recent_loss"] = finite(status.recent_loss);
  json["test_loss"] = status.evaluated ? finite(status.test_loss) : Json(nullptr);
  json["test_accuracy"] = status.evaluated ? finite(status.test_accuracy) : Json(nullptr);
  json["duplicates"] = status.duplicates;
  json["superseded"] = status.superseded;
  json["lost_workers"] = status.lost_workers;
  json["backups"] = status.backups;
  json["sessions"] = Json::array();
  for (const auto& session : status.sessions) {
    json["sessions"].push_back(session_json(session));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int show_status(const std::string& lead, bool json) {
  const auto status = ask(lead);
  if (!status) {
    std::fprintf(stderr, "no lead answers at %s within %lld s; is the job still running?\n", lead.c_str(),
                 static_cast<long long>(kPatience.count()));
    return 1;
  }
  if (json) {
    std::fputs(status_json(*status).c_str(), stdout);
  } else {
    print(*status);
  }
  return 0;
}

}  // namespace ballast

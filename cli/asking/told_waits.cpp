#include "cli/asking/told_waits.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "common/telling/changes.h"
#include "insight/collection.h"

namespace ballast {
namespace {

constexpr auto kLead = "lead";

using Numbers = std::vector<std::uint64_t>;

// The numbers that stand in a text where its beginning, up to the pattern's end, has a '#'; nothing if it has others.
std::optional<Numbers> numbers_in(std::string_view text, std::string_view pattern) {
  Numbers numbers;
  for (const char expected : pattern) {
    if (expected == '#') {
      const auto read = std::from_chars(text.data(), text.data() + text.size(), numbers.emplace_back());
      if (read.ec != std::errc()) {
        return std::nullopt;
      }
      text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    } else if (!text.starts_with(expected)) {
      return std::nullopt;
    } else {
      text.remove_prefix(1);
    }
  }
  return numbers;
}

std::string lane_name(std::uint64_t shard, std::uint64_t lane) {
  return "shard " + std::to_string(shard) + " lane " + std::to_string(lane);
}

std::string process_name(const ProcessSeen& process) {
  return process.name + " (process " + std::to_string(process.pid) + ")";
}

class ToldWaits {
 public:
  explicit ToldWaits(const JobSeen& seen) : seen_(seen) {}

  std::vector<Wait> all() {
    if (seen_.after) {
      phase();
      lead();
      trouble();
      sessions();
      silent();
      on_the_way();
    } else {
      add("ballast doctor", kLead, "an answer", seen_.seconds);
    }
    processes();
    return std::move(waits_);
  }

 private:
  void add(std::string who, std::string whom, std::string what, std::optional<double> seconds = {}) {
    waits_.push_back({std::move(who), std::move(whom), std::move(what), seconds});
  }

  void phase() {
    if (seen_.after->phase == JobPhase::paused || seen_.after->phase == JobPhase::pausing) {
      add(kLead, "its user", std::string("it is ") + name_of(seen_.after->phase));
    }
  }

  // protocol/lead/shard_roster and lead_status say it in these words.
  void lead() {
    const auto text = awaited_by(*seen_.after);
    if (const auto silent = numbers_in(text, "shard # (lane #)")) {
      constexpr std::string_view kFor = "not heard of for ";
      const auto at = text.find(kFor);
      const auto span = at == std::string::npos ? std::nullopt : numbers_in(text.substr(at + kFor.size()), "# ms");
      add(kLead, lane_name(silent->at(0), silent->at(1)), "its report",
          span ? std::optional(static_cast<double>(span->at(0)) / 1e3) : std::nullopt);
    } else if (const auto absent = numbers_in(text, "shard #"); absent && text.ends_with(" to come")) {
      add(kLead, "shard " + std::to_string(absent->at(0)), "its start");
    } else if (const auto worker = stranded(text, ", which waits for "); !worker.empty()) {
      add(kLead, worker, "its part of the step");
    } else if (text == kNoWorker) {
      add(kLead, "a worker", "there is none");
    } else if (text.empty() && seen_.after->phase == JobPhase::waiting) {
      add(kLead, "workers", "it begins with " + std::to_string(seen_.after->start_workers));
    } else if (!text.empty()) {
      add(kLead, text, "");
    }
  }

  // "worker a (like 3 more)WORDSlane 0 of shard 1 at ADDRESS, which ...": adds that worker's wait.
  std::string stranded(const std::string& text, std::string_view words) {
    const auto at = text.find(words);
    if (!text.starts_with("worker ") || at == std::string::npos) {
      return {};
    }
    const auto who = text.substr(0, std::min(at, text.find(" (like ")));
    const auto lane = text.substr(at + words.size());
    const auto numbers = numbers_in(lane, "lane # of shard # at ");
    if (!numbers) {
      return {};
    }
    const auto why = lane.find(", which ");
    add(who, lane_name(numbers->at(1), numbers->at(0)),
        why == std::string::npos ? std::string() : "it" + lane.substr(why + std::string_view(", which").size()));
    return who;
  }

  // Of one shard, or one worker.
  void trouble() {
    const auto& text = seen_.after->trouble;
    stranded(text, " waits for ");
    const auto shard = numbers_in(text, "shard #: ");
    if (!shard) {
      return;
    }
    const auto said = text.substr(text.find(": ") + 2);
    if (const auto offer = numbers_in(said, "lane # waits for step # of chunk #, which session # offered")) {
      const TraceSource source{TraceRole::worker, {}, offer->at(3)};
      add(lane_name(shard->at(0), offer->at(0)), insight::name_in(*seen_.after, source),
          "step " + std::to_string(offer->at(1)) + " of chunk " + std::to_string(offer->at(2)) + ", which it offered");
    } else if (said.find("disk is full") != std::string::npos || said.find("No space") != std::string::npos) {
      add("shard " + std::to_string(shard->at(0)), "room on its disk", said);
    }
  }

  // Where a shard keeps all waiting workers bring nothing for its sake.
  void sessions() {
    if (seen_.after->waits_for.starts_with("shard ")) {
      return;
    }
    for (const auto& session : seen_.after->sessions) {
      if (session.live && !session.held_up.empty()) {
        add(kLead, "worker " + session.name, session.held_up);
      }
    }
  }

  // What the lead passes on is given up after two seconds.
  void silent() {
    for (const auto& name : seen_.silent) {
      if (std::ranges::none_of(waits_, [&](const auto& wait) { return wait.who == kLead && wait.whom == name; })) {
        add(kLead, name, "an answer to what it passes on");
      }
    }
  }

  void on_the_way() {
    for (const auto& message : seen_.on_the_way) {
      const auto whom =
          message.is_weights ? "weights sent to " + message.to + " and not stored there" : "the way to " + message.to;
      const auto place = "of step " + std::to_string(message.step) + " in chunk " + std::to_string(message.chunk);
      const auto what = message.is_weights ? place + ", by " + message.from
                                           : message.from + "'s part " + place + ", sent and not accepted";
      const auto all = message.others == 0 ? std::string() : ", the oldest of " + std::to_string(message.others + 1);
      add(message.to, whom, what + all, static_cast<double>(message.age) * 1e-6);
    }
  }

  // ---- this machine

  void processes() {
    for (const auto& process : seen_.processes) {
      const auto whom = awaited_by_process(process);
      if (whom.empty()) {
        continue;
      }
      const auto within = named_within(process);
      for (const auto& who : within) {
        add(who, whom, "");
      }
      if (within.empty()) {
        add(process_name(process), whom, "");
      }
    }
  }

  // What the kernel says; empty: nothing.
  [[nodiscard]] std::string awaited_by_process(const ProcessSeen& process) {
    if (!process.footprint) {
      return seen_.after && is_over(seen_.after->phase) ? std::string() : "the next life of " + process_name(process);
    }
    const auto& own = *process.footprint;
    if (own.state == 'T' || own.state == 't') {
      return "a signal that lets " + process_name(process) + " go on";
    }
    if (own.state == 'D') {
      return "the disk or file system of " + process_name(process);
    }
    if (!own.stuck.empty()) {
      return own.stuck.front().peer + " to acknowledge what " + process_name(process) + " sends";
    }
    return own.lacks_descriptors() ? "file descriptors for " + process_name(process) : std::string();
  }

  // Those in that process whom somebody waits for, or who are said to wait: `ballast run` names processes as shards and
  // workers, worker-0 of a job being its process "worker 0".
  [[nodiscard]] std::set<std::string> named_within(const ProcessSeen& process) const {
    std::set<std::string> named;
    const auto server = numbers_in(process.name, "server #");
    const auto shard = server ? "shard " + std::to_string(server->at(0)) : std::string();
    const auto worker = numbers_in(process.name, "worker #");
    const auto session = worker ? "worker worker-" + std::to_string(worker->at(0)) : std::string();
    const auto look_at = [&](const std::string& name) {
      const bool is_of_shard = !shard.empty() && (name == shard || name.starts_with(shard + " "));
      if (is_of_shard || name == session || (process.is_lead && name == kLead)) {
        named.insert(name);
      }
    };
    for (const auto& wait : waits_) {
      look_at(wait.who);
      look_at(wait.whom);
    }
    return named;
  }

  const JobSeen& seen_;
  std::vector<Wait> waits_;
};

}  // namespace

std::vector<Wait> told_waits(const JobSeen& seen) { return ToldWaits(seen).all(); }

}  // namespace ballast

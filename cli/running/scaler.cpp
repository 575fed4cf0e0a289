#include "cli/running/scaler.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/telling/amounts.h"

namespace ballast {

namespace {

constexpr std::chrono::milliseconds kWishEvery{200};
constexpr std::chrono::seconds kAfterRefusal{2};  // after a disk has refused a file

void add_to_list(std::string& list, const std::string& text) { list += (list.empty() ? "" : "; ") + text; }

bool is_known_to_lead(const Member& worker, const Status* status) {
  const auto name = "worker-" + std::to_string(worker.index);
  return status != nullptr && std::any_of(status->sessions.begin(), status->sessions.end(),
                                          [&](const auto& session) { return session.live && session.name == name; });
}

// What is still to come of a worker; empty: nothing.
std::string awaited(const Member& worker, bool known) {
  const auto pid = std::to_string(worker.pid);
  if (worker.told_to_go) {
    return worker.name() + " (process " + pid + ") to end what it computes and leave; kill -9 " + pid +
           " ends it at once, and costs nothing but that";
  }
  if (!worker.wanted || known) {
    return {};
  }
  if (worker.pid == 0) {
    return worker.name() + " to be started" + (worker.refusal.empty() ? "" : ": " + worker.refusal);
  }
  return worker.name() + " (process " + pid + ") to join the job";
}

std::string note_on(std::uint32_t workers, const Status* status) {
  if (status != nullptr && status->phase == JobPhase::waiting && status->start_workers > workers) {
    return "the job begins when there are " + std::to_string(status->start_workers) + " (cluster.start_workers)";
  }
  return workers == 0 ? "the job waits until it has one" : "";
}

}  // namespace

ScaleAnswer scale_answer(const ScaleWish& wish, const std::vector<Member>& members, const Status* status) {
  ScaleAnswer answer;
  answer.id = wish.id;
  for (const auto& worker : members) {
    if (worker.role != Role::worker) {
      continue;
    }
    const bool known = worker.pid != 0 && is_known_to_lead(worker, status);
    answer.workers += known && !worker.told_to_go ? 1 : 0;
    if (const auto text = awaited(worker, known); !text.empty()) {
      add_to_list(answer.waits_for, text);
    }
    if (worker.index < wish.workers && !worker.given_up_for.empty()) {
      add_to_list(answer.refusal, worker.given_up_for);
    }
  }
  answer.done = answer.waits_for.empty();
  answer.note = note_on(answer.workers, status);
  return answer;
}

void Scaler::turn(Clock::time_point now, const std::optional<Status>& status, const std::string& hindrance) {
  if (now < look_at_) {
    return;
  }
  look_at_ = now + kWishEvery;
  try {
    take(now, hindrance);
    if (!wish_) {
      return;
    }
    auto result = scale_answer(*wish_, cluster_.members(), status ? &*status : nullptr);
    if (!hindrance.empty()) {
      result.done = true;
      result.refusal = hindrance;
    }
    tell(result);
  } catch (const std::exception& refused) {
    told_.reset();
    look_at_ = now + kAfterRefusal;
    if (std::exchange(told_refusal_, refused.what()) != refused.what()) {
      progress_.warn(std::string("ballast scale: ") + refused.what());
    }
  }
}

void Scaler::take(Clock::time_point now, const std::string& hindrance) {
  const auto wish = take_scale_wish(cluster_.folder());
  if (!wish) {
    return;
  }
  wish_ = wish;
  told_.reset();
  if (hindrance.empty()) {
    progress_.line("ballast scale: " + count_text(wish->workers, "worker") + " from now on");
    progress_.event("scale", {{"workers", wish->workers}});
    cluster_.want_workers(wish->workers, now);
  }
}

void Scaler::tell(const ScaleAnswer& answer) {
  if (answer != told_) {
    write_scale_answer(cluster_.folder(), answer);
    told_ = answer;
    told_refusal_.clear();
  }
  if (answer.done) {
    wish_.reset();
  }
}

}  // namespace ballast

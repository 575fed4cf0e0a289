// What is asked of a worker at its shell: which gradients it keeps, how much is on its way, what it says of its grants.
#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"
#include "tests/simulation/worker_shell.h"

namespace ballast::simulation {

void WorkerShell::check_kept() const {
  std::size_t gradients = 0;
  for (const auto& [id, kept] : kept_) {
    gradients += kept.is_gradient ? 1 : 0;
    if (kept.is_gradient && kept.receipted) {
      throw Violation(name() + " keeps a gradient that has its receipt");
    }
    if (!kept.is_gradient && !computation_.runs) {
      throw Violation(name() + " keeps weights of chunk " + std::to_string(kept.chunk) + " that nobody will look at");
    }
  }
  if (gradients != core_.outstanding()) {
    throw Violation(name() + " keeps " + std::to_string(gradients) + " gradients, its core knows of " +
                    std::to_string(core_.outstanding()) + ": a payload leaked");
  }
}

std::optional<std::uint32_t> WorkerShell::Arenas::take() {
  const auto free = std::ranges::find(out, 0U);
  if (free == out.end()) {
    return std::nullopt;
  }
  *free = chunks;
  return static_cast<std::uint32_t>(free - out.begin());
}

// Only what no lane can be sending for: it was not sent over the connection that stands.
bool WorkerShell::is_for_arena(Host& host, const Kept& gradient) const {
  const auto lane = lanes_[host.life().chunks[gradient.chunk].lane];
  return computation_.awaits_arena && !host.life().items && gradient.sent_over != host.newest_connection(id(), lane);
}

void WorkerShell::note_given_up(Host& host, const Kept& gradient) {
  host.facts().note(Fact::given_up);
  given_up_.push_back({gradient.step, gradient.chunk, gradient.node});
}

// Whoever offers what it has given up is called in vain, and out of good standing.
void WorkerShell::check_withdrawn() {
  for (const auto& work : std::exchange(given_up_, {})) {
    for (const auto& view : views_) {
      require(std::ranges::find(view.offered, work) == view.offered.end(),
              "a contribution is given up, and the lane is not told that it is offered no more");
    }
  }
}

// With nothing on its way nobody may ever call what it has, before somebody has what it is still to compute.
void WorkerShell::check_waiting(Host& host) {
  constexpr std::uint32_t kMost = 40;
  const auto is_on_its_way = [&](const auto& entry) {
    const auto& kept = entry.second;
    return kept.is_gradient && !is_for_arena(host, kept);
  };
  const bool lacks_arena = computation_.awaits_arena && !computation_.goes_on;
  const bool waits = alive() && lacks_arena && !host.life().items && told_at_ == 0 &&
                     std::ranges::all_of(views_, &LaneView::is_welcome) && std::ranges::none_of(kept_, is_on_its_way);
  waits_ = waits ? waits_ + 1 : 0;
  require(waits_ <= kMost, "a worker waits for a receipt before it computes");
}

// Its clock may run at twice the time's rate: its patience may be over in half of it.
void WorkerShell::check_left(Host& host) const {
  if (host.now() - told_at_ >= WorkerConfig{}.drain_patience / 2) {
    return;
  }
  require(!computation_.runs, "a worker that was told to leave goes with work in hand");
  for (const auto& [id, kept] : kept_) {
    require(!kept.is_gradient, "a worker that was told to leave goes, and a contribution of it has no receipt");
  }
}

// Weights to compute an item from are asked for after the item was granted.
void WorkerShell::check_pull(const Pull& pull) const {
  if (pull.version == kNewestVersion) {
    require(grants_.items.contains(pull.clock), "weights are asked for before the item they are for is granted");
  }
}

bool WorkerShell::has_expired(Host& host, const Kept& gradient) const {
  return host.life().items && grants_.expired.contains(gradient.step * host.life().slots + gradient.node.begin);
}

// A grant is called delivered when every receipt of the item has arrived, and none says that it has expired.
void WorkerShell::check_delivered(Host& host, const Heartbeat& beat) const {
  const auto slots = host.life().slots;
  for (const auto clock : beat.delivered) {
    require(grants_.computed.contains(clock), "a grant is called delivered that was never computed");
    const auto item = grants_.items.at(clock);
    for (const auto& [id, kept] : kept_) {
      require(!kept.is_gradient || kept.step * slots + kept.node.begin != item,
              "a grant is called delivered, and a receipt of it is missing");
    }
    require(!grants_.expired.contains(item), "a grant is called delivered, of which a part has expired");
  }
}

void WorkerShell::check_dropped(const Heartbeat& beat) const {
  for (const auto clock : beat.dropped) {
    require(grants_.computed.contains(clock), "a grant is called dropped that was never computed");
    require(grants_.expired.contains(grants_.items.at(clock)),
            "a grant is called dropped, and no part of it has expired");
  }
}

}  // namespace ballast::simulation

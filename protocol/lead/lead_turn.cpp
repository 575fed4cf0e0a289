// What follows from the events of a turn: the lead acts once for all of them, and tells whom it concerns.
#include <algorithm>
#include <bit>
#include <utility>

#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

Actions Lead::settle() {
  auto turn = std::exchange(turn_, {});
  std::erase_if(turn.reported, [&](const auto& lane) { return !shards_.is_there(lane.first, lane.second); });
  if (!is_over()) {
    act(turn);
  }
  write_ledger();
  return std::exchange(actions_, {});
}

void Lead::act(const Turn& turn) {
  if (turn.stirred) {
    follow(turn);
  }
  if (!is_over() && (turn.stirred || turn.freed)) {
    hand_out();
  }
  if (!is_over()) {
    answer_lanes(turn);
    send_orders(turn);
  }
}

// An event may have ended the job, or sent all back to an older snapshot.
void Lead::follow(const Turn& turn) {
  if (is_confirmed()) {
    order_kept();
    observe_reports(turn);
  }
  if (phase_ == Phase::evaluating && evaluations_.done()) {
    end_evaluation();
  }
  if (is_confirmed()) {
    progress();
  }
  if (is_confirmed() && !is_over()) {
    decide(turn);
  }
}

void Lead::observe_reports(const Turn& turn) {
  planner_.forget_before(course_.open_step());
  if (turn.ticked || turn.snapshots || misses_some(turn)) {
    observe_snapshots();
  }
  if (turn.copied) {
    observe_copies();
  }
}

// Whether one of those that have reported will not have its part of what is ordered.
bool Lead::misses_some(const Turn& turn) const {
  const auto view = snapshots();
  return std::ranges::any_of(schedule_.ordered(), [&](Step step) {
    return std::ranges::any_of(turn.reported,
                               [&](const auto& lane) { return view.why_missed(lane.first, step).has_value(); });
  });
}

// ---- answers

void Lead::answer_lanes(const Turn& turn) {
  if (is_confirmed()) {
    for (const auto& [id, incarnation] : turn.reported) {
      send_plan(id, shards_.lanes().at(id));
    }
  }
}

// To whom spoke up, changed or not: an answer is a sign of life, and an order may be lost.
void Lead::send_orders(const Turn& turn) {
  auto changed = course_.take_changed();
  changed.merge(evaluations_.take_changed());
  const OrderBasis basis{timeline(), phase_, limit(), course_.generation()};
  if (basis != std::exchange(basis_, basis)) {
    for (auto& [id, session] : sessions_.all()) {
      send_order(id, session, turn.spoke_up.contains(id));
    }
    return;
  }
  changed.insert(turn.spoke_up.begin(), turn.spoke_up.end());
  for (const auto id : changed) {
    if (const auto session = sessions_.all().find(id); session != sessions_.all().end()) {
      send_order(id, session->second, turn.spoke_up.contains(id));
    }
  }
}

// So that all together are heard ten thousand times a second at most. In powers of two: a change is told to all.
Micros Lead::beats_apart() const {
  constexpr std::size_t kFew = 128;
  constexpr Micros kEach = 100;
  const auto sessions = sessions_.joined().size();
  return sessions < kFew ? 0 : kEach * std::bit_ceil(sessions);
}

void Lead::send_order(SessionId id, LeadSession& session, bool even_unchanged) {
  if (!session.live) {
    return;
  }
  Assign assign;
  assign.order = session.assign.order;
  if (session.ready && phase_ >= Phase::training) {
    assign.timeline = timeline();
    course_.tell(id, limit(), phase_ == Phase::training, assign);
    assign.beats_apart = beats_apart();
    if (phase_ == Phase::evaluating) {
      assign.evaluation = evaluations_.ordered_from(id);
    }
    if (!(assign == session.assign)) {
      assign.order = {config_.life, sessions_.next_order()};
      session.assign = assign;
      even_unchanged = true;
    }
  }
  if (even_unchanged) {
    emit(SendToWorker{id, std::move(assign)});
  }
}

}  // namespace ballast

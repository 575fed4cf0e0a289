#include "server/lane_metrics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/machine/processor_time.h"
#include "server/twin_name.h"

namespace ballast {

namespace {

// In the order of RefusalCode.
constexpr std::array kRefusalReasons = {"malformed",    "wrong_protocol", "unknown_session", "wrong_job",
                                        "wrong_target", "out_of_range",   "not_serving",     "too_many",
                                        "not_taken",    "wrong_bits"};
}  // namespace

LaneMetrics::LaneMetrics(Metrics* metrics, LaneId lane, std::shared_ptr<WorkerTallies> tallies)
    : metrics_(metrics),
      series_(metrics, lane.lane),
      turns_(metrics, "lane " + std::to_string(lane.lane)),
      snapshots_(metrics, lane.lane),
      tallies_(tallies ? std::move(tallies) : std::make_shared<WorkerTallies>(metrics)),
      names_(kMaxSessions),
      workers_(kMaxSessions) {}

void LaneMetrics::welcomed(SessionId session, const std::string& worker) {
  if (auto* name = names_.use(session)) {
    *name = worker;
    return;
  }
  if (names_.is_full()) {
    names_.forget_oldest();
  }
  names_.add(session, worker);
}

LaneMetrics::WorkerState* LaneMetrics::state_of(SessionId session, Micros now) {
  if (auto* known = workers_.use(session)) {
    known->heard_at = now;
    return known;
  }
  const auto* name = names_.use(session);
  if (name == nullptr) {
    return nullptr;
  }
  if (workers_.is_full()) {
    forget_oldest();
  }
  namesakes_[*name].insert(session);
  return &workers_.add(session, {*name, *name, tallies_->of(*name), now, now});
}

void LaneMetrics::forget_oldest() {
  const auto [session, worker] = std::move(*workers_.forget_oldest());
  const auto same = namesakes_.find(worker.name);
  same->second.erase(session);
  if (same->second.empty()) {
    namesakes_.erase(same);
  }
}

// An earlier life of the same worker is not heard of any more once this one has begun.
bool LaneMetrics::is_twin(SessionId session, const WorkerState& worker, Micros now) const {
  const auto& same = namesakes_.at(worker.name);
  return std::any_of(same.begin(), same.find(session), [&](SessionId lower) {
    const auto* other = workers_.peek(lower);
    return other->heard_at > worker.began_at && now - other->heard_at < kDeadAfter;
  });
}

void LaneMetrics::settle_name(SessionId session, WorkerState& worker, Micros now) {
  const auto name = is_twin(session, worker, now) ? name_of_twin(worker.name, session) : worker.name;
  if (name != worker.shown) {
    worker.shown = name;
    worker.tally = tallies_->of(name);
    worker.updates = {};
    worker.refusals = {};
  }
}

void LaneMetrics::received(SessionId session, const Message& message, std::uint64_t payload_bytes) {
  series_.bytes_in->add(static_cast<double>(payload_bytes));
  names_.use(session);
  if (const auto* hello = std::get_if<LaneHello>(&message)) {
    greeting_ = {session, hello->name};
  } else if (std::holds_alternative<Push>(message)) {
    const auto* worker = workers_.peek(session);
    in_hand_ = {session, payload_bytes, worker != nullptr};
    if (worker != nullptr) {
      worker->tally->bytes->add(static_cast<double>(payload_bytes));
    }
  }
}

// Receipts may come long after what they are for, and to who is not counted any more.
void LaneMetrics::sent(SessionId session, const Message& message) {
  auto* worker = workers_.use(session);
  if (std::holds_alternative<LaneWelcome>(message) && greeting_.first == session) {
    welcomed(session, greeting_.second);
  } else if (const auto* refusal = std::get_if<Refused>(&message)) {
    worker == nullptr ? refused(of_strangers_, {}, refusal->code)
                      : refused(worker->refusals, worker->shown, refusal->code);
  } else if (worker == nullptr) {
    return;
  } else if (const auto* receipt = std::get_if<Receipt>(&message)) {
    const auto& tally = *worker->tally;
    const std::array by_outcome = {tally.accepted.get(), tally.duplicate.get(), tally.expired.get()};
    if (receipt->outcome != ReceiptOutcome::not_yet) {
      by_outcome.at(static_cast<std::size_t>(receipt->outcome))->add();
    }
  } else if (std::holds_alternative<Stale>(message) && session == in_hand_.session) {
    worker->tally->stale->add();
  }
}

void LaneMetrics::unreadable_of_worker(RefusalCode why) {
  unreadable();
  refused(of_strangers_, {}, why);
}

void LaneMetrics::refused(Refusals& refusals, const std::string& sender, RefusalCode why) const {
  static_assert(kRefusalReasons.size() == kRefusalCodes);
  auto& counter = refusals.at(static_cast<std::size_t>(why));
  if (!counter) {
    counter = worker_refusals(metrics_, sender, kRefusalReasons.at(static_cast<std::size_t>(why)));
  }
  counter->add();
}

void LaneMetrics::applied(SessionId session, std::uint64_t staleness) {
  auto* worker = workers_.use(session);
  if (worker == nullptr) {
    return;
  }
  if (!worker->updates.updates) {
    worker->updates = worker->tally->updates();
  }
  worker->updates.updates->add();
  worker->updates.staleness->add(static_cast<double>(staleness));
}

// Once per worker and step: its first contribution to the step counts.
void LaneMetrics::contributed(SessionId session, const Push& push, Micros now) {
  if (newest_step_ == ~Step{0} || push.step > newest_step_) {
    newest_step_ = push.step;
    newest_step_at_ = now;
  }
  auto* worker = state_of(session, now);
  if (worker == nullptr) {
    return;
  }
  if (!std::exchange(in_hand_.is_counted, true)) {
    worker->tally->bytes->add(static_cast<double>(in_hand_.bytes));
  }
  if (worker->last_step == push.step) {
    return;
  }
  worker->last_step = push.step;
  settle_name(session, *worker, now);
  if (push.step == newest_step_) {
    worker->tally->lateness->observe_micros(now - newest_step_at_);
  }
  worker->tally->phases.observe(push.phases);
}

void LaneMetrics::update(const Lane& lane, const LaneWeights& weights, const Now& now) {
  const auto raise = [](Counter& counter, std::uint64_t total) { counter.raise_to(static_cast<double>(total)); };
  const auto counters = lane.counters();
  raise(*series_.accepted, counters.updates.accepted);
  raise(*series_.duplicate, counters.updates.duplicates);
  raise(*series_.superseded, counters.updates.superseded);
  raise(*series_.stale, counters.stale);
  raise(*series_.expired, counters.updates.staleness.expired);
  raise(*series_.updates_skipped, counters.updates.staleness.skipped);
  raise(*series_.messages_refused, counters.refused + unreadable_);
  raise(*series_.gone, counters.replies.gone);
  raise(*series_.served_older, counters.replies.served_older);
  raise(*series_.replies_deferred, counters.replies.deferred);
  raise(*series_.waited_for_factors, counters.updates.waited_for_factors);
  series_.pending_replies->set(static_cast<double>(lane.deferred_replies()));
  series_.sessions->set(static_cast<double>(lane.sessions()));
  series_.timeline->set(static_cast<double>(lane.timeline()));
  series_.serving->set(lane.serving() ? 1 : 0);
  series_.open_step->set(static_cast<double>(lane.open_step()));
  series_.held_payloads->set(static_cast<double>(lane.held_payloads()));
  series_.pool_bytes->set(static_cast<double>(weights.bytes()));
  raise(*series_.calls, counters.calls.calls);
  raise(*series_.waited_for_room, counters.calls.waits);
  raise(*series_.taken_back, counters.calls.taken_back);
  raise(*series_.waited_for_readers, counters.readers.waits);
  raise(*series_.readers_cut, counters.readers.cut);
  series_.kept_weights->set(static_cast<double>(lane.kept_bytes()));
  series_.memory_in_use->set(static_cast<double>(lane.bytes_in_use()));
  series_.waiting_offers->set(static_cast<double>(lane.waiting_offers()));
  series_.memory->set(static_cast<double>(lane.memory_bytes()));
  series_.covered_items->set(static_cast<double>(lane.covered_items()));
  update_staleness(counters.updates.staleness);
  series_.held_bytes->set(static_cast<double>(now.held));
  update_times(lane, now);
}

void LaneMetrics::update_times(const Lane& lane, const Now& now) {
  const auto seconds = [](Micros span) { return static_cast<double>(span) * 1e-6; };
  if (lane.open_step() != open_.step || now.held == 0) {
    open_ = {lane.open_step(), now.now};
  }
  series_.open_step_age->set(seconds(now.now - open_.since));
  series_.unread->set(now.read_up_at == 0 ? 0 : seconds(now.now - std::min(now.now, now.read_up_at)));
  for (std::size_t stage = 0; stage < series_.stages.size(); ++stage) {
    series_.stages[stage]->raise_to(seconds(stages_.spent(stage)));
  }
  series_.processor->raise_to(std::chrono::duration<double>(processor_time()).count());
}

// The core counts by the bits of the number of updates, as the histogram does, but without an end.
void LaneMetrics::update_staleness(const StalenessCounts& staleness) {
  std::uint64_t beyond = 0;
  for (std::size_t bucket = 0; bucket < staleness.counts.size(); ++bucket) {
    if (bucket + 1 < Histogram::kBuckets) {
      series_.staleness->take_over(bucket, staleness.counts[bucket]);
    } else {
      beyond += staleness.counts[bucket];
    }
  }
  series_.staleness->take_over(Histogram::kBuckets - 1, beyond);
  series_.staleness->take_over_sum(static_cast<double>(staleness.sum));
}

}  // namespace ballast

#include "insight/round_replay.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ballast::insight {

RoundReplay::RoundReplay(const JobTimes& times, std::size_t learning)
    : times_(times), learning_(learning), lead_(times), links_(times) {
  const auto chunks = times.bytes.size();
  chunks_.assign(chunks, {0, SlotSet(times.rules.slots), false});
  lanes_.resize(times.lanes.size());
  for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
    lanes_[times.lane_of[chunk]].chunks.push_back(chunk);
  }
  brought_.assign(times.workers.size(), 0);
  new_ = brought_;
  for (const auto& worker : times.workers) {
    workers_.push_back({.own = ReplayedWorker(worker, times.rules),
                        .asked = std::vector<Version>(chunks, 0),
                        .has = std::vector<Version>(chunks, 0)});
  }
  const auto apart = report_every(times.lanes.size());
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    add(apart * lane / static_cast<double>(lanes_.size()), What::report, lane);
  }
  follow(lead_.first_orders());
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
    workers_[worker].missing = chunks;
    add(kBeatEvery * (worker + 1) / static_cast<double>(workers_.size()), What::beat, worker);
  }
  add(kBeatEvery, What::tick, 0);
}

void RoundReplay::add(double at, What what, std::uint32_t who, ChunkId chunk, Step step, SlotRange slots) {
  agenda_.add(at, {what, who, chunk, step, slots, 0});
}

std::optional<double> RoundReplay::step_time() {
  const auto wanted = learning_ + times_.steps;
  // A step that waits for what does not come is found out: none takes that much longer than one did, and all its slots
  // one after the other.
  constexpr double kLonger = 5;
  double usual = 0;
  double stop = 0;
  for (const auto& worker : times_.workers) {
    usual = std::max(usual, worker.slot);
    stop = std::accumulate(worker.stops.begin(), worker.stops.end(), stop,
                           [](double one, double other) { return std::max(one, other); });
    for (const auto& step : worker.slots) {
      stop = std::accumulate(step.begin(), step.end(), stop,
                             [](double one, double other) { return std::max(one, other); });
    }
  }
  const auto longest = kLonger * (times_.step + usual * times_.rules.slots + stop) + kBeatEvery;
  while (closes_.size() < wanted) {
    const auto event = agenda_.next((closes_.empty() ? 0 : closes_.back()) + longest);
    if (!event) {
      return std::nullopt;
    }
    now_ = agenda_.now();
    on(*event);
  }
  return (closes_.back() - closes_[learning_ - 1]) / static_cast<double>(times_.steps);
}

void RoundReplay::on(const Event& event) {
  switch (event.what) {
    case What::slot_begun:
      return begin_slot(event.who);
    case What::slot_done:
      workers_[event.who].own.end_slot(now_);
      send(event.who, workers_[event.who].own.left_over(), now_, 0);
      return go_on(event.who);
    case What::gradient_ready: {
      auto& worker = workers_[event.who];
      worker.queue.push_back({event.who, event.chunk, event.step, event.slots, now_});
      worker.unsent += times_.bytes[event.chunk];
      return worker.queue.size() == 1 ? begin_sending(event.who) : void();
    }
    case What::message_left:
      return message_left(event.who);
    case What::message_comes:
      return message_comes(event);
    case What::message_there:
      lanes_[times_.lane_of[event.chunk]].queue.push_back({event.who, event.chunk, event.step, event.slots, 0});
      return work(times_.lane_of[event.chunk]);
    case What::lane_free:
      return lane_free(event.who);
    case What::weights_there:
      return weights_there(event);
    case What::beat:
      beat(event.who);
      return add(now_ + kBeatEvery, What::beat, event.who);
    case What::beat_there: {
      const auto progress = std::move(workers_[event.who].beats.front());
      workers_[event.who].beats.pop_front();
      return follow(lead_.heard(event.who, progress, now()));
    }
    case What::report:
      report(event.who);
      return add(now_ + report_every(lanes_.size()), What::report, event.who);
    case What::report_there: {
      const auto report = std::move(lanes_[event.who].reports.front());
      lanes_[event.who].reports.pop_front();
      return follow(lead_.reported(event.who, report, now()));
    }
    case What::tick:
      follow(lead_.ticks(now()));
      return add(now_ + kBeatEvery, What::tick, 0);
    case What::order_there: {
      auto& worker = workers_[event.who];
      auto order = std::move(worker.orders.front());
      worker.orders.pop_front();
      worker.own.order(order.standing, std::move(order.now));
      send(event.who, worker.own.left_over(), now_, 0);
      return go_on(event.who);
    }
    case What::decided:
      return decided();
  }
}

// ---- a worker

// The next step if it has all weights of that, or the next slot of its step.
void RoundReplay::go_on(std::uint32_t index) {
  auto& worker = workers_[index];
  if (worker.own.is_computing() || worker.is_beginning) {
    return;
  }
  const auto& own = times_.workers[index];
  if (worker.missing == 0 && worker.fetches < closed_) {
    fetch_version(index, closed_);  // others have done that step meanwhile
  }
  if (worker.missing == 0) {
    worker.has_begun = true;
    worker.own.begin(worker.fetches);
    fetch_version(index, worker.fetches + 1);
    worker.is_beginning = true;
    worker.stands_until = now_ + stop(index);
    add(worker.stands_until + own.begins, What::slot_begun, index);
  } else if (worker.has_begun && worker.own.next()) {
    worker.is_beginning = true;
    add(now_ + own.between, What::slot_begun, index);
  }
  beat(index);
  fetch(index);
}

double RoundReplay::takes(std::uint32_t index) const {
  const auto& own = times_.workers[index];
  if (closed_ < learning_ || own.slots.empty()) {
    return own.slot;
  }
  const auto& slots = own.slots[replayed_step() % own.slots.size()];
  const auto begun = workers_[index].own.begun();
  return begun < slots.size() ? slots[begun] : own.slot;
}

// The examples of a slot.
double RoundReplay::reading(std::uint32_t index) const {
  const auto& own = times_.workers[index];
  return closed_ < learning_ || own.reads.empty() ? own.fetch : own.reads[replayed_step() % own.reads.size()];
}

// Before its first slot of the step.
double RoundReplay::stop(std::uint32_t index) const {
  const auto& stops = times_.workers[index].stops;
  return closed_ < learning_ || stops.empty() ? 0 : stops[replayed_step() % stops.size()];
}

void RoundReplay::begin_slot(std::uint32_t index) {
  auto& worker = workers_[index];
  worker.is_beginning = false;
  const auto slot = worker.own.next();
  if (!slot) {
    return go_on(index);  // it was taken away meanwhile
  }
  const auto& own = times_.workers[index];
  const auto begin = std::max(now_, worker.examples_at);
  worker.examples_at = std::max(worker.examples_at, now_ - own.slot * times_.rules.slots) + reading(index);
  const auto takes = this->takes(index);
  const auto step = worker.own.step();
  send(index, worker.own.compute(*slot, now_), begin, takes);
  beat(index);
  add(begin + takes, What::slot_done, index, 0, step);
}

// Sums over the nodes are ready as the last slot's gradients are.
void RoundReplay::send(std::uint32_t index, const std::vector<Node>& nodes, double begun, double takes) {
  const auto& ready = times_.workers[index].ready;
  const auto step = workers_[index].own.step();
  for (const auto node : nodes) {
    for (ChunkId chunk = 0; chunk < chunks_.size(); ++chunk) {
      add(begun + ready[chunk] * takes, What::gradient_ready, index, chunk, step, node);
    }
  }
}

// What nobody needs any more is not sent.
void RoundReplay::begin_sending(std::uint32_t index) {
  auto& worker = workers_[index];
  while (!worker.queue.empty() && worker.has[worker.queue.front().chunk] > worker.queue.front().step + 1) {
    worker.unsent -= times_.bytes[worker.queue.front().chunk];
    worker.queue.pop_front();
  }
  if (!worker.queue.empty()) {
    add(now_ + span_of(times_.bytes[worker.queue.front().chunk], times_.workers[index].up), What::message_left, index);
  }
}

void RoundReplay::message_left(std::uint32_t index) {
  auto& worker = workers_[index];
  const auto sent = worker.queue.front();
  worker.queue.pop_front();
  worker.unsent -= times_.bytes[sent.chunk];
  const auto delay = times_.workers[index].delay;
  agenda_.add(now_ + delay, {What::message_comes, index, sent.chunk, sent.step, sent.node, sent.ready + delay});
  begin_sending(index);
}

void RoundReplay::message_comes(const Event& event) {
  add(links_.contribution_there(event.chunk, event.ready, now_), What::message_there, event.who, event.chunk,
      event.step, event.slots);
}

// ---- weights

// Asks for those of the next step that it has slots of, or, if that one is over, of the one that is open.
void RoundReplay::fetch(std::uint32_t index) {
  auto& worker = workers_[index];
  if (worker.fetches < closed_) {
    fetch_version(index, closed_);
  }
  if (worker.own.wants(worker.fetches)) {
    for (ChunkId chunk = 0; chunk < chunks_.size(); ++chunk) {
      deliver(index, chunk);
    }
  }
}

void RoundReplay::fetch_version(std::uint32_t index, Step version) {
  auto& worker = workers_[index];
  worker.fetches = version;
  worker.missing =
      static_cast<std::size_t>(std::ranges::count_if(worker.has, [&](Version has) { return has < version + 1; }));
}

// If it asks for it, and has not been sent it.
void RoundReplay::deliver(std::uint32_t index, ChunkId chunk) {
  auto& worker = workers_[index];
  const auto version = chunks_[chunk].version;
  if (version < worker.fetches || worker.asked[chunk] > version || !worker.own.wants(worker.fetches)) {
    return;
  }
  worker.asked[chunk] = version + 1;
  add(links_.weights_there(index, chunk, now_), What::weights_there, index, chunk, version);
}

void RoundReplay::weights_there(const Event& event) {
  auto& worker = workers_[event.who];
  auto& has = worker.has[event.chunk];
  const bool was_missing = has < worker.fetches + 1;
  has = std::max(has, event.step + 1);
  if (was_missing && has >= worker.fetches + 1 && --worker.missing == 0) {
    go_on(event.who);
  }
}

// ---- the lead

void RoundReplay::beat(std::uint32_t index) {
  auto& worker = workers_[index];
  const auto& own = times_.workers[index];
  if (now_ < worker.stands_until) {
    return;
  }
  worker.beats.push_back(worker.own.progress(now_, worker.unsent));
  worker.beat_there = std::max(worker.beat_there, now_ + std::min(span_of(worker.unsent, own.up), own.queue_up));
  add(worker.beat_there + own.delay + kToLead, What::beat_there, index);
}

void RoundReplay::follow(std::vector<ReplayedLead::Order> orders) {
  for (auto& order : orders) {
    const auto index = static_cast<std::uint32_t>(order.worker);
    auto& worker = workers_[index];
    const auto& own = times_.workers[index];
    worker.orders.push_back(std::move(order));
    worker.order_there =
        std::max(worker.order_there, now_ + std::clamp(links_.down_free_at(index) - now_, 0.0, own.queue_down));
    add(worker.order_there + own.delay + kToLead, What::order_there, index);
  }
}

}  // namespace ballast::insight

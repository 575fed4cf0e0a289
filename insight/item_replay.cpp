#include "insight/item_replay.h"

#include <algorithm>
#include <utility>

namespace ballast::insight {
namespace {

std::vector<double> in_a_row(const WorkerTimes& worker) {
  std::vector<double> slots;
  for (std::size_t i = 0; i < worker.slots.size(); ++i) {
    const auto first = slots.size();
    slots.insert(slots.end(), worker.slots[i].begin(), worker.slots[i].end());
    if (slots.size() > first && i < worker.stops.size()) {
      slots[first] += worker.stops[i];
    }
  }
  return slots;
}

double longest_slot(const std::vector<std::vector<double>>& slots, const JobTimes& times) {
  double longest = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    longest = std::max(longest, times.workers[i].slot + times.workers[i].fetch);
    longest = slots[i].empty() ? longest : std::max(longest, *std::ranges::max_element(slots[i]));
  }
  return longest;
}

}  // namespace

// Workers that are alike do not begin all at once: so they would go on for ever.
ItemReplay::ItemReplay(const JobTimes& times) : times_(times), lead_(times), links_(times), lanes_(times.lanes.size()) {
  const auto count = times.workers.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    slots_.push_back(in_a_row(times.workers[i]));
    workers_.emplace_back(times.rules.slots);
    workers_.back().asked.assign(times.bytes.size(), false);
    add(kBeatEvery * (i + 1) / static_cast<double>(count), What::beat, i);
  }
  for (auto& order : lead_.ticks(1)) {
    const auto index = static_cast<std::uint32_t>(order.worker);
    workers_[index].orders.push_back(std::move(order.assign));
    add(times.workers[index].slot * index / static_cast<double>(count), What::order_there, index);
  }
  add(report_every(lanes_.size()), What::report, 0);
  add(kBeatEvery, What::tick, 0);
}

std::optional<double> ItemReplay::step_time() {
  const auto workers = workers_.size();
  const std::size_t items = times_.steps * times_.rules.slots;
  constexpr std::size_t kEach = 4;  // of a worker, until all are at what they go on with
  const auto before = std::max<std::size_t>(kEach * workers, times_.rules.slots);
  constexpr double kLonger = 5;
  const auto outstanding = static_cast<double>(times_.items->ahead * workers) / times_.rules.slots;  // in steps
  const auto longest = kLonger * (times_.step * (1 + outstanding) + longest_slot(slots_, times_)) + kBeatEvery;
  // Items come in bursts, so that a mean over the begins of some counts.
  const auto begins = std::min(workers, items);
  while (done_.size() < before + items + begins) {
    const auto event = agenda_.next((done_.empty() ? 0 : done_.back()) + longest);
    if (!event) {
      return std::nullopt;
    }
    now_ = agenda_.now();
    on(*event);
  }
  double took = 0;
  for (std::size_t i = before; i < before + begins; ++i) {
    took += done_[i + items] - done_[i];
  }
  return took / static_cast<double>(begins) / static_cast<double>(times_.steps);
}

void ItemReplay::on(const Event& event) {
  switch (event.what) {
    case What::slot_begun:
      return begin_slot(event.who);
    case What::slot_done:
      return end_slot(event.who);
    case What::gradient_ready:
      return send(event);
    case What::message_comes:
      return add(links_.contribution_there(event.chunk, event.ready, now_), What::message_there, event.who, event.chunk,
                 event.item, event.grant);
    case What::message_there:
      lanes_[lane_of(event.chunk)].queue.push_back({event.who, event.chunk, event.item, event.grant});
      return work(lane_of(event.chunk));
    case What::asked:
      return send_weights(event.who, event.chunk, event.grant);
    case What::lane_free:
      return lane_free(event.who);
    case What::committed: {
      auto& lane = lanes_[event.who];
      lane.committed.push_back(lane.given.front());
      lane.given.pop_front();
      return work(event.who);
    }
    case What::receipt_there:
      return receipt_there(event);
    case What::weights_there:
      return weights_there(event);
    case What::order_there: {
      auto& worker = workers_[event.who];
      worker.own.take(worker.orders.front(), false);
      worker.orders.pop_front();
      return go_on(event.who);
    }
    case What::beat:
      beat(event.who);
      return add(now_ + kBeatEvery, What::beat, event.who);
    case What::beat_there: {
      const auto delivered = std::move(workers_[event.who].beats.front());
      workers_[event.who].beats.pop_front();
      return follow(lead_.delivered(event.who, delivered, now()));
    }
    case What::report:
      follow(lead_.covered(std::exchange(covered_, {}), now()));
      return add(now_ + report_every(lanes_.size()), What::report, 0);
    case What::tick:
      follow(lead_.ticks(now()));
      return add(now_ + kBeatEvery, What::tick, 0);
  }
}

// ---- a worker

// The next item, once it has all weights for it.
void ItemReplay::go_on(std::uint32_t index) {
  auto& worker = workers_[index];
  if (worker.in_hand.kind != WorkerTarget::Kind::none || worker.is_beginning) {
    return;
  }
  const auto next = worker.own.next();
  if (!next) {
    return;
  }
  fetch(index, next->weights.clock);
  for (ChunkId chunk = 0; chunk < worker.asked.size(); ++chunk) {
    if (!worker.asked[chunk]) {
      worker.asked[chunk] = true;
      add(now_ + times_.workers[index].delay, What::asked, index, chunk, 0, worker.fetches);
    }
  }
  if (worker.missing == 0) {
    worker.is_beginning = true;
    add(now_ + times_.workers[index].begins + times_.workers[index].fetch, What::slot_begun, index);
  }
}

// From now on weights for this grant are what it needs.
void ItemReplay::fetch(std::uint32_t index, LeadNumber grant) {
  auto& worker = workers_[index];
  if (worker.fetches != grant) {
    worker.fetches = grant;
    worker.asked.assign(worker.asked.size(), false);
    worker.missing = worker.asked.size();
  }
}

double ItemReplay::takes(std::uint32_t index) const {
  const auto& slots = slots_[index];
  return slots.empty() ? times_.workers[index].slot : slots[workers_[index].begun % slots.size()];
}

void ItemReplay::begin_slot(std::uint32_t index) {
  auto& worker = workers_[index];
  worker.is_beginning = false;
  const auto next = worker.own.next();
  if (!next || next->weights.clock != worker.fetches) {
    return go_on(index);  // it was taken away meanwhile
  }
  const auto takes = this->takes(index);
  worker.in_hand = *next;
  ++worker.begun;
  const auto item = item_of(*next);
  worker.unanswered[item] = times_.bytes.size();
  for (ChunkId chunk = 0; chunk < times_.bytes.size(); ++chunk) {
    add(now_ + std::min(times_.workers[index].ready[chunk], 1.0) * takes, What::gradient_ready, index, chunk, item);
  }
  add(now_ + takes, What::slot_done, index);
}

void ItemReplay::end_slot(std::uint32_t index) {
  auto& worker = workers_[index];
  worker.own.computed(worker.in_hand);
  worker.in_hand = {};
  go_on(index);
}

// With it the weights for the next grant are asked for, if there is one.
void ItemReplay::send(const Event& event) {
  auto& worker = workers_[event.who];
  LeadNumber wants;
  if (const auto key = worker.own.next_key(worker.in_hand, {})) {
    wants = key->clock;
    fetch(event.who, wants);
    worker.asked[event.chunk] = true;
  }
  const auto& own = times_.workers[event.who];
  const auto left = worker.up.pass(now_, now_, span_of(times_.bytes[event.chunk], own.up));
  agenda_.add(left + own.delay, {What::message_comes, event.who, event.chunk, event.item, wants, now_ + own.delay});
}

void ItemReplay::weights_there(const Event& event) {
  auto& worker = workers_[event.who];
  if (event.grant == worker.fetches && --worker.missing == 0) {
    go_on(event.who);
  }
}

// The lead is told at once where few grants are left.
void ItemReplay::receipt_there(const Event& event) {
  auto& worker = workers_[event.who];
  const auto item = worker.unanswered.find(event.item);
  if (item != worker.unanswered.end() && --item->second == 0) {
    worker.unanswered.erase(item);
    if (worker.own.is_short()) {
      beat(event.who);
    }
  }
}

void ItemReplay::beat(std::uint32_t index) {
  auto& worker = workers_[index];
  const auto& own = times_.workers[index];
  std::vector<LeadNumber> delivered;
  for (const auto& grant : worker.own.computed_grants()) {
    if (!worker.unanswered.contains(grant.item)) {
      delivered.push_back(grant.clock);
    }
  }
  worker.beats.push_back(std::move(delivered));
  worker.beat_there = std::max(worker.beat_there, now_ + std::clamp(worker.up.free_at - now_, 0.0, own.queue_up));
  add(worker.beat_there + own.delay + kToLead, What::beat_there, index);
}

// ---- lanes

void ItemReplay::work(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (lane.read || lane.applied) {
    return;
  }
  if (!lane.committed.empty()) {
    lane.applied = lane.committed.front();
    lane.committed.pop_front();
    add(now_ + times_.apply[lane.applied->chunk], What::lane_free, index);
  } else if (!lane.queue.empty()) {
    lane.read = lane.queue.front();
    lane.queue.pop_front();
    add(now_ + times_.lanes[index].message + times_.sum[lane.read->chunk], What::lane_free, index);
  }
}

void ItemReplay::lane_free(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (const auto applied = std::exchange(lane.applied, std::nullopt)) {
    apply(*applied);
  } else if (const auto read = std::exchange(lane.read, std::nullopt)) {
    take(index, *read);
  }
  work(index);
}

void ItemReplay::take(std::uint32_t index, const Contribution& contribution) {
  if (contribution.item < is_done_.size() && is_done_[contribution.item]) {
    return answer(contribution);
  }
  auto& item = open_[contribution.item];
  item.taken.resize(times_.bytes.size());
  if (item.taken[contribution.chunk]) {
    return answer(contribution);
  }
  item.taken[contribution.chunk] = true;
  auto& lane = lanes_[index];
  if (const auto journal = times_.lanes[index].journal; journal > 0) {
    lane.given.push_back(contribution);
    add(now_ + journal, What::committed, index);
  } else {
    lane.committed.push_back(contribution);
  }
}

void ItemReplay::apply(const Contribution& contribution) {
  if (auto& item = open_[contribution.item]; ++item.applied == times_.bytes.size()) {
    open_.erase(contribution.item);
    is_done_.resize(std::max<std::size_t>(is_done_.size(), contribution.item + 1));
    is_done_[contribution.item] = true;
    covered_.push_back(contribution.item);
    done_.push_back(now_);
  }
  answer(contribution);
}

// The receipt may wait behind weights on their way.
void ItemReplay::answer(const Contribution& contribution) {
  const auto& own = times_.workers[contribution.worker];
  const auto behind = std::clamp(links_.down_free_at(contribution.worker) - now_, 0.0, own.queue_down);
  add(now_ + behind + own.delay, What::receipt_there, contribution.worker, contribution.chunk, contribution.item);
  if (contribution.wants != kNoLeadNumber) {
    send_weights(contribution.worker, contribution.chunk, contribution.wants);
  }
}

void ItemReplay::send_weights(std::uint32_t worker, ChunkId chunk, LeadNumber grant) {
  add(links_.weights_there(worker, chunk, now_), What::weights_there, worker, chunk, 0, grant);
}

// ---- the lead

void ItemReplay::follow(std::vector<ReplayedGrants::Order> orders) {
  for (auto& order : orders) {
    const auto index = static_cast<std::uint32_t>(order.worker);
    auto& worker = workers_[index];
    const auto& own = times_.workers[index];
    worker.orders.push_back(std::move(order.assign));
    worker.order_there =
        std::max(worker.order_there, now_ + std::clamp(links_.down_free_at(index) - now_, 0.0, own.queue_down));
    add(worker.order_there + own.delay + kToLead, What::order_there, index);
  }
}

}  // namespace ballast::insight

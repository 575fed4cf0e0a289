#include "insight/replay.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "insight/replayed_lead.h"
#include "insight/replayed_worker.h"

namespace ballast::insight {
namespace {

constexpr double kBeatEvery = 50'000;
constexpr std::size_t kMostEvents = 30'000'000;  // about ten seconds
constexpr double kToLead = 50;                   // what its loop takes until it has read what has come
constexpr double kReportEach = 50;               // lanes report apart as in server/shard.cpp
constexpr double kReportLeast = 20'000;
constexpr double kReportMost = 50'000;

enum class What : std::uint8_t {
  slot_begun,      // `who`, a worker, has the examples of `slots.begin`
  slot_done,       // its gradients are all there
  gradient_ready,  // of `chunk`, over `slots`
  message_left,    // the first in the worker's queue has left it
  message_comes,   // it would be there by now
  message_there,   // at the lane
  lane_free,       // what it did is done
  weights_there,   // of `chunk` at the worker
  beat,            // a heartbeat is due
  beat_there,      // at the lead
  report,          // a lane's is due
  report_there,
  tick,         // of the lead
  order_there,  // at the worker
  decided,      // on `step`
};

struct Event {
  double at = 0;
  std::uint64_t number = 0;  // of two at a moment the first one made is the first
  What what = What::slot_begun;
  std::uint32_t who = 0;
  ChunkId chunk = 0;
  Step step = 0;
  SlotRange slots;
  bool operator>(const Event& other) const { return std::pair(at, number) > std::pair(other.at, other.number); }
};

struct Contribution {
  std::uint32_t worker = 0;
  ChunkId chunk = 0;
  Step step = 0;
  Node node;
};

// A link or a thread that serves one after the other.
struct Served {
  double free_at = 0;

  // What begins to come at `first`, and is there wholly at `last` if nothing else is in its way.
  double pass(double first, double last, double takes) {
    free_at = takes > 0 ? std::max(free_at, first) + takes : free_at;
    return takes > 0 ? std::max(free_at, last) : last;
  }
};

double span_of(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

class Course {
 public:
  Course(const JobTimes& times, std::size_t learning);

  std::optional<double> step_time();

 private:
  struct Worker {
    ReplayedWorker own;
    std::deque<Contribution> queue = {};  // gradients that are ready; the first one is on its way
    double unsent = 0;                    // bytes
    Served down = {};
    Step fetches = 0;                     // the version whose weights come next; it computes the step before
    bool has_begun = false;               // a first step
    bool is_beginning = false;            // a slot, a moment later
    double stands_until = 0;              // it says and does nothing before
    std::vector<Version> asked = {};      // by chunk: one more than the newest that was sent to it; 0: none
    std::vector<Version> has = {};        // likewise: that is there
    std::size_t missing = 0;              // chunks of what it fetches
    double examples_at = 0;               // the reader has those of the next slot
    std::deque<SlotProgress> beats = {};  // on their way
    double beat_there = 0;                // the last of them, but for the delay
    std::deque<ReplayedLead::Order> orders = {};
    double order_there = 0;
  };
  struct Lane {
    std::vector<ChunkId> chunks;
    std::deque<Contribution> queue;
    std::deque<ChunkId> updates;  // that nothing is missing of
    std::optional<Contribution> sums;
    std::optional<ChunkId> updating;
    bool changed = true;
    std::deque<LaneReport> reports;  // on their way
  };
  struct Chunk {
    Version version = 0;
    SlotSet covered;
    bool is_covered = false;
  };

  void add(double at, What what, std::uint32_t who, ChunkId chunk = 0, Step step = 0, SlotRange slots = {});
  void on(const Event& event);

  // ---- a worker
  void go_on(std::uint32_t worker);
  void begin_slot(std::uint32_t worker);
  void send(std::uint32_t worker, const std::vector<Node>& nodes, double begun, double takes);
  void begin_sending(std::uint32_t worker);
  void message_left(std::uint32_t worker);
  void message_comes(const Event& event);
  void fetch(std::uint32_t worker);
  void fetch_version(std::uint32_t worker, Step version);
  void weights_there(const Event& event);
  void beat(std::uint32_t worker);
  [[nodiscard]] double takes(std::uint32_t worker) const;
  [[nodiscard]] double stop(std::uint32_t worker) const;

  // ---- lanes
  void work(std::uint32_t lane);
  void lane_free(std::uint32_t lane);
  void sum(const Contribution& contribution);
  void decided();
  void updated(ChunkId chunk);
  void deliver(std::uint32_t worker, ChunkId chunk);
  void report(std::uint32_t lane);

  // Which of the recorded ones the open step repeats.
  [[nodiscard]] std::size_t replayed_step() const { return closed_ < learning_ ? closed_ : closed_ - learning_; }
  void follow(std::vector<ReplayedLead::Order> orders);
  [[nodiscard]] Micros now() const { return static_cast<Micros>(now_) + 1; }

  const JobTimes& times_;
  const std::size_t learning_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t numbers_ = 0;
  double now_ = 0;
  ReplayedLead lead_;
  std::vector<Worker> workers_;
  std::vector<Lane> lanes_;
  std::vector<Chunk> chunks_;
  std::vector<Served> in_;
  std::vector<Served> out_;
  Served all_in_;
  Served all_out_;
  // By worker: slots of the first chunk, of closed steps and of the open one.
  std::vector<std::uint64_t> brought_;
  std::vector<std::uint64_t> new_;
  double report_every_ = 0;
  std::size_t covered_ = 0;  // chunks of the step that is to be decided on
  Step closed_ = 0;          // so many steps are
  std::size_t updated_ = 0;  // chunks of the step after them
  std::vector<double> closes_;
};

Course::Course(const JobTimes& times, std::size_t learning)
    : times_(times), learning_(learning), lead_(times), in_(times.shards.size()), out_(times.shards.size()) {
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
  report_every_ = std::clamp(kReportEach * static_cast<double>(times.lanes.size()), kReportLeast, kReportMost);
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    add(report_every_ * lane / static_cast<double>(lanes_.size()), What::report, lane);
  }
  follow(lead_.first_orders());
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
    workers_[worker].missing = chunks;
    add(kBeatEvery * (worker + 1) / static_cast<double>(workers_.size()), What::beat, worker);
  }
  add(kBeatEvery, What::tick, 0);
}

void Course::add(double at, What what, std::uint32_t who, ChunkId chunk, Step step, SlotRange slots) {
  events_.push({at, numbers_++, what, who, chunk, step, slots});
}

std::optional<double> Course::step_time() {
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
  for (std::size_t i = 0; closes_.size() < wanted; ++i) {
    if (events_.empty() || i == kMostEvents) {
      return std::nullopt;
    }
    const auto event = events_.top();
    events_.pop();
    if (event.at > (closes_.empty() ? 0 : closes_.back()) + longest) {
      return std::nullopt;
    }
    now_ = event.at;
    on(event);
  }
  return (closes_.back() - closes_[learning_ - 1]) / static_cast<double>(times_.steps);
}

void Course::on(const Event& event) {
  switch (event.what) {
    case What::slot_begun:
      return begin_slot(event.who);
    case What::slot_done:
      workers_[event.who].own.end_slot(now_);
      send(event.who, workers_[event.who].own.left_over(), now_, 0);
      return go_on(event.who);
    case What::gradient_ready: {
      auto& worker = workers_[event.who];
      worker.queue.push_back({event.who, event.chunk, event.step, event.slots});
      worker.unsent += times_.bytes[event.chunk];
      return worker.queue.size() == 1 ? begin_sending(event.who) : void();
    }
    case What::message_left:
      return message_left(event.who);
    case What::message_comes:
      return message_comes(event);
    case What::message_there:
      lanes_[times_.lane_of[event.chunk]].queue.push_back({event.who, event.chunk, event.step, event.slots});
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
      return add(now_ + report_every_, What::report, event.who);
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
void Course::go_on(std::uint32_t index) {
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

double Course::takes(std::uint32_t index) const {
  const auto& own = times_.workers[index];
  if (closed_ < learning_ || own.slots.empty()) {
    return own.slot;
  }
  const auto& slots = own.slots[replayed_step() % own.slots.size()];
  const auto begun = workers_[index].own.begun();
  return begun < slots.size() ? slots[begun] : own.slot;
}

// Before its first slot of the step.
double Course::stop(std::uint32_t index) const {
  const auto& stops = times_.workers[index].stops;
  return closed_ < learning_ || stops.empty() ? 0 : stops[replayed_step() % stops.size()];
}

void Course::begin_slot(std::uint32_t index) {
  auto& worker = workers_[index];
  worker.is_beginning = false;
  const auto slot = worker.own.next();
  if (!slot) {
    return go_on(index);  // it was taken away meanwhile
  }
  const auto& own = times_.workers[index];
  const auto begin = std::max(now_, worker.examples_at);
  worker.examples_at = std::max(worker.examples_at, now_ - own.slot * times_.rules.slots) + own.fetch;
  const auto takes = this->takes(index);
  const auto step = worker.own.step();
  send(index, worker.own.compute(*slot, now_), begin, takes);
  beat(index);
  add(begin + takes, What::slot_done, index, 0, step);
}

// Sums over the nodes are ready as the last slot's gradients are.
void Course::send(std::uint32_t index, const std::vector<Node>& nodes, double begun, double takes) {
  const auto& ready = times_.workers[index].ready;
  const auto step = workers_[index].own.step();
  for (const auto node : nodes) {
    for (ChunkId chunk = 0; chunk < chunks_.size(); ++chunk) {
      add(begun + ready[chunk] * takes, What::gradient_ready, index, chunk, step, node);
    }
  }
}

// What nobody needs any more is not sent.
void Course::begin_sending(std::uint32_t index) {
  auto& worker = workers_[index];
  while (!worker.queue.empty() && worker.has[worker.queue.front().chunk] > worker.queue.front().step + 1) {
    worker.unsent -= times_.bytes[worker.queue.front().chunk];
    worker.queue.pop_front();
  }
  if (!worker.queue.empty()) {
    add(now_ + span_of(times_.bytes[worker.queue.front().chunk], times_.workers[index].up), What::message_left, index);
  }
}

void Course::message_left(std::uint32_t index) {
  auto& worker = workers_[index];
  const auto sent = worker.queue.front();
  worker.queue.pop_front();
  worker.unsent -= times_.bytes[sent.chunk];
  add(now_ + times_.workers[index].delay, What::message_comes, index, sent.chunk, sent.step, sent.node);
  begin_sending(index);
}

// Over the servers' links it goes as it comes.
void Course::message_comes(const Event& event) {
  const auto bytes = times_.bytes[event.chunk];
  const auto shard = times_.lanes[times_.lane_of[event.chunk]].shard;
  const auto first = now_ - span_of(bytes, times_.workers[event.who].up);
  auto there = in_[shard].pass(first, now_, span_of(bytes, times_.shards[shard].in));
  there = all_in_.pass(first, there, span_of(bytes, times_.servers.in));
  add(there, What::message_there, event.who, event.chunk, event.step, event.slots);
}

// ---- weights

// Asks for those of the next step that it has slots of, or, if that one is over, of the one that is open.
void Course::fetch(std::uint32_t index) {
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

void Course::fetch_version(std::uint32_t index, Step version) {
  auto& worker = workers_[index];
  worker.fetches = version;
  worker.missing =
      static_cast<std::size_t>(std::ranges::count_if(worker.has, [&](Version has) { return has < version + 1; }));
}

// If it asks for it, and has not been sent it.
void Course::deliver(std::uint32_t index, ChunkId chunk) {
  auto& worker = workers_[index];
  const auto version = chunks_[chunk].version;
  if (version < worker.fetches || worker.asked[chunk] > version || !worker.own.wants(worker.fetches)) {
    return;
  }
  worker.asked[chunk] = version + 1;
  const auto bytes = times_.bytes[chunk];
  const auto shard = times_.lanes[times_.lane_of[chunk]].shard;
  const auto& own = times_.workers[index];
  const auto begin = std::max(now_, std::max(out_[shard].free_at, all_out_.free_at));
  auto left = out_[shard].pass(now_, now_, span_of(bytes, times_.shards[shard].out));
  left = all_out_.pass(now_, left, span_of(bytes, times_.servers.out));
  const auto there = worker.down.pass(begin + own.delay, left + own.delay, span_of(bytes, own.down));
  add(there, What::weights_there, index, chunk, version);
}

void Course::weights_there(const Event& event) {
  auto& worker = workers_[event.who];
  auto& has = worker.has[event.chunk];
  const bool was_missing = has < worker.fetches + 1;
  has = std::max(has, event.step + 1);
  if (was_missing && has >= worker.fetches + 1 && --worker.missing == 0) {
    go_on(event.who);
  }
}

// ---- lanes

void Course::work(std::uint32_t index) {
  auto& lane = lanes_[index];
  const auto& own = times_.lanes[index];
  if (lane.sums || lane.updating) {
    return;
  }
  if (!lane.updates.empty()) {
    lane.updating = lane.updates.front();
    lane.updates.pop_front();
    return add(now_ + times_.apply[*lane.updating], What::lane_free, index);
  }
  if (!lane.queue.empty()) {
    lane.sums = lane.queue.front();
    lane.queue.pop_front();
    const auto& chunk = chunks_[lane.sums->chunk];
    const bool is_late = lane.sums->step < chunk.version || chunk.is_covered;
    add(now_ + own.message + (is_late ? 0 : times_.sum[lane.sums->chunk]), What::lane_free, index);
  }
}

void Course::lane_free(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (const auto chunk = std::exchange(lane.updating, std::nullopt)) {
    updated(*chunk);
  } else if (const auto sums = std::exchange(lane.sums, std::nullopt)) {
    sum(*sums);
  }
  lane.changed = true;
  work(index);
}

void Course::sum(const Contribution& contribution) {
  auto& chunk = chunks_[contribution.chunk];
  if (contribution.step != chunk.version || chunk.is_covered) {
    return;
  }
  const auto before = chunk.covered.count();
  chunk.covered.insert(contribution.node);
  const auto after = chunk.covered.count();
  if (contribution.chunk == 0) {
    new_[contribution.worker] += after - before;
  }
  if (after < times_.rules.slots) {
    return;
  }
  chunk.is_covered = true;
  if (times_.decisions.empty()) {
    lanes_[times_.lane_of[contribution.chunk]].updates.push_back(contribution.chunk);
  } else if (++covered_ == chunks_.size()) {
    covered_ = 0;
    add(now_ + times_.decisions[replayed_step() % times_.decisions.size()], What::decided, 0);
  }
}

void Course::decided() {
  for (ChunkId chunk = 0; chunk < chunks_.size(); ++chunk) {
    lanes_[times_.lane_of[chunk]].updates.push_back(chunk);
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    work(lane);
  }
}

void Course::updated(ChunkId index) {
  auto& chunk = chunks_[index];
  ++chunk.version;
  chunk.covered = SlotSet(times_.rules.slots);
  chunk.is_covered = false;
  if (index == 0) {
    for (std::size_t worker = 0; worker < new_.size(); ++worker) {
      brought_[worker] += std::exchange(new_[worker], 0);
    }
  }
  if (++updated_ == chunks_.size()) {
    updated_ = 0;
    ++closed_;
    closes_.push_back(now_);
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    deliver(static_cast<std::uint32_t>((i + index) % workers_.size()), index);
  }
}

void Course::report(std::uint32_t index) {
  auto& lane = lanes_[index];
  if (!std::exchange(lane.changed, false)) {
    return;
  }
  LaneReport report;
  report.open_step = ~Step{0};
  for (const auto chunk : lane.chunks) {
    report.open_step = std::min(report.open_step, chunks_[chunk].version);
  }
  SlotSet missing(times_.rules.slots);
  for (const auto chunk : lane.chunks) {
    if (chunks_[chunk].version == report.open_step) {
      auto lacks = SlotSet::full(times_.rules.slots);
      lacks.erase(chunks_[chunk].covered);
      missing.insert(lacks);
    }
  }
  report.rounds.missing = missing.words();
  if (index == times_.lane_of[0]) {
    for (std::size_t worker = 0; worker < brought_.size(); ++worker) {
      report.slots_by_session.push_back({worker + 1, brought_[worker]});
    }
  }
  lane.reports.push_back(std::move(report));
  add(now_ + kToLead, What::report_there, index);
}

// ---- the lead

void Course::beat(std::uint32_t index) {
  auto& worker = workers_[index];
  const auto& own = times_.workers[index];
  if (now_ < worker.stands_until) {
    return;
  }
  worker.beats.push_back(worker.own.progress(now_, worker.unsent));
  worker.beat_there = std::max(worker.beat_there, now_ + std::min(span_of(worker.unsent, own.up), own.queue_up));
  add(worker.beat_there + own.delay + kToLead, What::beat_there, index);
}

void Course::follow(std::vector<ReplayedLead::Order> orders) {
  for (auto& order : orders) {
    const auto index = static_cast<std::uint32_t>(order.worker);
    auto& worker = workers_[index];
    const auto& own = times_.workers[index];
    worker.orders.push_back(std::move(order));
    worker.order_there =
        std::max(worker.order_there, now_ + std::clamp(worker.down.free_at - now_, 0.0, own.queue_down));
    add(worker.order_there + own.delay + kToLead, What::order_there, index);
  }
}

}  // namespace

std::optional<double> replay(const JobTimes& times, std::size_t learning) {
  return times.workers.empty() || times.steps == 0 ? std::nullopt
                                                   : Course(times, std::max<std::size_t>(learning, 1)).step_time();
}

}  // namespace ballast::insight

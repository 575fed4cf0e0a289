#include "insight/taken_times.h"

#include <algorithm>

#include "insight/declared_lines.h"
#include "insight/link_times.h"
#include "insight/medians.h"
#include "insight/standstills.h"

namespace ballast::insight {
namespace {

constexpr ChunkId kMostChunks = 1U << 17U;
constexpr std::size_t kMostLanes = 1U << 12U;
constexpr double kLongestStep = 1e12;                         // eleven days
constexpr std::size_t kMostMessages = std::size_t{1} << 20U;  // of a step: a replay has them all under way at times

template <typename Value>
void fill_in(std::vector<WorkerTimes>& workers, double unknown, Value&& value) {
  std::vector<double> known;
  for (auto& worker : workers) {
    if (value(worker) > 0) {
      known.push_back(value(worker));
    }
  }
  const auto usual = known.empty() ? unknown : median(std::move(known));
  for (auto& worker : workers) {
    value(worker) = value(worker) > 0 ? value(worker) : usual;
  }
}

}  // namespace

std::optional<JobTimes> TakenTimes::all() {
  if (!choose() || times_.rules.slots == 0 || times_.rules.slots > kMaxSlots || times_.step > kLongestStep ||
      !of_lanes()) {
    return std::nullopt;
  }
  begin();
  of_updates();
  if (!of_workers()) {
    return std::nullopt;
  }
  of_contributions();
  constexpr Micros kLookSpan = 1'000'000;  // kernels are asked once a second
  const Connections connections(trace_, span_.began, span_.ended + kLookSpan);
  of_connections(connections);
  add_declared_lines(trace_, times_);
  add_link_times(trace_, peers_, connections, times_);
  fill_in_declared(times_);
  return std::move(times_);
}

// Whether there are any, and no more chunks than a replay can have.
bool TakenTimes::of_lanes() {
  ChunkId chunks = 0;
  for (const auto& process : trace_.processes) {
    if (process.source.role != TraceRole::lane) {
      continue;
    }
    lanes_.push_back(&process);
    times_.lanes.push_back({.name = process.name, .process = place_of(process), .shard = process.source.lane.shard});
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::update) {
        chunks = std::max(chunks, std::min(record.chunk, kMostChunks) + 1);
      }
    }
  }
  if (chunks == 0 || chunks > kMostChunks || chunks != times_.rules.chunks || lanes_.size() > kMostLanes ||
      std::ranges::any_of(times_.lanes, [&](const LaneTimes& lane) { return lane.shard >= lanes_.size(); })) {
    return false;
  }
  for (const auto& lane : times_.lanes) {
    times_.shards.resize(std::max<std::size_t>(times_.shards.size(), lane.shard + 1));
  }
  times_.lane_of.assign(chunks, 0);
  times_.bytes.assign(chunks, 0);
  times_.sum.assign(chunks, 0);
  times_.apply.assign(chunks, 0);
  return true;
}

void TakenTimes::of_updates() {
  std::map<ChunkId, std::vector<double>> applied;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (const auto& record : lanes_[lane]->records) {
      if (record.kind == TraceKind::update && is_in(record)) {
        times_.lane_of[record.chunk] = static_cast<std::uint32_t>(lane);
        applied[record.chunk].push_back(between(updates_wait() ? record.second : record.first, record.third));
      }
    }
  }
  for (auto& [chunk, spans] : applied) {
    times_.apply[chunk] = mean(spans);
  }
}

// Whether a replay can have so many.
bool TakenTimes::of_workers() {
  for (const auto& process : trace_.processes) {
    if (process.source.role == TraceRole::worker) {
      workers_.push_back(&process);
    }
  }
  if (workers_.size() > kMaxSessions || workers_.size() * times_.lane_of.size() > kMostMessages) {
    return false;
  }
  for (const auto* process : workers_) {
    times_.workers.push_back(of_worker(*process));
  }
  const bool any = std::ranges::any_of(times_.workers, [](const auto& worker) { return worker.slot > 0; });
  fill_in_usual();
  return any;
}

// What is not known of a worker, for it has computed nothing or sent nothing of a chunk, is what is usual.
void TakenTimes::fill_in_usual() {
  fill_in(times_.workers, 1, [](WorkerTimes& worker) -> double& { return worker.slot; });
  fill_in(times_.workers, 0, [](WorkerTimes& worker) -> double& { return worker.begins; });
  fill_in(times_.workers, 0, [](WorkerTimes& worker) -> double& { return worker.between; });
  for (ChunkId chunk = 0; chunk < times_.bytes.size(); ++chunk) {
    fill_in(times_.workers, 1, [chunk](WorkerTimes& worker) -> double& { return worker.ready[chunk]; });
  }
}

WorkerTimes TakenTimes::of_worker(const ProcessTrace& process) {
  WorkerTimes own;
  own.name = process.name;
  own.process = place_of(process);
  Slots slots;
  std::map<ChunkId, std::vector<double>> ready;
  for (const auto& record : process.records) {
    if (record.kind == TraceKind::slot && is_in(record) && is_sound(record)) {
      slots[{record.step, record.slots.begin}] = &record;
    }
  }
  of_slots(process, slots, own);
  if (slots.empty()) {
    own.slot = slot_before(process);
  }
  for (const auto& record : process.records) {
    if (record.kind != TraceKind::push || record.chunk >= times_.bytes.size()) {
      continue;
    }
    times_.bytes[record.chunk] = static_cast<double>(record.fourth);
    if (const auto part = ready_in_slot(slots, record)) {
      ready[record.chunk].push_back(*part);
    }
  }
  own.ready.assign(times_.bytes.size(), 0);  // not known yet
  for (auto& [chunk, parts] : ready) {
    own.ready[chunk] = median(std::move(parts));
  }
  own.delay = delay_of(process);
  return own;
}

// When a sum was ready, in parts of the slot by which it became whole. None: it was sent when others had taken what
// was to be added to it, or its slots are not known.
std::optional<double> TakenTimes::ready_in_slot(const Slots& slots, const TraceRecord& push) {
  const TraceRecord* last = nullptr;
  for (auto slot = push.slots.begin; slot < push.slots.end; ++slot) {
    const auto found = slots.find({push.step, slot});
    if (found == slots.end()) {
      return std::nullopt;
    }
    last = last == nullptr || found->second->second > last->second ? found->second : last;
  }
  constexpr double kAfter = 0.1;  // of it, in which the sum is made
  const auto takes = last == nullptr ? 0 : between(last->second, last->fourth);
  const auto part = takes > 0 ? between(last->second, push.first) / takes : 0;
  return takes > 0 && part <= 1 + kAfter ? std::optional(part) : std::nullopt;
}

bool TakenTimes::is_sound(const TraceRecord& slot) const {
  return slot.first != 0 && slot.first <= slot.second && slot.second <= slot.fourth &&
         slot.fourth - slot.first <= 2 * (span_.ended - span_.began);
}

// Half of the quickest exchange with the lead: the kernel's round trips have time in them in which messages waited.
double TakenTimes::delay_of(const ProcessTrace& process) {
  return process.clock ? static_cast<double>(process.clock->round_trip) / 2 : 0;
}

// Bytes of contributions that it has sent, and of weights that it has got.
double TakenTimes::carried(const ProcessTrace& worker) const {
  double bytes = 0;
  for (const auto& record : worker.records) {
    const bool is_known = record.chunk < times_.bytes.size();
    bytes += record.kind == TraceKind::push               ? static_cast<double>(record.fourth)
             : record.kind == TraceKind::pull && is_known ? times_.bytes[record.chunk]
                                                          : 0;
  }
  return bytes;
}

// Once all workers' messages are known: what went over a link is told by what the others have sent as well.
void TakenTimes::of_connections(const Connections& connections) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    auto& own = times_.workers[i];
    const auto seen = connections.of(workers_[i]->source.session);
    own.queue_up = std::max(0.0, seen.round_trip_up - 2 * own.delay);
    own.queue_down = std::max(0.0, seen.round_trip_down - 2 * own.delay);
    const auto bytes = carried(*workers_[i]);
    own.resent = bytes > 0 ? seen.resent / bytes : 0;
    own.stops.assign(times_.steps, 0);
    add_stops(*workers_[i], own);
  }
}

void TakenTimes::of_contributions() {
  std::map<ChunkId, std::vector<double>> summed;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    of_lane(lane, summed);
  }
  times_.standstills = standstills_of_shards(lanes_, times_.shards.size(), span_);
  for (auto& each : times_.standstills) {
    each /= static_cast<double>(times_.steps);
  }
  for (auto& [chunk, spans] : summed) {
    if (chunk < times_.sum.size()) {
      times_.sum[chunk] = mean(spans);
    }
  }
}

void TakenTimes::of_lane(std::size_t lane, std::map<ChunkId, std::vector<double>>& summed) {
  double busy = 0;
  double processor = 0;
  double span_of_work = 0;
  double known = 0;
  double messages = 0;
  const Standstills standstills(*lanes_[lane]);
  for (const auto& record : lanes_[lane]->records) {
    const auto at = lanes_[lane]->on_lead(record.second);
    if (record.kind == TraceKind::work && standstills.has(record)) {
      continue;  // it says nothing of what it does as a rule
    }
    if (record.kind == TraceKind::work && at > span_.began && at <= span_.ended + kWorkSpan) {
      span_of_work += between(record.first, record.second);
      busy += static_cast<double>(record.third);
      processor += static_cast<double>(record.fourth);
    } else if (record.kind == TraceKind::contribution && is_in(record)) {
      const auto sum = between(record.second, record.third);
      if (sum > 0) {  // else it came too late
        summed[record.chunk].push_back(sum);
      }
      known += sum;
      ++messages;
    } else if (record.kind == TraceKind::update && is_in(record)) {
      known += times_.apply[record.chunk];
    }
  }
  if (span_of_work > 0 && messages > 0) {
    const auto rest = busy / span_of_work * times_.step * static_cast<double>(times_.steps) - known;
    times_.lanes[lane].message = std::max(0.0, rest / messages);
    constexpr double kMatters = 0.02;  // of its time
    const bool matters = busy - processor > kMatters * span_of_work;
    times_.lanes[lane].starved = matters ? std::max(1.0, busy / std::max(processor, 1.0)) : 1;
  }
}

}  // namespace ballast::insight

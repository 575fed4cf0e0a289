#include "insight/job_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "insight/connections.h"
#include "insight/link_times.h"
#include "insight/medians.h"
#include "insight/whole_steps.h"
#include "insight/worker_stops.h"

namespace ballast::insight {
namespace {

constexpr double kWaits = 0.02;  // of a slot: whoever waits less for its examples is never late
constexpr std::size_t kLeastSteps = 4;
constexpr ChunkId kMostChunks = 1U << 17U;
constexpr double kLongestStep = 1e12;  // eleven days
constexpr std::size_t kMostLanes = 1U << 12U;
constexpr std::size_t kMostMessages = std::size_t{1} << 20U;  // of a step: a replay has them all under way at times

class Taken {
 public:
  Taken(const JobTrace& trace, std::size_t most) : trace_(trace), peers_(trace), most_(most) {}

  std::optional<JobTimes> all() {
    if (!trace_.rules || trace_.rules->slots == 0 || trace_.rules->slots > kMaxSlots) {
      return std::nullopt;
    }
    times_.rules = *trace_.rules;
    if (!of_lanes() || !choose_steps()) {
      return std::nullopt;
    }
    of_updates();
    if (!of_workers()) {
      return std::nullopt;
    }
    of_contributions();
    constexpr Micros kLookSpan = 1'000'000;  // kernels are asked once a second
    const Connections connections(trace_, began_, ended_ + kLookSpan);
    of_connections(connections);
    add_link_times(trace_, peers_, connections, times_);
    return std::move(times_);
  }

 private:
  [[nodiscard]] std::size_t place_of(const ProcessTrace& process) const {
    return static_cast<std::size_t>(&process - trace_.processes.data());
  }
  [[nodiscard]] bool is_in(Step step) const { return step >= first_ && step < first_ + times_.steps; }

  // Whether there are any, and no more chunks than a replay can have.
  bool of_lanes() {
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

  bool choose_steps() {
    const auto whole = whole_steps(trace_, most_ + 1);
    if (whole.size() < kLeastSteps) {
      return false;
    }
    // The first one's end is the begin of the second.
    times_.steps = whole.size() - 1;
    for (std::size_t i = 1; i < whole.size(); ++i) {
      took_.push_back(static_cast<double>(whole[i].end - whole[i - 1].end));
    }
    first_ = whole[1].step;
    times_.step = static_cast<double>(whole.back().end - whole.front().end) / static_cast<double>(times_.steps);
    began_ = whole.front().end;
    ended_ = whole.back().end;
    return times_.step <= kLongestStep;
  }

  void of_updates() {
    of_decisions();
    const bool decides = !times_.decisions.empty();
    std::map<ChunkId, std::vector<double>> applied;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (const auto& record : lanes_[lane]->records) {
        if (record.kind == TraceKind::update && is_in(record.step)) {
          times_.lane_of[record.chunk] = static_cast<std::uint32_t>(lane);
          // Until it is begun it waits for the decision, if there is one.
          applied[record.chunk].push_back(span(decides ? record.second : record.first, record.third));
        }
      }
    }
    for (auto& [chunk, spans] : applied) {
      times_.apply[chunk] = mean(spans);
    }
  }

  // Whether a replay can have so many.
  bool of_workers() {
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
  void fill_in_usual() {
    fill_in(1, [](WorkerTimes& worker) -> double& { return worker.slot; });
    fill_in(0, [](WorkerTimes& worker) -> double& { return worker.begins; });
    fill_in(0, [](WorkerTimes& worker) -> double& { return worker.between; });
    for (ChunkId chunk = 0; chunk < times_.bytes.size(); ++chunk) {
      fill_in(1, [chunk](WorkerTimes& worker) -> double& { return worker.ready[chunk]; });
    }
  }

  template <typename Value>
  void fill_in(double unknown, Value&& value) {
    std::vector<double> known;
    for (auto& worker : times_.workers) {
      if (value(worker) > 0) {
        known.push_back(value(worker));
      }
    }
    const auto usual = known.empty() ? unknown : median(std::move(known));
    for (auto& worker : times_.workers) {
      value(worker) = value(worker) > 0 ? value(worker) : usual;
    }
  }

  using Slots = std::map<std::pair<Step, Slot>, const TraceRecord*>;  // by their first and only slot

  WorkerTimes of_worker(const ProcessTrace& process) {
    WorkerTimes own;
    own.name = process.name;
    own.process = place_of(process);
    own.slots.resize(times_.steps);
    Slots slots;
    std::map<Step, Micros> has_weights;
    std::map<ChunkId, std::vector<double>> ready;
    std::vector<double> before;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot && is_in(record.step) && is_sound(record)) {
        slots[{record.step, record.slots.begin}] = &record;
      } else if (record.kind == TraceKind::slot && record.step < first_ && is_sound(record)) {
        before.push_back(span(record.second, record.fourth));
      } else if (record.kind == TraceKind::pull) {
        auto& last = has_weights[record.step];
        last = std::max(last, record.fourth);
      }
    }
    of_slots(slots, has_weights, own);
    if (slots.empty()) {
      own.slot = median(std::move(before));
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
  static std::optional<double> ready_in_slot(const Slots& slots, const TraceRecord& push) {
    const TraceRecord* last = nullptr;
    for (auto slot = push.slots.begin; slot < push.slots.end; ++slot) {
      const auto found = slots.find({push.step, slot});
      if (found == slots.end()) {
        return std::nullopt;
      }
      last = last == nullptr || found->second->second > last->second ? found->second : last;
    }
    constexpr double kAfter = 0.1;  // of it, in which the sum is made
    const auto takes = last == nullptr ? 0 : span(last->second, last->fourth);
    const auto part = takes > 0 ? span(last->second, push.first) / takes : 0;
    return takes > 0 && part <= 1 + kAfter ? std::optional(part) : std::nullopt;
  }

  // Its times are known, and it lies in the time that is looked at, or has begun before.
  [[nodiscard]] bool is_sound(const TraceRecord& slot) const {
    return slot.first != 0 && slot.first <= slot.second && slot.second <= slot.fourth &&
           slot.fourth - slot.first <= 2 * (ended_ - began_);
  }

  void of_slots(const Slots& slots, const std::map<Step, Micros>& has_weights, WorkerTimes& own) const {
    std::vector<const TraceRecord*> in_order;
    for (const auto& [key, record] : slots) {
      in_order.push_back(record);
    }
    std::ranges::sort(in_order, {}, &TraceRecord::first);
    std::vector<double> takes;
    std::vector<double> waits;
    std::vector<double> reads;  // between two slots' examples, where the second was waited for
    std::vector<double> begins;
    std::vector<double> between;
    const TraceRecord* before = nullptr;
    for (const auto* record : in_order) {
      takes.push_back(span(record->second, record->fourth));
      waits.push_back(span(record->first, record->second));
      own.slots[record->step - first_].push_back(takes.back());
      if (before != nullptr && before->step == record->step) {
        between.push_back(span(before->fourth, record->first));
        if (waits.back() > kWaits * takes.back()) {
          reads.push_back(span(before->second, record->second));
        }
      } else if (const auto found = has_weights.find(record->step); found != has_weights.end()) {
        begins.push_back(span(found->second, record->first));
      }
      before = record;
    }
    own.slot = median(takes);
    own.begins = median(begins);
    own.between = median(between);
    // Between steps a reader catches up.
    own.fetch = mean(waits) <= kWaits * own.slot ? 0 : reads.empty() ? mean(waits) + own.slot : median(reads);
  }

  // Half of the quickest exchange with the lead: the kernel's round trips have time in them in which messages waited.
  static double delay_of(const ProcessTrace& process) {
    return process.clock ? static_cast<double>(process.clock->round_trip) / 2 : 0;
  }

  // Bytes of contributions that it has sent, and of weights that it has got.
  [[nodiscard]] double carried(const ProcessTrace& worker) const {
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
  void of_connections(const Connections& connections) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      auto& own = times_.workers[i];
      const auto seen = connections.of(workers_[i]->source.session);
      own.queue_up = std::max(0.0, seen.round_trip_up - 2 * own.delay);
      own.queue_down = std::max(0.0, seen.round_trip_down - 2 * own.delay);
      const auto bytes = carried(*workers_[i]);
      own.resent = bytes > 0 ? seen.resent / bytes : 0;
      // What is lost on the way is late as well, and no stop.
      own.stops = own.is_lossy() ? std::vector<double>(times_.steps, 0)
                                 : worker_stops(peers_, *workers_[i], first_, times_.steps);
      add_silences(*workers_[i], first_, own);
      shorten_long_stops(took_, own);
    }
  }

  void of_contributions() {
    std::map<ChunkId, std::vector<double>> summed;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      double busy = 0;
      double processor = 0;
      double span_of_work = 0;
      double known = 0;
      double messages = 0;
      for (const auto& record : lanes_[lane]->records) {
        const auto at = lanes_[lane]->on_lead(record.second);
        if (record.kind == TraceKind::work && at > began_ && at <= ended_ + kWorkSpan) {
          span_of_work += span(record.first, record.second);
          busy += static_cast<double>(record.third);
          processor += static_cast<double>(record.fourth);
        } else if (record.kind == TraceKind::contribution && is_in(record.step)) {
          const auto sum = span(record.second, record.third);
          if (sum > 0) {  // else it came too late
            summed[record.chunk].push_back(sum);
          }
          known += sum;
          ++messages;
        } else if (record.kind == TraceKind::update && is_in(record.step)) {
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
    for (auto& [chunk, spans] : summed) {
      if (chunk < times_.sum.size()) {
        times_.sum[chunk] = mean(spans);
      }
    }
  }

  // Of steps that share a plan with others the one before holds.
  void of_decisions() {
    std::map<Step, double> took;
    for (const auto& process : trace_.processes) {
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::decision && is_in(record.step)) {
          took[record.step] = span(record.first, record.second);
        }
      }
    }
    for (std::size_t i = 0; !took.empty() && i < times_.steps; ++i) {
      const auto found = took.find(first_ + i);
      times_.decisions.push_back(found != took.end()        ? found->second
                                 : times_.decisions.empty() ? took.begin()->second
                                                            : times_.decisions.back());
    }
  }

  static double span(Micros from, Micros until) { return until > from ? static_cast<double>(until - from) : 0; }

  const JobTrace& trace_;
  const Peers peers_;
  const std::size_t most_;
  JobTimes times_;
  std::vector<double> took_;  // by step
  std::vector<const ProcessTrace*> lanes_;
  std::vector<const ProcessTrace*> workers_;
  Step first_ = 0;
  Micros began_ = 0;
  Micros ended_ = 0;
};

}  // namespace

std::optional<JobTimes> job_times(const JobTrace& trace, std::size_t most) { return Taken(trace, most).all(); }

}  // namespace ballast::insight

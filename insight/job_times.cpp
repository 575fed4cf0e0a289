#include "insight/job_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "insight/item_times.h"
#include "insight/medians.h"
#include "insight/passing_stops.h"
#include "insight/reading_times.h"
#include "insight/taken_times.h"
#include "insight/whole_steps.h"
#include "insight/worker_stops.h"

namespace ballast::insight {
namespace {

constexpr double kWaits = 0.02;  // of a slot: whoever waits less for its examples is never late
constexpr std::size_t kLeastSteps = 4;

class RoundTimes : public TakenTimes {
 public:
  RoundTimes(const JobTrace& trace, std::size_t most) : TakenTimes(trace), most_(most) {}

  // Microseconds, by step.
  [[nodiscard]] const std::vector<double>& took() const { return took_; }

 private:
  bool choose() override {
    times_.rules = *trace_.rules;
    times_.is_sync = trace_.mode == "sync";
    const auto whole = whole_steps(trace_, most_ + 1);
    if (whole.size() < kLeastSteps) {
      return false;
    }
    // The first one's end is the begin of the second.
    times_.steps = whole.size() - 1;
    for (std::size_t i = 1; i < whole.size(); ++i) {
      took_.push_back(between(whole[i - 1].end, whole[i].end));
    }
    first_ = whole[1].step;
    times_.step = static_cast<double>(whole.back().end - whole.front().end) / static_cast<double>(times_.steps);
    span_ = {whole.front().end, whole.back().end};
    return true;
  }

  [[nodiscard]] bool is_in(const TraceRecord& record) const override {
    return record.step >= first_ && record.step < first_ + times_.steps;
  }

  // Of steps that share a plan with others the one before holds.
  void begin() override {
    std::map<Step, double> took;
    for (const auto& process : trace_.processes) {
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::decision && is_in(record)) {
          took[record.step] = between(record.first, record.second);
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

  // For the lead's word.
  [[nodiscard]] bool updates_wait() const override { return !times_.decisions.empty(); }

  void of_slots(const ProcessTrace& process, const Slots& slots, WorkerTimes& own) const override {
    own.slots.resize(times_.steps);
    std::map<Step, Micros> has_weights;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::pull) {
        auto& last = has_weights[record.step];
        last = std::max(last, record.fourth);
      }
    }
    std::vector<const TraceRecord*> in_order;
    for (const auto& [key, record] : slots) {
      in_order.push_back(record);
    }
    std::ranges::sort(in_order, {}, &TraceRecord::first);
    std::vector<double> takes;
    std::vector<double> waits;
    std::vector<double> reads;  // between two slots' examples, where the second was waited for
    std::vector<double> begins;
    std::vector<double> gaps;
    const TraceRecord* before = nullptr;
    const auto longest = longest_wait(in_order);
    for (const auto* record : in_order) {
      takes.push_back(between(record->second, record->fourth));
      const auto wait = between(record->first, record->second);
      const auto stopped = wait > longest ? wait : 0;  // one such wait says nothing of how fast a reader is
      waits.push_back(wait - stopped);
      own.slots[record->step - first_].push_back(takes.back() + stopped);
      if (before != nullptr && before->step == record->step) {
        gaps.push_back(between(before->fourth, record->first));
        if (stopped == 0 && waits.back() > kWaits * takes.back()) {
          reads.push_back(between(before->second, record->second));
        }
      } else if (const auto found = has_weights.find(record->step); found != has_weights.end()) {
        begins.push_back(between(found->second, record->first));
      }
      before = record;
    }
    own.slot = median(takes);
    own.begins = median(begins);
    own.between = median(gaps);
    const bool waited = mean(waits) > kWaits * own.slot;
    const auto reading = reading_of(process, own, longest, waited);
    if (reading.each > 0) {
      own.fetch = waited || reading.each > own.slot ? reading.each : 0;
      own.reads = own.fetch > 0 ? reading.by_step : std::vector<double>();
    } else if (waited) {  // between steps a reader catches up
      own.fetch = reads.empty() ? mean(waits) + own.slot : median(reads);
    }
  }

  [[nodiscard]] ReadingTimes reading_of(const ProcessTrace& process, const WorkerTimes& own, double longest,
                                        bool waited) const {
    std::vector<SlotRead> reads;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::fetch && is_in(record) && record.first <= record.second) {
        reads.push_back({record.step - first_, static_cast<double>(record.first), static_cast<double>(record.second)});
      }
    }
    std::vector<std::size_t> slots;
    std::ranges::transform(own.slots, std::back_inserter(slots), &std::vector<double>::size);
    return reading_times(reads, slots, longest, waited);
  }

  // For examples, of a worker that does not stand still.
  static double longest_wait(const std::vector<const TraceRecord*>& slots) {
    constexpr double kOdd = 60'000;
    std::vector<double> waits;
    std::vector<double> takes;
    for (const auto* slot : slots) {
      waits.push_back(between(slot->first, slot->second));
      takes.push_back(between(slot->second, slot->fourth));
    }
    return kOdd + 2 * (median(std::move(waits)) + median(std::move(takes)));
  }

  [[nodiscard]] double slot_before(const ProcessTrace& process) const override {
    std::vector<double> before;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot && record.step < first_ && is_sound(record)) {
        before.push_back(between(record.second, record.fourth));
      }
    }
    return median(std::move(before));
  }

  void add_stops(const ProcessTrace& process, WorkerTimes& own) const override {
    // What is lost on the way is late as well, and no stop.
    if (!own.is_lossy()) {
      own.stops = worker_stops(peers_, process, first_, times_.steps);
    }
    add_silences(process, first_, own);
  }

  const std::size_t most_;
  Step first_ = 0;
  std::vector<double> took_;  // by step
};

}  // namespace

std::optional<JobTimes> job_times(const JobTrace& trace, std::size_t most) {
  if (is_in_items(trace)) {
    return item_times(trace, most);
  }
  if (!trace.rules) {
    return std::nullopt;
  }
  RoundTimes rounds(trace, most);
  auto times = rounds.all();
  if (times) {
    take_out_stops(rounds.took(), *times);
  }
  return times;
}

}  // namespace ballast::insight

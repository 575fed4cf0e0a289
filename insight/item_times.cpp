#include "insight/item_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "insight/items_done.h"
#include "insight/medians.h"
#include "insight/record_waits.h"
#include "insight/seen_grants.h"
#include "insight/taken_times.h"
#include "insight/windows.h"

namespace ballast::insight {
namespace {

constexpr double kWaitsForExamples = 0.02;  // of a slot: whoever waits less is not held up
constexpr std::size_t kLeastOfItems = 3;    // steps

// Of a part: all that it has belongs to it.
class ItemTimes : public TakenTimes {
 public:
  using TakenTimes::TakenTimes;

 private:
  bool choose() override {
    const auto done = items_done(trace_);
    span_ = *trace_.part_of;
    const auto items = std::ranges::count_if(
        done.all, [&](const ItemDone& item) { return item.at > span_.began && item.at <= span_.ended; });
    if (items == 0) {
      return false;
    }
    times_.rules.slots = done.slots;
    times_.rules.chunks = done.chunks;
    times_.steps = static_cast<std::size_t>(items) / done.slots;
    times_.step = between(span_.began, span_.ended) * done.slots / static_cast<double>(items);
    return times_.steps >= kLeastOfItems;
  }

  [[nodiscard]] bool is_in(const TraceRecord& /*record*/) const override { return true; }

  void begin() override {
    times_.items = seen_grants(trace_);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      const auto waits = record_waits(*lanes_[lane]);
      auto& own = times_.lanes[lane];
      own.journal = waits.all;
      own.beside_disk = waits.all - waits.disk;
      own.syncs = 2 * waits.syncs >= waits.disk;
    }
  }

  // For the journal.
  [[nodiscard]] bool updates_wait() const override { return true; }

  void of_slots(const ProcessTrace& process, const Slots& slots, WorkerTimes& own) const override {
    std::vector<const TraceRecord*> in_order;
    for (const auto& [key, record] : slots) {
      in_order.push_back(record);
    }
    std::ranges::sort(in_order, {}, &TraceRecord::first);
    std::vector<Micros> stored;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::pull) {
        stored.push_back(record.fourth);
      }
    }
    std::ranges::sort(stored);
    std::vector<double> waits;
    std::vector<double> begins;
    Micros before = 0;  // the end of the slot before
    auto& takes = own.slots.emplace_back();
    for (const auto* record : in_order) {
      takes.push_back(between(record->second, record->fourth));
      waits.push_back(between(record->first, record->second));
      const auto after = std::ranges::upper_bound(stored, record->first);
      if (after != stored.begin()) {
        begins.push_back(between(std::max(*std::prev(after), before), record->first));
      }
      before = record->fourth;
    }
    own.slot = median(takes);
    own.begins = mean(begins);  // all of them add up to what it does not bring
    own.fetch = mean(waits) > kWaitsForExamples * own.slot ? mean(waits) : 0;
  }

  [[nodiscard]] double slot_before(const ProcessTrace& /*process*/) const override { return 0; }

  // A worker that stands still does so in a slot most of the time: there it shows.
  void add_stops(const ProcessTrace& /*process*/, WorkerTimes& /*own*/) const override {}
};

}  // namespace

std::optional<JobTimes> item_times(const JobTrace& trace, std::size_t most) {
  if (trace.part_of) {
    return ItemTimes(trace).all();
  }
  const auto steps = steps_of_items(items_done(trace), most + 1);
  if (steps.size() <= kLeastOfItems) {
    return std::nullopt;
  }
  return ItemTimes(part_of(trace, {steps[1].step, steps.back().step})).all();
}

}  // namespace ballast::insight

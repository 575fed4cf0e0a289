#include "insight/seen_grants.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "insight/items_done.h"
#include "insight/replay.h"

namespace ballast::insight {
namespace {

// As server/lead_config.cpp allows a session.
constexpr std::uint32_t kMostAhead = 4;
constexpr std::uint32_t kBoundOfOneAhead = 8;  // for each worker

// An item was granted before, and known to be delivered after.
struct Outstanding {
  Micros from = 0;
  Micros until = 0;
};

class Seen {
 public:
  explicit Seen(const JobTrace& trace) {
    const auto done = items_done(trace);
    for (const auto& item : done.all) {
      done_at_[item.item] = item.at;
    }
    for (const auto& process : trace.processes) {
      if (process.source.role == TraceRole::worker) {
        ++workers_;
        look(process, done.slots);
      }
    }
  }

  [[nodiscard]] std::uint32_t exposure() const {
    std::vector<Micros> begins;
    std::vector<Micros> ends;
    for (const auto& item : outstanding_) {
      begins.push_back(item.from);
      ends.push_back(item.until);
    }
    std::ranges::sort(begins);
    std::ranges::sort(ends);
    std::ptrdiff_t largest = 2;
    for (const auto& item : outstanding_) {
      const auto granted = std::ranges::lower_bound(begins, item.until) - begins.begin();
      const auto over = std::ranges::upper_bound(ends, item.from) - ends.begin();
      largest = std::max(largest, granted - over);
    }
    return static_cast<std::uint32_t>(largest - 1);  // of others
  }

  // Whether workers know the next item while they compute one: they ask for its weights then.
  [[nodiscard]] bool knows_next() const { return 2 * early_ > slots_; }
  [[nodiscard]] std::uint32_t workers() const { return std::max<std::uint32_t>(workers_, 1); }

 private:
  void look(const ProcessTrace& worker, Slot slots_of_step) {
    std::vector<Micros> asked;
    std::vector<const TraceRecord*> slots;
    for (const auto& record : worker.records) {
      if (record.kind == TraceKind::pull && record.first != 0) {
        asked.push_back(record.first);
      } else if (record.kind == TraceKind::slot) {
        slots.push_back(&record);
      }
    }
    std::ranges::sort(asked);
    std::ranges::sort(slots, {}, &TraceRecord::first);
    Micros before = 0;  // the end of the slot before
    for (const auto* slot : slots) {
      const auto after = std::ranges::upper_bound(asked, slot->first);
      const auto done = done_at_.find(slot->step * slots_of_step + slot->slots.begin);
      if (after != asked.begin() && done != done_at_.end()) {
        const auto own = *std::prev(after);
        ++slots_;
        early_ += own < before ? 1 : 0;
        outstanding_.push_back({worker.on_lead(own), done->second});
      }
      before = slot->fourth;
    }
  }

  std::unordered_map<ItemId, Micros> done_at_;
  std::uint32_t workers_ = 0;
  std::vector<Outstanding> outstanding_;
  std::size_t slots_ = 0;
  std::size_t early_ = 0;  // of which the weights were asked for before the slot before was done
};

}  // namespace

GrantRules seen_grants(const JobTrace& trace) {
  if (!is_bounded(trace)) {
    return {0, kMostAhead};
  }
  const Seen seen(trace);
  const auto bound = seen.exposure();
  const auto ahead = bound / (kBoundOfOneAhead * seen.workers());
  return {bound, seen.knows_next() ? std::clamp(ahead, 2U, kMostAhead) : 1};
}

JobTimes with_fitted_bound(JobTimes times) {
  if (!times.items || times.items->bound == 0) {
    return times;
  }
  const auto takes = [&](std::uint32_t bound) {
    times.items->bound = bound;
    return replay(times).value_or(0);
  };
  const auto seen = times.items->bound;
  constexpr double kAsLong = 0.97;
  if (takes(0) > kAsLong * times.step) {
    return times;
  }
  constexpr std::uint32_t kTried = 8;
  const auto apart = std::max<std::uint32_t>(seen / 16, 1);
  auto best = seen;
  auto least = std::abs(takes(seen) - times.step);
  for (std::uint32_t i = 1; i < kTried; ++i) {
    const auto bound = seen + i * apart;
    if (const auto off = std::abs(takes(bound) - times.step); off < least) {
      least = off;
      best = bound;
    }
  }
  times.items->bound = best;
  return times;
}

}  // namespace ballast::insight

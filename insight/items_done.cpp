#include "insight/items_done.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "insight/unknown_work.h"

namespace ballast::insight {
namespace {

struct UpdatesOfItem {
  std::uint32_t chunks = 0;
  Micros last = 0;
};

}  // namespace

ItemsDone items_done(const JobTrace& trace) {
  ItemsDone done;
  const auto each_update = [&](auto&& look) {
    for (const auto& process : trace.processes) {
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::update && record.third != 0) {
          look(process, record);
        }
      }
    }
  };
  each_update([&](const ProcessTrace& /*process*/, const TraceRecord& record) {
    done.slots = std::max(done.slots, record.slots.end);
    done.chunks = std::max(done.chunks, record.chunk + (record.chunk + 1 == 0 ? 0 : 1));
  });
  done.slots = std::max(done.slots, Slot{1});  // of a step of one slot no record says which
  std::unordered_map<ItemId, UpdatesOfItem> updates;
  each_update([&](const ProcessTrace& process, const TraceRecord& record) {
    auto& item = updates[record.step * done.slots + record.slots.begin];
    ++item.chunks;
    item.last = std::max(item.last, process.on_lead(record.third));
  });
  Micros since = 0;
  each_unknown_contribution(trace, [&](const ProcessTrace& lane, const TraceRecord& record) {
    since = std::max(since, lane.on_lead(record.third));
  });
  for (const auto& [item, own] : updates) {
    if (own.chunks >= done.chunks && own.last > since) {
      done.all.push_back({own.last, item});
    }
  }
  std::ranges::sort(done.all, {}, [](const ItemDone& one) { return std::pair(one.at, one.item); });
  return done;
}

std::vector<WholeStep> steps_of_items(const ItemsDone& done, std::size_t most) {
  std::vector<WholeStep> steps;
  if (done.all.empty()) {
    return steps;
  }
  const auto first = std::ranges::min_element(done.all, {}, &ItemDone::item)->item;
  // All before the first one are done, and so are as many as there are from it on, whichever.
  const auto count = first + done.all.size();
  for (auto step = count / done.slots; step > 0 && steps.size() < most; --step) {
    const auto behind = count - step * done.slots;  // items done since
    if (behind >= done.all.size()) {
      break;
    }
    steps.push_back({step - 1, done.all[done.all.size() - 1 - behind].at});
  }
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace ballast::insight

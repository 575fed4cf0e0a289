#include "insight/on_the_way.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace ballast::insight {
namespace {

using Way = std::pair<const ProcessTrace*, const ProcessTrace*>;  // from whom to whom
// Way, step, chunk, and of contributions the slots.
using Key = std::tuple<Way, Step, ChunkId, Slot, Slot>;

bool is_contribution(const TraceRecord& record) {
  return record.kind == TraceKind::push || record.kind == TraceKind::contribution;
}

Key key_of(const Way& way, const TraceRecord& record) {
  const auto slots = is_contribution(record) ? record.slots : SlotRange{};
  return {way, record.step, record.chunk, slots.begin, slots.end};
}

// To the sender's transport, by its clock: both sides' records have it. 0: not known.
Micros handed_at(const TraceRecord& record) {
  return record.kind == TraceKind::push || record.kind == TraceKind::pull ? record.second : record.first;
}

class Search {
 public:
  Search(const JobTrace& trace, Step first, Micros least)
      : first_(first), least_(least), is_in_rounds_(trace.rules.has_value()), peers_(trace) {
    for (const auto& process : trace.processes) {
      look_at(process);
    }
    for (const auto& process : trace.processes) {
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::push || record.kind == TraceKind::reply) {
          look_at_sent(process, record);
        }
      }
    }
  }

  std::vector<OnTheWay> found() {
    std::vector<OnTheWay> found;
    for (auto& [to, oldest] : oldest_) {
      found.push_back(std::move(oldest));
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &OnTheWay::age);
    return found;
  }

 private:
  [[nodiscard]] const ProcessTrace* peer_of(const ProcessTrace& process, const TraceRecord& record) const {
    return process.source.role == TraceRole::worker ? peers_.lane(record.peer) : peers_.worker(record.peer);
  }

  // From when on it has told all that it has; nothing: it has left something out, or told nothing. A ring keeps all
  // from one record on, so this one's moment counts: it may have had older ones, or lived another life.
  [[nodiscard]] std::optional<Micros> told_since(const ProcessTrace& process) const {
    if (!process.clock || !process.told_all || process.lost > 0 || process.records.empty()) {
      return std::nullopt;
    }
    const auto at = on_one_clock(peers_, process, process.records.front());
    return std::max({at.first, at.second, at.third, at.fourth});
  }

  void look_at(const ProcessTrace& process) {
    if (const auto since = told_since(process)) {
      told_since_[&process] = *since;
    }
    for (const auto& record : process.records) {
      const bool has_arrived = record.kind == TraceKind::contribution || record.kind == TraceKind::pull;
      const auto* from = has_arrived ? peer_of(process, record) : nullptr;
      if (from == nullptr) {
        continue;
      }
      auto& newest = newest_[{from, &process}];
      newest = std::max(newest, handed_at(record));
      if (record.step >= first_) {
        arrived_.insert(key_of({from, &process}, record));
      }
    }
  }

  // Messages do not overtake each other.
  [[nodiscard]] bool may_have_arrived(const Way& way, const TraceRecord& record) const {
    const auto newest = newest_.find(way);
    return (newest != newest_.end() && handed_at(record) <= newest->second) || arrived_.contains(key_of(way, record));
  }

  // An item's contribution may arrive and not be accepted, of which there is no record.
  void look_at_sent(const ProcessTrace& process, const TraceRecord& record) {
    const auto* to = peer_of(process, record);
    const auto taken = is_contribution(record) ? record.third : record.second;
    if (to == nullptr || record.step < first_ || taken == 0 || handed_at(record) == 0 ||
        (is_contribution(record) && !is_in_rounds_) || !told_since_.contains(&process) || !told_since_.contains(to)) {
      return;
    }
    const auto error = process.clock->error + to->clock->error;
    const auto left = process.on_lead(taken) + error;
    if (told_since_.at(to) + error > process.on_lead(handed_at(record)) || to->clock->lead < left + least_ ||
        may_have_arrived({&process, to}, record)) {
      return;
    }
    add(process, *to, record, to->clock->lead - left);
  }

  void add(const ProcessTrace& from, const ProcessTrace& to, const TraceRecord& record, Micros age) {
    const auto [found, is_first] = oldest_.try_emplace(&to);
    auto& oldest = found->second;
    const auto others = is_first ? 0 : oldest.others + 1;
    if (is_first || age > oldest.age) {
      oldest = {from.name, to.name, !is_contribution(record), record.step, record.chunk, age, 0};
    }
    oldest.others = others;
  }

  Step first_;
  Micros least_;
  bool is_in_rounds_;
  Peers peers_;
  std::map<const ProcessTrace*, Micros> told_since_;  // of those that have told all from then on, by the lead's clock
  std::map<Way, Micros> newest_;                      // when the newest that has arrived was handed over
  std::set<Key> arrived_;
  std::map<const ProcessTrace*, OnTheWay> oldest_;  // by receiver
};

}  // namespace

std::vector<OnTheWay> on_the_way(const JobTrace& trace, Step first, Micros least) {
  return Search(trace, first, least).found();
}

}  // namespace ballast::insight

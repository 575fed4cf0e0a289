#include "insight/on_the_way.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ballast::insight {
namespace {

// Worker, lane, step, chunk, and of contributions the slots.
using Key = std::tuple<const ProcessTrace*, const ProcessTrace*, Step, ChunkId, Slot, Slot>;

class Search {
 public:
  Search(const JobTrace& trace, Step first, Micros least) : first_(first), least_(least), peers_(trace) {
    for (const auto& process : trace.processes) {
      for (const auto& record : process.records) {
        if (record.kind == TraceKind::contribution || record.kind == TraceKind::pull) {
          arrived_.insert(key_of(process, record));
        }
      }
    }
    for (const auto& process : trace.processes) {
      for (const auto& record : process.records) {
        look_at(process, record);
      }
    }
  }

  std::vector<OnTheWay> found() {
    std::vector<OnTheWay> found;
    for (auto& [between, oldest] : oldest_) {
      found.push_back(std::move(oldest));
    }
    return found;
  }

 private:
  [[nodiscard]] const ProcessTrace* peer_of(const ProcessTrace& process, const TraceRecord& record) const {
    return process.source.role == TraceRole::worker ? peers_.lane(record.peer) : peers_.worker(record.peer);
  }

  [[nodiscard]] Key key_of(const ProcessTrace& process, const TraceRecord& record) const {
    const auto* peer = peer_of(process, record);
    const bool is_worker = process.source.role == TraceRole::worker;
    const bool is_up = record.kind == TraceKind::push || record.kind == TraceKind::contribution;
    return {is_worker ? &process : peer,    is_worker ? peer : &process, record.step, record.chunk,
            is_up ? record.slots.begin : 0, is_up ? record.slots.end : 0};
  }

  static bool has_told_all(const ProcessTrace& process) { return process.clock && process.lost == 0; }

  void look_at(const ProcessTrace& process, const TraceRecord& record) {
    const bool is_push = record.kind == TraceKind::push;
    if ((!is_push && record.kind != TraceKind::reply) || record.step < first_ || !has_told_all(process)) {
      return;
    }
    const auto* peer = peer_of(process, record);
    const auto taken = is_push ? record.third : record.second;
    if (peer == nullptr || !has_told_all(*peer) || taken == 0 || process.clock->own < taken + least_ ||
        arrived_.contains(key_of(process, record))) {
      return;
    }
    const auto age = process.clock->own - taken;
    auto& oldest = oldest_[{&process, peer}];
    if (age > oldest.age) {
      oldest = {process.name, peer->name,
                std::string(is_push ? "its part" : "weights") + " of step " + std::to_string(record.step) +
                    " in chunk " + std::to_string(record.chunk),
                age};
    }
  }

  Step first_;
  Micros least_;
  Peers peers_;
  std::set<Key> arrived_;
  std::map<std::pair<const ProcessTrace*, const ProcessTrace*>, OnTheWay> oldest_;
};

}  // namespace

std::vector<OnTheWay> on_the_way(const JobTrace& trace, Step first, Micros least) {
  return Search(trace, first, least).found();
}

}  // namespace ballast::insight

#include "insight/mending.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

constexpr double kIdealDecision = 1'000;

// Microseconds for a byte: a rate of 0 takes none.
double slowness(double rate) { return rate > 0 ? 1 / rate : 0; }
double faster(double rate, double slowness_of_peers) {
  const auto least = std::min(slowness(rate), slowness_of_peers);
  return least > 0 ? 1 / least : 0;
}

// A shard that is slow alone has a link of its own: with what it carries more all of them do.
void widen(double& own, double& all, double usual) {
  if (own > 0 && usual > own) {
    all += all > 0 ? usual - own : 0;
    own = usual;
  }
}

// In what order causes are mended: stops first, for which slots are odd shows beside the worker's others as they were;
// what is left of their scatter last.
int turn_of(Cause cause) { return cause == Cause::passing ? 0 : cause == Cause::barrier ? 2 : 1; }

void mend_stops(JobTimes& times, std::size_t place) {
  if (place >= times.workers.size()) {
    times.standstills[place - times.workers.size()] = 0;
    return;
  }
  auto& own = times.workers[place];
  const auto slot = own.slot;
  own.stops.clear();
  own.lost = 0;
  for (auto& step : own.slots) {
    std::ranges::transform(step, step.begin(), [&](double each) { return is_odd(each, own) ? slot : each; });
  }
}

// Slots of a worker as long as they are in the mean; what is odd among them stays.
void even_out(WorkerTimes& own) {
  std::vector<double> usual;
  for (const auto& step : own.slots) {
    std::ranges::copy_if(step, std::back_inserter(usual), [&](double slot) { return !is_odd(slot, own); });
  }
  const auto each = mean(usual);
  for (auto& step : own.slots) {
    std::ranges::transform(step, step.begin(), [&](double slot) { return is_odd(slot, own) ? slot : each; });
  }
}

void give_processor(JobTimes& times, std::size_t place) {
  auto& lane = times.lanes[place];
  lane.message /= lane.starved * lane.behind;
  // The journal's thread is of the same process. As it was measured: `behind` was fitted to messages.
  const auto beside_disk = lane.beside_disk / lane.starved;
  lane.journal -= lane.beside_disk - beside_disk;
  lane.beside_disk = beside_disk;
  lane.behind = 1;
  for (std::size_t chunk = 0; chunk < times.lane_of.size(); ++chunk) {
    if (times.lane_of[chunk] == place) {
      times.sum[chunk] /= lane.starved;
      times.apply[chunk] /= lane.starved;
    }
  }
  lane.starved = 1;
}

}  // namespace

JobTimes Mending::mended(const std::vector<Suspect>& which) const {
  auto times = as_is_;
  for (const int turn : {0, 1, 2}) {
    for (const auto& one : which) {
      if (turn_of(one.cause) == turn) {
        mend(times, one);
      }
    }
  }
  return times;
}

bool Mending::is_suspected(Cause cause, std::size_t place) const {
  return std::ranges::find(suspects_, Suspect{cause, place}) != suspects_.end();
}

// Workers that waited for a shard's link, or its journal, were not seen to carry what theirs can: twice as much, as far
// as one knows. Where it is known how much one carries, no more than that. Not of those whose contributions are longer
// on their way than they `stood` for it.
void Mending::relieve(JobTimes& times, double stood) const {
  constexpr double kMore = 2;
  const auto bytes = std::accumulate(as_is_.bytes.begin(), as_is_.bytes.end(), 0.0);
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    const auto& own = as_is_.workers[i];
    const auto line = own.line > 0 ? own.line : as_is_.line;
    const auto more = [&](double rate) {
      const auto wider = line > 0 ? std::max(rate, std::min(kMore * rate, line)) : kMore * rate;
      return bytes * slowness(rate) <= stood ? wider : rate;
    };
    if (!is_suspected(Cause::worker_link, i)) {
      // Something else that is mended may have relieved it already.
      times.workers[i].up = std::max(times.workers[i].up, more(own.up));
      times.workers[i].down = std::max(times.workers[i].down, more(own.down));
    }
  }
}

double Mending::seen_by_others(std::size_t shard, double ServerLink::*rate) const {
  const auto slow =
      peers(Cause::server_link, shard, as_is_.shards, [&](const ServerLink& each) { return slowness(each.*rate); });
  return slow > 0 ? 1 / slow : 0;
}

void Mending::speed_up(JobTimes& times, std::size_t place) const {
  auto& own = times.workers[place];
  const auto usual = peers(Cause::compute, place, as_is_.workers, [](const auto& worker) { return worker.slot; });
  const auto part = own.slot > 0 && usual > 0 ? std::min(1.0, usual / own.slot) : 1;
  const auto whole = own;
  own.slot *= part;
  // Its gradients become ready as theirs do: what makes it slow may come before all of them.
  for (std::size_t chunk = 0; chunk < own.ready.size(); ++chunk) {
    own.ready[chunk] =
        peers(Cause::compute, place, as_is_.workers, [&](const auto& worker) { return worker.ready[chunk]; });
  }
  for (auto& step : own.slots) {
    // Of one that is odd the worker's usual part is mended, not the stop.
    std::ranges::transform(step, step.begin(), [&](double slot) {
      return is_odd(slot, whole) ? slot - whole.slot + own.slot : slot * part;
    });
  }
}

void Mending::mend_link(JobTimes& times, std::size_t place) const {
  auto& own = times.workers[place];
  const auto& all = as_is_.workers;
  if (all.size() < 2) {
    return;
  }
  // No faster than its line.
  const auto as_peers = [&](double WorkerTimes::*rate) {
    const auto usual = peers(Cause::worker_link, place, all, [&](const auto& each) { return slowness(each.*rate); });
    return faster(own.*rate, std::max(usual, slowness(own.line)));
  };
  own.up = as_peers(&WorkerTimes::up);
  own.down = as_peers(&WorkerTimes::down);
  own.delay = std::min(own.delay, peers(Cause::worker_link, place, all, [](const auto& each) { return each.delay; }));
}

void Mending::mend_shard_link(JobTimes& times, std::size_t place) const {
  if (place == times.shards.size()) {
    times.servers.in = std::max(times.servers.in, times.servers.line);
    times.servers.out = std::max(times.servers.out, times.servers.line);
  } else {
    auto& own = times.shards[place];
    widen(own.in, times.servers.in, std::max(own.line, seen_by_others(place, &ServerLink::seen_in)));
    widen(own.out, times.servers.out, std::max(own.line, seen_by_others(place, &ServerLink::seen_out)));
  }
  relieve(times, std::numeric_limits<double>::infinity());
}

// What threads of a server that starves wait beside the disk stays: they want a processor. Of another one it is part of
// having a journal.
void Mending::mend_journal(JobTimes& times, std::size_t place) const {
  double stood = 0;
  for (std::size_t i = 0; i < times.lanes.size(); ++i) {
    if (auto& lane = times.lanes[i]; lane.shard == place) {
      const auto stays = as_is_.lanes[i].is_starved() ? lane.beside_disk : 0;
      stood = std::max(stood, lane.journal - stays);
      lane.journal = lane.beside_disk = stays;
    }
  }
  relieve(times, stood);
}

void Mending::mend(JobTimes& times, const Suspect& one) const {
  switch (one.cause) {
    case Cause::compute:
      return speed_up(times, one.place);
    case Cause::passing:
      return mend_stops(times, one.place);
    case Cause::data:
      times.workers[one.place].fetch = 0;
      times.workers[one.place].reads.clear();
      return;
    case Cause::worker_link:
      return mend_link(times, one.place);
    case Cause::server_link:
      return mend_shard_link(times, one.place);
    case Cause::processor:
      return give_processor(times, one.place);
    case Cause::storage:
      return mend_journal(times, one.place);
    case Cause::barrier:
      std::ranges::for_each(times.workers, even_out);
      return;
    case Cause::lead:
      std::ranges::transform(times.decisions, times.decisions.begin(),
                             [](double each) { return std::min(each, kIdealDecision); });
      return;
  }
}

}  // namespace ballast::insight

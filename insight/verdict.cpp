#include "insight/verdict.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "insight/medians.h"
#include "insight/replay.h"

namespace ballast::insight {
namespace {

constexpr double kUnheardLink = 1.3;
constexpr double kSlowShardLink = 1.5;
// A slot passes for a hiccup beyond so many times what its worker's slots take, and that many microseconds.
constexpr double kOdd = 1.3;
constexpr double kOddLeast = 10'000;
constexpr double kOddMatters = 0.02;  // of the time looked at
constexpr double kIdealDecision = 1'000;
constexpr std::size_t kMostSuspects = 16;  // each takes two replays; the slowest beside their peers

struct Suspect {
  Cause cause = Cause::compute;
  std::size_t place = 0;  // of the worker, lane or shard
  double severity = 1;
  bool operator==(const Suspect& other) const { return cause == other.cause && place == other.place; }
};

bool is_odd(double slot, const WorkerTimes& own) { return slot > kOdd * own.slot + kOddLeast; }

// Of two the smaller.
double lower_median(std::vector<double> values) { return quantile(std::move(values), 0.49); }

// What its odd slots take more than others, and its stops before them; microseconds.
double odd_time(const WorkerTimes& own) {
  double time = std::accumulate(own.stops.begin(), own.stops.end(), 0.0);
  for (const auto& step : own.slots) {
    for (const auto slot : step) {
      time += is_odd(slot, own) ? slot - own.slot : 0;
    }
  }
  return time;
}

class Suspects {
 public:
  Suspects(const JobTimes& times, const std::vector<Severity>& severities) : times_(times) {
    for (const auto& one : severities) {
      if (one.is_slow) {
        suspect(one);
      }
    }
    workers();
    servers();
    std::ranges::stable_sort(all_, std::greater(), &Suspect::severity);
    all_.resize(std::min(all_.size(), kMostSuspects));
  }
  [[nodiscard]] const std::vector<Suspect>& all() const { return all_; }

 private:
  void add(Cause cause, std::size_t place, double severity) {
    const auto found = std::ranges::find(all_, Suspect{cause, place});
    if (found == all_.end()) {
      all_.push_back({cause, place, severity});
    } else {
      found->severity = std::max(found->severity, severity);
    }
  }

  void suspect(const Severity& one) {
    const auto worker = std::ranges::find(times_.workers, one.process, &WorkerTimes::process) - times_.workers.begin();
    const auto lane = std::ranges::find(times_.lanes, one.process, &LaneTimes::process) - times_.lanes.begin();
    const bool is_worker = worker < std::ssize(times_.workers);
    switch (one.resource) {
      case Resource::compute:
        return is_worker ? add(Cause::compute, static_cast<std::size_t>(worker), one.times) : void();
      case Resource::data:
        return is_worker ? add(Cause::data, static_cast<std::size_t>(worker), one.times) : void();
      case Resource::uplink:
      case Resource::downlink:
        return is_worker ? add(Cause::worker_link, static_cast<std::size_t>(worker), one.times) : void();
      case Resource::processor:
        return lane < std::ssize(times_.lanes) ? add(Cause::processor, static_cast<std::size_t>(lane), one.times)
                                               : void();
      case Resource::lead:
        return times_.decisions.empty() ? void() : add(Cause::lead, 0, one.times);
    }
  }

  // What passes; and those of which too few messages went to be measured by them.
  void workers() {
    const auto window = times_.step * static_cast<double>(times_.steps);
    std::vector<double> odd;
    std::vector<double> rates;
    for (const auto& worker : times_.workers) {
      odd.push_back(odd_time(worker));
      rates.push_back(worker.up);
    }
    const auto usual = lower_median(odd);
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      if (odd[i] > kOddMatters * window && odd[i] > 2 * usual) {
        add(Cause::passing, i, odd[i] / window + 1);
      }
      const auto& own = times_.workers[i];
      if (!own.has_slots() && own.up > 0 &&
          own.up * kUnheardLink < median(rates)) {  // the upper one: of two the other's
        add(Cause::worker_link, i, median(rates) / own.up);
      }
    }
  }

  void servers() {
    for (std::size_t i = 0; i < times_.shards.size(); ++i) {
      std::vector<double> in;
      std::vector<double> out;
      for (std::size_t k = 0; k < times_.shards.size(); ++k) {
        if (k != i) {
          in.push_back(times_.shards[k].seen_in);
          out.push_back(times_.shards[k].seen_out);
        }
      }
      const auto& own = times_.shards[i];
      const auto slower =
          std::max(own.seen_in > 0 ? median(in) / own.seen_in : 1, own.seen_out > 0 ? median(out) / own.seen_out : 1);
      if (slower > kSlowShardLink) {
        add(Cause::server_link, i, slower);
      }
    }
  }

  const JobTimes& times_;
  std::vector<Suspect> all_;
};

// Mends what is suspected, by what others take that are not.
class Mending {
 public:
  Mending(const JobTimes& as_is, const std::vector<Suspect>& suspects) : as_is_(as_is), suspects_(suspects) {}

  // Stops first: which slots are odd shows beside the worker's others as they were.
  [[nodiscard]] JobTimes mended(const std::vector<Suspect>& which) const {
    auto times = as_is_;
    for (const bool stops : {true, false}) {
      for (const auto& one : which) {
        if ((one.cause == Cause::passing) == stops) {
          mend(times, one);
        }
      }
    }
    return times;
  }

 private:
  [[nodiscard]] bool is_suspected(Cause cause, std::size_t place) const {
    return std::ranges::find(suspects_, Suspect{cause, place}) != suspects_.end();
  }

  // Microseconds for a byte: a rate of 0 takes none.
  static double slowness(double rate) { return rate > 0 ? 1 / rate : 0; }
  static double faster(double rate, double slowness_of_peers) {
    const auto least = std::min(slowness(rate), slowness_of_peers);
    return least > 0 ? 1 / least : 0;
  }

  // The median of others that are not suspected of it, or of all others.
  template <typename All, typename Value>
  [[nodiscard]] double peers(Cause cause, std::size_t self, const All& all, Value&& value) const {
    std::vector<double> sound;
    std::vector<double> others;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != self) {
        others.push_back(value(all[i]));
        if (!is_suspected(cause, i)) {
          sound.push_back(others.back());
        }
      }
    }
    return median(sound.empty() ? others : sound);
  }

  // Workers that waited for a shard's link were not seen to carry what theirs can: twice as much, as far as one knows.
  // Where it is known how much one carries, no more than that.
  void relieve(JobTimes& times) const {
    constexpr double kMore = 2;
    const auto more = [&](double rate) {
      return as_is_.line > 0 ? std::max(rate, std::min(kMore * rate, as_is_.line)) : kMore * rate;
    };
    for (std::size_t i = 0; i < times.workers.size(); ++i) {
      if (!is_suspected(Cause::worker_link, i)) {
        times.workers[i].up = more(as_is_.workers[i].up);
        times.workers[i].down = more(as_is_.workers[i].down);
      }
    }
  }

  [[nodiscard]] double seen_by_others(std::size_t shard, double ServerLink::*rate) const {
    const auto slow =
        peers(Cause::server_link, shard, as_is_.shards, [&](const ServerLink& each) { return slowness(each.*rate); });
    return slow > 0 ? 1 / slow : 0;
  }

  // A shard that is slow alone has a link of its own: with what it carries more all of them do.
  static void widen(double& own, double& all, double usual) {
    if (own > 0 && usual > own) {
      all += all > 0 ? usual - own : 0;
      own = usual;
    }
  }

  void mend(JobTimes& times, const Suspect& one) const {
    switch (one.cause) {
      case Cause::compute: {
        auto& own = times.workers[one.place];
        const auto usual = peers(one.cause, one.place, as_is_.workers, [](const auto& worker) { return worker.slot; });
        const auto part = own.slot > 0 && usual > 0 ? std::min(1.0, usual / own.slot) : 1;
        const auto whole = own;
        own.slot *= part;
        // Its gradients become ready as theirs do: what makes it slow may come before all of them.
        for (std::size_t chunk = 0; chunk < own.ready.size(); ++chunk) {
          own.ready[chunk] =
              peers(one.cause, one.place, as_is_.workers, [&](const auto& worker) { return worker.ready[chunk]; });
        }
        for (auto& step : own.slots) {
          // Of one that is odd the worker's usual part is mended, not the stop.
          std::ranges::transform(step, step.begin(), [&](double slot) {
            return is_odd(slot, whole) ? slot - whole.slot + own.slot : slot * part;
          });
        }
        return;
      }
      case Cause::passing: {
        auto& own = times.workers[one.place];
        const auto slot = own.slot;
        own.stops.clear();
        for (auto& step : own.slots) {
          std::ranges::transform(step, step.begin(), [&](double each) { return is_odd(each, own) ? slot : each; });
        }
        return;
      }
      case Cause::data:
        times.workers[one.place].fetch = 0;
        return;
      case Cause::worker_link: {
        auto& own = times.workers[one.place];
        const auto& all = as_is_.workers;
        own.up = faster(own.up, peers(one.cause, one.place, all, [](const auto& each) { return slowness(each.up); }));
        own.down =
            faster(own.down, peers(one.cause, one.place, all, [](const auto& each) { return slowness(each.down); }));
        own.delay = std::min(own.delay, peers(one.cause, one.place, all, [](const auto& each) { return each.delay; }));
        return;
      }
      case Cause::server_link: {
        auto& own = times.shards[one.place];
        widen(own.in, times.servers.in, seen_by_others(one.place, &ServerLink::seen_in));
        widen(own.out, times.servers.out, seen_by_others(one.place, &ServerLink::seen_out));
        relieve(times);
        return;
      }
      case Cause::processor: {
        auto& lane = times.lanes[one.place];
        lane.message /= lane.starved * lane.behind;
        lane.behind = 1;
        for (std::size_t chunk = 0; chunk < times.lane_of.size(); ++chunk) {
          if (times.lane_of[chunk] == one.place) {
            times.sum[chunk] /= lane.starved;
            times.apply[chunk] /= lane.starved;
          }
        }
        lane.starved = 1;
        return;
      }
      case Cause::lead:
        std::ranges::transform(times.decisions, times.decisions.begin(),
                               [](double each) { return std::min(each, kIdealDecision); });
        return;
    }
  }

  const JobTimes& as_is_;
  const std::vector<Suspect>& suspects_;
};

std::string name_of(const JobTimes& times, const Suspect& one) {
  switch (one.cause) {
    case Cause::processor:
      return times.lanes[one.place].name;
    case Cause::server_link:
      return "shard " + std::to_string(one.place);
    case Cause::lead:
      return "lead";
    case Cause::compute:
    case Cause::passing:
    case Cause::data:
    case Cause::worker_link:
      break;
  }
  return times.workers[one.place].name;
}

// Loss makes a link slow, and so does delay: a connection carries no more than is under way at a time.
LinkTrouble trouble_of(const JobTimes& times, std::size_t place) {
  constexpr double kLonger = 2;
  constexpr double kLeastDelay = 2'000;
  std::vector<double> resent;
  std::vector<double> delays;
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    if (i != place) {
      resent.push_back(times.workers[i].resent);
      delays.push_back(times.workers[i].delay);
    }
  }
  const auto& own = times.workers[place];
  if (own.is_lossy() && own.resent > kLonger * median(std::move(resent))) {
    return LinkTrouble::loss;
  }
  const auto usual = median(std::move(delays));
  const bool is_far = own.delay > kLonger * usual && own.delay > usual + kLeastDelay;
  return is_far ? LinkTrouble::delay : LinkTrouble::rate;
}

// How many times as long; no less than 1.
double ratio(double longer, double shorter) { return longer > 0 && shorter > 0 ? std::max(1.0, longer / shorter) : 1; }

std::vector<Suspect> without(const std::vector<Suspect>& all, const Suspect& one) {
  std::vector<Suspect> others;
  std::ranges::copy_if(all, std::back_inserter(others), [&](const Suspect& each) { return !(each == one); });
  return others;
}

}  // namespace

std::optional<Verdict> verdict(const JobTimes& times, const std::vector<Severity>& severities) {
  const auto suspects = Suspects(times, severities).all();
  const Mending mending(times, suspects);
  const auto as_is = replay(times);
  const auto ideal = suspects.empty() ? as_is : replay(mending.mended(suspects));
  if (!as_is || !ideal) {
    return std::nullopt;
  }
  Verdict verdict{times.steps, times.step / 1'000, *as_is / 1'000, ratio(*as_is, *ideal), {}};
  for (const auto& one : suspects) {
    Finding found{one.cause, name_of(times, one), one.severity, verdict.slowdown, verdict.slowdown, 0, {}};
    if (one.cause == Cause::worker_link) {
      found.trouble = trouble_of(times, one.place);
    }
    if (suspects.size() > 1) {
      const auto alone = replay(mending.mended({one}));
      const auto with_it = replay(mending.mended(without(suspects, one)));
      if (!alone || !with_it) {
        return std::nullopt;
      }
      found.gain = ratio(*as_is, *alone);
      found.cost = ratio(*with_it, *ideal);
    }
    if (one.cause == Cause::passing) {
      found.lost = (found.cost - 1) * *ideal * static_cast<double>(times.steps) / 1e6;
    }
    verdict.found.push_back(found);
  }
  std::ranges::stable_sort(verdict.found, std::greater(),
                           [](const Finding& found) { return std::max(found.gain, found.cost); });
  return verdict;
}

}  // namespace ballast::insight

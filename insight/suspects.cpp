#include "insight/suspects.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "insight/medians.h"
#include "insight/passing_stops.h"

namespace ballast::insight {
namespace {

constexpr double kUnheardLink = 1.3;
constexpr double kSlowShardLink = 1.5;
constexpr double kSlowReader = 1.05;
constexpr std::size_t kMostSuspects = 16;

constexpr double kLeastDelay = 2'000;

// The median of what is known of them, one way; 0: nothing is.
double delay_of_others(const JobTimes& times, std::size_t worker) {
  std::vector<double> others;
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    if (i != worker && times.workers[i].delay > 0) {
      others.push_back(times.workers[i].delay);
    }
  }
  return median(std::move(others));
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
  [[nodiscard]] bool has(Cause cause, std::size_t place) const {
    return std::ranges::find(all_, Suspect{cause, place}) != all_.end();
  }

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
      case Resource::storage:
        return lane < std::ssize(times_.lanes) && times_.items
                   ? add(Cause::storage, times_.lanes[static_cast<std::size_t>(lane)].shard, one.times)
                   : void();
      case Resource::lead:
        return times_.decisions.empty() ? void() : add(Cause::lead, 0, one.times);
    }
  }

  // What passes; and those of which too few messages went to be measured by them.
  void workers() {
    const auto window = times_.step * static_cast<double>(times_.steps);
    std::vector<double> rates;
    for (const auto& worker : times_.workers) {
      rates.push_back(worker.up);
    }
    const auto usual = usual_odd_time(times_.workers);
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      const auto taken_out = times_.workers[i].odd;
      if (const auto odd = odd_time(times_.workers[i]); taken_out > 0 || is_passing(odd, usual, window)) {
        add(Cause::passing, i, (taken_out + odd) / window + 1);
      }
      const auto& own = times_.workers[i];
      // Though it may wait for something else as long.
      if (!times_.items && own.fetch > kSlowReader * own.slot && !has(Cause::data, i)) {
        add(Cause::data, i, own.fetch / own.slot);
      }
      if (!own.has_slots() && own.up > 0 &&
          own.up * kUnheardLink < median(rates)) {  // the upper one: of two the other's
        add(Cause::worker_link, i, median(rates) / own.up);
      }
      if (const auto usual_delay = delay_of_others(times_, i); is_far(times_, i)) {
        add(Cause::worker_link, i,
            own.delay / std::max(usual_delay, kLeastDelay));  // its usual message may be as quick
      }
      if (loses_most(times_, i)) {  // now and then, so that the usual message is as quick as others'
        add(Cause::worker_link, i, own.up > 0 ? std::max(1.0, median(rates) / own.up) : 1);
      }
    }
  }

  void servers() {
    for (std::size_t i = 0; i < times_.standstills.size(); ++i) {
      if (is_passing(times_.standstills[i], 0, times_.step)) {
        add(Cause::passing, times_.workers.size() + i, times_.standstills[i] / times_.step + 1);
      }
    }
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
      // Where it is not known what workers' links carry they may be all that is in the way.
      const auto beside = times_.line > 0 && !starves(i) ? std::max(slower, below_line(own)) : slower;
      if (beside > kSlowShardLink) {
        add(Cause::server_link, i, beside);
      }
    }
    const bool any_starves = std::ranges::any_of(times_.lanes, &LaneTimes::is_starved);
    if (const auto all = below_line(times_.servers);
        all > kSlowShardLink && !any_starves && times_.workers.size() > 1) {
      add(Cause::server_link, times_.shards.size(), all);
    }
  }

  // Of lanes that starve less comes, whatever the link carries.
  [[nodiscard]] bool starves(std::size_t shard) const {
    return std::ranges::any_of(times_.lanes,
                               [&](const LaneTimes& lane) { return lane.shard == shard && lane.is_starved(); });
  }

  // How many times as much was declared as it was seen to carry where it was in the way.
  static double below_line(const ServerLink& link) {
    const auto times = [&](double seen) { return link.line > 0 && seen > 0 ? link.line / seen : 1; };
    return std::max(times(link.seen_in), times(link.seen_out));
  }

  const JobTimes& times_;
  std::vector<Suspect> all_;
};

}  // namespace

bool loses_most(const JobTimes& times, std::size_t worker) {
  constexpr double kMore = 2;
  const auto& own = times.workers[worker];
  if (!own.is_lossy() || times.workers.size() < 2) {
    return false;
  }
  std::vector<double> others;
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    if (i != worker) {
      others.push_back(times.workers[i].resent);
    }
  }
  return own.resent > kMore * median(std::move(others));
}

bool is_far(const JobTimes& times, std::size_t worker) {
  constexpr double kLonger = 2;
  const auto own = times.workers[worker].delay;
  const auto usual = delay_of_others(times, worker);
  return usual > 0 && own > kLonger * usual && own > usual + kLeastDelay;
}

bool is_odd(double slot, const WorkerTimes& own) {
  constexpr double kOdd = 1.3;
  constexpr double kOddLeast = 10'000;  // microseconds
  return slot > kOdd * own.slot + kOddLeast;
}

std::vector<Suspect> suspects(const JobTimes& times, const std::vector<Severity>& severities) {
  return Suspects(times, severities).all();
}

}  // namespace ballast::insight

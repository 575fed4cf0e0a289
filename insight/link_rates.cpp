#include "insight/link_rates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

struct Message : Carried {
  double from = 0;  // the one before it of the same connection was there
  double took = 0;  // since the one before it of the same worker was there
};

// So many bytes a microsecond were carried by a link for a while in which some waited for it.
struct Stretch {
  double begin = 0;
  double end = 0;
  double rate = 0;
  std::size_t busy = 0;  // workers of which something was on its way most of the time
};

// Messages that go the same way. Several connections share a link: what each carried of a message at a time is that
// part of it in which the moment lies, for its last byte may come long after the first.
class Flow {
 public:
  explicit Flow(const std::vector<Carried>& messages) {
    for (const auto& message : messages) {
      all_.push_back({message, 0, 0});
    }
    std::ranges::sort(all_, {}, &Message::arrived);
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> of_connection;
    std::map<std::size_t, double> of_worker;
    for (auto& message : all_) {
      auto& on_connection = of_connection[{message.worker, message.shard, message.lane}];
      auto& before = of_worker[message.worker];
      message.from = std::max(message.sent, on_connection);
      message.took = message.arrived - std::max(message.sent, before);
      longest_ = std::max(longest_, message.took);
      on_connection = before = message.arrived;
    }
    add_up();
  }

  [[nodiscard]] const std::vector<Message>& messages() const { return all_; }

  // Bytes a microsecond between two moments. Costs a search.
  [[nodiscard]] double rate(double begin, double end) const { return (carried(end) - carried(begin)) / (end - begin); }

  // Each of a few messages, and of `least` microseconds or a little more.
  [[nodiscard]] std::vector<Stretch> stretches(double least) const {
    constexpr std::size_t kMessages = 3;
    std::vector<Stretch> found;
    std::size_t first = 0;
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (all_[i].sent >= all_[i - 1].arrived) {
        first = i;
      } else if (i - first >= kMessages && all_[i].arrived - all_[first].arrived >= least) {
        const auto begin = all_[first].arrived;
        const auto end = all_[i].arrived;
        found.push_back({begin, end, rate(begin, end), busy_between(begin, end)});
        first = i;
      }
    }
    return found;
  }

 private:
  // How much had been carried since the first message, and how much a microsecond from then on.
  struct Point {
    double at = 0;
    double carried = 0;
    double rate = 0;
  };

  // What is on its way comes evenly; what takes no time, in a microsecond.
  void add_up() {
    std::vector<std::pair<double, double>> changes;  // when; of the rate
    for (const auto& message : all_) {
      const auto span = std::max(message.arrived - message.from, 1.0);
      changes.emplace_back(message.arrived - span, message.bytes / span);
      changes.emplace_back(message.arrived, -message.bytes / span);
    }
    std::ranges::sort(changes);
    Point point;
    for (const auto& [at, change] : changes) {
      point.carried += point.rate * (at - point.at);
      point = {at, point.carried, point.rate + change};
      points_.push_back(point);
    }
  }

  [[nodiscard]] double carried(double at) const {
    const auto after = std::ranges::upper_bound(points_, at, {}, &Point::at);
    if (after == points_.begin()) {
      return 0;
    }
    const auto& point = *std::prev(after);
    return point.carried + point.rate * (at - point.at);
  }

  // Workers of which something was on its way most of the time. Costs a look at what was.
  [[nodiscard]] std::size_t busy_between(double begin, double end) const {
    constexpr double kMost = 0.6;
    std::map<std::size_t, double> busy;
    for (auto at = std::ranges::upper_bound(all_, begin, {}, &Message::arrived);
         at != all_.end() && at->arrived - longest_ < end; ++at) {
      busy[at->worker] += std::max(std::min(at->arrived, end) - std::max(at->arrived - at->took, begin), 0.0);
    }
    const auto is_busy = [&](const auto& worker) { return worker.second > kMost * (end - begin); };
    return static_cast<std::size_t>(std::ranges::count_if(busy, is_busy));
  }

  std::vector<Message> all_;  // by when they arrived
  std::vector<Point> points_;
  double longest_ = 0;  // that one was on its way
};

double rate_below(const std::vector<Stretch>& all, double part) {
  std::vector<double> rates;
  std::ranges::transform(all, std::back_inserter(rates), &Stretch::rate);
  return quantile(std::move(rates), part);
}

// Of all that was carried in all of the time: where a link stands still at times, what is lost being sent again, no
// stretch is like another.
double mean_rate(const std::vector<Stretch>& all) {
  double bytes = 0;
  double time = 0;
  for (const auto& stretch : all) {
    bytes += stretch.rate * (stretch.end - stretch.begin);
    time += stretch.end - stretch.begin;
  }
  return time > 0 ? bytes / time : 0;
}

// A link that several share.
struct Shared {
  const Flow* flow = nullptr;
  double rate = 0;  // 0: it is in nobody's way
};

// In which what others share carries less than `full` of what it can, so that it is not for them that it carries no
// more.
std::vector<Stretch> alone_in(const std::vector<Stretch>& own, const std::vector<Shared>& others, double full) {
  std::vector<Stretch> alone;
  std::ranges::copy_if(own, std::back_inserter(alone), [&](const Stretch& stretch) {
    return std::ranges::none_of(others, [&](const Shared& other) {
      return other.rate > 0 && other.flow->rate(stretch.begin, stretch.end) > full * other.rate;
    });
  });
  return alone;
}

// What workers share is seldom all that is in the way, so that many stretches show less than it can carry; the fastest
// ones were read all at once by somebody who was late: what is usual among those that are about as fast. Where few
// workers are kept busy by it at a time it is their own links that are seen: then there is none. Where busy times are
// shorter than such stretches, shorter ones tell.
double shared_rate(const Flow& flow, const std::vector<Shared>& others, double least, std::size_t workers) {
  // Of two shards that share a link one may carry less than the other for a while; one that is slow is busy long after.
  constexpr double kHardly = 0.5;
  constexpr std::size_t kEnough = 12;
  constexpr double kAsFast = 0.75;
  constexpr double kShort = 40'000;
  for (const auto stretch : {least, std::min(least, kShort)}) {
    auto found = alone_in(flow.stretches(stretch), others, kHardly);
    std::erase_if(found, [&](const Stretch& each) { return 2 * each.busy <= workers; });
    if (found.size() >= kEnough) {
      const auto fast = rate_below(found, 0.9);
      std::erase_if(found, [&](const Stretch& each) { return each.rate < kAsFast * fast; });
      return rate_below(found, 0.5);
    }
    if (least <= kShort) {
      break;
    }
  }
  return 0;
}

// Of a worker's own link: what is usual where what others share carries less than it can. Where that hardly ever is so,
// what its faster stretches show.
OwnLink own_link(const Flow& own, const std::vector<Shared>& others, double least) {
  constexpr double kFull = 0.8;
  constexpr std::size_t kEnough = 8;
  constexpr int kShorter = 3;
  auto mine = own.stretches(least);
  for (int i = 0; i < kShorter && mine.size() < kEnough; ++i) {
    least /= 2;
    mine = own.stretches(least);
  }
  auto alone = alone_in(mine, others, kFull);
  // A link that is in the way carries about the same whenever it is.
  constexpr double kAlike = 1.5;
  const auto usual = rate_below(alone, 0.5);
  if (alone.empty() || alone.size() * 2 < mine.size() || rate_below(alone, 0.75) > kAlike * usual) {
    return {rate_below(mine, 0.9), mean_rate(mine), false};
  }
  return {usual, mean_rate(mine), true};
}

}  // namespace

LinkRates link_rates(const std::vector<Carried>& messages, std::size_t workers, std::size_t shards, double stretch,
                     const std::vector<double>& apart) {
  std::vector<std::vector<Carried>> of_workers(workers);
  std::vector<std::vector<Carried>> of_shards(shards);
  for (const auto& message : messages) {
    of_workers[message.worker].push_back(message);
    of_shards[message.shard].push_back(message);
  }
  const Flow all(messages);
  LinkRates rates;
  rates.all = apart.empty() ? shared_rate(all, {}, stretch, workers) : 0;
  const std::vector<Flow> flows(of_shards.begin(), of_shards.end());
  std::vector<Shared> shared = {{&all, rates.all}};
  for (const auto& flow : flows) {
    rates.shards.push_back(shared_rate(flow, {shared[0]}, stretch, workers));
  }
  for (std::size_t i = 0; i < shards; ++i) {
    const bool is_known = rates.shards[i] > 0 || apart.empty();
    shared.push_back({&flows[i], is_known ? rates.shards[i] : apart[i]});
  }
  for (const auto& own : of_workers) {
    rates.workers.push_back(own_link(Flow(own), shared, stretch));
  }
  return rates;
}

}  // namespace ballast::insight

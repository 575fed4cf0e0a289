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
      longest_ = std::max(longest_, message.arrived - message.from);
      on_connection = before = message.arrived;
    }
  }

  [[nodiscard]] const std::vector<Message>& messages() const { return all_; }

  // Bytes that were carried between the moments.
  [[nodiscard]] double carried(double begin, double end) const {
    double bytes = 0;
    for (auto at = std::ranges::upper_bound(all_, begin, {}, &Message::arrived);
         at != all_.end() && at->arrived - longest_ < end; ++at) {
      const auto span = at->arrived - at->from;
      const auto part = std::min(at->arrived, end) - std::max(at->from, begin);
      bytes += span > 0 ? at->bytes * std::max(part, 0.0) / span : at->arrived <= end ? at->bytes : 0;
    }
    return bytes;
  }

  // Each of a few messages, and of `least` microseconds or a little more.
  [[nodiscard]] std::vector<Stretch> stretches(double least) const {
    constexpr std::size_t kMessages = 3;
    constexpr double kMost = 0.6;
    std::vector<Stretch> found;
    std::map<std::size_t, double> busy;  // by worker
    std::size_t first = 0;
    const auto begin_at = [&](std::size_t i) {
      first = i;
      busy.clear();
    };
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (all_[i].sent >= all_[i - 1].arrived) {
        begin_at(i);
        continue;
      }
      const auto begin = all_[first].arrived;
      const auto end = all_[i].arrived;
      busy[all_[i].worker] += std::min(all_[i].took, end - begin);
      if (i - first >= kMessages && end - begin >= least) {
        const auto is_busy = [&](const auto& worker) { return worker.second > kMost * (end - begin); };
        found.push_back({begin, end, carried(begin, end) / (end - begin),
                         static_cast<std::size_t>(std::ranges::count_if(busy, is_busy))});
        begin_at(i);
      }
    }
    return found;
  }

 private:
  std::vector<Message> all_;  // by when they arrived
  double longest_ = 0;        // that one was on its way
};

double rate_below(const std::vector<Stretch>& all, double part) {
  std::vector<double> rates;
  std::ranges::transform(all, std::back_inserter(rates), &Stretch::rate);
  return quantile(std::move(rates), part);
}

// What workers share is seldom all that is in the way, so that many stretches show less than it can carry; the fastest
// ones were read all at once by somebody who was late: what is usual among those that are about as fast. Where few
// workers are kept busy by it at a time it is their own links that are seen: then there is none.
double shared_rate(const std::vector<Stretch>& all, std::size_t workers) {
  std::vector<Stretch> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Stretch& stretch) { return 2 * stretch.busy > workers; });
  constexpr std::size_t kEnough = 12;
  constexpr double kAsFast = 0.75;
  if (found.size() < kEnough) {
    return 0;
  }
  const auto fast = rate_below(found, 0.9);
  std::erase_if(found, [&](const Stretch& stretch) { return stretch.rate < kAsFast * fast; });
  return rate_below(found, 0.5);
}

// In which all together carry less than they can, so that it is not for others that it carries no more.
std::vector<Stretch> alone_in(const std::vector<Stretch>& own, const Flow& all, double of_all) {
  constexpr double kFull = 0.8;
  std::vector<Stretch> alone;
  std::ranges::copy_if(own, std::back_inserter(alone), [&](const Stretch& stretch) {
    return of_all == 0 || all.carried(stretch.begin, stretch.end) < kFull * of_all * (stretch.end - stretch.begin);
  });
  return alone;
}

// Of a worker's own link: what is usual where all together carry less than they can. Where they hardly ever do, what
// its faster stretches show.
OwnLink own_link(const Flow& own, const Flow& all, double of_all, double least) {
  constexpr std::size_t kEnough = 8;
  constexpr int kShorter = 3;
  auto mine = own.stretches(least);
  for (int i = 0; i < kShorter && mine.size() < kEnough; ++i) {
    least /= 2;
    mine = own.stretches(least);
  }
  auto alone = alone_in(mine, all, of_all);
  if (alone.size() * 2 < mine.size()) {
    return {rate_below(mine, 0.75), false};
  }
  return {rate_below(alone, 0.5), !alone.empty()};
}

}  // namespace

LinkRates link_rates(const std::vector<Carried>& messages, std::size_t workers, std::size_t shards, double stretch) {
  std::vector<std::vector<Carried>> of_workers(workers);
  std::vector<std::vector<Carried>> of_shards(shards);
  for (const auto& message : messages) {
    of_workers[message.worker].push_back(message);
    of_shards[message.shard].push_back(message);
  }
  const Flow all(messages);
  LinkRates rates;
  rates.all = shared_rate(all.stretches(stretch), workers);
  for (const auto& own : of_workers) {
    rates.workers.push_back(own_link(Flow(own), all, rates.all, stretch));
  }
  for (const auto& own : of_shards) {
    rates.shards.push_back(shared_rate(alone_in(Flow(own).stretches(stretch), all, rates.all), workers));
  }
  return rates;
}

}  // namespace ballast::insight

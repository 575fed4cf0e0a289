#include "insight/link_rates.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

struct Message : Carried {
  double took = 0;  // since the one before it of the same worker was there
};
using Messages = std::vector<Message>;

// By when they arrived.
Messages in_order(const std::vector<Carried>& messages) {
  Messages all;
  for (const auto& message : messages) {
    all.push_back({message, 0});
  }
  std::ranges::sort(all, {}, &Message::arrived);
  std::map<std::size_t, double> before;
  for (auto& message : all) {
    auto& last = before[message.worker];
    message.took = message.arrived - std::max(message.sent, last);
    last = message.arrived;
  }
  return all;
}

// So many bytes a microsecond were carried by a link for a while in which some waited for it.
struct Stretch {
  double begin = 0;
  double end = 0;
  double rate = 0;
  std::size_t busy = 0;  // workers of which something was on its way most of the time
};

// Each of a few messages, and of `least` microseconds or a little more.
std::vector<Stretch> stretches(const Messages& all, double least) {
  constexpr std::size_t kMessages = 3;
  std::vector<Stretch> found;
  constexpr double kMost = 0.6;
  std::map<std::size_t, double> busy;  // by worker
  double bytes = 0;
  std::size_t first = 0;
  const auto begin_at = [&](std::size_t i) {
    first = i;
    bytes = 0;
    busy.clear();
  };
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].sent >= all[i - 1].arrived) {
      begin_at(i);
      continue;
    }
    bytes += all[i].bytes;
    busy[all[i].worker] += std::min(all[i].took, all[i].arrived - all[first].arrived);
    const auto span = all[i].arrived - all[first].arrived;
    if (i - first >= kMessages && span >= least) {
      const auto most = std::ranges::count_if(busy, [&](const auto& worker) { return worker.second > kMost * span; });
      found.push_back({all[first].arrived, all[i].arrived, bytes / span, static_cast<std::size_t>(most)});
      begin_at(i);
    }
  }
  return found;
}

double rate_below(const std::vector<Stretch>& all, double part) {
  std::vector<double> rates;
  std::ranges::transform(all, std::back_inserter(rates), &Stretch::rate);
  return quantile(std::move(rates), part);
}

// What workers share is seldom all that is in the way, so that most stretches show less than it can carry; the fastest
// ones were read all at once by somebody who was late. Where few of them are kept busy by it at a time it is
// their own that is seen: then there is none.
double shared_rate(const Messages& all, std::size_t workers, double least) {
  auto found = stretches(all, least);
  std::erase_if(found, [&](const Stretch& stretch) { return 2 * stretch.busy <= workers; });
  constexpr std::size_t kEnough = 12;
  return found.size() < kEnough ? 0 : rate_below(found, 0.9);
}

// Bytes that arrived from then on until then.
double carried(const Messages& all, double begin, double end) {
  double bytes = 0;
  for (auto at = std::ranges::upper_bound(all, begin, {}, &Message::arrived); at != all.end() && at->arrived <= end;
       ++at) {
    bytes += at->bytes;
  }
  return bytes;
}

// Of a worker's own link: what is usual where all together carry less than they can. Where they hardly ever do, what
// its faster stretches show.
double own_rate(const Messages& own, const Messages& all, double of_all, double least) {
  constexpr double kFull = 0.8;
  constexpr std::size_t kEnough = 8;
  constexpr int kShorter = 3;
  auto mine = stretches(own, least);
  for (int i = 0; i < kShorter && mine.size() < kEnough; ++i) {
    least /= 2;
    mine = stretches(own, least);
  }
  std::vector<Stretch> alone;
  std::ranges::copy_if(mine, std::back_inserter(alone), [&](const Stretch& stretch) {
    return of_all == 0 || carried(all, stretch.begin, stretch.end) < kFull * of_all * (stretch.end - stretch.begin);
  });
  const auto fast = rate_below(mine, 0.75);
  return alone.size() * 2 < mine.size() ? fast : rate_below(alone, 0.5);
}

}  // namespace

LinkRates link_rates(const std::vector<Carried>& messages, std::size_t workers, std::size_t shards, double stretch) {
  const auto all = in_order(messages);
  std::vector<Messages> of_workers(workers);
  std::vector<std::vector<Carried>> of_shards(shards);
  for (const auto& message : all) {
    of_workers[message.worker].push_back(message);
    of_shards[message.shard].push_back(message);
  }
  LinkRates rates;
  rates.all = shared_rate(all, workers, stretch);
  for (const auto& own : of_workers) {
    rates.workers.push_back(own_rate(own, all, rates.all, stretch));
  }
  for (const auto& own : of_shards) {
    rates.shards.push_back(shared_rate(in_order(own), workers, stretch));
  }
  return rates;
}

}  // namespace ballast::insight

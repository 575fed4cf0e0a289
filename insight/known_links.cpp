#include "insight/known_links.h"

#include <algorithm>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

// None where it is less than others carry: then what was seen alone waited for other things.
double line_rate(const LinkRates& in, const LinkRates& out) {
  std::vector<double> alone;
  std::vector<double> all;
  for (const auto* way : {&in, &out}) {
    for (const auto& worker : way->workers) {
      all.push_back(worker.rate);
      if (worker.is_alone) {
        alone.push_back(worker.rate);
      }
    }
  }
  const auto line = quantile(std::move(alone), 0.75);
  return line >= median(std::move(all)) ? line : 0;
}

// Where others were in the way of most workers, one that was seen alone is held up by its own link only if it carries
// far less than they do: else by what all share, though that was not seen.
std::vector<double> workers_of(const LinkRates& links, double line) {
  constexpr double kSlower = 1 / 1.3;
  std::vector<double> all;
  std::vector<double> shared;
  for (const auto& worker : links.workers) {
    all.push_back(worker.rate);
    if (!worker.is_alone && worker.rate > 0) {
      shared.push_back(worker.rate);
    }
  }
  const auto least = std::max(median(all), line);
  const auto alike = 2 * shared.size() > all.size() ? kSlower * median(std::move(shared)) : 0;
  std::vector<double> rates;
  for (const auto& worker : links.workers) {
    const bool is_own = worker.is_alone && (alike <= 0 || worker.rate < alike);
    rates.push_back(is_own || worker.rate <= 0 ? worker.rate : std::max(worker.rate, least));
  }
  return rates;
}

std::vector<double> shards_of(const LinkRates& links) {
  double known = 0;
  double unknown = 0;
  for (const auto rate : links.shards) {
    known += rate;
    unknown += rate > 0 ? 0 : 1;
  }
  double least = known;
  for (const auto rate : links.shards) {
    least = rate > 0 ? std::min(least, rate) : least;
  }
  auto rest = known > 0 && unknown > 0 ? std::max(0.0, links.all - known) / unknown : 0;
  rest = rest < least ? 0 : rest;  // they were seen at other times: of the others it tells nothing
  auto rates = links.shards;
  std::ranges::replace(rates, 0.0, rest);
  return rates;
}

}  // namespace

KnownLinks known_links(const LinkRates& in, const LinkRates& out, double declared) {
  const auto line = declared > 0 ? declared : line_rate(in, out);
  return {{workers_of(in, line), shards_of(in), in.all > 0 ? in.all : out.all},
          {workers_of(out, line), shards_of(out), out.all > 0 ? out.all : in.all},
          line};
}

}  // namespace ballast::insight

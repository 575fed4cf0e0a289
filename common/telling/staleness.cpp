#include "common/telling/staleness.h"

#include <array>
#include <cstdio>
#include <numeric>

#include "common/telling/amounts.h"

namespace ballast {

namespace {

std::uint64_t contributions(const StalenessCounts& staleness) {
  return std::accumulate(staleness.counts.begin(), staleness.counts.end(), std::uint64_t{0});
}

bool is_empty(const StalenessCounts& staleness) { return contributions(staleness) == 0 && staleness.expired == 0; }

double mean(const StalenessCounts& staleness) {
  const auto count = contributions(staleness);
  return count == 0 ? 0 : static_cast<double>(staleness.sum) / static_cast<double>(count);
}

// The staleness that a place in the counts stands for: the first and the last of it.
std::pair<std::uint64_t, std::uint64_t> range_of(std::size_t bucket) {
  if (bucket == 0) {
    return {0, 0};
  }
  const auto first = std::uint64_t{1} << (bucket - 1);
  return {first, first + (first - 1)};
}

}  // namespace

std::string staleness_text(const StalenessCounts& staleness) {
  if (is_empty(staleness)) {
    return {};
  }
  std::array<char, 96> part{};
  std::snprintf(part.data(), part.size(), "staleness: mean %.2f, largest %s", mean(staleness),
                count_text(staleness.largest, "update").c_str());
  std::string text = part.data();
  const auto all = static_cast<double>(contributions(staleness));
  const char* separator = "; ";
  for (std::size_t bucket = 0; bucket < staleness.counts.size(); ++bucket) {
    const auto [first, last] = range_of(bucket);
    const auto share = 100 * static_cast<double>(staleness.counts[bucket]) / all;
    const auto range = first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
    std::snprintf(part.data(), part.size(), "%s: %.1f %%", range.c_str(), share);
    text += separator + std::string(part.data());
    separator = ", ";
  }
  if (staleness.expired > 0) {
    text += "; expired: " + std::to_string(staleness.expired);
  }
  if (staleness.skipped > 0) {
    text += "; left out, not finite: " + std::to_string(staleness.skipped);
  }
  return text;
}

nlohmann::ordered_json staleness_json(const StalenessCounts& staleness) {
  if (is_empty(staleness)) {
    return nullptr;
  }
  nlohmann::ordered_json json;
  json["mean"] = mean(staleness);
  json["largest"] = staleness.largest;
  json["contributions"] = contributions(staleness);
  json["expired"] = staleness.expired;
  json["skipped"] = staleness.skipped;
  json["histogram"] = nlohmann::ordered_json::array();
  for (std::size_t bucket = 0; bucket < staleness.counts.size(); ++bucket) {
    const auto [first, last] = range_of(bucket);
    json["histogram"].push_back({{"from", first}, {"to", last}, {"contributions", staleness.counts[bucket]}});
  }
  return json;
}

}  // namespace ballast

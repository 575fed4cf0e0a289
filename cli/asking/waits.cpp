#include "cli/asking/waits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <utility>

#include "common/telling/amounts.h"

namespace ballast {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

// Nodes are numbered in the order of their names; each edge is a wait, by its place in the list.
class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<Wait>& waits) : waits_(waits) {
    for (const auto& wait : waits) {
      numbers_.try_emplace(wait.who);
      numbers_.try_emplace(wait.whom);
    }
    std::size_t next = 0;
    for (auto& [name, number] : numbers_) {
      number = next++;
    }
    out_.resize(next);
    in_.resize(next);
    for (std::size_t edge = 0; edge < waits.size(); ++edge) {
      edges_.push_back({numbers_.at(waits[edge].who), numbers_.at(waits[edge].whom)});
      out_[who(edge)].push_back(edge);
      in_[whom(edge)].push_back(edge);
    }
  }

  [[nodiscard]] std::size_t nodes() const { return out_.size(); }
  [[nodiscard]] std::size_t who(std::size_t edge) const { return edges_[edge].first; }
  [[nodiscard]] std::size_t whom(std::size_t edge) const { return edges_[edge].second; }
  [[nodiscard]] const std::vector<std::size_t>& out(std::size_t node) const { return out_[node]; }

  // For each node its edge on a shortest way to `end` (kNone: it is the end, or has no way there), and those that have
  // one in the order of their distance.
  struct Ways {
    std::vector<std::size_t> edges;
    std::vector<std::size_t> nodes;
  };
  [[nodiscard]] Ways ways_to(std::size_t end) const {
    Ways ways{std::vector<std::size_t>(nodes(), kNone), {end}};
    for (std::size_t i = 0; i < ways.nodes.size(); ++i) {
      for (const auto edge : in_[ways.nodes[i]]) {
        if (const auto from = who(edge); from != end && ways.edges[from] == kNone) {
          ways.edges[from] = edge;
          ways.nodes.push_back(from);
        }
      }
    }
    return ways;
  }

  [[nodiscard]] WaitChain chain_from(std::size_t node, const Ways& ways) const {
    WaitChain chain;
    for (; ways.edges[node] != kNone; node = whom(ways.edges[node])) {
      chain.waits.push_back(waits_[ways.edges[node]]);
    }
    return chain;
  }

  [[nodiscard]] const Wait& wait(std::size_t edge) const { return waits_[edge]; }

 private:
  const std::vector<Wait>& waits_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;  // from whom to whom
  std::vector<std::vector<std::size_t>> out_;
  std::vector<std::vector<std::size_t>> in_;
};

// From a node that no end can be reached from: whoever goes on along the first wait of each comes to a cycle; no waits,
// if to one that is `seen`. What it passes is seen then.
WaitChain cycle_from(const WaitGraph& graph, std::size_t node, std::vector<bool>& seen) {
  std::vector<std::size_t> path;
  std::map<std::size_t, std::size_t> places;
  while (!seen[node] && places.try_emplace(node, path.size()).second) {
    path.push_back(graph.out(node).front());
    node = graph.whom(path.back());
  }
  WaitChain cycle{{}, true};
  if (!seen[node]) {
    for (const auto edge : path | std::views::drop(places.at(node))) {
      cycle.waits.push_back(graph.wait(edge));
    }
  }
  for (const auto& [passed, place] : places) {
    seen[passed] = true;
  }
  return cycle;
}

void add_deadlocks(const WaitGraph& graph, std::vector<bool>& leads_out, std::vector<WaitChain>& chains) {
  auto seen = leads_out;
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (auto cycle = cycle_from(graph, node, seen); !cycle.waits.empty()) {
      chains.push_back(std::move(cycle));
    }
  }
}

}  // namespace

std::vector<WaitChain> chains_of(const std::vector<Wait>& waits) {
  const WaitGraph graph(waits);
  std::vector<bool> leads_out(graph.nodes(), false);
  std::vector<WaitChain> chains;
  for (std::size_t end = 0; end < graph.nodes(); ++end) {
    if (!graph.out(end).empty()) {
      continue;
    }
    const auto ways = graph.ways_to(end);
    std::ranges::for_each(ways.nodes, [&](auto node) { leads_out[node] = true; });
    chains.push_back(graph.chain_from(ways.nodes.back(), ways));
    chains.back().others = ways.nodes.size() - 1 - chains.back().waits.size();
  }
  std::ranges::stable_sort(chains, std::ranges::greater{}, [](const auto& chain) { return chain.waits.size(); });
  std::vector<WaitChain> all;
  add_deadlocks(graph, leads_out, all);
  std::ranges::move(chains, std::back_inserter(all));
  return all;
}

std::string chain_text(const WaitChain& chain) {
  std::string text;
  for (const auto& wait : chain.waits) {
    text += (text.empty() ? wait.who : ", which") + " waits for " + wait.whom;
    auto more = wait.what;
    if (wait.seconds) {
      more += (more.empty() ? "for " : ", for ") + fixed(*wait.seconds, 1) + " s";
    }
    text += more.empty() ? "" : " (" + more + ")";
  }
  if (chain.others > 0) {
    text += "; so do " + std::to_string(chain.others) + " more";
  }
  return text;
}

}  // namespace ballast

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
      out_[who(edge)].push_back(edge);
      in_[whom(edge)].push_back(edge);
    }
  }

  [[nodiscard]] std::size_t nodes() const { return out_.size(); }
  [[nodiscard]] std::size_t who(std::size_t edge) const { return numbers_.at(waits_[edge].who); }
  [[nodiscard]] std::size_t whom(std::size_t edge) const { return numbers_.at(waits_[edge].whom); }
  [[nodiscard]] const std::vector<std::size_t>& out(std::size_t node) const { return out_[node]; }

  // For each node its edge on a shortest way to one of `ends` (kNone: it is one, or none leads there), and the nodes in
  // the order of their distance.
  struct Ways {
    std::vector<std::size_t> edges;
    std::vector<std::size_t> nodes;
  };
  [[nodiscard]] Ways ways_to(const std::vector<std::size_t>& ends) const {
    Ways ways{std::vector<std::size_t>(nodes(), kNone), ends};
    std::vector<bool> is_known(nodes(), false);
    std::ranges::for_each(ends, [&](auto end) { is_known[end] = true; });
    for (std::size_t i = 0; i < ways.nodes.size(); ++i) {
      for (const auto edge : in_[ways.nodes[i]]) {
        const auto from = who(edge);
        if (!is_known[from]) {
          is_known[from] = true;
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
  std::vector<std::vector<std::size_t>> out_;
  std::vector<std::vector<std::size_t>> in_;
};

// Those that wait for nobody.
std::vector<std::size_t> ends_of(const WaitGraph& graph) {
  std::vector<std::size_t> ends;
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.out(node).empty()) {
      ends.push_back(node);
    }
  }
  return ends;
}

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
  const auto ends = ends_of(graph);
  const auto ways = graph.ways_to(ends);
  // Of each end: the last of its nodes is the furthest.
  std::vector<std::size_t> end_of(graph.nodes(), kNone);
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> furthest;  // and how many wait for the end
  std::vector<bool> leads_out(graph.nodes(), false);
  for (const auto node : ways.nodes) {
    const auto edge = ways.edges[node];
    end_of[node] = edge == kNone ? node : end_of[graph.whom(edge)];
    leads_out[node] = true;
    auto& [last, count] = furthest[end_of[node]];
    last = node;
    count += edge == kNone ? 0 : 1;
  }
  std::vector<WaitChain> chains;
  for (const auto& [end, far] : furthest) {
    chains.push_back(graph.chain_from(far.first, ways));
    chains.back().others = far.second - chains.back().waits.size();
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

#include "cli/asking/waits.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ballast {
namespace {

TEST_CASE("waits: a chain ends with who waits for nobody, and is told from whoever is furthest") {
  const std::vector<Wait> waits = {{"lead", "lane", "its report", 4.13},
                                   {"worker a", "lead", ""},
                                   {"lane", "a disk", "", 9.0},
                                   {"worker b", "lane", "x"}};
  const auto chains = chains_of(waits);
  REQUIRE(chains.size() == 1);
  CHECK_FALSE(chains[0].is_deadlock);
  CHECK(chains[0].others == 1);
  CHECK(chain_text(chains[0]) ==
        "worker a waits for lead, which waits for lane (its report, for 4.1 s), which waits for a disk (for 9.0 s); so "
        "do 1 more");
  CHECK(chains_of({}).empty());
}

TEST_CASE("waits: who waits for two is in the chains of both ends, the longer one first") {
  const auto chains = chains_of({{"lead", "worker a", ""}, {"lead", "lane", ""}, {"lane", "a signal", ""}});
  REQUIRE(chains.size() == 2);
  CHECK(chain_text(chains[0]) == "lead waits for lane, which waits for a signal");
  CHECK(chain_text(chains[1]) == "lead waits for worker a");
}

TEST_CASE("waits: a cycle is a deadlock, whoever waits for it besides") {
  const std::vector<Wait> waits = {{"lead", "worker a", ""},
                                   {"worker a", "shard 0 lane 1", "it does not answer"},
                                   {"shard 0 lane 1", "shard 1 lane 0", ""},
                                   {"shard 1 lane 0", "worker a", "step 3"},
                                   {"b", "c", ""}};
  const auto chains = chains_of(waits);
  REQUIRE(chains.size() == 2);
  CHECK(chains[0].is_deadlock);
  CHECK(chains[0].waits.size() == 3);
  CHECK(chain_text(chains[0]).find("lead") == std::string::npos);
  CHECK(chains[0].waits.back().whom == chains[0].waits.front().who);
  CHECK_FALSE(chains[1].is_deadlock);
  CHECK(chain_text(chains[1]) == "b waits for c");
}

TEST_CASE("waits: a cycle that a wait leads out of is none: what that leads to is the reason") {
  std::vector<Wait> waits = {{"a", "b", ""}, {"b", "a", ""}};
  CHECK(chains_of(waits).at(0).is_deadlock);
  waits.push_back({"b", "a signal", ""});
  const auto chains = chains_of(waits);
  REQUIRE(chains.size() == 1);
  CHECK_FALSE(chains[0].is_deadlock);
  CHECK(chain_text(chains[0]) == "a waits for b, which waits for a signal");
}

TEST_CASE("waits: each deadlock is told once, whoever waits for itself too") {
  const auto chains = chains_of({{"a", "b", ""}, {"b", "a", ""}, {"c", "a", ""}, {"d", "d", ""}, {"e", "c", ""}});
  CHECK(chains.size() == 2);
  CHECK(std::ranges::all_of(chains, &WaitChain::is_deadlock));
}

TEST_CASE("waits: of a thousand workers that wait for one lane, one is named") {
  std::vector<Wait> waits;
  for (int worker = 0; worker < 1'000; ++worker) {
    waits.push_back({"worker " + std::to_string(worker), "lane", "weights"});
  }
  const auto chains = chains_of(waits);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].waits.size() == 1);
  CHECK(chains[0].others == 999);
}

}  // namespace
}  // namespace ballast

#include "tests/simulation/tally.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace ballast::simulation {

namespace {

constexpr std::uint64_t kEnoughLives = 2000;  // to speak of shares

struct Core {
  const char* name;
  const char* const* states;
  Transitions LifeFacts::*member;
};
constexpr Core kCores[] = {{"lead", kLeadStates.data(), &LifeFacts::lead},
                           {"lane", kLaneStates.data(), &LifeFacts::lane},
                           {"worker", kWorkerStates.data(), &LifeFacts::worker}};
static_assert(std::size(kCores) == kCoreCount);

// Calls with the numbers of a core and of two of its states, for all of them.
template <typename Visit>
void for_each_transition(Visit visit) {
  for (std::size_t core = 0; core < kCoreCount; ++core) {
    for (std::size_t from = 0; from < kMostStates; ++from) {
      for (std::size_t to = 0; to < kMostStates; ++to) {
        visit(core, from, to);
      }
    }
  }
}

bool report_facts(const Tally& all, double lives) {
  bool enough = true;
  for (const auto& [fact, name, least] : fact_words()) {
    const double share = 100 * static_cast<double>(all.facts[static_cast<std::size_t>(fact)]) / lives;
    // Three standard errors of what is asked for: a few lives more or less are chance, none of few as well.
    const bool rare = all.lives >= kEnoughLives && share < least - 3 * std::sqrt(least * (100 - least) / lives);
    std::printf("  %5.1f %% with %s%s\n", share, name, rare ? "  -- too rare: the faults need another mix" : "");
    enough = enough && !rare;
  }
  return enough;
}

void report_transitions(const Tally& all, double lives) {
  std::printf("  and of their processes' states, after an event each:\n");
  for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
    if (const auto count = all.transitions[core][from][to]; count > 0) {
      std::printf("  %7.3f %% %s: %s -> %s\n", 100 * static_cast<double>(count) / lives, kCores[core].name,
                  kCores[core].states[from], kCores[core].states[to]);
    }
  });
}

}  // namespace

void Tally::count(const LifeFacts& lived) {
  if (lived.calm) {
    ++calm;
    return;
  }
  ++lives;
  events += lived.events;
  time += lived.time;
  longest = std::max(longest, lived.time);
  for (std::size_t i = 0; i < kFactCount; ++i) {
    facts[i] += lived.has(static_cast<Fact>(i)) ? 1 : 0;
  }
  for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
    transitions[core][from][to] += (lived.*kCores[core].member)[from][to] ? 1 : 0;
  });
}

void Tally::add(const Tally& other) {
  lives += other.lives;
  calm += other.calm;
  events += other.events;
  time += other.time;
  longest = std::max(longest, other.longest);
  for (std::size_t i = 0; i < kFactCount; ++i) {
    facts[i] += other.facts[i];
  }
  for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
    transitions[core][from][to] += other.transitions[core][from][to];
  });
}

bool report(const Tally& all, std::uint64_t first_seed, double seconds) {
  const double lives = std::max<double>(1, static_cast<double>(all.lives));
  std::printf("%llu lives from seed %llu in %.1f s, %.0f a minute; %.0f events and %.0f ms each, at most %llu ms\n",
              static_cast<unsigned long long>(all.lives), static_cast<unsigned long long>(first_seed), seconds,
              60 * static_cast<double>(all.lives) / std::max(seconds, 0.001), static_cast<double>(all.events) / lives,
              static_cast<double>(all.time) / lives / 1000, static_cast<unsigned long long>(all.longest / 1000));
  std::printf("  besides %llu in which no fault took effect\n", static_cast<unsigned long long>(all.calm));
  const bool enough = report_facts(all, lives);
  report_transitions(all, lives);
  return enough;
}

}  // namespace ballast::simulation

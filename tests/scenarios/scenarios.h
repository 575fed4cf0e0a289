// Small clusters whose every message is known beforehand: the protocol, readable.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/cluster.h"
#include "tests/simulation/life.h"

namespace ballast::scenarios {

struct Scenario {
  std::string name;   // of the transcript's file
  std::string story;  // its first lines
  simulation::LifeSpec life;
  simulation::Script script;
  std::function<void(simulation::Cluster&)> prepare;  // may be empty
};

std::vector<Scenario> all();

// Lives it under the judge. Each line of what happens goes to `trace`, which may be empty. Throws Violation.
void live(const Scenario& scenario, std::function<void(const std::string&)> trace);

}  // namespace ballast::scenarios

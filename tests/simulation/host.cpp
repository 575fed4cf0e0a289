#include "tests/simulation/host.h"

namespace ballast::simulation {

World::World(const LifeSpec& spec)
    : life(spec),
      disks(spec.shards),
      copies(spec),
      non_finite(spec.non_finite),
      snapshot_every(spec.snapshot_every),
      judge(spec) {}

void Process::end(const Host& host, const std::string& failure) {
  alive_ = false;
  ended_ = true;
  failure_ = failure;
  if (host.traces()) {
    host.say(name_ + (failure.empty() ? " ends" : " ends: " + failure));
  }
}

}  // namespace ballast::simulation

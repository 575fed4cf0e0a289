// A lane's shell and what its shard's disk has lost: looked for among the copies, and got from there.
#include <algorithm>
#include <string>

#include "tests/simulation/lane_shell.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

// As often as it ticks. At times the place does not answer.
void LaneShell::look_for_copies(Host& host) {
  lane::CopiesFound found;
  if (host.copy_fails(shard(host))) {
    found.trouble = "the place does not answer";
  } else {
    found.sets = host.world().copies.whole_sets(kNamedRun);
  }
  if (found.sets != found_.sets || found.trouble != found_.trouble) {
    found_ = found;
    step(host, found);
  }
}

// By the word that all of it is there: half of it is none.
bool LaneShell::lacks(Host& host, SnapshotId base) {
  const auto whole = disk(host).whole(host.life().lanes);
  return base != SnapshotId{} && std::ranges::find(whole, base) == whole.end();
}

void LaneShell::done(Host& host, const BaseFetch& what) {
  if (what.timeline != beginning_) {
    return;
  }
  if (!lacks(host, what.base)) {  // another lane of the shard has got it meanwhile
    return later(host, on_disk(host.life().storage_high), TimelineRecord{what.timeline, what.base});
  }
  if (host.copy_fails(shard(host))) {
    return later(host, within(host.life().copy_high), BaseFetch{what});  // asks again
  }
  const auto* part = host.world().copies.undamaged(kNamedRun, what.base, shard(host));
  if (part == nullptr) {
    host.facts().note(Fact::copy_useless);
    host.judge().lacks_base(shard(host));
    if (host.traces()) {
      host.say(name() + " finds no undamaged copy of its part of snapshot " + words(what.base));
    }
    return step(host, lane::BaseMissing{what.timeline, what.base, "the copy is damaged"});
  }
  for (const auto& [chunk, value] : *part) {
    disk(host).write(what.base, chunk, value);
  }
  host.wrote_chunk(life_);
  if (!crashed()) {
    later(host, on_disk(host.life().storage_high), BaseSeal{what.timeline, what.base});
  }
}

void LaneShell::done(Host& host, const BaseSeal& what) {
  disk(host).sync();
  for (std::uint32_t lane = 0; lane < host.life().lanes; ++lane) {
    disk(host).seal(what.base, shard(host) * host.life().lanes + lane);
  }
  host.facts().note(Fact::fetched);
  if (host.traces()) {
    host.say(name() + " has got its shard's part of snapshot " + words(what.base) + " from the copies");
  }
  later(host, on_disk(host.life().storage_high), TimelineRecord{what.timeline, what.base});
}

}  // namespace ballast::simulation

// A lane's shell and the copies of its shard's snapshots in another place.
#include <tuple>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/lane_shell.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

void LaneShell::act(Host& host, lane::Copy& action) {
  const auto before = std::exchange(copies_, action.copies);
  if (shard(host) == 0) {
    clean_copies(host);
  }
  if (copies_.named != SnapshotId{} && std::tie(copies_.run, copies_.named) != std::tie(before.run, before.named)) {
    copy(host, copies_.run, copies_.named, 0);
  }
}

bool LaneShell::is_copying(RunId run, SnapshotId named) const { return copies_.run == run && copies_.named == named; }

void LaneShell::clean_copies(Host& host) {
  for (const auto id : host.world().copies.superseded(copies_)) {
    host.judge().removes(copies_.run, id);
    host.world().copies.remove(copies_.run, id);
  }
}

void LaneShell::tell_copied(Host& host, const CopyProgress& progress) {
  later(host, within(2'000), CopyAnswer{progress});
}

void LaneShell::done(Host& host, const CopyAnswer& what) {
  if (is_copying(what.progress.run, what.progress.snapshot)) {
    step(host, lane::Copying{what.progress});
  }
}

void LaneShell::copy(Host& host, RunId run, SnapshotId named, std::uint32_t failures) {
  const auto& place = host.world().copies;
  if (!place.is_taken(run) && place.has(run, named, shard(host))) {
    return tell_copied(host, {run, named, 1, failures, true, false});  // by an earlier life
  }
  later(host, within(host.life().copy_high), CopyAttempt{run, named, failures});
}

void LaneShell::done(Host& host, const CopyAttempt& what) {
  const auto& [run, named, failures] = what;
  if (!is_copying(run, named)) {
    return;
  }
  if (shard(host) == 0 && host.takes_name(run)) {
    return tell_copied(host, {run, named, 0, failures, false, true});
  }
  auto& place = host.world().copies;
  if (place.is_taken(run)) {
    return copy(host, run, named, failures);  // nothing is written where shard 0 has left no mark
  }
  if (host.copy_fails(shard(host))) {
    tell_copied(host, {run, named, 1, failures + 1, false, false});
    return copy(host, run, named, failures + 1);
  }
  place.put(run, named, shard(host), own_part(host, named));
  if (host.traces()) {
    host.say(name() + " has copied its part of snapshot " + words(named));
  }
  tell_copied(host, {run, named, 1, failures, true, false});
}

CopyPlace::Part LaneShell::own_part(Host& host, SnapshotId named) {
  CopyPlace::Part part;
  for (ChunkId chunk = 0; chunk < host.life().statistics(); ++chunk) {
    if (host.life().chunks[chunk].lane / host.life().lanes != shard(host)) {
      continue;
    }
    const auto* stored = disk(host).durable(named, chunk);
    require(stored != nullptr, "a snapshot that is to be copied is not there any more");
    part[chunk] = *stored;
  }
  return part;
}

}  // namespace ballast::simulation

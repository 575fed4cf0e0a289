// How lead, servers and workers come up, and what their disks hold then.
#include "tests/simulation/cluster.h"

namespace ballast::simulation {

void Cluster::start_cluster() {
  run_.begins = processes_.size();
  run_.lead_over = false;
  run_.said_to_some = false;
  roster_.lanes.assign(life().all_lanes(), nullptr);
  roster_.seconds.assign(life().all_lanes(), nullptr);
  start_lead();
  for (std::uint32_t shard = 0; shard < life().shards; ++shard) {
    start_shard(shard);
  }
}

void Cluster::start_lead() {
  const auto id = next_id();
  const auto clock = draw_clock();
  processes_.emplace_back(std::in_place_type<LeadShell>, clock, world_, id, random_.next());
  roster_.lead = &std::get<LeadShell>(processes_.back().shell);
  ++roster_.leads;
  judge().lead_starts(now());
  facts().note(Fact::paused_lead, world_.ledger.ledger.pause != Pause::none);
  tick(id);
  schedule_tick(id);
  if (run_.said_to_some) {
    for (const auto& worker : life().workers) {
      schedule(now() + worker.joins_at, WorkerJoins{worker});
    }
  }
}

void Cluster::start_shard(std::uint32_t shard) {
  storage_.busy_until[shard] = now();
  auto& disk = world_.disks.present[shard];
  disk.journal.kill(random_);  // if it has not crashed but left
  start_lanes(shard, disk.life.database, roster_.lanes);
}

void Cluster::start_lanes(std::uint32_t shard, std::uint64_t database, std::vector<LaneShell*>& lanes) {
  const auto incarnation = ++roster_.last_incarnation;
  world_.disks.of(shard, database).begin_life(life().lanes);
  read_initial_weights(shard, database, incarnation);
  judge().server_starts(shard, incarnation, world_.disks.of(shard, database).initial_weights);
  for (std::uint32_t i = 0; i < life().lanes; ++i) {
    const auto lane = shard * life().lanes + i;
    const auto id = next_id();
    const auto clock = draw_clock();
    processes_.emplace_back(std::in_place_type<LaneShell>, clock, world_, id, lane, incarnation, database);
    lanes[lane] = &std::get<LaneShell>(processes_.back().shell);
    if (&lanes == &roster_.lanes) {
      judge().lane_starts(disks(), lanes[lane]->life());
    }
    tick(id);
    schedule_tick(id);
  }
}

void Cluster::join(const LifeWorker& worker) {
  if (run_.lead_over) {
    return;
  }
  const auto id = next_id();
  const auto clock = draw_clock();
  const auto name = "worker " + std::to_string(roster_.workers.size() + 1);
  processes_.emplace_back(std::in_place_type<WorkerShell>, clock, world_, id, name, worker);
  roster_.workers.push_back(&std::get<WorkerShell>(processes_.back().shell));
  facts().note(Fact::late_join, roster_.lead->core().phase() >= Lead::Phase::training);
  if (traces()) {
    say(name + " starts");
  }
  tick(id);
  schedule_tick(id);
}

// ---- disks

// The weights before step 0 are there, unless they are read from a file: any server can make them.
void Cluster::make_disk(Disk& disk, std::uint32_t shard) {
  disk = {};
  disk.life.database = ++storage_.last_database;
  if (!life().init_from) {
    write_initial_weights(disk, shard, 0);
  }
}

namespace {

// In another file than the job's.
ChunkValue other(const ChunkValue& value, std::uint32_t file) {
  const auto weights = Random::mix(value.weights ^ file);
  return {weights, value.state, value.average == 0 ? 0 : weights};
}

}  // namespace

void Cluster::write_initial_weights(Disk& disk, std::uint32_t shard, std::uint32_t file) {
  for (ChunkId chunk = 0; chunk < life().statistics(); ++chunk) {
    if (life().chunks[chunk].lane / life().lanes == shard) {
      const auto value = initial(life(), chunk);
      disk.write({0, 0}, chunk, file == 0 ? value : other(value, file));
    }
  }
  disk.sync();
  for (std::uint32_t lane = shard * life().lanes; lane < (shard + 1) * life().lanes; ++lane) {
    disk.seal({0, 0}, lane);
  }
}

// A life of a server whose database has not begun reads its file, which may be the wrong one; nobody is given the same
// wrong one as another. Then it is refused and ends, or was there before the others and is ended by the user.
void Cluster::read_initial_weights(std::uint32_t shard, std::uint64_t database, Incarnation incarnation) {
  auto& disk = world_.disks.of(shard, database);
  disk.initial_weights.clear();
  if (!life().init_from || disk.has_begun()) {
    return;
  }
  const bool is_other = faulty() && storage_.other_files < life().faults.other_files && random_.chance(0.5);
  storage_.other_files += is_other ? 1 : 0;
  disk.initial_weights = is_other ? "another, " + std::to_string(storage_.other_files) : kOwnFile;
  write_initial_weights(disk, shard, is_other ? storage_.other_files : 0);
  if (is_other) {
    ++faults_seen_;
    const LaneLife life{0, shard * this->life().lanes, incarnation, 0, disk.life};
    schedule(now() + random_.between(10'000, 150'000), OtherFileNoticed{life, run_.begins});
  }
}

}  // namespace ballast::simulation

#include "tests/simulation/life.h"

#include <algorithm>

#include "tests/simulation/random.h"

namespace ballast::simulation {

namespace {

void draw_job(LifeSpec& life, Random& random) {
  life.shards = static_cast<std::uint32_t>(random.between(2, 3));
  life.lanes = static_cast<std::uint32_t>(random.between(1, 2));
  const bool is_big = random.chance(0.05);
  life.slots = static_cast<Slot>(is_big ? random.between(9, 15) : random.between(3, random.chance(0.7) ? 6 : 9));
  life.steps = random.between(3, 8);
  life.steps_per_epoch = random.chance(0.7) ? random.between(2, 3) : random.between(4, 8);
  life.evaluation_item = static_cast<std::uint32_t>(random.between(5, 12));
  life.test_examples = random.chance(0.6) ? static_cast<std::uint32_t>(random.between(1, 40)) : 0;
  life.plan_ahead = static_cast<std::uint32_t>(random.chance(0.5) ? random.between(2, 5) : 256);
}

// Every shard has a chunk; a lane may have none.
void draw_chunks(LifeSpec& life, Random& random) {
  const auto count = random.between(std::max(3U, life.shards), life.all_lanes() + 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    LifeChunk chunk;
    chunk.bytes = 16 * random.between(1, 16);
    const auto shard = i < life.shards ? i : static_cast<std::uint32_t>(random.between(0, life.shards - 1));
    chunk.lane = shard * life.lanes + static_cast<std::uint32_t>(random.between(0, life.lanes - 1));
    life.chunks.push_back(chunk);
  }
  std::swap(life.chunks[random.between(0, count - 1)], life.chunks.back());
  life.spare_bytes = random.chance(0.6) ? random.between(16, 600) : 1U << 20U;
  constexpr std::uint64_t kNothing = 48;
  life.spare_bytes = life.spare_bytes < kNothing ? 0 : life.spare_bytes;
  life.reply_window_bytes = random.chance(0.6) ? random.between(16, 600) : 1U << 20U;
  life.all_replies_bytes = life.reply_window_bytes % 4 == 1 ? life.reply_window_bytes + 100 : 1U << 30U;
}

void draw_workers(LifeSpec& life, Random& random) {
  const auto count = random.between(1, random.chance(0.05) ? 9 : 4);
  life.start_workers = static_cast<std::uint32_t>(random.between(1, count));
  for (std::uint64_t i = 0; i < count; ++i) {
    LifeWorker worker;
    worker.joins_at = random.between(0, 5'000);
    worker.forward = random.between(300, 2'500);
    worker.backward = random.between(300, 2'500);
    if (random.chance(0.15)) {
      worker.forward *= 8;
      worker.backward *= 8;
    }
    life.workers.push_back(worker);
  }
  if (random.chance(0.35)) {
    auto late = life.workers.front();
    late.joins_at = random.between(20'000, 150'000);
    life.workers.push_back(late);
  }
}

void draw_faults(LifeSpec& life, Random& random) {
  auto& faults = life.faults;
  faults.until = random.between(80'000, 500'000);
  faults.loss = random.chance(0.6) ? 0.01 * static_cast<double>(random.between(1, 20)) : 0;
  faults.duplication = random.chance(0.5) ? 0.01 * static_cast<double>(random.between(1, 25)) : 0;
  faults.reordering = random.chance(0.5) ? 0.01 * static_cast<double>(random.between(5, 50)) : 0;
  faults.slowness = random.chance(0.5) ? 0.01 * static_cast<double>(random.between(1, 8)) : 0;
  faults.slow_delay = random.between(5'000, 60'000);
  faults.crashes = random.chance(0.35) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.worker_pauses = random.chance(0.4) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.worker_pause = random.chance(0.9) ? random.between(10'000, 250'000) : 3'000'000;
  faults.cuts = random.chance(0.25) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.cut = random.between(20'000, 300'000);
  faults.strangers = random.chance(0.25) ? static_cast<std::uint32_t>(random.between(1, 20)) : 0;
  faults.shard_pauses = random.chance(0.25) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  faults.shard_pause = 150'000;
  faults.lead_pauses = random.chance(0.15) ? 1 : 0;
  faults.lead_pause = random.chance(0.7) ? 100'000 : 1'600'000;
  faults.death = random.chance(0.05);
  faults.shard_crashes = random.chance(0.45) ? static_cast<std::uint32_t>(random.between(1, 4)) : 0;
  faults.double_crash = random.chance(0.3) ? 0.5 : 0;
  faults.lead_crashes = random.chance(0.25) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.snapshot_crash = random.chance(0.2) ? 0.1 : 0;
  faults.loses_unsynced = random.chance(0.5);
  faults.away = random.chance(0.5) ? 15'000 : 150'000;
  if (faults.death) {
    return;  // the job must end for its sake alone
  }
  faults.write_failure = random.chance(0.12) ? 0.01 * static_cast<double>(random.between(5, 50)) : 0;
  faults.stops = random.chance(0.08) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  if (faults.stops > 0 && random.chance(0.5)) {
    life.stop_patience = random.between(0, 60'000);  // often too little for a snapshot
  }
  faults.user_pauses = random.chance(0.4) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
}

void draw_links_and_clocks(LifeSpec& life, Random& random) {
  auto& faults = life.faults;
  faults.leaves = random.chance(0.15) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  faults.one_way_cuts = random.chance(0.2) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.slow_links = random.chance(0.2) ? static_cast<std::uint32_t>(random.between(1, 3)) : 0;
  faults.slow_link = life.delay_high + random.between(1'000, 30'000);
  faults.clock_skew = random.chance(0.15);
  if (faults.clock_skew) {
    // Of the fastest clock as much time as of the slowest one otherwise.
    life.patience *= 2;
    life.lead_silence *= 2;
    life.linger *= 2;
    faults.lead_pause = 100'000;
  }
}

void draw_second_servers(LifeSpec& life, Random& random) {
  if (life.faults.death) {
    return;  // somebody else could take the dead one's place
  }
  life.faults.second_servers = random.chance(0.15) ? 1 : 0;
  life.faults.lost_volume = random.chance(0.25) ? 0.6 : 0;
  if (life.faults.second_servers > 0 && !life.faults.clock_skew && random.chance(0.3)) {
    life.faults.shard_pauses = 1;
    life.faults.shard_pause = life.patience * 8 / 10;  // longer than it takes to be given up
  }
}

// The other half of all lives: item mode.
void draw_items(LifeSpec& life, Random& random) {
  if (random.chance(0.5)) {
    return;
  }
  LifeItems items;
  if (random.chance(0.5)) {
    items.bound = static_cast<std::uint32_t>(random.between(1, random.chance(0.5) ? 3 : 8));
    // Sessions that the lead gives up though they go on.
    life.faults.one_way_cuts += random.chance(0.3) ? 2 : 0;
    life.faults.worker_pauses += random.chance(0.3) ? 2 : 0;
    if (!life.faults.clock_skew && random.chance(0.6)) {
      life.worker_silence = {32'000, 32'000, 32'000};
      items.bound = static_cast<std::uint32_t>(random.between(1, 2));
      while (life.workers.size() < 4) {
        life.workers.push_back(life.workers.front());
      }
      for (auto& worker : life.workers) {
        worker.forward *= random.chance(0.4) ? 6 : 1;
      }
    }
  }
  items.ahead = static_cast<std::uint32_t>(random.between(1, items.bound == 0 ? 4 : 2));
  items.damped = random.chance(0.4);
  const auto journal = random.between(0, 9);
  items.journal = journal < 2   ? LifeItems::Journal::none
                  : journal < 5 ? LifeItems::Journal::always
                  : journal < 8 ? LifeItems::Journal::interval
                                : LifeItems::Journal::never;
  life.items = items;
  life.slots = std::min<Slot>(life.slots, 6);
  life.steps = std::min<Step>(life.steps, 6);
  life.norms.clear();
  life.norm_count = 0;
  life.faults.power_cut = random.chance(0.7) ? 0.7 : 0;
  life.faults.lying_disk = random.chance(0.6);
  if (life.non_finite == NonFinite::rollback) {
    life.non_finite = NonFinite::skip;  // the other is for whole steps
  }
  std::erase_if(life.non_finite_gradients, [&](LifeFault& fault) {
    return fault.slot == kNoSlot || fault.slot >= life.slots || fault.step >= life.steps;
  });
}

void draw_snapshots(LifeSpec& life, Random& random) {
  life.snapshot_every = random.chance(0.85) ? random.between(1, 3) : 0;
  life.snapshots_kept = static_cast<std::uint32_t>(random.between(1, 3));
  life.storage_high = random.chance(0.7) ? 3'000 : random.between(100, 15'000);
}

void draw_validation(LifeSpec& life, Random& random) {
  life.evaluate_every = random.chance(0.7) ? random.between(1, 4) : 8;
  if (!random.chance(0.4)) {
    return;
  }
  life.validation_examples = static_cast<std::uint32_t>(random.between(1, 30));
  life.keep_best = random.chance(0.6);
  life.early_stop_patience = random.chance(0.5) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  life.early_stop_delta = random.chance(0.5) ? 0 : 0.1;
  life.best_by = life.validation_examples % 2 == 0 ? MetricKind::accuracy : MetricKind::perplexity;
}

void draw_clipping(LifeSpec& life, Random& random) {
  if (!random.chance(0.4)) {
    return;
  }
  life.norm_count = static_cast<std::uint32_t>(random.chance(0.6) ? 1 : random.between(2, 4));
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    std::vector<std::uint32_t> pieces;
    for (auto left = chunk == life.statistics() ? 0 : random.between(1, 2); left > 0; --left) {
      pieces.push_back(static_cast<std::uint32_t>(random.between(0, life.norm_count - 1)));
    }
    life.norms.push_back(std::move(pieces));
  }
}

void draw_gradients(LifeSpec& life, Random& random) {
  const bool has_faults = !life.faults.death && random.chance(0.25);
  const auto policy = random.between(0, 5);
  life.non_finite = policy < 3 ? NonFinite::skip : policy == 5 ? NonFinite::halt : NonFinite::rollback;
  if (!has_faults) {
    if (random.chance(0.6)) {
      life.non_finite = NonFinite::halt;
    }
    return;
  }
  for (auto left = random.between(1, 3); left > 0; --left) {
    LifeFault fault;
    fault.step = random.between(0, life.steps - 1);
    fault.chunk = static_cast<ChunkId>(random.between(0, life.chunks.size() - 1));
    fault.slot = random.chance(0.8) ? static_cast<Slot>(random.between(0, life.slots - 1)) : kNoSlot;
    life.non_finite_gradients.push_back(fault);
  }
}

// Workers with other data and other arithmetic, of which the first that is ready decides what the job is.
void draw_provenance(LifeSpec& life, Random& random) {
  if (!random.chance(0.25)) {
    return;
  }
  life.mixed = true;
  life.start_workers = 1;
  life.exact = random.chance(0.5);
  life.data_digest = random.chance(0.2) ? "a" : "";
  for (auto& worker : life.workers) {
    worker.data = random.chance(0.7) ? "a" : "b";
    worker.arithmetic = random.chance(0.6) ? "x" : "y";
  }
  life.workers.back().data = "a";
}

void draw_initial_weights(LifeSpec& life, Random& random) {
  life.init_from = random.chance(0.3);
  if (life.init_from && !life.faults.death && random.chance(0.4)) {
    life.faults.other_files = static_cast<std::uint32_t>(random.between(1, 2));
  }
}

// Of a job that waits for its last snapshot, or for that to be copied.
void draw_late_stop(LifeSpec& life, Random& random) {
  if (life.faults.death || life.faults.stops > 0 || !random.chance(0.06)) {
    return;
  }
  life.faults.late_stop = true;
  life.stop_patience = random.between(0, 60'000);
}

void draw_copies(LifeSpec& life, Random& random) {
  life.copies = random.chance(0.5);
  life.copy_high = random.chance(0.6) ? random.between(500, 10'000) : random.between(10'000, 60'000);
  life.copy_patience = 10 * life.copy_high + random.between(100'000, 400'000);
  life.faults.copy_failure = random.chance(0.2) ? 0.3 : 0;
  if (!life.faults.death && random.chance(0.3)) {
    life.faults.copy_stuck = true;
    life.copy_patience = random.between(10'000, 60'000);
  }
}

void draw_copied_job(LifeSpec& life, Random& random) { life.faults.copies_taken = random.chance(0.2) ? 0.6 : 0; }

// Two lives in three have state: buffers, running statistics, or both.
void draw_state(LifeSpec& life, Random& random) {
  for (auto& chunk : life.chunks) {
    const auto kind = random.between(0, 3);
    chunk.rule = kind == 2 ? LifeRule::change : kind == 3 ? LifeRule::statistic : LifeRule::descent;
  }
  life.chunks[life.statistics()].rule = LifeRule::descent;
  life.filled = random.chance(0.5) ? static_cast<Slot>(random.between(1, life.slots)) : 0;
}

// Half of those that clip by norm have trust ratios instead: tensors in several chunks, chunks of several tensors, and
// chunks whose tensors have no ratio.
void draw_trust_ratios(LifeSpec& life, Random& random) {
  if (life.norms.empty() || random.chance(0.5)) {
    return;
  }
  life.norms_for = random.chance(0.6) ? LifeNorms::lamb : LifeNorms::lars;
  const auto tensors = static_cast<std::uint32_t>(random.between(1, 3));
  life.norm_count = 2 * tensors;
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    auto& sums = life.norms[chunk];
    sums.clear();
    const bool has_any = chunk != life.statistics() && life.chunks[chunk].rule == LifeRule::descent;
    for (auto left = has_any ? random.between(0, 2) : 0; left > 0; --left) {
      const auto tensor = static_cast<std::uint32_t>(random.between(0, tensors - 1));
      sums.push_back(2 * tensor);
      sums.push_back(2 * tensor + 1);
    }
  }
}

// Half of those in rounds.
void draw_averages(LifeSpec& life, Random& random) {
  if (!life.items && random.chance(0.5)) {
    life.averaged_from = random.between(0, 2);
  }
}

void draw_hangs(LifeSpec& life, Random& random) {
  life.faults.hangs = random.chance(0.2) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  life.faults.hang = random.between(20'000, 400'000);
}

// In more than half of these lives to servers that are given time enough.
void draw_departures(LifeSpec& life, Random& random) {
  if (life.faults.death || !random.chance(0.3)) {
    return;
  }
  life.faults.departures = static_cast<std::uint32_t>(random.between(1, 3));
  life.faults.double_departure = random.chance(0.4) ? 0.5 : 0;
  if (random.chance(0.3)) {
    life.hold_patience = random.between(0, 60'000);
  }
}

// Drawn apart from all else: lives without it are what they would be.
void draw_lost_disks(LifeSpec& life) {
  Random random(Random::mix(life.seed ^ 0x6469736bU));
  if (!life.copies || life.faults.death || !random.chance(0.3)) {
    return;
  }
  life.restores = true;
  life.snapshot_every = random.between(1, 2);
  life.copy_high = random.between(1'000, random.chance(0.5) ? 5'000 : 40'000);
  life.early_stop_patience = 0;  // what is lost might be the job's end
  life.faults.copies_taken = 0;  // its copies would be another's
  life.faults.copy_stuck = false;
  life.copy_patience = 10 * life.copy_high + 100'000;
  life.faults.lost_volume = 0;  // an empty disk is the shard's from now on
  life.faults.second_servers = 0;
  life.faults.shard_pauses = 0;  // with what it takes until another database is taken, longer than anybody's patience
  life.faults.lost_disks = static_cast<std::uint32_t>(random.between(1, 2));
  life.faults.double_loss = random.chance(0.3) ? 0.5 : 0;
  if (random.chance(0.5)) {
    life.faults.damaged_copy = 0.6;
    // So that there are two sets before the last steps.
    life.steps += 4;
    life.snapshot_every = 1;
    life.snapshots_kept = std::max(life.snapshots_kept, 2U);
    life.copy_high = std::min<Micros>(life.copy_high, 5'000);
  }
}

void draw_shares(LifeSpec& life, Random& random) {
  life.by_speed = !random.chance(0.1);
  life.redistributes = !random.chance(0.1);
}

// Of a sequence of their own, so that all else stays as it was without them.
void draw_impostors(LifeSpec& life) {
  Random random(Random::mix(life.seed ^ 0x696d706fU));
  if (life.faults.death) {
    return;  // the job must end for its sake alone
  }
  const bool tears = random.chance(0.25);
  const auto roots = static_cast<std::uint32_t>(random.between(4, 20));
  // Beside a worker that hangs, whose share is given to others after thrice what it would take, a life may be too long.
  life.faults.torn_roots = tears && !life.items && life.faults.hangs == 0 ? roots : 0;
  life.faults.false_results = random.chance(0.1) ? 1 : 0;
}

// Of sequences of their own as well.
void draw_withholding(LifeSpec& life) {
  Random random(Random::mix(life.seed ^ 0x77697468U));
  life.faults.withholds = !life.items && !life.faults.death && random.chance(0.15) ? 1 : 0;
}

void draw_unread(LifeSpec& life) {
  Random random(Random::mix(life.seed ^ 0x756e7265U));
  if (life.faults.death || !random.chance(0.2)) {
    return;
  }
  life.faults.unread = random.chance(0.5) ? 0.3 : 0.8;
  life.faults.unread_for = random.between(20'000, 300'000);
  life.kept_percent = static_cast<std::uint32_t>(random.chance(0.5) ? 0 : random.between(0, 100));
}

void draw_arenas(LifeSpec& life) {
  Random random(Random::mix(life.seed ^ 0x6172656eU));
  life.spare_arenas = static_cast<std::uint32_t>(random.chance(0.4) ? 2 : random.between(0, 1));
}

}  // namespace

LifeSpec draw_life(std::uint64_t seed) {
  // Neighbouring seeds must not begin neighbouring sequences.
  Random random(Random::mix(seed ^ 0x6c696665U));
  LifeSpec life;
  life.seed = seed;
  life.delay_low = random.between(100, 500);
  life.delay_high = random.between(600, 4'000);
  life.release_high = random.chance(0.3) ? 30'000 : 2'000;
  draw_job(life, random);
  draw_chunks(life, random);
  draw_workers(life, random);
  draw_faults(life, random);
  draw_snapshots(life, random);
  draw_validation(life, random);
  draw_clipping(life, random);
  draw_gradients(life, random);
  draw_links_and_clocks(life, random);
  draw_items(life, random);
  draw_second_servers(life, random);
  draw_provenance(life, random);
  draw_copies(life, random);
  draw_initial_weights(life, random);
  draw_late_stop(life, random);
  draw_copied_job(life, random);
  life.lead_turn = random.chance(0.5) ? random.between(1, 12'000) : 0;
  draw_state(life, random);
  draw_trust_ratios(life, random);
  draw_averages(life, random);
  draw_hangs(life, random);
  draw_departures(life, random);
  draw_shares(life, random);
  draw_lost_disks(life);
  draw_impostors(life);
  draw_withholding(life);
  draw_unread(life);
  draw_arenas(life);
  return life;
}

}  // namespace ballast::simulation

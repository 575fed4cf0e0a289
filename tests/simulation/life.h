// What one simulated life is made of: the job, the cluster, its timings and all its faults, drawn from one seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/lead/step_decisions.h"
#include "protocol/metrics.h"

namespace ballast::simulation {

// Everything that can go wrong, in one place. Probabilities are per message; times are virtual microseconds.
struct Faults {
  Micros until = 0;  // from here on nothing goes wrong any more
  double loss = 0;
  double duplication = 0;
  double reordering = 0;  // of leaving the order of its link
  double slowness = 0;    // of taking up to `slow_delay`
  Micros slow_delay = 0;
  std::uint32_t crashes = 0;  // of workers: state lost, a new session after a while
  std::uint32_t worker_pauses = 0;
  Micros worker_pause = 0;          // at most
  std::uint32_t cuts = 0;           // of the link between one worker and one lane or the lead, both ways
  Micros cut = 0;                   // at most
  std::uint32_t strangers = 0;      // messages to lanes and lead that no honest worker sends
  std::uint32_t torn_roots = 0;     // a session brings one lane ahead of the others, with whole roots
  std::uint32_t false_results = 0;  // a session sends results of evaluations that nobody has asked it for
  std::uint32_t shard_pauses = 0;
  Micros shard_pause = 0;  // at most; together with losses still below the lead's patience with shards
  std::uint32_t lead_pauses = 0;
  Micros lead_pause = 0;             // at most; may exceed its own patience with shards, not theirs with it
  bool death = false;                // one shard dies for good: the job must end, naming it
  std::uint32_t shard_crashes = 0;   // one shard, or two at once; it comes back from its disk as another life
  double double_crash = 0;           // probability that a crash takes a second shard along
  std::uint32_t lead_crashes = 0;    // in the middle of what it does, and shard 0 with it
  double snapshot_crash = 0;         // of a shard, after it has written a chunk of a snapshot
  bool loses_unsynced = false;       // a crash takes along what was written and not synced
  Micros away = 0;                   // at most, from a crash to the next life
  double write_failure = 0;          // of a lane's part of a snapshot
  std::uint32_t second_servers = 0;  // for a shard that lives, with an empty disk
  std::uint32_t other_files = 0;     // of servers that read their initial weights: are given another file
  double lost_volume = 0;            // of a shard that comes back with an empty disk, and later with its own
  static constexpr Micros kVolumeAway = 1'200'000;  // at most, from the one to the other
  std::uint32_t stops = 0;                          // the user stops the job, and resumes it after all have left
  bool late_stop = false;                           // the user stops the job when it is about to finish
  std::uint32_t user_pauses = 0;                    // the user pauses it, and lets it go on
  std::uint32_t leaves = 0;                         // of workers, with a goodbye
  std::uint32_t one_way_cuts = 0;  // of a link between two processes, in one direction, for at most `cut`
  std::uint32_t slow_links = 0;    // between two processes, both ways, as long as there are faults
  Micros slow_link = 0;            // added to each message, at most
  bool clock_skew = false;         // each process's clock runs at a rate of its own, from half to twice the time's
  double power_cut = 0;            // probability that a crash is one, in a journaled job; else `loses_unsynced` says it
  bool lying_disk = false;         // a power cut takes along parts of the journal that were synced
  double copy_failure = 0;         // of one attempt
  double copies_taken = 0;         // by another job, as shard 0 begins to copy
  std::uint32_t hangs = 0;         // of workers: alive, they end no computation for a while or ever
  Micros hang = 0;                 // at most, if it ends
  std::uint32_t withholds = 0;     // of workers: alive, they send no contribution any more
  double unread = 0;               // of weights sent: they stay with the transport
  Micros unread_for = 0;           // so long at most, or until their connection ends
  bool copy_stuck = false;         // shard 1 cannot copy as long as there are faults
  std::uint32_t departures = 0;    // of servers that are told to end, and come back after a while
  double double_departure = 0;     // probability that another is told at once
  std::uint32_t lost_disks = 0;    // of shards that can restore their part: it is gone for good
  double double_loss = 0;          // probability that another shard's is lost with it
  double damaged_copy = 0;         // that the newest set is damaged then, where an older one is left
};

// A gradient that is not finite: always that of the same slot, whoever computes it and however often.
struct LifeFault {
  Step step = 0;
  ChunkId chunk = 0;
  Slot slot = 0;  // kNoSlot: every slot's is finite, their sum is not
  bool operator==(const LifeFault&) const = default;
};

// Of item mode.
struct LifeItems {
  enum class Journal : std::uint8_t { none, always, interval, never };  // none: snapshots only; else when it is synced
  std::uint32_t bound = 0;                                              // of staleness; 0: none
  std::uint32_t ahead = 1;                                              // grants of one session at a time
  bool damped = false;
  Journal journal = Journal::none;
};

// What norms are for.
enum class LifeNorms : std::uint8_t {
  clip,
  lars,  // trust ratios, of weights and gradients
  lamb,  // trust ratios, of weights and prospective updates
};

// How an update changes a chunk's weights.
enum class LifeRule : std::uint8_t {
  descent,
  change,     // a buffer: the change is added, in item mode a part of it, by the update's staleness
  statistic,  // in item mode blended into the newest value; in rounds added like a change
};

struct LifeChunk {
  std::uint64_t bytes = 0;
  std::uint32_t lane = 0;  // shard * lanes + lane
  LifeRule rule = LifeRule::descent;
};

struct LifeWorker {
  Micros joins_at = 0;
  Micros forward = 0;         // for one slot
  Micros backward = 0;        // for one slot
  std::string data = "same";  // the digest of its data
  std::string arithmetic = "same";
};

// A description, drawn at once and never changed: all that a life depends on in one place, as a job file would have it.
struct LifeSpec {
  std::uint64_t seed = 0;
  std::uint32_t shards = 2;
  std::uint32_t lanes = 1;
  Slot slots = 4;
  Step steps = 3;
  Step steps_per_epoch = 2;
  Slot filled = 0;  // slots with examples in the last step of an epoch, the first ones; 0: all
  Step evaluate_every = 2;
  std::uint32_t test_examples = 0;
  std::uint32_t validation_examples = 0;
  std::uint32_t early_stop_patience = 0;
  double early_stop_delta = 0;
  bool keep_best = false;
  MetricKind best_by = MetricKind::accuracy;
  Step snapshot_every = 0;
  std::uint32_t snapshots_kept = 2;
  bool copies = false;   // snapshots are copied to another place
  Micros copy_high = 0;  // until a shard's part is copied; may be longer than from one snapshot to the next
  Micros copy_patience = 0;
  bool restores = false;  // the job names its run: shards bring from copies what their disks have lost
  // By chunk, of each sum; empty: steps need no norms. For trust ratios two for each piece, 2 p and 2 p + 1.
  std::vector<std::vector<std::uint32_t>> norms;
  std::uint32_t norm_count = 0;
  LifeNorms norms_for = LifeNorms::clip;
  std::optional<Step> averaged_from;       // averages of the weights begin at that version; none: there are none
  std::optional<LifeItems> items;          // none: rounds
  NonFinite non_finite = NonFinite::halt;  // a job that has halted is resumed with skip
  std::vector<LifeFault> non_finite_gradients;
  std::uint32_t evaluation_item = 10;
  std::uint32_t start_workers = 1;
  bool init_from = false;   // servers read the initial weights from a file
  std::string data_digest;  // by the job file
  bool exact = false;       // only workers of one arithmetic
  bool mixed = false;       // workers of several kinds come: after the faults one more of each
  std::uint32_t plan_ahead = 256;
  std::vector<LifeChunk> chunks;  // the last one is the statistics chunk
  std::vector<LifeWorker> workers;
  std::uint32_t kept_percent = 100;  // of all that may be set aside for weights that are read and of no use else
  std::uint64_t spare_bytes = 0;     // of each lane's memory for contributions, besides what it needs at least
  Micros call_overdue = 40'000;
  Micros offers_every = 20'000;
  Micros offered_for = 15'000;
  std::uint32_t spare_arenas = 2;               // of a worker, besides those that the largest node needs
  std::uint64_t reply_window_bytes = 0;         // of each session
  std::uint64_t all_replies_bytes = 1U << 30U;  // of a lane's sessions together

  Micros delay_low = 300;  // of a message on its way
  Micros delay_high = 1500;
  Micros release_high = 2000;  // until the transport lets go of a reply
  Micros storage_high = 3000;  // until something is durable
  Micros prepare_high = 5000;  // until a worker has loaded its data
  Micros lead_turn = 0;        // at most, in which the lead hears more before it acts
  bool random_clocks = true;   // every process has its own zero and its own phase of ticks
  Micros tick = 4000;

  Micros report_every = 8'000;
  Micros idle_report_every = 25'000;
  Micros heartbeat_every = 20'000;
  Micros hello_every = 30'000;
  Micros lead_silence = 2'000'000;
  Micros patience = 1'500'000;
  Micros stop_patience = 1'500'000;
  // Of a server that is told to end, with the snapshot for it. As in practice others have more with one that is away.
  Micros hold_patience = 500'000;
  Micros hold_again = 20'000;
  Micros write_statistics_every = 40'000;
  Micros linger = 600'000;
  LearntDeadline::Bounds worker_silence{70'000, 120'000, 300'000};
  LearntDeadline::Bounds shard_silence{700'000, 900'000, 1'200'000};
  LearntDeadline::Bounds late{8'000, 80'000, 300'000};
  bool by_speed = true;
  bool redistributes = true;
  SlotShares::Floors share_floors{500, 1'000, 8'000};
  Micros suspect_after = 25'000;
  Micros probe_after = 12'000;
  Micros torn_after = 4'000;
  LearntDeadline::Bounds retry{12'000, 30'000, 80'000};

  Faults faults;

  [[nodiscard]] std::uint32_t all_lanes() const { return shards * lanes; }
  [[nodiscard]] bool has_trust_ratios() const { return norms_for != LifeNorms::clip; }
  [[nodiscard]] bool journaled() const { return items && items->journal != LifeItems::Journal::none; }
  // Of a chunk, for so many steps.
  [[nodiscard]] Version updates(Step step) const { return items ? step * slots : step; }
  [[nodiscard]] bool has_examples(Step step, Slot slot) const {
    return filled == 0 || slot < filled || (step + 1) % steps_per_epoch != 0;
  }
  // Whether the chunk's weights have an average, from which the job is evaluated.
  [[nodiscard]] bool is_averaged(ChunkId chunk) const {
    return averaged_from && chunk != statistics() && chunks[chunk].rule == LifeRule::descent;
  }
  [[nodiscard]] ChunkId statistics() const { return static_cast<ChunkId>(chunks.size() - 1); }
};

LifeSpec draw_life(std::uint64_t seed);

}  // namespace ballast::simulation

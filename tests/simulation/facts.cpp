#include "tests/simulation/facts.h"

namespace ballast::simulation {

namespace {

constexpr FactWords kFactWords[] = {
    {Fact::superseded, "a superseded node"},
    {Fact::gone, "a version gone"},
    {Fact::served_older, "an older version served"},
    {Fact::backup, "backup work"},
    {Fact::retry, "a retry"},
    {Fact::lost_worker, "a lost worker"},
    {Fact::late_join, "a late joiner"},
    {Fact::deferred, "a deferred reply"},
    {Fact::duplicate, "a duplicate"},
    {Fact::waited_for_factors, "waiting for factors"},
    {Fact::went_on, "a lane that goes on with what an event has left to do"},
    {Fact::death, "a shard's death"},
    {Fact::shard_crash, "a shard that crashes and comes back"},
    {Fact::double_crash, "two shards that crash at once"},
    {Fact::with_lead, "a shard that crashes with the lead"},
    {Fact::lost_unsynced, "unsynced writes lost"},
    {Fact::other_cuts, "a journaled job that is resumed with snapshots at other steps", 0.1},
    {Fact::rollback, "a rollback to a base past step 0"},
    {Fact::rollback_for_shard, "a rollback for a shard that cannot go on"},
    {Fact::rollback_for_mark, "a rollback for work that rested on what a shard has lost"},
    {Fact::rollback_below_cut, "a rollback for a shard back with less than a cut", 0.1},
    {Fact::rollback_for_lives, "a rollback for a shard with more lives than are remembered", 0},
    {Fact::rollback_for_value, "a rollback for a gradient"},
    {Fact::rollback_for_tear, "a rollback for contributions that cannot have been computed", 0.5},
    {Fact::barred, "a contribution of a session that is barred", 0.1},
    {Fact::false_results, "results of evaluations from a session that was not asked"},
    {Fact::untrained_timeline, "a timeline begun anew before anybody has trained in it"},
    {Fact::mid_compute, "a rollback in the midst of a computation"},
    {Fact::slot_taken_back, "a slot in hand was given to another as well", 0.5},
    {Fact::tail_taken, "a tail taken"},
    {Fact::amended, "an amended computation"},
    {Fact::suspect_back, "a suspect that comes back"},
    {Fact::suspect_relieved, "a suspect's share given to others"},
    {Fact::trial, "a trial slot"},
    {Fact::stale, "a message of an older timeline"},
    {Fact::clipped, "clipping by norm beside a rollback or a crash of the lead"},
    {Fact::scaled_by_trust, "trust ratios beside a rollback or a crash of the lead"},
    {Fact::averages_restored, "averages of the weights that are evaluated beside a rollback"},
    {Fact::skipped, "a step skipped for its gradient"},
    {Fact::halted, "a halt for a gradient"},
    {Fact::snapshot_failed, "a snapshot that cannot be written"},
    {Fact::snapshot_missed, "a snapshot missed"},
    {Fact::copied, "a snapshot copied by all shards"},
    {Fact::copy_failed, "a shard's copy that fails"},
    {Fact::copies_renamed, "copies under a new name, as another job has the first"},
    {Fact::copy_dropped, "a copy given up for a newer snapshot"},
    {Fact::copy_outlived, "a copy that is made across a rollback"},
    {Fact::paused, "a pause by the user"},
    {Fact::resumed, "a cluster resumed as a whole"},
    {Fact::stopped_without, "a stop that has no patience for its snapshot", 0.5},
    {Fact::late_stop, "a stop of a job that is about to finish"},
    {Fact::early_stop, "an early stop"},
    {Fact::kept_best, "the best snapshot kept"},
    {Fact::async, "an update for each item, as it comes"},
    {Fact::ssp, "an update for each item, within a bound of staleness"},
    {Fact::journaled, "a journal"},
    {Fact::resumed_within, "a shard that goes on within its timeline"},
    {Fact::replayed, "updates replayed from a journal"},
    {Fact::kept_in_crash, "a shard's crash after which a journaled job never goes back"},
    {Fact::lost_commits, "a power cut that takes what a journal had committed"},
    {Fact::lying_disk, "a disk that had not synced what it said"},
    {Fact::broken_mark, "a rollback because something lost was built upon"},
    {Fact::survived_loss, "such a loss on which nothing was built"},
    {Fact::expired, "a contribution too late for the bound", 0.1},
    {Fact::lost_version, "a contribution from a version that its shard has lost", 0.1},
    {Fact::grant_delayed, "a grant delayed by the bound"},
    {Fact::two_stale, "an update from weights two updates old or older"},
    {Fact::item_skipped, "an item left out for its gradient"},
    {Fact::stale_change, "a buffer's change from values two updates old or older"},
    {Fact::stale_statistic, "a statistic blended into values that have changed since"},
    {Fact::empty_item, "an item without examples, which changes no state"},
    {Fact::left, "a worker that leaves with a goodbye"},
    {Fact::hung, "a worker that hangs with work in hand"},
    {Fact::one_way, "a link cut in one direction"},
    {Fact::slow_link, "a slow link"},
    {Fact::skewed, "clocks that run at different rates"},
    {Fact::refused_weights, "a server refused for its initial weights"},
    {Fact::refused_right, "one refused for those of the job, as another had come before it", 0.5},
    {Fact::second_server, "a second server for a shard, not taken"},
    {Fact::lost_volume, "a shard that comes back without its disk"},
    {Fact::lacked_base, "a server not taken for lack of the snapshot", 0.1},
    {Fact::displaced, "another database in the place of one that was silent", 0.1},
    {Fact::paused_lead, "a lead that begins in a pause"},
    {Fact::reported_twice, "a lane that reports twice in a turn of the lead"},
    {Fact::refused_data, "a worker refused for its data"},
    {Fact::refused_arithmetic, "a worker refused for its arithmetic"},
    {Fact::mixed_arithmetic, "two kinds of arithmetic at work"},
    {Fact::unheard_end, "an end unheard by a worker given up", 0},
    {Fact::departed, "a server that is told to end, and goes while all hold for it", 3},
    {Fact::departed_lead, "the lead's own server among them"},
    {Fact::two_departed, "two servers that go while all hold for both", 0.3},
    {Fact::departed_at_once, "a server told to end that serves nothing, and goes at once", 0.5},
    {Fact::departed_without, "a server told to end that is out of patience", 0.5},
    {Fact::departed_journaled, "a server told to end that goes with its journal"},
    {Fact::departed_in_pause, "a server that goes in a pause", 0.3},
    {Fact::held_for_nothing, "a server killed before all hold for it", 0.1},
    {Fact::lost_disk, "a shard's disk lost for good", 0.5},
    {Fact::damaged_copy, "the newest copy damaged with it", 0.05},
    {Fact::fetched, "a shard's part brought from a copy", 0.5},
    {Fact::copy_useless, "a shard that finds no undamaged copy of its part", 0.05},
    {Fact::went_further_back, "a job that goes back beyond its newest snapshot", 0.2},
};
static_assert(std::size(kFactWords) == kFactCount);

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kFactCount; ++i) {
    if (static_cast<std::size_t>(kFactWords[i].fact) != i) {
      return false;
    }
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::span<const FactWords> fact_words() { return kFactWords; }

}  // namespace ballast::simulation

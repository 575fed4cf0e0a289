"""The boards that show the servers and what befalls them: shards, storage, faults and elasticity, staleness."""

from boards_of_the_job import YES_NO
from panels import (BYTES, EACH_SECOND, NUMBER, RATE_OF_BYTES, SECONDS, SHARE, Board, Row, each_second, heat, lines, mean,
                    number, quantile)


STAGES = "rate(ballast_shard_stage_seconds_total{@lane}[@])"
BUSY = 'sum by (instance, lane) (rate(ballast_shard_stage_seconds_total{@lane,stage!="waiting"}[@]))'

# Of what workers compute, what became part of steps; an evaluation is neither.
GOODPUT = ("clamp_max(sum(rate(ballast_lead_examples_total{@job}[@])) / "
           "(sum(rate(ballast_worker_examples_total{@job}[@])) > 0), 1)")


def shards():
    serving = Row("Who serves", (
        lines("Serving", NUMBER, ("min by (instance) (ballast_shard_serving{@lane})", "{{instance}}"), words=YES_NO,
              about="1 while all lanes of the shard serve their timeline; 0 while it loads, or waits."),
        lines("Timeline", NUMBER, ("max by (instance) (ballast_shard_timeline{@lane})", "{{instance}}"),
              about="The timeline that the shard serves; 0 before the first. All are alike but for moments."),
        lines("Sessions", NUMBER, ("max by (instance) (ballast_shard_sessions{@lane})", "{{instance}}"),
              about="Workers that the shard knows."),
        lines("Open step", NUMBER, ("min by (instance) (ballast_shard_open_step{@lane})", "{{instance}}"),
              about="The oldest step that some chunk still collects. A shard that is behind the others holds them up."),
    ))
    work = Row("Work of the lanes", (
        heat("Busy lanes", SHARE, ('sum by (instance, loop) (rate(ballast_turn_seconds_sum{@shard,loop=~"lane ($lane)"}[@]))',
                                   "{{instance}} {{loop}}"), width=12, derived="seconds of turns each second",
             about="Share of the time in which the lane's loop answers nobody. Near 1 it is the bottleneck: more lanes or "
                   "shards. One row that stands out is skew."),
        lines("Turns, 99 of 100", SECONDS,
              (quantile(0.99, "ballast_turn_seconds", "@shard", "instance, loop"), "{{instance}} {{loop}}"), width=12, height=8,
              about="Time of one turn of a loop: for so long it answered nobody."),
        lines("Longest turn", SECONDS, ("ballast_turn_longest_seconds{@job}", "{{instance}} {{loop}}"), warning=2,
              about="Since the loop began. Above 2 s the loop counts as silent, and its process may be given up."),
        lines("Sum", SECONDS, (mean("ballast_shard_sum_seconds", "@lane", "instance"), "{{instance}}"),
              needs="rounds", about="Mean time of adding one contribution to another."),
        lines("Update", SECONDS, (mean("ballast_shard_apply_seconds", "@lane", "instance"), "{{instance}}"),
              about="Mean time of one chunk's update."),
        lines("Updates", EACH_SECOND, (each_second("ballast_shard_apply_seconds_count", "@lane", "instance"), "{{instance}}"),
              derived="observations of a histogram, each second", about="Chunks updated."),
        lines("Waited for factors", EACH_SECOND,
              (each_second("ballast_shard_waited_for_factors_total", "@lane", "instance"), "{{instance}}"),
              about="Covered chunks that had to wait for the lead's factors. Clipping by global norm makes it normal."),
    ))
    stages = Row("Where the lanes' time goes", (
        lines("Stages", SHARE, (f"sum by (stage) ({STAGES}) / scalar(sum({STAGES}))", "{{stage}}"), width=12, stacked=True,
              derived="seconds of each stage over those of all stages",
              about="Shares of the lanes' time. `reading` is messages of workers and what the lane decides on them; `replying` and "
                    "`storing` hand over to other threads."),
        lines("Processor of lanes", SHARE,
              ("sum by (instance) (rate(ballast_shard_processor_seconds_total{@lane}[@])) / "
               'sum by (instance) (rate(ballast_shard_stage_seconds_total{@lane,stage!="waiting"}[@]))', "{{instance}}"), width=12,
              derived="processor seconds over seconds in which the threads did not wait",
              about="Of the time in which lanes' threads do not wait, that in which they have a processor. Well below 1: too few "
                    "processors for the threads of this machine, or a quota."),
        lines("Skew", NUMBER, (f"max by (instance) ({BUSY}) / avg by (instance) ({BUSY})", "{{instance}}, lanes"),
              (f"max({BUSY}) / avg({BUSY})", "all lanes"), derived="one busy share over another",
              about="How much busier the busiest lane is than the mean: 1 is an even load."),
        lines("Unread", SECONDS, ("max by (instance) (ballast_shard_unread_seconds{@lane})", "{{instance}}"), warning=2,
              about="For how long something that workers have sent may have waited: since the lane last found nothing to read."),
        lines("Age of the open step", SECONDS, ("max by (instance) (ballast_shard_open_step_seconds{@lane})", "{{instance}}"),
              about="For how long the oldest step that collects has been the oldest, while contributions are held."),
        lines("Processors, shards", SHARE, ("rate(ballast_process_processor_seconds_total{@shard}[@])", "{{instance}}"),
              about="Processor time of the process each second: 2 are two processors."),
        lines("Stolen from shards", SHARE, ("rate(ballast_machine_steal_seconds_total{@shard}[@])", "{{instance}}"), warning=0.2,
              about="Processor time that the hypervisor gave to others while the shard's machine had work, of all its processors."),
        lines("Shards held back by a quota", SHARE, ("rate(ballast_process_throttled_seconds_total{@shard}[@])", "{{instance}}, time"),
              ("rate(ballast_process_throttled_periods_total{@shard}[@]) / "
               "clamp_min(rate(ballast_process_quota_periods_total{@shard}[@]), 0.001)", "{{instance}}, periods"), warning=0.2,
              derived="seconds each second, and periods of all periods",
              about="Of the shard's control group: its limit of processors is too low. Time is that of all processors together."),
    ))
    memory = Row("Memory", (
        lines("Buffers", BYTES, ("sum by (instance) (ballast_shard_pool_bytes{@lane})", "{{instance}}"), width=12,
              about="Two versions of each chunk's weights, the optimizer's state, and those that replies kept."),
        lines("Held sums", NUMBER, ("sum by (instance) (ballast_shard_held_payloads{@lane})", "{{instance}}"), width=12,
              about="Partial sums held for open rounds."),
        lines("Contributions", BYTES, ("sum by (instance) (ballast_shard_contribution_bytes{@lane})", "{{instance}}"),
              ("sum by (instance) (ballast_shard_contribution_memory_bytes{@lane})", "{{instance}}, memory for them"), width=12,
              about="Held, or called and still to come; never more than the memory that the job gives them."),
        lines("Held and on the way", BYTES, ("sum by (instance) (ballast_shard_held_bytes{@lane})", "{{instance}}, held"),
              ("clamp_min(sum by (instance) (ballast_shard_contribution_bytes{@lane}) - "
               "sum by (instance) (ballast_shard_held_bytes{@lane}), 0)", "{{instance}}, called"), width=12,
              about="Contributions that have come and are held, and those that were called and are on their way."),
        lines("Offers that wait", NUMBER, ("sum by (instance) (ballast_shard_waiting_offers{@lane})", "{{instance}}"), width=4,
              about="Contributions that workers in good standing offer and that were not called: the lanes' queue. Some stay while there is room: "
                    "another worker is called for the same, or a bound of staleness is reached."),
        lines("Waits for room", EACH_SECOND,
              (each_second("ballast_shard_waited_for_room_total", "@lane", "instance"), "{{instance}}"), width=4,
              about="Turns in which an offered contribution found no room. Steps wait for it if it goes on: more memory, shards or fewer workers."),
        lines("Calls", EACH_SECOND, (each_second("ballast_shard_calls_total", "@lane", "instance"), "{{instance}}, by name"),
              (each_second("ballast_shard_calls_taken_back_total", "@lane", "instance"), "{{instance}}, taken back"), width=4,
              about="Contributions called by name, and connections ended because what was called did not come."),
        lines("Kept for readers", BYTES, ("sum by (instance) (ballast_shard_kept_weights_bytes{@lane})", "{{instance}}"), width=12,
              about="Older weights, and averages, that are still read. An update that would keep more than is set aside for them waits."),
        lines("Waits for readers", EACH_SECOND,
              (each_second("ballast_shard_waited_for_readers_total", "@lane", "instance"), "{{instance}}, updates"),
              (each_second("ballast_shard_readers_cut_total", "@lane", "instance"), "{{instance}}, connections ended"), width=12,
              about="Updates that had no room for weights that are still read, and connections ended because nobody read them."),
    ))
    return Board("ballast-shards", "Ballast: shards", "Is a shard or lane what steps wait for, and is the load even?",
                 (serving, work, stages, memory), ("shard", "lane"))


def storage():
    disks = Row("Disks", (
        lines("Oldest disk operation", SECONDS, ("ballast_shard_disk_busy_seconds{@shard}", "{{instance}}"), bad=5,
              about="Age of the oldest write, sync or read that has not come back. Seconds are a disk that hangs."),
        lines("Waits for room", NUMBER, ("ballast_shard_waits_for_room{@shard}", "{{instance}}"), bad=1, words=YES_NO,
              about="1 while the shard waits for room on its full disk."),
        lines("Memory of the database", BYTES, ("ballast_shard_database_memtable_bytes{@shard}", "{{instance}}, written"),
              ("ballast_shard_database_cache_bytes{@shard}", "{{instance}}, read"),
              about="Writes that are in no file yet, and what is kept of files; both together at most 52 MiB."),
        lines("Writes held up", SHARE, ("rate(ballast_shard_database_stalled_seconds_total{@shard}[@])", "{{instance}} {{how}}"),
              warning=0.1, about="Share of the time in which RocksDB slows or stops writes because flushes or compactions are behind: "
                                 "snapshots wait for the disk."),
        lines("Behind with compactions", BYTES, ("ballast_shard_database_compaction_bytes{@shard}", "{{instance}}"),
              about="What RocksDB estimates that compactions still have to rewrite."),
        lines("Files of level 0", NUMBER, ("ballast_shard_database_uncompacted_files{@shard}", "{{instance}}"),
              about="That no compaction has taken yet; where there are too many, writes are held up."),
        lines("Failures of the database", NUMBER, ("increase(ballast_shard_database_errors_total{@shard}[@])", "{{instance}}"), warning=1,
              about="Of RocksDB's own threads: a full disk, or a bad one."),
        lines("Ledger writes, 99 of 100", SECONDS, (quantile(0.99, "ballast_lead_ledger_write_seconds", "@job"), "ledger"),
              about="From when the lead asked for a write of its ledger until it heard what came of it."),
    ))
    snapshots = Row("Snapshots", (
        lines("Newest snapshot", NUMBER, ("min by (instance) (ballast_shard_snapshot_step{@lane})", "{{instance}}"),
              ("ballast_lead_snapshot_step{@job}", "complete"), ("ballast_lead_step{@job}", "step"), width=12,
              about="What a recovery without a journal goes back to is `complete`: the distance to `step` is at stake."),
        lines("Time of a snapshot", SECONDS, (mean("ballast_shard_snapshot_seconds", "@lane", "instance"), "{{instance}}"),
              about="Mean, from the first chunk taken until all of a lane's chunks were durable.", width=12),
        lines("Time of a whole snapshot", SECONDS, (mean("ballast_lead_snapshot_seconds", "@job", "job"), "mean"),
              (quantile(0.99, "ballast_lead_snapshot_seconds", "@job"), "99 of 100"),
              about="From when the first lane had come to its step until it was durable in all shards, and complete."),
        lines("Age of the newest snapshot", SECONDS, ("ballast_lead_snapshot_age_seconds{@job}", "age"),
              about="Since it became complete, or since the lead began: so much time of training is at stake without a journal."),
        lines("Bytes of snapshots", RATE_OF_BYTES,
              (each_second("ballast_shard_snapshot_bytes_total", "@lane", "instance"), "{{instance}}"),
              about="Weights and optimizer state written."),
        lines("Snapshots, by outcome", EACH_SECOND,
              (each_second("ballast_shard_snapshots_total", "@lane", "outcome"), "{{outcome}}"),
              about="Of lanes: durable, or failed (could not be written; the job goes on)."),
        lines("Missed", NUMBER, ("increase(ballast_lead_snapshots_missed_total{@job}[@])", "missed"), warning=1,
              about="Snapshots that were due while another one was being written: durability.every_steps is too small for "
                    "the disk."),
    ))
    copies = Row("Copies elsewhere", (
        lines("Newest copy", NUMBER, ("ballast_shard_snapshot_copied_step{@shard}", "{{instance}}"),
              ("ballast_lead_copied_step{@job}", "complete"), about="What the loss of a disk goes back to; 0: none."),
        lines("Being copied", NUMBER, ("ballast_lead_copying_step{@job}", "step"), about="The snapshot that is copied now; 0: none."),
        lines("Copies, by outcome", EACH_SECOND,
              ("sum by (instance, outcome) (rate(ballast_shard_snapshot_copies_total{@shard}[@]))", "{{instance}} {{outcome}}"),
              needs="copies", about="Of each shard's part: done or failed."),
    ))
    journal = Row("Journal", (
        lines("Updates committed", EACH_SECOND, ("rate(ballast_shard_journal_records_total{@shard}[@])", "{{instance}}"),
              needs="journal", about="Updates."),
        lines("Bytes committed", RATE_OF_BYTES, ("rate(ballast_shard_journal_bytes_total{@shard}[@])", "{{instance}}"),
              needs="journal", about="Bytes."),
        lines("Writes and syncs", EACH_SECOND, ("rate(ballast_shard_journal_groups_total{@shard}[@])", "{{instance}} writes"),
              ("rate(ballast_shard_journal_syncs_total{@shard}[@])", "{{instance}} syncs"), needs="journal",
              about="Many updates are committed by one write where the disk is the bottleneck."),
        lines("Time in syncs", SHARE, ("rate(ballast_shard_journal_sync_seconds_total{@shard}[@])", "{{instance}}"),
              needs="journal", derived="seconds of syncs each second", about="Near 1 the disk is the bottleneck."),
        lines("Backlog", BYTES, ("ballast_shard_journal_backlog_bytes{@shard}", "{{instance}}"), needs="journal",
              about="Updates that wait to be committed."),
        lines("Failures", NUMBER, ("increase(ballast_shard_journal_failures_total{@shard}[@])", "{{instance}}"), warning=1,
              needs="journal", about="Writes and syncs that failed: a full disk, or a bad one."),
        lines("Size and room", BYTES, ("ballast_shard_journal_disk_bytes{@shard}", "{{instance}} journal"),
              ("ballast_shard_journal_free_bytes{@shard}", "{{instance}} free"),
              ("ballast_shard_journal_kept_back_bytes{@shard}", "{{instance}} kept back"), needs="journal", width=12,
              about="The journal on the disk, what is free there, and of that what is kept for a snapshot."),
        lines("Segments", NUMBER, ("ballast_shard_journal_segments{@shard}", "{{instance}}"), needs="journal", width=12,
              about="Of the journal on the disk."),
    ))
    return Board("ballast-storage", "Ballast: storage", "What is durable, what would a loss cost, and do the disks keep up?",
                 (disks, snapshots, copies, journal), ("shard", "lane"))


def faults():
    now = Row("Lives and timelines", (
        number("Timeline", NUMBER, "ballast_lead_timeline{@job}", about="More than 1 after a rollback."),
        number("Began at step", NUMBER, "ballast_lead_base_step{@job}", about="Where the current timeline began."),
        number("Generation", NUMBER, "ballast_lead_generation{@job}", about="Increases when slots change hands."),
        number("Kinds of arithmetic", NUMBER, "ballast_lead_arithmetics{@job}", warning=2,
               about="That were given work of this job; with more than 1 no single kind gives these bits."),
        number("Held off", NUMBER, "max(ballast_shard_connections_held_off{@job})", bad=1, words=YES_NO,
               about="Whether a server has no file descriptor left and those who want to connect must wait."),
        number("Refused workers", NUMBER, "ballast_lead_refused_workers_total{@job}", warning=1,
               about="For other data, or for another arithmetic where the job asks for one."),
    ))
    events = Row("What happens", (
        lines("Workers", NUMBER, ("ballast_lead_sessions{@job}", "live"), about="Workers that are live: they may come and go."),
        lines("Given up", NUMBER, ("increase(ballast_lead_lost_sessions_total{@job}[@])", "workers"),
              about="Workers that were given up. Their slots go to others, and no bit changes."),
        lines("Shards that came back", NUMBER, ("increase(ballast_lead_resumed_shards_total{@job}[@])", "shards"),
              about="With all they had, so that the job went on in the same timeline."),
        lines("Rollbacks", NUMBER, ("increase(ballast_lead_rollbacks_total{@job}[@])", "{{cause}}"), warning=1,
              about="Times the whole job went back to a snapshot, by cause: docs/metrics.md has them."),
        lines("Steps trained again", NUMBER, ("increase(ballast_lead_rolled_back_steps_total{@job}[@])", "steps"),
              about="Because of rollbacks: what they cost."),
        lines("Steps and updates left out", NUMBER, ("increase(ballast_lead_skipped_steps_total{@job}[@])", "steps"),
              ("sum by (instance) (increase(ballast_shard_updates_skipped_total{@job}[@]))", "{{instance}} updates"), warning=1,
              about="For gradients that were not finite: a learning rate that is too high, or bad data."),
    ))
    slots = Row("Slots that change hands", (
        lines("Backups", EACH_SECOND, ("rate(ballast_lead_backups_total{@job}[@])", "slots"),
              about="Slots handed to a second worker as well."),
        lines("Taken", EACH_SECOND, ("rate(ballast_lead_slots_taken_total{@job}[@])", "slots"),
              about="Slots given to another worker so that a step ends sooner (sync and local). A straggler makes many."),
        lines("Reassigned", EACH_SECOND, ("rate(ballast_lead_slots_reassigned_total{@job}[@])", "slots"),
              about="Slots of workers that were lost or are held up, given to others (sync and local)."),
        lines("Tried", EACH_SECOND, ("rate(ballast_lead_slots_tried_total{@job}[@])", "slots"),
              about="Slots that workers of which nothing has counted yet, or that have none, compute beside their holders "
                    "(sync and local)."),
    ))
    costs = Row("What it costs, and who is silent", (
        lines("Goodput", SHARE, (GOODPUT, "examples that count"), derived="examples that count over those computed",
              about="Of the examples that workers compute, those that became part of steps that last. What is computed twice "
                    "(backups, steps trained again, dead workers' slots) is the rest. Rates of two processes: it scatters."),
        number("Recovering", SECONDS, "ballast_lead_recovering_seconds{@job}", warning=0.001, height=7, width=8,
               about="For how long the job has been recovering; 0: it is not."),
        lines("Time in recoveries", SECONDS, ("increase(ballast_lead_recovery_seconds_sum{@job}[@])", "seconds"),
              about="Of those that ended: from when a shard was last heard of, or the job went back, until all shards serve."),
        lines("Silence of workers", SECONDS, ("ballast_lead_worker_silence_seconds{@job}", "{{worker}}"), width=12,
              about="Since the lead heard of each live worker: the age of its newest heartbeat."),
        lines("Silence of shards", SECONDS, ("ballast_lead_shard_silence_seconds{@job}", "shard {{shard}}"), width=12,
              about="Since the lead heard of the shard's most silent lane."),
    ))
    return Board("ballast-faults", "Ballast: faults and elasticity", "Who died, came or left, and what did it cost?",
                 (now, events, slots, costs))


def staleness():
    by_lane = Row("Staleness (async and ssp)", (
        lines("Mean", NUMBER, (mean("ballast_shard_staleness", "@lane", "instance"), "{{instance}}"), needs="items",
              about="Updates between the weights that a contribution was computed from and its own update."),
        lines("99 of 100", NUMBER, (quantile(0.99, "ballast_shard_staleness", "@lane", "instance"), "{{instance}}"), needs="items",
              about="Of contributions. With ssp it cannot exceed the job's bound."),
        lines("Expired contributions", EACH_SECOND,
              (each_second("ballast_shard_contributions_total", '@lane,outcome="expired"', "instance"), "{{instance}}"),
              about="Computed from weights that are older than the job's bound allows, or that the shard has lost: in vain."),
        lines("Covered items", NUMBER, ("min by (instance) (ballast_shard_covered_items{@lane})", "{{instance}}"),
              about="From the first on without a gap. It stands still while others wait for an item that a worker has in hand."),
        lines("Items each second", EACH_SECOND, ("sum by (instance) (rate(ballast_shard_staleness_count{@lane}[@]))", "{{instance}}"),
              derived="observations of a histogram, each second", about="Updates of chunks applied."),
        lines("Updates left out", NUMBER, ("sum by (instance) (increase(ballast_shard_updates_skipped_total{@lane}[@]))", "{{instance}}"),
              warning=1, about="Because the gradient was not finite."),
    ))
    workers = Row("Who is behind", (
        heat("Distance to the foremost worker", NUMBER,
             ("scalar(max(ballast_lead_worker_step{@job}))"
              " - (ballast_lead_worker_step{@worker} and ballast_lead_worker_live{@worker} == 1)", "{{worker}}"),
             about="In steps. In async and ssp the spread of the workers is what makes gradients stale."),
    ))
    by_worker = Row("Whose gradients are stale (async and ssp)", (
        lines("Mean staleness, by worker", NUMBER,
              ("sum by (worker) (rate(ballast_shard_worker_staleness_total{@worker}[@])) / "
               "sum by (worker) (rate(ballast_shard_worker_updates_total{@worker}[@]))", "{{worker}}"), needs="items", width=12,
              derived="updates over updates", about="Of the updates that each worker's contributions made: a slow worker's are staler."),
        lines("Updates, by worker", EACH_SECOND, ("sum by (worker) (rate(ballast_shard_worker_updates_total{@worker}[@]))", "{{worker}}"),
              needs="items", width=12, about="Of chunks, that each worker's contributions made."),
    ))
    return Board("ballast-staleness", "Ballast: staleness", "How old are the weights that updates were computed from?",
                 (by_lane, by_worker, workers), ("shard", "lane", "worker"))

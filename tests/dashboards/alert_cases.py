"""Series for promtool: what a healthy run tells, and what each fault makes of it.

A fault's series replace those of the healthy run that have the same name and labels; None: it is not there. `fires`: which
alerts must fire at that time, with the labels besides alertname and severity, and the description in words. No other
alert may fire.
"""

import dataclasses

LENGTH = 320  # samples, of 15 s: 80 minutes
PHASES = ("assembling", "recovering", "waiting", "training", "evaluating", "pausing", "paused", "finishing", "finished", "stopped",
          "failed")


def flat(value, length=LENGTH):
    return f"{value}x{length}"


def then(*parts):
    """(value, samples) one after the other; value None: no sample. As a scrape that fails does, it ends the series at once."""
    words = []
    for place, (value, samples) in enumerate(parts):
        if value is None and place > 0:
            words.append(f"stale _x{samples - 2}" if samples > 1 else "stale")
        else:
            words.append(f"{'_' if value is None else value}x{samples - 1}")
    return " ".join(words)


def grows(by, start=0, length=LENGTH):
    return f"{start}+{by}x{length}"


def phases(*parts, job="m"):
    """The lead's phase, by (phase, samples)."""
    return {f'ballast_lead_phase{{job="{job}",instance="shard-0",phase="{name}"}}':
            then(*((None if phase is None else int(phase == name), samples) for phase, samples in parts)) for name in PHASES}


def lead(name, more="", job="m"):
    return f'ballast_lead_{name}{{job="{job}",instance="shard-0"{more}}}'


def shard(name, index, more="", job="m"):
    return f'ballast_shard_{name}{{job="{job}",instance="shard-{index}"{more}}}'


def handshakes(index, reason):
    """Those that a lane of the shard has refused."""
    return f'ballast_refused_handshakes_total{{job="m",instance="shard-{index}",loop="lane 0",reason="{reason}"}}'


def by_worker(index):
    return f',worker="worker-{index}"'


def process(role, index, values=None):
    """What a scrape of a process makes, whatever it is."""
    name = index if role == "shard" else f"worker-{index}"
    instance = f"{role}-{index}"
    values = values or flat(1)
    up = values.replace("stale", "0").replace("_x", "0x")
    return {f'up{{job="m",instance="{instance}"}}': up,
            f'ballast_process_info{{job="m",instance="{instance}",role="{role}",index="{name}",exported_job="mnist"}}': values}


def lateness(index, mean, steps_of_15s=30):
    """A worker's mean lateness in seconds; two steps a second."""
    return {shard("worker_lateness_seconds_sum", 0, by_worker(index)): grows(mean * steps_of_15s),
            shard("worker_lateness_seconds_count", 0, by_worker(index)): grows(steps_of_15s)}


def healthy():
    """Two shards, four workers, two steps a second, snapshots and copies; in training all the time."""
    series = phases(("training", LENGTH + 1))
    for index in (0, 1):
        series |= process("shard", index)
        series |= {shard("waits_for_room", index): flat(0), shard("connections_held_off", index): flat(0),
                   shard("disk_busy_seconds", index): then((0, 100), (0.2, 1), (0, LENGTH - 100)),
                   shard("messages_refused_total", index, ',lane="0"'): flat(0), handshakes(index, "unknown_key"): flat(0),
                   shard("updates_skipped_total", index, ',lane="0"'): flat(0),
                   shard("snapshots_total", index, ',lane="0",outcome="durable"'): grows(1),
                   shard("snapshots_total", index, ',lane="0",outcome="failed"'): flat(0),
                   shard("snapshot_copies_total", index, ',outcome="done"'): grows(1),
                   shard("snapshot_copies_total", index, ',outcome="failed"'): flat(0),
                   shard("journal_free_bytes", index): flat(10**12), shard("journal_kept_back_bytes", index): flat(10**9),
                   shard("journal_disk_bytes", index): grows(10**6), shard("journal_failures_total", index): flat(0),
                   shard("journal_records_total", index): grows(40), shard("journal_backlog_bytes", index): flat(0)}
    series |= {lead("step"): grows(30), lead("steps"): flat(100000), lead("trouble"): flat(0), lead("waits"): flat(0),
               lead("arithmetics"): flat(1), lead("examples_total"): grows(1920), lead("lost_sessions_total"): flat(0),
               lead("refused_workers_total"): flat(0), lead("messages_refused_total"): flat(0), lead("skipped_steps_total"): flat(0),
               lead("snapshots_missed_total"): flat(0), lead("copying_step"): grows(100),
               lead("rollbacks_total", ',cause="shard"'): flat(0), lead("rollbacks_total", ',cause="mark"'): flat(0)}
    for index in range(4):
        series |= process("worker", index) | lateness(index, 0.02 + 0.01 * index)
        series |= {lead(name, by_worker(index)): flat(value) for name, value in
                   (("worker_live", 1), ("worker_held_up", 0), ("worker_overtaken_seconds", 0),
                    ("worker_slot_seconds", 0.1 + 0.01 * index))}
        series |= {f'ballast_worker_gpu_throttled{{job="m",instance="worker-{index}",reason="{reason}"}}': flat(0)
                   for reason in ("power", "heat", "hardware")}
    return series


@dataclasses.dataclass(frozen=True)
class Case:
    about: str
    series: dict
    at: str              # the time of the look
    fires: tuple = ()    # (alert, labels, description)


def gone(samples):
    """There until then, and silent from then on."""
    return then((1, samples), (None, LENGTH - samples))


def all_gone(samples):
    """No series of the run goes on, whatever it is; its targets are asked in vain."""
    silent = {}
    for name, values in healthy().items():
        is_up = name.startswith("up{")
        silent[name] = then((1, samples), (0, LENGTH - samples)) if is_up else f"{values.split('x')[0]}x{samples - 1} stale"
    return silent


M = {"job": "m"}
SHARD_1 = {"job": "m", "instance": "shard-1"}
WORKER_3 = {"job": "m", "worker": "worker-3"}
HALF_HOUR = 120  # samples

CASES = (
    Case("a healthy run", {}, "70m"),
    Case("a healthy run in its first minute", {}, "1m"),

    # ---- workers
    Case("one worker is late by 0.3 s of steps of 0.5 s", lateness(3, 0.33), "12m",
         (("BallastStraggler", WORKER_3, "The parts of worker worker-3 arrive 59% of a step later than those of the median worker "
           "of m."),)),
    Case("it is late for less than three minutes", lateness(3, 0.33), "3m"),
    Case("all workers are late alike", {key: value for index in range(4) for key, value in lateness(index, 0.4).items()}, "30m"),
    Case("one is late by a tenth of a step", lateness(3, 0.085), "30m"),
    Case("lateness in a job whose items are of no common step",
         lateness(3, 0.33) | {lead("worker_slot_seconds", by_worker(index)): flat(0) for index in range(4)}, "30m"),
    Case("a late worker in a paused job", lateness(3, 0.33) | phases(("paused", LENGTH)), "30m"),
    Case("one worker is held up", {lead("worker_held_up", by_worker(3)): flat(1)}, "10m",
         (("BallastWorkerHeldUp", WORKER_3, "The lead has counted for minutes without worker worker-3: it is silent, or late in "
           "step after step. Others bring its slots."),)),
    Case("a worker that left is held up", {lead("worker_held_up", by_worker(3)): flat(1),
                                           lead("worker_live", by_worker(3)): flat(0)}, "30m"),
    Case("a worker is held up for moments", {lead("worker_held_up", by_worker(3)): " ".join(["1x9 0x3"] * 20)}, "30m"),
    Case("one worker hangs", {lead("worker_overtaken_seconds", by_worker(3)): grows(15)}, "6m",
         (("BallastWorkerHangs", WORKER_3, "Worker worker-3 has had work in hand for 6m 0s that others have brought since."),)),
    Case("one worker is overtaken for half a minute", {lead("worker_overtaken_seconds", by_worker(3)): flat(30)}, "30m"),
    Case("one worker is three times as slow", {lead("worker_slot_seconds", by_worker(3)): flat(0.345)}, "30m",
         (("BallastWorkerSlow", WORKER_3, "The slots of worker worker-3 take 3 times as long as those of the median worker. It "
           "gets fewer of them; nothing waits for it."),)),
    Case("one worker is half as slow again", {lead("worker_slot_seconds", by_worker(3)): flat(0.17)}, "30m"),
    Case("workers are lost again and again", {lead("lost_sessions_total"): grows(1)}, "30m",
         (("BallastWorkersLost", M, "m has given up 60 workers within 15 minutes."),)),
    Case("two preemptible workers are lost", {lead("lost_sessions_total"): then((0, 100), (1, 20), (2, 200))}, "31m"),
    Case("workers are refused", {lead("refused_workers_total"): then((0, 100), (2, 220))}, "30m",
         (("BallastWorkersRefused", M, "m refused 2 workers within 15 minutes, for other data or another arithmetic."),)),
    Case("workers were refused an hour ago", {lead("refused_workers_total"): then((0, 40), (2, 280))}, "70m"),
    Case("two kinds of arithmetic", {lead("arithmetics"): flat(2)}, "5m",
         (("BallastMixedArithmetic", M, "Workers of 2 kinds of arithmetic were given work of m: its bits depend on who computed "
           "what."),)),
    Case("a GPU is too hot", {'ballast_worker_gpu_throttled{job="m",instance="worker-2",reason="heat"}': flat(1)}, "10m",
         (("BallastGpuThrottled", {"job": "m", "instance": "worker-2", "reason": "heat"},
           "The GPU of worker worker-2 of m runs slower than it could, for heat."),)),
    Case("a GPU has a power limit", {'ballast_worker_gpu_throttled{job="m",instance="worker-2",reason="power"}': flat(1)}, "30m"),

    # ---- processes
    Case("shard 1 is gone", process("shard", 1, gone(HALF_HOUR)), "33m",
         (("BallastShardGone", {"job": "m", "role": "shard", "index": "1"}, "Shard 1 of m has not answered for a minute, while other "
           "processes do. The job waits for it, and fails after cluster.patience."),)),
    Case("shard 1 is gone for long", process("shard", 1, gone(HALF_HOUR)), "37m",
         (("BallastShardGone", {"job": "m", "role": "shard", "index": "1"}, "Shard 1 of m has not answered for a minute, while other "
           "processes do. The job waits for it, and fails after cluster.patience."),
          ("BallastTargetDown", SHARD_1, "Prometheus has had no answer of shard-1 for 5 minutes, while other processes of m "
           "answer."))),
    Case("shard 1 comes back at another address within a minute",
         process("shard", 1, gone(HALF_HOUR)) | {
             'up{job="m",instance="shard-1"}': then((1, HALF_HOUR), (None, 200)),
             'ballast_process_info{job="m",instance="10.0.0.9:9100",role="shard",index="1",exported_job="mnist"}':
             then((None, HALF_HOUR + 2), (1, 190))}, "40m"),
    Case("a shard ends before the others where the job is at its end",
         process("shard", 1, gone(HALF_HOUR)) | phases(("training", 118), ("finished", 200)), "40m"),
    Case("worker 2 does not answer", process("worker", 2, gone(HALF_HOUR)), "40m",
         (("BallastTargetDown", {"job": "m", "instance": "worker-2"}, "Prometheus has had no answer of worker-2 for 5 minutes, "
           "while other processes of m answer."),)),
    Case("worker 2 is away for three minutes", process("worker", 2, then((1, HALF_HOUR), (None, 12), (1, 180))), "36m"),
    Case("targets of somebody else are down", {'up{job="node",instance="a"}': flat(0)}, "30m"),
    Case("no file descriptor is left", {shard("connections_held_off", 1): flat(1)}, "2m",
         (("BallastConnectionsHeldOff", SHARD_1, "shard-1 of m holds off whoever wants to connect: it has no file descriptor "
           "left."),)),
    Case("it was so for a moment", {shard("connections_held_off", 1): then((0, 100), (1, 1), (0, 200))}, "25m15s"),
    Case("a lane refuses messages", {shard("messages_refused_total", 1, ',lane="0"'): then((0, 100), (40, 220))}, "30m",
         (("BallastMessagesRefused", SHARD_1, "shard-1 refused 40 messages within 15 minutes: of a process of another release, "
           "or of something that is no Ballast."),)),
    Case("workers were given up and came back, to which the lead said so",
         {lead("messages_refused_total"): then((0, 100), (3, 20), (4, 200)), lead("lost_sessions_total"): then((0, 100), (1, 20), (2, 200))},
         "31m"),
    Case("the lead refuses messages", {lead("messages_refused_total"): then((0, 100), (40, 220))}, "30m",
         (("BallastMessagesRefused", {"job": "m", "instance": "shard-0"}, "shard-0 refused 40 messages within 15 minutes: of a "
           "process of another release, or of something that is no Ballast."),)),
    Case("somebody has no key that is let in", {handshakes(1, "unknown_key"): then((0, 100), (40, 220))}, "30m",
         (("BallastHandshakesRefused", SHARD_1 | {"reason": "unknown_key"}, "shard-1 refused 40 connections within 15 minutes "
           "before they said anything: unknown_key."),)),
    Case("a port is probed", {handshakes(1, "broken_off"): then((0, 100), (400, 220))}, "30m"),

    # ---- the job
    Case("no step is made", {lead("step"): then((500, LENGTH))}, "20m",
         (("BallastJobStalled", M, "m has made no step for 15 minutes, though it is neither paused "
           "nor at its end. `ballast status` says what it waits for."),)),
    Case("a step takes ten minutes", {lead("step"): " ".join(f"{step}x39" for step in range(8))}, "70m"),
    Case("a job that begins makes no step", {lead("step"): flat(0, 40)} | phases(("waiting", 40)), "10m"),
    Case("a paused job makes no step", {lead("step"): flat(500)} | phases(("paused", LENGTH)), "60m"),
    Case("a finished job makes no step", {lead("step"): flat(500)} | phases(("finished", LENGTH)), "60m"),
    Case("an evaluation takes long", {lead("step"): flat(500)} | phases(("training", 20), ("evaluating", 300)), "60m"),
    Case("the job waits for a shard", {lead("waits"): flat(1)}, "4m",
         (("BallastJobWaits", M, "m has waited for a shard or for workers for 2 minutes; `ballast status` names them."),)),
    Case("the job waits for a minute", {lead("waits"): then((0, 100), (1, 4), (0, 200))}, "26m"),
    Case("something is wrong", {lead("trouble"): flat(1)}, "4m",
         (("BallastTrouble", M, "Something has been wrong with m for 2 minutes, though it goes on; `ballast status` says what."),)),
    Case("something is wrong with a stopped job", {lead("trouble"): flat(1), lead("waits"): flat(1)} | phases(("stopped", LENGTH)),
         "30m"),
    Case("the job fails", phases(("training", 100), ("failed", 2), (None, 200)), "30m",
         (("BallastJobFailed", M, "m has failed. The last line of `ballast run`, or the log of shard 0, says why, and how to resume "
           "it."),)),
    Case("it failed, and is resumed", phases(("training", 100), ("failed", 2), (None, 4), ("training", 200)), "30m"),
    Case("it failed half an hour ago", phases(("training", 100), ("failed", 2), (None, 200)), "45m"),
    Case("everything is gone at once", all_gone(HALF_HOUR), "36m",
         (("BallastJobGone", M, "No process of m has answered for 2 minutes. It was at work when it was seen last, and not near its "
           "end."),)),
    Case("a job ends between two scrapes", all_gone(HALF_HOUR) | {lead("steps"): flat(3601, HALF_HOUR - 1)}, "36m"),
    Case("a job is stopped, and its processes end",
         all_gone(HALF_HOUR) | phases(("training", HALF_HOUR - 3), ("stopped", 2), (None, 190)), "36m"),
    Case("a run ends, and is no target any more",
         {name: None for name in healthy()} | {name: value for name, value in all_gone(HALF_HOUR).items()
                                               if not name.startswith("up{")}, "36m"),
    Case("steps are left out", {lead("skipped_steps_total"): then((0, 100), (3, 220))}, "30m",
         (("BallastStepsSkipped", M, "m left out 3 steps or updates within 15 minutes, for gradients that were not finite."),)),
    Case("updates are left out", {shard("updates_skipped_total", 1, ',lane="0"'): then((0, 100), (3, 220))}, "30m",
         (("BallastStepsSkipped", M, "m left out 3 steps or updates within 15 minutes, for gradients that were not finite."),)),
    Case("the job goes back four times", {lead("rollbacks_total", ',cause="shard"'): then((0, 100), (1, 10), (2, 10), (3, 200)),
                                          lead("rollbacks_total", ',cause="mark"'): then((0, 130), (1, 190))}, "45m",
         (("BallastRollbackStorm", M, "m went back to a snapshot 4 times within an hour."),)),
    Case("the job goes back once", {lead("rollbacks_total", ',cause="shard"'): then((0, 100), (1, 220))}, "45m"),

    # ---- storage
    Case("a disk is full", {shard("waits_for_room", 1): flat(1)}, "2m",
         (("BallastDiskFull", SHARD_1, "shard-1 of m waits for room on its disk. What must be written there waits with it."),)),
    Case("a disk was full for a moment", {shard("waits_for_room", 1): then((0, 100), (1, 1), (0, 200))}, "25m15s"),
    Case("a disk fills up", {shard("journal_free_bytes", 1): flat(1002 * 10**6)}, "10m",
         (("BallastDiskFills", SHARD_1, "The disk of shard-1 has 1.907MiB left for a journal that is larger than that."),)),
    Case("a disk hangs", {shard("disk_busy_seconds", 1): grows(15)}, "2m",
         (("BallastDiskHangs", SHARD_1, "The oldest disk operation of shard-1 of m has not come back for 2m 0s."),)),
    Case("a disk takes three seconds, again and again", {shard("disk_busy_seconds", 1): flat(3)}, "30m"),
    Case("the journal cannot be written", {shard("journal_failures_total", 1): then((0, 100), (2, 220))}, "30m",
         (("BallastJournalFails", SHARD_1, "2 writes or syncs of the journal of shard-1 failed within 15 minutes."),)),
    Case("the journal commits nothing, and updates wait", {shard("journal_backlog_bytes", 1): flat(3 * 2**20),
                                                          shard("journal_records_total", 1): flat(70)}, "5m",
         (("BallastJournalStuck", SHARD_1, "3MiB of updates wait for the journal of shard-1, which commits nothing: its disk is full, "
           "or hangs."),)),
    Case("updates wait for a journal that is busy", {shard("journal_backlog_bytes", 1): flat(3 * 2**20)}, "30m"),
    Case("no update comes", {shard("journal_records_total", 1): flat(70)}, "30m"),
    Case("snapshots cannot be written", {shard("snapshots_total", 1, ',lane="0",outcome="failed"'): then((0, 100), (2, 220))}, "30m",
         (("BallastSnapshotsFail", SHARD_1, "2 snapshots of lanes of shard-1 could not be written within 15 minutes."),)),
    Case("snapshots are missed", {lead("snapshots_missed_total"): grows(1)}, "30m",
         (("BallastSnapshotsMissed", M, "m missed 60 snapshots within 15 minutes, because others were still being written."),)),
    Case("one snapshot is missed", {lead("snapshots_missed_total"): then((0, 100), (1, 220))}, "30m"),
    Case("copies fail", {shard("snapshot_copies_total", 1, ',outcome="failed"'): then((0, 100), (2, 220))}, "30m",
         (("BallastCopiesFail", SHARD_1, "2 copies of the part of shard-1 failed within 15 minutes."),)),
    Case("a copy takes half an hour", {lead("copying_step"): flat(200)}, "30m",
         (("BallastCopiesLate", M, "The shards of m have copied the snapshot of step 200 for more "
           "than 15 minutes."),)),
    Case("all that was refused, missed, lost or failed was an hour ago",
         {name: then((0, 20), (9, 300)) for name in (
             lead("messages_refused_total"), lead("lost_sessions_total"), lead("skipped_steps_total"),
             lead("snapshots_missed_total"), shard("messages_refused_total", 1, ',lane="0"'), shard("journal_failures_total", 1),
             shard("updates_skipped_total", 1, ',lane="0"'), shard("snapshots_total", 1, ',lane="0",outcome="failed"'),
             shard("snapshot_copies_total", 1, ',outcome="failed"'))}, "70m"),
    Case("a disk has as much room again as the journal takes", {shard("journal_free_bytes", 1): flat(10**9 + 8 * 10**8)}, "30m"),
    Case("nothing is copied", {lead("copying_step"): flat(0)}, "60m"),
)

"""Recording and alerting rules, before anybody makes YAML of them.

Durations stand in angle brackets, as in `increase(x[<15m>])`, so that a rig can run the same rules at another pace;
`<60#>` is a number of seconds.
`job` is the run, `instance` the process (docs/dashboards.md).
"""

import dataclasses
import re

MINUTE = 60


@dataclasses.dataclass(frozen=True)
class Recording:
    name: str
    expression: str


@dataclasses.dataclass(frozen=True)
class Alert:
    name: str
    severity: str     # critical: the job stands, or will; warning: it goes on and loses; info: worth to be known
    expression: str
    lasts: str        # how long before it fires
    summary: str
    description: str  # names the worker or the shard

    @property
    def anchor(self):
        """Of its section in docs/alerts.md."""
        return self.name.lower()


def paced(text, pace=1.0):
    """The durations of a text made so many times as short; whole milliseconds."""
    def shorter(found):
        seconds = int(found[1]) * {"s": 1, "m": MINUTE, "h": 60 * MINUTE, "#": 1}[found[2]] / pace
        if found[2] == "#":
            return f"{seconds:g}"
        if pace == 1.0:
            return found[1] + found[2]
        return f"{seconds:g}s" if seconds == int(seconds) else f"{round(seconds * 1000)}ms"
    return re.sub(r"<(\d+)([smh#])>", shorter, text)


# Phases in which the job means to make steps. `evaluating` makes none and may be long; `finishing` is short.
WORKS = 'phase=~"assembling|recovering|waiting|training|finishing"'
OVER_OR_PAUSED = 'phase=~"pausing|paused|finished|stopped|failed"'

RECORDINGS = (
    Recording("job:ballast_works:bool", f"max by (job) (ballast_lead_phase{{{WORKS}}})"),
    Recording("job:ballast_rests:bool", f"max by (job) (ballast_lead_phase{{{OVER_OR_PAUSED}}})"),
    Recording("job:ballast_examples:rate", "sum by (job) (rate(ballast_lead_examples_total[<5m>]))"),
    Recording("job:ballast_steps:rate", "sum by (job) (rate(ballast_lead_step[<5m>]))"),
    Recording("job_worker:ballast_lateness_seconds:mean",
              "sum by (job, worker) (rate(ballast_shard_worker_lateness_seconds_sum[<5m>]))\n"
              "/ sum by (job, worker) (rate(ballast_shard_worker_lateness_seconds_count[<5m>]))"),
    # Only where steps are divided among workers (sync and local): items of async and ssp are of no common step.
    Recording("job_worker:ballast_lateness:steps",
              "(job_worker:ballast_lateness_seconds:mean\n"
              " - on (job) group_left () quantile by (job) (0.5, job_worker:ballast_lateness_seconds:mean))\n"
              "* on (job) group_left () job:ballast_steps:rate\n"
              "and on (job) max by (job) (ballast_lead_worker_slot_seconds) > 0"),
    Recording("job_worker:ballast_slot_time:ratio",
              "max by (job, worker) (avg_over_time(ballast_lead_worker_slot_seconds[<5m>]) > 0)\n"
              "/ on (job) group_left () quantile by (job) (0.5, avg_over_time(ballast_lead_worker_slot_seconds[<5m>]) > 0)"),
)

WORKERS = (
    Alert("BallastStraggler", "warning",
          "job_worker:ballast_lateness:steps > 0.15 and on (job) job:ballast_works:bool == 1", "<3m>",
          "Worker {{ $labels.worker }} holds up {{ $labels.job }}",
          "The parts of worker {{ $labels.worker }} arrive {{ $value | humanizePercentage }} of a step later than those of the "
          "median worker of {{ $labels.job }}."),
    Alert("BallastWorkerHeldUp", "warning",
          "max by (job, worker) (ballast_lead_worker_held_up) == 1 and on (job, worker) ballast_lead_worker_live == 1\n"
          "and on (job) job:ballast_works:bool == 1", "<5m>",
          "Worker {{ $labels.worker }} of {{ $labels.job }} is not counted on",
          "The lead has counted for minutes without worker {{ $labels.worker }}: it is silent, or late in step after step. "
          "Others bring its slots."),
    Alert("BallastWorkerHangs", "warning",
          "max by (job, worker) (ballast_lead_worker_overtaken_seconds) > <60#>", "<1m>",
          "Worker {{ $labels.worker }} of {{ $labels.job }} hangs",
          "Worker {{ $labels.worker }} has had work in hand for {{ $value | humanizeDuration }} that others have brought since."),
    Alert("BallastWorkerSlow", "info",
          "job_worker:ballast_slot_time:ratio > 2 and on (job) job:ballast_works:bool == 1", "<15m>",
          "Worker {{ $labels.worker }} of {{ $labels.job }} is slow",
          "The slots of worker {{ $labels.worker }} take {{ $value | humanize }} times as long as those of the median worker. It "
          "gets fewer of them; nothing waits for it."),
    Alert("BallastWorkersLost", "warning",
          "sum by (job) (increase(ballast_lead_lost_sessions_total[<15m>])) >= 5", "<0s>",
          "Workers of {{ $labels.job }} are lost again and again",
          "{{ $labels.job }} has given up {{ $value | humanize }} workers within 15 minutes."),
    Alert("BallastWorkersRefused", "warning",
          "sum by (job) (increase(ballast_lead_refused_workers_total[<15m>])) > 0", "<0s>",
          "Workers are refused by {{ $labels.job }}",
          "{{ $labels.job }} refused {{ $value | humanize }} workers within 15 minutes, for other data or another arithmetic."),
    Alert("BallastMixedArithmetic", "warning",
          "max by (job) (ballast_lead_arithmetics) > 1", "<1m>",
          "{{ $labels.job }} is trained by different arithmetics",
          "Workers of {{ $value }} kinds of arithmetic were given work of {{ $labels.job }}: its bits depend on who computed what."),
    Alert("BallastGpuThrottled", "warning",
          'max by (job, instance, reason) (ballast_worker_gpu_throttled{reason=~"heat|hardware"}) == 1', "<5m>",
          "The GPU of {{ $labels.instance }} of {{ $labels.job }} is throttled",
          "The GPU of worker {{ $labels.instance }} of {{ $labels.job }} runs slower than it could, for {{ $labels.reason }}."),
)

PROCESSES = (
    Alert("BallastShardGone", "critical",
          'max by (job, role, index) (last_over_time(ballast_process_info{role="shard"}[<1h>]))\n'
          "unless on (job, role, index) ballast_process_info\n"
          "and on (job) ballast_process_info\n"
          "unless on (job) job:ballast_rests:bool == 1", "<1m>",
          "Shard {{ $labels.index }} of {{ $labels.job }} is gone",
          "Shard {{ $labels.index }} of {{ $labels.job }} has not answered for a minute, while other processes do. The job waits "
          "for it, and fails after cluster.patience."),
    Alert("BallastTargetDown", "warning",
          "up == 0 and on (job) ballast_process_info unless on (job) job:ballast_rests:bool == 1", "<5m>",
          "{{ $labels.instance }} of {{ $labels.job }} does not answer",
          "Prometheus has had no answer of {{ $labels.instance }} for 5 minutes, while other processes of {{ $labels.job }} answer."),
    Alert("BallastConnectionsHeldOff", "critical",
          "max by (job, instance) (ballast_shard_connections_held_off) == 1", "<30s>",
          "{{ $labels.instance }} of {{ $labels.job }} has no file descriptor left",
          "{{ $labels.instance }} of {{ $labels.job }} holds off whoever wants to connect: it has no file descriptor left."),
    Alert("BallastMessagesRefused", "warning",
          # A worker that was given up and comes back is refused one to three messages, before it says hello again.
          "sum by (job, instance) (increase(ballast_shard_messages_refused_total[<15m>])) >= 20\n"
          "or sum by (job, instance) (increase(ballast_lead_messages_refused_total[<15m>])) >= 20", "<0s>",
          "{{ $labels.instance }} of {{ $labels.job }} gets messages that it refuses",
          "{{ $labels.instance }} refused {{ $value | humanize }} messages within 15 minutes: of a process of another release, or of "
          "something that is no Ballast."),
    Alert("BallastHandshakesRefused", "warning",
          # Not broken_off: a probe of the port makes those.
          'sum by (job, instance, reason) (increase(ballast_refused_handshakes_total{reason!="broken_off"}[<15m>])) >= 20', "<0s>",
          "{{ $labels.instance }} of {{ $labels.job }} lets somebody not in ({{ $labels.reason }})",
          "{{ $labels.instance }} refused {{ $value | humanize }} connections within 15 minutes before they said anything: "
          "{{ $labels.reason }}."),
)

JOB = (
    Alert("BallastJobStalled", "critical",
          "max by (job) (changes(ballast_lead_step[<15m>])) == 0 and on (job) ballast_lead_step offset <15m>\n"
          "and on (job) min_over_time(job:ballast_works:bool[<15m>]) == 1", "<1m>",
          "{{ $labels.job }} makes no step",
          "{{ $labels.job }} has made no step for 15 minutes, though it is neither paused nor at its end. `ballast status` says "
          "what it waits for."),
    Alert("BallastJobWaits", "warning",
          "max by (job) (ballast_lead_waits) == 1 unless on (job) job:ballast_rests:bool == 1", "<2m>",
          "{{ $labels.job }} waits",
          "{{ $labels.job }} has waited for a shard or for workers for 2 minutes; `ballast status` names them."),
    Alert("BallastTrouble", "warning",
          "max by (job) (ballast_lead_trouble) == 1 unless on (job) job:ballast_rests:bool == 1", "<2m>",
          "{{ $labels.job }} is in trouble",
          "Something has been wrong with {{ $labels.job }} for 2 minutes, though it goes on; `ballast status` says what."),
    Alert("BallastJobFailed", "critical",
          'max by (job) (max_over_time(ballast_lead_phase{phase="failed"}[<15m>])) == 1\n'
          "unless on (job) job:ballast_works:bool == 1", "<0s>",
          "{{ $labels.job }} has failed",
          "{{ $labels.job }} has failed. The last line of `ballast run`, or the log of shard 0, says why, and how to resume it."),
    Alert("BallastJobGone", "warning",
          "max by (job) (last_over_time(job:ballast_works:bool[<15m>])) == 1\n"
          "and on (job) (max by (job) (up)) == 0\n"
          "unless on (job) max_over_time(job:ballast_rests:bool[<15m>]) == 1\n"
          "unless on (job) max by (job) (last_over_time(ballast_lead_step[<15m>]))\n"
          "  + <120#> * max by (job) (last_over_time(job:ballast_steps:rate[<15m>]))\n"
          "  >= max by (job) (last_over_time(ballast_lead_steps[<15m>]))", "<2m>",
          "All processes of {{ $labels.job }} are gone",
          "No process of {{ $labels.job }} has answered for 2 minutes. It was at work when it was seen last, and not near its end."),
    Alert("BallastStepsSkipped", "warning",
          "sum by (job) (increase(ballast_lead_skipped_steps_total[<15m>])) > 0\n"
          "or sum by (job) (increase(ballast_shard_updates_skipped_total[<15m>])) > 0", "<0s>",
          "{{ $labels.job }} leaves out steps",
          "{{ $labels.job }} left out {{ $value | humanize }} steps or updates within 15 minutes, for gradients that were not finite."),
    Alert("BallastRollbackStorm", "critical",
          "sum by (job) (increase(ballast_lead_rollbacks_total[<1h>])) >= 3", "<0s>",
          "{{ $labels.job }} goes back again and again",
          "{{ $labels.job }} went back to a snapshot {{ $value | humanize }} times within an hour."),
)

STORAGE = (
    Alert("BallastDiskFull", "critical",
          "max by (job, instance) (ballast_shard_waits_for_room) == 1", "<30s>",
          "The disk of {{ $labels.instance }} of {{ $labels.job }} is full",
          "{{ $labels.instance }} of {{ $labels.job }} waits for room on its disk. What must be written there waits with it."),
    Alert("BallastDiskFills", "warning",
          "ballast_shard_journal_free_bytes - ballast_shard_journal_kept_back_bytes < ballast_shard_journal_disk_bytes", "<5m>",
          "The disk of {{ $labels.instance }} of {{ $labels.job }} fills up",
          "The disk of {{ $labels.instance }} has {{ $value | humanize1024 }}B left for a journal that is larger than that."),
    Alert("BallastDiskHangs", "critical",
          "max by (job, instance) (ballast_shard_disk_busy_seconds) > 5", "<30s>",
          "The disk of {{ $labels.instance }} of {{ $labels.job }} hangs",
          "The oldest disk operation of {{ $labels.instance }} of {{ $labels.job }} has not come back for {{ $value | humanizeDuration }}."),
    Alert("BallastJournalFails", "warning",
          "sum by (job, instance) (increase(ballast_shard_journal_failures_total[<15m>])) > 0", "<0s>",
          "The journal of {{ $labels.instance }} of {{ $labels.job }} cannot be written",
          "{{ $value | humanize }} writes or syncs of the journal of {{ $labels.instance }} failed within 15 minutes."),
    Alert("BallastJournalStuck", "critical",
          "min by (job, instance) (min_over_time(ballast_shard_journal_backlog_bytes[<1m>])) > 0\n"
          "and on (job, instance) increase(ballast_shard_journal_records_total[<1m>]) == 0", "<30s>",
          "The journal of {{ $labels.instance }} of {{ $labels.job }} stands still",
          "{{ $value | humanize1024 }}B of updates wait for the journal of {{ $labels.instance }}, which commits nothing: its disk is "
          "full, or hangs."),
    Alert("BallastSnapshotsFail", "warning",
          'sum by (job, instance) (increase(ballast_shard_snapshots_total{outcome="failed"}[<15m>])) > 0', "<0s>",
          "{{ $labels.instance }} of {{ $labels.job }} cannot write snapshots",
          "{{ $value | humanize }} snapshots of lanes of {{ $labels.instance }} could not be written within 15 minutes."),
    Alert("BallastSnapshotsMissed", "warning",
          "sum by (job) (increase(ballast_lead_snapshots_missed_total[<15m>])) >= 3", "<0s>",
          "{{ $labels.job }} misses snapshots",
          "{{ $labels.job }} missed {{ $value | humanize }} snapshots within 15 minutes, because others were still being written."),
    Alert("BallastCopiesFail", "warning",
          'sum by (job, instance) (increase(ballast_shard_snapshot_copies_total{outcome="failed"}[<15m>])) > 0', "<0s>",
          "{{ $labels.instance }} of {{ $labels.job }} cannot copy snapshots",
          "{{ $value | humanize }} copies of the part of {{ $labels.instance }} failed within 15 minutes."),
    Alert("BallastCopiesLate", "warning",
          "max by (job) (ballast_lead_copying_step) > 0 and on (job) changes(ballast_lead_copying_step[<15m>]) == 0\n"
          "and on (job) ballast_lead_copying_step offset <15m> > 0", "<1m>",
          "The copies of {{ $labels.job }} are late",
          "The shards of {{ $labels.job }} have copied the snapshot of step {{ $value }} for more than 15 minutes."),
)

GROUPS = {"workers": WORKERS, "processes": PROCESSES, "job": JOB, "storage": STORAGE}
ALERTS = tuple(alert for group in GROUPS.values() for alert in group)

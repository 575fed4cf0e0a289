"""The boards that show the job as a whole and its workers: overview, stragglers, communication."""

from panels import (BYTES, EACH_SECOND, HERTZ, NUMBER, RATE_OF_BYTES, SECONDS, SHARE, Board, Row, each_second, heat, lines,
                    mean, number, quantile, ranking, table)

PHASES = ("assembling", "recovering", "waiting", "training", "evaluating", "pausing", "paused", "finishing", "finished",
          "stopped", "failed")

# The phase by its place in PHASES.
PHASE_NUMBER = " or ".join(f'(ballast_lead_phase{{@job,phase="{phase}"}} == 1) * {place}' if place else
                           f'(ballast_lead_phase{{@job,phase="{phase}"}} == 1) - 1' for place, phase in enumerate(PHASES))

# How much later than the median of all workers each one's part of a step arrives, in steps of the median length.
LATENESS = mean("ballast_shard_worker_lateness_seconds", "@job", "worker")
EXCESS = f"({LATENESS}) - scalar(quantile(0.5, {LATENESS}))"
OF_A_STEP = f"({EXCESS}) * scalar(sum(rate(ballast_lead_step{{@job}}[@])))"

YES_NO = {0: "no", 1: "yes"}

# Of each worker's steps, by phase; and the worker whose steps take longest.
PHASE_TIMES = mean("ballast_shard_worker_phase_seconds", "@job", "worker, phase")
LONGEST = f"(topk(1, sum by (worker) ({PHASE_TIMES})) >= bool 0)"

# Where steps are divided among workers (sync and local): items are of no common step.
IN_ROUNDS = "and on () max(ballast_lead_worker_slot_seconds{@job}) > 0"
THROUGHPUT = "sum(rate(ballast_lead_examples_total{@job}[@]))"
SLOT_TIMES = "(max by (worker) (ballast_lead_worker_slot_seconds{@job}) > 0)"


def overview():
    state = Row("State", (
        number("Phase", NUMBER, PHASE_NUMBER, about="What the job does now. `ballast status` says why, where it waits.",
               words=dict(enumerate(PHASES)), bad=PHASES.index("failed")),
        number("Step", NUMBER, ("ballast_lead_step{@job}", "done"), ("ballast_lead_steps{@job}", "of"),
               about="Steps that every chunk has decided, and those of the whole job."),
        number("Epochs done", NUMBER, "ballast_lead_epoch{@job}", about="Whole epochs.", width=3),
        number("Workers", NUMBER, "ballast_lead_sessions{@job}", about="Workers that are live.", width=3),
        number("Waits", NUMBER, "ballast_lead_waits{@job}", warning=1, words=YES_NO, width=3,
               about="Whether the job waits for a shard or for workers; `ballast status` says for whom."),
        number("Trouble", NUMBER, "ballast_lead_trouble{@job}", warning=1, words=YES_NO, width=3,
               about="Whether something is wrong though the job goes on; `ballast status` says what."),
        number("Trains since", SECONDS, "ballast_lead_training_seconds{@job}",
               about="Time since this lead began to train."),
    ))
    speed = Row("Speed", (
        lines("Examples per second", EACH_SECOND, ("sum(rate(ballast_lead_examples_total{@job}[@]))", "examples"),
              about="Throughput, over all workers."),
        lines("Steps per second", EACH_SECOND, ("rate(ballast_lead_step{@job}[@])", "steps"),
              derived="the gauge `ballast_lead_step` grows like a counter; a rollback is its reset",
              about="It falls to zero in evaluations, pauses and recoveries."),
        lines("Where a step goes", SHARE,
              ("sum by (phase) (rate(ballast_worker_phase_seconds_sum{@job}[@])) / "
               "scalar(sum(rate(ballast_worker_phase_seconds_sum{@job}[@])))", "{{phase}}"),
              derived="seconds of each phase over those of all phases", stacked=True,
              about="Shares of all workers' time. Much `pull` is a wait for weights: for others, or for the network."),
    ))
    learning = Row("Learning", (
        lines("Training loss", NUMBER, ("ballast_lead_recent_loss{@job}", "last steps"),
              ("ballast_lead_train_loss{@job}", "last epoch"),
              about="Mean over the last steps, and over the last whole epoch (0 before the first)."),
        lines("Loss of evaluations", NUMBER, ("ballast_lead_validation_loss{@job}", "validation"),
              ("ballast_lead_best_loss{@job}", "best validation"), ("ballast_lead_test_loss{@job}", "test"),
              about="Of the last evaluation on each split; 0 before the first."),
        lines("Accuracy", SHARE, ("ballast_lead_validation_accuracy{@job}", "validation"),
              ("ballast_lead_best_accuracy{@job}", "best validation"), ("ballast_lead_test_accuracy{@job}", "test"),
              about="Share of right answers in the last evaluation on each split; 0 before the first."),
        lines("Other metrics of evaluations", NUMBER, ("ballast_lead_validation_metric{@job}", "{{metric}}, validation"),
              ("ballast_lead_best_metric{@job}", "{{metric}}, best"), ("ballast_lead_test_metric{@job}", "{{metric}}, test"),
              needs="metrics", about="What evaluations tell beside loss and accuracy."),
        lines("Learning rate", NUMBER, ("ballast_lead_learning_rate{@job}", "learning rate"),
              about="Of the newest step whose factors are known.", width=6),
        lines("Gradient norm", NUMBER, ("ballast_lead_gradient_norm{@job}", "norm"), width=6,
              about="Of the newest decided step; 0 unless the job clips by global norm."),
        number("Best step", NUMBER, "ballast_lead_best_step{@job}", about="The step with the best validation; 0: none.",
               height=7),
    ))
    everyone = Row("Every process, and every job of this Prometheus", (
        table("Jobs", "max by (job) (ballast_lead_step)", "max by (job) (ballast_lead_steps)",
              "max by (job) (ballast_lead_sessions)", "max by (job) (ballast_lead_trouble)",
              columns=(("job", "run"), ("Value #A", "step"), ("Value #B", "of"), ("Value #C", "workers"),
                       ("Value #D", "trouble")), width=10,
              about="All runs that this Prometheus scrapes, whichever one is chosen above."),
        table("Processes", "ballast_process_info{@job}",
              columns=(("instance", "process"), ("role", "role"), ("index", "index or name"), ("exported_job", "job")),
              width=10, about="Who answers now."),
        number("Dropped series", NUMBER, "max(ballast_metrics_dropped_series_total{@job})", warning=1,
               about="Series that a process did not export because a metric had too many of them."),
    ))
    return Board("ballast-overview", "Ballast: overview",
                 "Does the job train, how fast, does it learn, and is anything wrong?", (state, speed, learning, everyone))


def stragglers():
    lateness = Row("Who is late", (
        heat("Lateness of each worker", SECONDS, (LATENESS.replace("{@job}", "{@worker}"), "{{worker}}"),
             about="How long after a step's first contribution each worker's arrives, in the mean. One row that "
                   "stands out is a straggler; all rows at once are the network, a shard, or the machine. In sync and local."),
        ranking("Later than the median worker", SECONDS, (EXCESS, "{{worker}}"), width=12,
                about="Lateness now, less that of the median worker: who to look at first. Of two workers, both differ "
                      "from the median by half of what they differ by."),
        lines("Part of a step", SHARE, (OF_A_STEP, "{{worker}}"), warning=0.15, width=12, height=8,
              derived="seconds of lateness times steps a second",
              about="The same in steps: 0.5 is half a step later than the median. Above 0.15 for long, the worker holds "
                    "the job up, and the alert BallastStraggler fires."),
    ))
    lead = Row("What the lead knows of the workers", (
        lines("Time of a slot", SECONDS, ("ballast_lead_worker_slot_seconds{@worker}", "{{worker}}"),
              about="By which the lead divides a step: a slow worker gets fewer slots. 0: not known (sync and local)."),
        lines("Lag", SECONDS, ("ballast_lead_worker_lag_seconds{@worker}", "{{worker}}"),
              about="From a step's opening until the worker begins its first slot (sync and local)."),
        lines("Uplink", RATE_OF_BYTES, ("ballast_lead_worker_uplink_bytes_per_second{@worker}", "{{worker}}"),
              about="How fast the worker's contributions get through; 0: not known. Loopback gives fantastic figures."),
        lines("Slots", EACH_SECOND, ("rate(ballast_lead_worker_slots_total{@worker}[@])", "{{worker}}"), stacked=True,
              about="The worker's slots that became part of steps, each second."),
        lines("Step at hand", NUMBER, ("ballast_lead_worker_step{@worker}", "{{worker}}"),
              about="The step that the worker means to compute next."),
        lines("Last step, by phase", SECONDS,
              ("avg by (worker, phase) (ballast_lead_worker_phase_seconds{@worker})", "{{worker}} {{phase}}"),
              about="Where each worker's last finished step went. Choose a worker above to see one alone."),
        lines("Not counted on", NUMBER, ("ballast_lead_worker_held_up{@worker}", "{{worker}}"), warning=1, words=YES_NO,
              about="1 while the worker is silent, late, or was late in several steps in a row; `ballast status` says why."),
        lines("Overtaken", SECONDS, ("ballast_lead_worker_overtaken_seconds{@worker}", "{{worker}}"), warning=60,
              about="For how long the worker has had in hand what others have brought since. One that hangs."),
        lines("Live", NUMBER, ("ballast_lead_worker_live{@worker}", "{{worker}}"), words=YES_NO,
              about="1 for a live worker, 0 for one that was lost or left."),
    ))
    phases = Row("Where the workers' steps go", (
        lines("Phases, by the shards", SECONDS,
              (mean("ballast_shard_worker_phase_seconds", "@worker", "worker, phase"), "{{worker}} {{phase}}"), width=12,
              about="Means, as contributions report them; also of workers that nobody scrapes."),
        lines("Phases, by the workers", SECONDS, (mean("ballast_worker_phase_seconds", "@own", "instance, phase"),
                                                  "{{instance}} {{phase}}"), width=12,
              about="Means, as the workers themselves measure. A worker whose forward and backward are like the others' "
                    "and whose push or pull is not has a slow link."),
        lines("Steps computed", EACH_SECOND, ("rate(ballast_worker_steps_total{@own}[@])", "{{instance}}"),
              about="Steps that the worker computed slots of."),
        lines("Slots computed", EACH_SECOND, ("rate(ballast_worker_slots_total{@own}[@])", "{{instance}}"),
              about="More than what became part of steps: the rest was somebody else's as well."),
        lines("Corrupt examples", NUMBER, ("ballast_worker_corrupt_examples_total{@own}", "{{instance}}"),
              about="Examples of the worker's data that could not be read (data.corrupt: skip)."),
    ))
    recoverable = Row("What slow workers cost", (
        lines("Recoverable throughput", EACH_SECOND, (f"{THROUGHPUT} {IN_ROUNDS}", "as it is"),
              (f"{THROUGHPUT} / clamp_min(1 - max({OF_A_STEP}), 0.05) {IN_ROUNDS}", "nobody later than the median"),
              (f"{THROUGHPUT} * sum(1 / clamp_max({SLOT_TIMES}, scalar(quantile(0.5, {SLOT_TIMES})))) / "
               f"sum(1 / {SLOT_TIMES}) {IN_ROUNDS}", "nobody slower than the median"), width=12, needs="rounds",
              derived="examples each second, times what steps would be shorter, or slots faster",
              about="Examples each second, and two estimates: if the latest worker's part of a step arrived when the median "
                    "worker's does, and if slots of workers that are slower than the median took as long as the median's "
                    "(steps being divided by speed). `ballast analyze` replays the steps and says it exactly, by worker and cause."),
        ranking("Worst and median worker, by phase", SECONDS, (f"max by (phase) ({PHASE_TIMES})", "{{phase}}, worst"),
                (f"quantile by (phase) (0.5, {PHASE_TIMES})", "{{phase}}, median"), width=12, height=7,
                about="Mean time of each phase of a step: of the worker for which it is longest, and of the median worker. The "
                      "phase in which they differ says why steps wait."),
        lines("Step of the slowest worker", SECONDS,
              (f"sum by (phase) ({PHASE_TIMES} * on (worker) group_left () {LONGEST})", "{{phase}}"), width=12, stacked=True,
              about="The phases of the worker whose steps take longest, one on top of the other."),
        lines("Step of the median worker", SECONDS, (f"quantile by (phase) (0.5, {PHASE_TIMES})", "{{phase}}"), width=12,
              stacked=True, about="The median of each phase over all workers, one on top of the other: the same height would be the same pace."),
    ))
    computing = Row("What workers compute", (
        lines("Examples computed", EACH_SECOND, ("rate(ballast_worker_examples_total{@own}[@])", "{{instance}}"), width=6,
              about="Of all slots that the worker computes, whether or not they count."),
        lines("Gradients that were not finite", NUMBER, ("increase(ballast_worker_non_finite_slots_total{@own}[@])", "{{instance}}"),
              warning=1, width=6, about="Slots with an infinity or a NaN. Of one worker alone: its machine, or its part of the data."),
        lines("Gradient norms", NUMBER, ("ballast_worker_gradient_norm{@own}", "{{instance}} {{group}}"), width=12,
              about="Of a slot now and then, by group of layers. Layers that grow apart, or go to 0, learn badly; a worker whose "
                    "norms are unlike the others' computes something else."),
        lines("Processors, workers", SHARE, ("rate(ballast_process_processor_seconds_total{@own}[@])", "{{instance}}"),
              about="Processor time of the process each second: 2 are two processors."),
        lines("Stolen from workers", SHARE, ("rate(ballast_machine_steal_seconds_total{@own}[@])", "{{instance}}"), warning=0.2,
              about="Processor time that the hypervisor gave to others while the worker's machine had work, of all its processors."),
        lines("Workers held back by a quota", SHARE, ("rate(ballast_process_throttled_seconds_total{@own}[@])", "{{instance}}, time"),
              ("rate(ballast_process_throttled_periods_total{@own}[@]) / "
               "clamp_min(rate(ballast_process_quota_periods_total{@own}[@]), 0.001)", "{{instance}}, periods"), warning=0.2,
              derived="seconds each second, and periods of all periods",
              about="Of the worker's control group: its limit of processors is too low. Time is that of all processors together."),
    ))
    gpus = Row("GPUs", (
        lines("Utilization", SHARE, ("ballast_worker_gpu_utilization{@own}", "{{instance}}"), needs="gpu", width=6,
              about="Share of the last moments in which the GPU ran a kernel, of any process."),
        lines("Memory", BYTES, ("ballast_worker_gpu_memory_used_bytes{@own}", "{{instance}} used"),
              ("ballast_worker_gpu_memory_bytes{@own}", "{{instance}} all"), needs="gpu", width=6,
              about="In use by all processes, and what there is."),
        lines("Clock", HERTZ, ("ballast_worker_gpu_clock_hertz{@own}", "{{instance}}"), needs="gpu", width=6,
              about="Of the GPU's processors. One below its peers is a straggler with a reason."),
        lines("Throttled", NUMBER, ("ballast_worker_gpu_throttled{@own}", "{{instance}} {{reason}}"), needs="gpu",
              warning=1, words=YES_NO, width=6, about="1 while the GPU runs slower than it could, by reason."),
    ))
    return Board("ballast-stragglers", "Ballast: stragglers", "Which worker holds the job up, and why?",
                 (lateness, lead, phases, recoverable, computing, gpus), ("worker",))


def communication():
    traffic = Row("Payload", (
        lines("Shards receive and send", RATE_OF_BYTES,
              (each_second("ballast_shard_bytes_total", "@lane", "instance, direction"), "{{instance}} {{direction}}"),
              width=12, about="in: contributions; out: weights."),
        lines("Workers receive and send", RATE_OF_BYTES,
              (each_second("ballast_worker_bytes_total", "@own", "instance, direction"), "{{instance}} {{direction}}"),
              width=12, about="in: weights; out: gradients. Hold it against the line rate of the host."),
        lines("In flight", BYTES, ("ballast_worker_in_flight_bytes{@own}", "{{instance}}"),
              about="Gradient bytes sent and without a receipt: the path, or the shard, is behind."),
        lines("Push, 99 of 100", SECONDS, (quantile(0.99, "ballast_worker_phase_seconds", '@own,phase="push"', "instance"),
                                           "{{instance}}"), about="Time of the push phase of a step."),
        lines("Pull, 99 of 100", SECONDS, (quantile(0.99, "ballast_worker_phase_seconds", '@own,phase="pull"', "instance"),
                                           "{{instance}}"), about="Time of the pull phase of a step: a wait for weights."),
    ))
    exposed = Row("What no computing hides", (
        lines("Exposed communication", SHARE, ("rate(ballast_worker_exposed_seconds_total{@own}[@])", "{{instance}}"), width=12,
              about="Share of the time in which the worker computes nothing while its contributions have no receipt, or weights "
                    "that it asked for are not there. Waits for who is slower are part of it."),
        lines("Contributions, by worker", RATE_OF_BYTES, ("sum by (worker) (rate(ballast_shard_worker_bytes_total{@worker}[@]))", "{{worker}}"),
              width=12, about="Payload that servers have had from each worker."),
        lines("In vain, by worker", EACH_SECOND,
              ('sum by (worker, outcome) (rate(ballast_shard_worker_contributions_total{@worker,outcome!="accepted"}[@]))',
               "{{worker}} {{outcome}}"), width=12,
              about="Contributions that were covered already, too old, or of an older timeline, by who had computed them."),
        ranking("Refusals, by sender", NUMBER, ("sum by (worker, reason) (ballast_shard_worker_refusals_total{@job})", "{{worker}} {{reason}}"),
                needs="refusals", width=12, height=7,
                about="Messages that servers have refused so far, by who sent them (none: of whom no contribution was taken) and why."),
    ))
    again = Row("Work and messages in vain", (
        lines("Contributions, by outcome", EACH_SECOND,
              (each_second("ballast_shard_contributions_total", "@lane", "outcome"), "{{outcome}}"),
              about="accepted, duplicate (already covered), superseded (replaced by a containing sum), stale (of an older "
                    "timeline), expired (too old). Some duplicates are the price of backup work."),
        lines("Silence of the lead", SECONDS, ("ballast_worker_lead_silence_seconds{@own}", "{{instance}}"), warning=15,
              about="Time since the worker heard of its lead, which answers each of its heartbeats. Above 15 s it is not ready."),
        lines("Sent again", EACH_SECOND, ("rate(ballast_worker_retries_total{@own}[@])", "{{instance}}"),
              about="Pulls and pushes that were sent again. Many: loss on the way, or a lane that is too slow to answer."),
        lines("Duplicates, by worker", EACH_SECOND, ("rate(ballast_worker_duplicates_total{@own}[@])", "{{instance}}"),
              about="Contributions whose work somebody else had covered before."),
        lines("Slots given up", EACH_SECOND, ("rate(ballast_worker_slots_given_up_total{@own}[@])", "{{instance}}"),
              about="Slots computed in vain: no lane called them, and the next one needed their buffers. If it goes on, "
                    "lanes have too little memory (cluster.memory_mib), or fewer slots (training.slots) would do."),
        lines("Versions that are gone", EACH_SECOND, (each_second("ballast_shard_gone_total", "@lane", "instance"), "{{instance}}"),
              ("rate(ballast_worker_gone_total{@own}[@])", "{{instance}}"),
              about="Pulls of a version that was no longer held, by shard and by worker: whoever asks is two steps late."),
        lines("Served the version before", EACH_SECOND,
              (each_second("ballast_shard_served_older_total", "@lane", "instance"), "{{instance}}"),
              about="Pulls answered with the version before the newest: whoever asks is a step late."),
        lines("Refused messages", EACH_SECOND,
              (each_second("ballast_shard_messages_refused_total", "@lane", "instance"), "{{instance}}"),
              ("rate(ballast_lead_messages_refused_total{@job}[@])", "lead"),
              about="Messages that could not be read or were refused: another version, or another program."),
        lines("Refused handshakes", EACH_SECOND,
              ("sum by (instance, reason) (rate(ballast_refused_handshakes_total{@job}[@]))", "{{instance}} {{reason}}"),
              about="Connections that were refused before they said anything, by reason: somebody without a key that is let in, "
                    "or a probe of a port (broken_off)."),
    ))
    readers = Row("Slow readers", (
        lines("Replies that wait", NUMBER, ("sum by (instance) (ballast_shard_pending_replies{@lane})", "{{instance}}"),
              about="Weight replies that wait now for a slow reader."),
        lines("Replies that had to wait", EACH_SECOND,
              (each_second("ballast_shard_replies_deferred_total", "@lane", "instance"), "{{instance}}"),
              about="Each second. A worker on a thin link makes some."),
        lines("Reports to the lead", EACH_SECOND, (each_second("ballast_shard_reports_total", "@lane", "instance"), "{{instance}}"),
              about="Messages of the lanes."),
    ))
    return Board("ballast-communication", "Ballast: communication", "Is the network, or a slow reader, what steps wait for?",
                 (traffic, exposed, again, readers), ("shard", "lane", "worker"))

"""The memory of servers stays within what they were given, whatever that is, while two hundred sessions beside the job's
workers offer contributions, are called for them and never pay: a third stops reading, a third reads slowly, a third
vanishes. The job goes on, and has equal bits at every budget.

BALLAST_BUDGET_STEPS: of each run (6). BALLAST_BUDGET_PLOT=FILE.svg: draws every step's peak."""

import json
import os
import time

import harness
import jobs
import keys
import metrics
import plot
from peaks import MEBIBYTE, Peaks, least_memory

STEPS = int(os.environ.get("BALLAST_BUDGET_STEPS", "6"))
PLOT = os.environ.get("BALLAST_BUDGET_PLOT")
SESSIONS = 200
SHARDS = 2
SLOTS = 8
COMPUTE_MS = 200      # a slot: so long that on no machine the job is over before those who owe something are late
ALLOWANCE = 64        # MiB: freed memory stays with the process, and ZeroMQ's buffers are not of the budget
PARAMETERS = 8        # of 1024 x 1024 floats each
BEGUN = 2             # steps that are over before anybody else comes
PATIENCE = 300


def model(steps):
    text = jobs.emulated(steps=steps, slots=SLOTS, compute_ms=COMPUTE_MS, job="budget")
    parameters = "\n".join(f"    - {{name: p{i}.weight, shape: [1024, 1024]}}" for i in range(PARAMETERS))
    head, rest = text.split("  parameters:\n")
    return head + "  parameters:\n" + parameters + "\n" + rest[rest.index("data:"):].replace("shards: 1, workers: 1", f"shards: {SHARDS}, workers: 2")


class Budget(keys.ByHand):
    patience = PATIENCE

    def setUp(self):
        super().setUp()
        for number in range(SESSIONS):
            self.ballast("keygen", self.made, "--add-worker", f"debtor-{number}")
        self.hand_out()

    def begin(self, name, memory, steps):
        """The servers of the job in that memory (None: as much as a server takes by itself), and their pages."""
        text = model(steps)
        if memory:
            text = text.replace("cluster: {", f"cluster: {{memory_mib: {memory}, ")
        self.file = self.job(text, name=f"{name}.yaml")
        self.address_file = self.folder / f"{name}.lead"
        pages = [f"127.0.0.1:{port}" for port in harness.free_ports(SHARDS)]
        servers = [self.serve(name, 0, pages[0])]
        self.wait_for("the lead", self.address_file.exists)
        self.lead = self.address_file.read_text().strip()
        servers.append(self.serve(name, 1, pages[1]))
        return servers, pages

    def digests(self, memory, debtors):
        """Those of the job in that memory, and what was in use."""
        name = f"{memory or 'default'}{'' if debtors else '-alone'}"
        servers, pages = self.begin(name, memory, STEPS)
        peaks = Peaks(servers, pages)
        began = time.monotonic()
        workers = [self.worker(f"{name}-one"), self.worker(f"{name}-two")]
        hostile = self.owing(name) if debtors else None
        for process in [*workers, *servers]:
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        seconds = time.monotonic() - began
        peaks.end()
        self.tell(name, memory, peaks, seconds, self.told_by(name, hostile))
        folder = self.folder / f"{name}-gathered"
        self.ballast("gather", *(self.folder / f"{name}-shard-{shard}" for shard in range(SHARDS)), "--run-dir", folder)
        return self.digest_of(folder, "--step", str(STEPS)), peaks

    def serve(self, name, shard, page):
        words = ["--lead", self.lead] if shard else ["--lead", "tcp://127.0.0.1:*", "--address-file", self.address_file]
        process, self.logs_of[f"{name}-server-{shard}"] = self.start_by_hand(
            f"{name}-server-{shard}", harness.SERVER, "--job", self.file, "--shard", shard, *words, "--metrics", page,
            "--database", self.folder / f"{name}-shard-{shard}", "--keys", self.at_servers)
        return process

    def owing(self, name):
        self.wait_for("steps", lambda: self.step() >= BEGUN)
        return self.start_process(harness.HOSTILE, self.lead, "owe", SESSIONS, PATIENCE,
                                  *(self.made / f"debtor-{number}.key" for number in range(SESSIONS)),
                                  out=self.folder / f"{name}-debtors.log")

    def told_by(self, name, hostile):
        if hostile is None:
            return {}
        hostile.terminate()
        hostile.wait(self.patience)
        said = json.loads(harness.text_of(self.folder / f"{name}-debtors.log"))
        self.assertGreaterEqual(said["sessions"], SESSIONS, said)
        for kind in ("offers", "calls", "vanished"):
            self.assertGreater(said[kind], 0, said)
        return said

    def tell(self, name, memory, peaks, seconds, said):
        most = self.most_resident(peaks)
        held = max(max(shard.values()) for shard in peaks.contributions) / MEBIBYTE
        print(f"{name}: {STEPS / seconds:.2f} steps/s; resident at most {most} MiB of {memory or 'what it takes'}, contributions "
              f"{held:.1f} MiB; {peaks.waits:.0f} turns waited for room, {peaks.taken_back:.0f} connections ended; {said}", flush=True)
        self.assertEqual(peaks.beyond, [])
        if memory:
            self.assertLessEqual(most, memory + ALLOWANCE, name)

    @staticmethod
    def most_resident(peaks):
        """MiB."""
        return max(max(shard.values()) for shard in peaks.resident) // MEBIBYTE

    def test_equal_bits_within_every_budget_beside_who_never_pays(self):
        least = least_memory(self, model(STEPS))
        reference = self.reference(self.job(model(STEPS)), {"model.compute_ms": 0})
        drawn = {}
        for memory, debtors in ((least, False), (least, True), (2 * least, True), (None, False)):
            with self.subTest(memory=memory, debtors=debtors):
                found, peaks = self.digests(memory, debtors)
                drawn[(memory, debtors)] = peaks
                self.expect_equal_bits(found, reference)
                if memory == least:
                    self.assertGreater(peaks.waits, 0, "there was room for everything")
                if debtors:
                    self.assertGreater(peaks.taken_back, 0, "nobody was late with what it owes")
        # A budget has parts that are not used up: what strangers cost shows beside a run without them.
        alone, beside = (self.most_resident(drawn[(least, debtors)]) for debtors in (False, True))
        self.assertLessEqual(beside, alone + ALLOWANCE)
        if PLOT:
            self.draw(drawn)

    def test_who_comes_later_computes_its_part_in_the_least_memory(self):
        """Where nothing has room, what it is tried with is called last of all, when its holder would have it as well."""
        servers, pages = self.begin("later", least_memory(self, model(100_000)), 100_000)
        workers = [self.worker("first"), self.worker("second")]
        self.wait_for("steps", lambda: self.step() >= BEGUN)
        workers.append(self.worker("third"))

        def has_brought_a_step():
            page = metrics.scrape(f"http://{pages[0]}/metrics")
            return sum(metrics.values(page, "ballast_lead_worker_slots_total", worker="third")) >= SLOTS
        self.wait_for("its slots", has_brought_a_step)
        self.ballast("stop", self.lead, "--keys", self.made / "operator.key")
        for process in [*workers, *servers]:
            self.assertEqual(process.wait(self.patience), 0, self.logs())

    def draw(self, drawn):
        charts = []
        for (memory, debtors), peaks in drawn.items():
            lines = {f"shard {shard}, {what}": sorted((step, peak / MEBIBYTE) for step, peak in by_step.items())
                     for what, shards in (("resident", peaks.resident), ("contributions", peaks.contributions))
                     for shard, by_step in enumerate(shards)}
            title = f"{memory or 'what it takes by itself'} MiB{f', beside {SESSIONS} sessions that never pay' if debtors else ''}"
            charts.append(plot.Chart(title, "step", "MiB at most", lines, memory))
        plot.write(charts, PLOT)


class WholeGradient(harness.ClusterCase):
    """Where no chunk's update is decided before all of them are there, each lane's reserve is all of its chunks."""

    STEPS = 4
    CLIP = "clip: {global_norm: 0.4}"

    def test_clipping_by_global_norm_goes_on_in_the_least_memory(self):
        text = model(self.STEPS)
        clipped = text.replace(jobs.MOMENTUM, f"{jobs.MOMENTUM}\n  {self.CLIP}")
        least = least_memory(self, clipped)
        self.assertGreater(least, least_memory(self, text))
        job = self.job(clipped)
        summary = self.start(job, overrides={"cluster.memory_mib": least}).finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))


if __name__ == "__main__":
    harness.main()

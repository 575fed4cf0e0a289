"""The jobs of a soak, one of each mode in turn, and what must have come of them whatever happened meanwhile."""

import json
import pathlib
import shutil
import sys
import types

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import harness  # pylint: disable=wrong-import-position
import jobs  # pylint: disable=wrong-import-position
import journals  # pylint: disable=wrong-import-position
import cluster as soak_cluster  # pylint: disable=wrong-import-position

MODES = ("sync", "ssp", "local")
STEPS = 300
SLOTS = 8
USUAL_WORKERS = 4
BUSY = 0.7  # of a step's time that the emulated computation takes
CHECK_PATIENCE = 1800  # seconds that a reference or a replay may take beside other work

harness.PATIENCE = CHECK_PATIENCE


class Case(harness.ClusterCase):
    """The folder of one job and what compares its weights."""

    patience = CHECK_PATIENCE

    def runTest(self):  # pylint: disable=invalid-name
        """There is no test to run: a soak is no unittest."""


class Work:
    def __init__(self, number, mode, seconds, chance):
        """A job that takes about so long where nothing happens."""
        self.mode = mode
        self.case = Case()
        self.case.setUp()
        self.journaled = mode == "ssp"
        self.account = self.case.folder / "account" if self.journaled else None
        self.text = self._text(number, seconds, chance)
        self.keeper = None

    def _text(self, number, seconds, chance):
        optimizer = jobs.OPTIMIZERS[chance.choice(sorted(jobs.OPTIMIZERS))]
        training = {"sync": optimizer,
                    "local": jobs.LOCAL[chance.choice(("averaging", "diloco"))].replace(", partition: mixed", ""),
                    "ssp": f"mode: ssp\n  staleness: {{bound: {chance.choice((4, 6, 12))}, damping: inverse}}\n"
                           f"  {jobs.OPTIMIZERS[chance.choice(('momentum', 'adam', 'nesterov', 'adamw'))]}"}[self.mode]
        every_steps = chance.choice((5, 10, 20))
        of_a_slot = 1000 * seconds / STEPS * BUSY * USUAL_WORKERS / SLOTS
        compute_ms = round(of_a_slot / (2 if self.mode == "local" else 1), 1)
        text = jobs.in_small_chunks(jobs.emulated(STEPS, SLOTS, compute_ms, f"soak-{number}", training, every_steps))
        text = text.replace("cluster: {shards: 1, workers: 1}",
                            f"cluster: {{shards: {soak_cluster.SHARDS}, lanes: {chance.choice((1, 2))}, workers: {USUAL_WORKERS}, "
                            "start_workers: 2}")
        if self.journaled:
            text = text.replace("durability: {", "durability: {mode: journal, fsync: always, ")
        return text

    # ---- what is kept of it while it runs

    def run(self, cluster):
        return types.SimpleNamespace(folder=cluster.folder)

    def begin(self, cluster):
        if self.journaled:
            folders = [disk.folder / "kept" for disk in cluster.disks]
            self.keeper = journals.Keeper(self.case, self.run(cluster), folders)

    # ---- what must have come of it

    def check(self, cluster):
        """Raises AssertionError; all processes have ended."""
        if self.keeper:
            self.keeper.end()
            self.keeper.take()
        folder = self.case.folder / "gathered"
        self.case.ballast("gather", *[cluster.folder / f"shard-{shard}" for shard in range(soak_cluster.SHARDS)],
                          "--link", "--run-dir", folder)
        digest = self.case.digest_of(folder)
        self.case.assertEqual(digest["step"], STEPS, digest)
        inspected = json.loads(self.case.ballast("inspect", folder, "--json").stdout)
        if self.journaled:
            self._check_items(cluster, digest)
        else:
            self.case.expect_equal_bits(digest, self.case.reference(cluster.job, jobs.AT_ONCE))
        return inspected

    def _check_items(self, cluster, digest):
        """Each item once for each chunk, in one timeline, and the weights are a replay of what is recorded."""
        run = self.run(cluster)
        owned = journals.chunks_of(self.case, run, soak_cluster.SHARDS)
        account = journals.Account(self.account, SLOTS)
        for shard, chunks in enumerate(owned):
            found = journals.records(self.case, run, soak_cluster.SHARDS, shard, self.keeper.folders[shard])
            journals.expect_kept(self.case, account, found, chunks)
        final = journals.replayed(self.case, run, soak_cluster.SHARDS, dict(enumerate(self.keeper.folders)))
        self.case.assertEqual(set(final["updates"]), {STEPS * SLOTS}, final)
        self.case.expect_equal_bits(digest, final)

    def keep_logs(self, cluster, folder):
        """The logs and the job, where somebody can look at them later."""
        shutil.copytree(cluster.logs, folder / "logs", dirs_exist_ok=True)
        shutil.copy(cluster.job, folder / "job.yaml")

    def drop(self):
        self.case.doCleanups()

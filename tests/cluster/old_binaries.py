"""Programs of the protocol's version before and of this one in one job, in every pairing: equal bits, and nobody is lost.

$BALLAST_OLD_BINARIES names a folder with the old ballast, ballast-server and ballast-worker; without it nothing can be
tried. `ballast run` starts the programs beside it, so each case has a folder of its own with the programs that it wants.
"""

import os
import pathlib
import shutil
import unittest.mock

import harness
import jobs

OLD = os.environ.get("BALLAST_OLD_BINARIES")
PROGRAMS = ("ballast", "ballast-server", "ballast-worker")
NEW = {"ballast": harness.BALLAST, "ballast-server": harness.SERVER, "ballast-worker": harness.WORKER}
STEPS = 60
SPEAKS_OLD = "speaks protocol version 13, and is"


def program(name, age):
    return pathlib.Path(OLD) / name if age == "old" else NEW[name]


class Mixed(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.programs = self.folder / "programs"
        self.programs.mkdir()

    # ---- which program is which

    def use(self, name, age):
        """From now on."""
        place = self.programs / name
        place.unlink(missing_ok=True)
        shutil.copy2(program(name, age), place)  # the command looks beside the file that it really is

    def use_by(self, name, option, ages):
        """By the number or the name after an option; from now on."""
        cases = "".join(f'  *"{option} {value} "*) exec {program(name, age)} "$@" ;;\n' for value, age in ages.items())
        place = self.programs / name
        place.unlink(missing_ok=True)
        place.write_text(f'#!/bin/sh\ncase "$* " in\n{cases}esac\nexit 9\n')
        place.chmod(0o755)

    def begin(self, text, command="new", servers="new", workers="new", **arguments):
        self.use("ballast", command)
        for name, option, ages in (("ballast-server", "--shard", servers), ("ballast-worker", "--name", workers)):
            if isinstance(ages, dict):
                self.use_by(name, option, ages)
            else:
                self.use(name, ages)
        with unittest.mock.patch.object(harness, "BALLAST", self.programs / "ballast"):
            return self.start(self.job(text), **{"options": ["--workers", "2", "--shards", "2"], **arguments})

    # ---- what is expected

    def expect_both_commands_know(self, run):
        """The old and the new command line ask the lead how it goes."""
        for age in ("old", "new"):
            answer = harness.call(program("ballast", age), "status", "--json", run.lead())
            self.assertEqual(answer.returncode, 0, f"{age}: {answer.stderr}")
            self.assertIn('"phase"', answer.stdout)

    def expect_bits_of_one_version(self, run, summary):
        digest = self.digest_of(run.folder)
        reference = self.reference(run.folder / "job.yaml", jobs.AT_ONCE)
        self.expect_equal_bits(digest, reference)
        self.assertEqual(summary["steps"], STEPS, summary)

    def log(self, run, name):
        return harness.text_of(run.folder / "logs" / f"{name}.log")

    def check(self, text=None, **programs):
        run = self.begin(text or jobs.emulated(steps=STEPS, compute_ms=5, every_steps=10), **programs)
        run.wait_for_step(5)
        self.expect_both_commands_know(run)
        summary = run.finish()
        self.assertEqual((summary["timeline"], summary["rollbacks"], summary["worker_restarts"]), (1, 0, 0), summary)
        self.expect_bits_of_one_version(run, summary)
        self.expect_all_slots(summary, slots=8)
        return run


class Pairings(Mixed):
    def test_old_workers_with_new_servers(self):
        run = self.check(workers="old")
        self.assertIn(SPEAKS_OLD, self.log(run, "shard-0"))

    def test_new_workers_with_old_servers(self):
        run = self.check(servers="old")
        self.assertIn("the lead " + SPEAKS_OLD, self.log(run, "worker-0"))

    def test_an_old_and_a_new_worker_with_new_servers(self):
        self.check(workers={"worker-0": "old", "worker-1": "new"})

    def test_an_old_and_a_new_worker_with_old_servers(self):
        self.check(servers="old", workers={"worker-0": "old", "worker-1": "new"})

    def test_an_old_shard_beside_a_new_lead(self):
        for workers in ("old", "new"):
            with self.subTest(workers=workers):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.check(servers={"0": "new", "1": "old"}, workers=workers)

    def test_a_new_shard_beside_an_old_lead(self):
        for workers in ("old", "new"):
            with self.subTest(workers=workers):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.check(servers={"0": "old", "1": "new"}, workers=workers)

    def test_an_old_command_runs_new_programs(self):
        self.check(command="old")

    def test_a_new_command_runs_old_programs(self):
        self.check(servers="old", workers="old")

    def test_items_with_a_journal(self):
        """The order of items is not the reference's: each is applied once."""
        text = (jobs.glyphs(steps=24, slots=8)
                .replace("training:\n", "training:\n  mode: ssp\n  staleness: {bound: 4, damping: inverse}\n"))
        for programs in ({"workers": "old"}, {"servers": "old"}, {"servers": {"0": "new", "1": "old"}},
                         {"servers": {"0": "old", "1": "new"}}):
            with self.subTest(programs):
                run = self.begin(text, name=f"run-{len(self._started)}", overrides={"durability.mode": "journal"}, **programs)
                summary = run.finish()
                self.assertEqual(summary["steps"], 24)
                self.expect_all_slots(summary, 8)
                self.assertEqual(summary["rollbacks"], 0)
                self.assertEqual(summary["staleness"]["expired"], 0, summary)


class Controls(Mixed):
    def check_controlled(self, command, servers):
        run = self.begin(jobs.emulated(steps=STEPS, compute_ms=20, every_steps=10), command=servers, servers=servers,
                         workers=servers)
        run.wait_for_step(3)
        asks = program("ballast", command)
        for words in (["pause"], ["resume"]):
            answer = harness.call(asks, *words, run.folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
        answer = harness.call(asks, "stop", run.folder)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("with a snapshot of step", answer.stdout)
        self.assertEqual(run.wait(), 3, run.logs())

    def test_an_old_command_line_controls_a_new_job(self):
        self.check_controlled("old", "new")

    def test_a_new_command_line_controls_an_old_job(self):
        self.check_controlled("new", "old")


class Upgrades(Mixed):
    """Process by process, under the job's own command, which starts again whoever is killed."""

    def begin_all(self, age):
        run = self.begin(jobs.emulated(steps=STEPS * 4, compute_ms=10, every_steps=10), command=age, servers=age, workers=age)
        run.wait_for_step(5)
        return run

    def replace(self, run, role, index, age):
        """One process by one of the other version, and waits until the job goes on with it."""
        self.use(f"ballast-{role}", age)
        pid = run.kill(role, index)
        self.assertIsNotNone(pid)
        run.wait_until("its next life", lambda: run.entry(role, index)["pid"] not in (None, pid))
        step = (run.status() or {}).get("step", 0)
        run.wait_for_step(step + 3)

    def finish(self, run):
        summary = run.finish()
        self.expect_equal_bits(self.digest_of(run.folder), self.reference(run.folder / "job.yaml", jobs.AT_ONCE))
        self.assertEqual(summary["steps"], STEPS * 4, summary)
        return summary

    def replace_all(self, run, order, age):
        for role, index in order:
            self.replace(run, role, index, age)

    def test_servers_first(self):
        run = self.begin_all("old")
        self.replace_all(run, (("server", 1), ("server", 0), ("worker", 0), ("worker", 1)), "new")
        self.finish(run)

    def test_workers_first(self):
        run = self.begin_all("old")
        self.replace_all(run, (("worker", 0), ("worker", 1), ("server", 0), ("server", 1)), "new")
        self.finish(run)
        # Whoever spoke the old version to the old lead speaks the new one to the new lead.
        self.assertIn("the lead speaks protocol version 14", self.log(run, "worker-0"))

    def test_back_again(self):
        run = self.begin_all("new")
        self.replace_all(run, (("server", 0), ("server", 1), ("worker", 0)), "old")
        self.finish(run)


def unfit():
    if not OLD:
        return "BALLAST_OLD_BINARIES names no folder with programs of the version before"
    missing = [name for name in PROGRAMS if not (pathlib.Path(OLD) / name).exists()]
    return f"{OLD} has no {', '.join(missing)}" if missing else None


if __name__ == "__main__":
    harness.main(unfit)

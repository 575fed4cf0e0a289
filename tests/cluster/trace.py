"""What processes have measured of a job's last steps, asked for and put on one clock: every slot, contribution and reply is
there, once and in order, whatever the machines' clocks say; who hangs is named; who has no right to ask is told."""

import collections
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness
import jobs

HAS_CLOCKS = shutil.which("unshare") and subprocess.run(
    ["unshare", "--time", "--monotonic", "1000", "--fork", "true"], capture_output=True, check=False).returncode == 0


class Asking(harness.ClusterCase):
    def asked(self, where, *words, code=0):
        """The events of a trace, and what else the command said."""
        answer = harness.ballast("trace", where, "-o", self.folder / "trace.json", *words, cwd=self.folder)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        return (json.loads((self.folder / "trace.json").read_text())["traceEvents"] if code == 0 else None), answer.stderr

    def names(self, events):
        return {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}

    def whole_steps(self, events):
        """Processes are asked one after the other: those of them that all were through with when the first was asked."""
        steps = sorted({event["args"]["step"] for event in events if event["name"] == "apply"})
        return steps[5:-20]

    def expect_whole(self, events, slots, workers, lanes):
        names = self.names(events)
        self.assertEqual(len(names), 1 + workers + lanes, names)
        self.assertEqual(collections.Counter(name.split()[0] for name in names.values()),
                         {"lead": 1, "worker": workers, "shard": lanes})
        steps = self.whole_steps(events)
        self.assertGreater(len(steps), 20)
        for step in steps:
            of_step = [event for event in events if event.get("args", {}).get("step") == step]
            computed = collections.Counter(event["args"]["slots"] for event in of_step if event["name"] == "backward")
            self.assertEqual(set(computed), {f"{slot} to {slot}" for slot in range(slots)}, step)
            # A contribution of a worker to a lane is that of the lane from the worker.
            def chunks(name, ends):
                return collections.Counter(
                    (names[event["pid"]], event["args"][ends], event["args"]["chunk"], event["args"]["slots"])
                    for event in of_step if event["name"] == name)
            pushed = {(worker, lane, chunk, slot) for worker, lane, chunk, slot in chunks("push", "lane")}
            came = {(worker, lane, chunk, slot) for lane, worker, chunk, slot in chunks("sum", "worker")}
            self.assertEqual(pushed, came, step)
            applied = collections.Counter(event["args"]["chunk"] for event in of_step if event["name"] == "apply")
            self.assertEqual(set(applied.values()), {1}, step)
            self.assertEqual({chunk for _, _, chunk, _ in pushed}, set(applied), step)
        return steps

    def works(self, events, name):
        return {(event["pid"], event["args"]["step"], event["args"]["chunk"], event["args"]["slots"]) for event in events
                if event["name"] == name and event["ph"] != "e"}

    def ends_of(self, events):
        """By id, when what began has ended."""
        return {event["id"]: event["ts"] for event in events if event["ph"] == "e"}

    def expect_in_order(self, events, most_micros):
        """No message comes before it is sent, and none takes a second where clocks differ by days."""
        ends = self.ends_of(events)
        for name in ("on its way", "weights on their way"):
            took = [ends[event["id"]] - event["ts"] for event in events if event["ph"] == "b" and event["name"] == name]
            self.assertGreater(len(took), 20, name)
            self.assertLess(max(took), most_micros, name)


class Trace(Asking):
    def test_every_slot_and_every_message_of_the_last_steps_is_there(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=10)),
                         options=["--workers", "3", "--shards", "2", "--lanes", "2"])
        run.wait_for_step(60)
        events, told = self.asked(run.folder, "--steps", "50")
        self.expect_whole(events, slots=8, workers=3, lanes=4)
        self.expect_in_order(events, 2_000_000)
        self.assertNotIn("clock", told)
        self.assertRegex(told, r"\d+ records of 8 processes, steps \d+ to \d+, in ")
        self.assertEqual({event["args"]["worker"] for event in events if event["name"] == "reply" and event["ph"] == "b"},
                         {name for name in self.names(events).values() if name.startswith("worker ")})
        few, _ = self.asked(run.folder, "--steps", "2")
        self.assertLess(len(few), len(events) / 3)
        self.assertEqual(run.control("stop").returncode, 0)

    def test_a_decision_on_the_whole_gradient_shows(self):
        text = jobs.emulated(steps=100000, compute_ms=10).replace("  slots:", "  clip: {global_norm: 1000}\n  slots:")
        run = self.start(self.job(text), options=["--workers", "2"])
        run.wait_for_step(30)
        events, _ = self.asked(run.folder, "--steps", "10")
        decided = [event["args"]["step"] for event in events if event["name"] == "decision" and event["ph"] == "b"]
        self.assertGreater(len(decided), 5)
        self.assertEqual(len(set(decided)), len(decided))
        ends = self.ends_of(events)
        waited = [ends[event["id"]] - event["ts"] for event in events if event["name"] == "covered" and event["ph"] == "b"]
        self.assertGreater(max(waited), 0)
        self.assertEqual(run.control("stop").returncode, 0)

    def test_items_and_their_journal_show(self):
        text = jobs.fixed(steps=100000, compute_ms=10).replace("  slots:", "  mode: async\n  slots:")
        run = self.start(self.job(text), options=["--workers", "2"])
        run.wait_for_step(10)
        events, _ = self.asked(run.folder, "--steps", "5")
        names = {event["name"] for event in events}
        self.assertLessEqual({"journal", "apply", "push", "reply", "backward"}, names)
        # Of each update the journal had a record before.
        updates = self.works(events, "apply")
        self.assertGreater(len(updates), 100)
        newest = max(step for _, step, _, _ in updates)
        self.assertLess(newest, 10 + 5 + 1000, "steps, not versions of items")
        self.assertGreater(len(self.works(events, "journal") & updates), 0.9 * len(updates))
        self.assertEqual(run.control("stop").returncode, 0)

    def journal_waits(self, fsync, slow):
        """Of each record what it waited, and of that the disk and syncs, in microseconds; each sync takes `slow` ms more."""
        delay = self.folder / "delay"
        delay.write_text(str(slow))
        text = jobs.fixed(steps=100000, compute_ms=10).replace("  slots:", "  mode: async\n  slots:")
        name = f"run-{fsync}"
        run = self.start(self.job(text), name=name, options=["--workers", "2", "--shards", "1"],
                         overrides={"durability.mode": "journal", "durability.fsync": fsync},
                         environment={"LD_PRELOAD": str(harness.SLOW_DISK), "BALLAST_SLOW_DISK": str(delay)})
        run.wait_for_step(10)
        events, _ = self.asked(run.folder, "--steps", "5")
        ends = self.ends_of(events)
        waits = [(ends[event["id"]] - event["ts"], event["args"]["disk_us"], event["args"]["sync_us"])
                 for event in events if event["name"] == "journal" and event["ph"] == "b"]
        self.assertEqual(run.control("stop").returncode, 0)
        self.assertGreater(len(waits), 20)
        for all_of_it, disk, syncs in waits:
            self.assertLessEqual(disk, max(all_of_it, 1))
            self.assertLessEqual(syncs, disk)
        return [sum(each) / len(waits) for each in zip(*waits, strict=True)]

    def test_a_journal_that_waits_for_its_disk_says_so_and_one_that_does_not_does_not(self):
        slow = 20
        _, disk, syncs = self.journal_waits("always", slow)
        self.assertGreater(disk, 900 * slow)
        self.assertGreater(syncs, 900 * slow)
        _, disk, syncs = self.journal_waits("never", slow)  # but for a snapshot's, at which a segment ends
        self.assertLess(disk, 500 * slow)
        self.assertLess(syncs, 500 * slow)

    def test_one_that_hangs_is_named_and_the_others_are_told_of(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=10)), options=["--workers", "2"])
        run.wait_for_step(20)
        hangs = self.start_worker(run, "hangs")
        self.wait_for("it to train", lambda: any(s["name"] == "hangs" and s["live"] and s["slots"] > 3
                                                 for s in run.status()["sessions"]))
        hangs.send_signal(signal.SIGSTOP)
        try:
            events, told = self.asked(run.folder)
        finally:
            hangs.send_signal(signal.SIGCONT)
        self.assertIn("worker hangs: does not answer", told)
        self.assertGreater(sum(event["name"] == "backward" for event in events), 50)
        self.assertEqual(run.control("stop").returncode, 0)

    def test_one_that_the_lead_has_given_up_is_missing(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=10)), options=["--workers", "2"])
        run.wait_for_step(20)
        gone = run.entry("worker", 1)["pid"]
        os.kill(gone, signal.SIGSTOP)
        try:
            run.wait_until("it to be given up", lambda: [s["name"] for s in run.status()["sessions"] if s["live"]] == ["worker-0"])
            told = harness.ballast("analyze", run.folder).stdout
            raw = self.folder / "raw.json"
            harness.ballast("trace", run.folder, "--raw", "-o", raw)
            of_file = harness.ballast("analyze", raw, "--json").stdout
        finally:
            os.kill(gone, signal.SIGCONT)
        self.assertTrue(told.startswith("missing, "), told)
        self.assertRegex(told, r"\n  worker worker-1 was lost at step \d+, and is not back\n")
        missing = [line for line in map(json.loads, of_file.splitlines()) if "absent" in line]
        self.assertEqual([line["who"] for line in missing], ["worker worker-1"], of_file)
        self.assertEqual(run.control("stop").returncode, 0)

    def test_a_server_that_stood_still_is_named_and_nobody_else(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=20)),
                         options=["--workers", "3", "--shards", "2"])
        run.wait_for_step(40)
        server = run.entry("server", 1)["pid"]
        os.kill(server, signal.SIGSTOP)
        try:
            time.sleep(2)
            held = harness.ballast("analyze", run.folder).stdout
            time.sleep(3)
        finally:
            os.kill(server, signal.SIGCONT)
        self.assertRegex(held, "^NO PROGRESS: .*shard 1")
        self.assertNotIn("worker-0", held)

        def analyzed():
            """Once steps after it, from which the one it was in can be told, are there; it stays among the last hundred for long."""
            told = harness.ballast("analyze", run.folder, "--json", "--steps", "100", "--windows", "1").stdout
            found = [json.loads(line) for line in told.splitlines()]
            return found if any("slowdown" in one and one["last_step"] > step + 4 for one in found) else None
        step = run.status()["step"]
        found = run.wait_until("an analysis", analyzed)
        self.assertEqual(run.control("stop").returncode, 0)
        costly = [one for one in found if "cause" in one and max(one["gain"], one["cost"]) > 1.1]
        self.assertEqual([(one["who"], one["cause"]) for one in costly], [("shard 1", "passing stops")], found)
        self.assertGreater(costly[0]["lost_s"], 3)

    def test_an_analysis_that_is_followed_says_when_the_first_one_comes(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=50)), options=["--workers", "1"])
        run.wait_until("the lead", lambda: (run.folder / "lead.address").exists())
        out = self.folder / "followed"
        follows = self.start_process(harness.BALLAST, "analyze", run.folder, "--follow", "--steps", "10", out=out)
        self.wait_for("an analysis", lambda: ", steps " in out.read_text())
        follows.terminate()
        self.assertRegex(out.read_text(), r"at step \d+ of 100000: the first analysis comes with step \d+0\n"
                                          r"job \S+, steps \d+ to \d*9")
        self.assertEqual(run.control("stop").returncode, 0)

    def test_a_raw_trace_is_not_written_over_one_for_perfetto(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=10)), options=["--workers", "1"])
        run.wait_for_step(20)
        for options in ([], ["--raw"]):
            subprocess.run([harness.BALLAST, "trace", run.folder, *options], cwd=self.folder, check=True)
        self.assertIn("traceEvents", json.loads((self.folder / "trace.json").read_text()))
        self.assertIn("format", json.loads((self.folder / "raw-trace.json").read_text()))
        answer = harness.ballast("analyze", self.folder / "trace.json")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("is a trace for Perfetto", answer.stderr)
        self.assertEqual(run.control("stop").returncode, 0)

    def test_what_cannot_be_asked_or_written_is_said(self):
        run = self.start(self.job(jobs.emulated(steps=100000, compute_ms=10)), options=["--workers", "1"])
        run.wait_for_step(5)
        answer = harness.ballast("trace", run.folder, "-o", self.folder / "no" / "such")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("cannot write", answer.stderr)
        answer = harness.ballast("trace", run.folder, "--steps", "0")
        self.assertEqual(answer.returncode, 2)
        with open("/dev/full", "w", encoding="utf-8") as full:
            answer = subprocess.run([harness.BALLAST, "trace", run.folder, "-o", "-"], stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("cannot write to standard output", answer.stderr)
        out = harness.ballast("trace", run.folder, "-o", "-")
        self.assertGreater(len(json.loads(out.stdout)["traceEvents"]), 10)
        self.assertEqual(run.control("stop").returncode, 0)
        answer = harness.ballast("trace", "tcp://127.0.0.1:9")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("ballast: no lead answers", answer.stderr)
        answer = harness.ballast("analyze", self.folder / "nosuch.json")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("nothing of that name is here", answer.stderr)


@unittest.skipUnless(HAS_CLOCKS, "needs time namespaces: root, and a kernel that has them")
class Clocks(Asking):
    def test_machines_whose_clocks_differ_by_days_are_on_one(self):
        job = self.job(jobs.emulated(steps=100000, compute_ms=10).replace("shards: 1", "shards: 2"))
        address = self.folder / "lead"
        ahead = ["unshare", "--time", "--monotonic", "864000", "--fork", "--kill-child"]
        less_ahead = ["unshare", "--time", "--monotonic", "1234", "--fork", "--kill-child"]
        self.start_by_hand("server-0", *less_ahead, harness.SERVER, "--job", job, "--shard", "0", "--lead",
                           "tcp://127.0.0.1:*", "--database", self.folder / "0", "--address-file", address)
        self.wait_for("the lead", address.exists)
        lead = address.read_text().strip()
        self.start_by_hand("server-1", harness.SERVER, "--job", job, "--shard", "1", "--lead", lead, "--database",
                           self.folder / "1")
        self.start_by_hand("one", *ahead, harness.WORKER, "--lead", lead, "--name", "one")
        self.start_by_hand("two", harness.WORKER, "--lead", lead, "--name", "two")
        self.wait_for("steps", lambda: (harness.status_of(lead) or {"step": 0})["step"] > 60)
        events, _ = self.asked(lead, "--steps", "60")
        names = self.names(events)
        self.expect_whole(events, slots=8, workers=2, lanes=2)
        self.expect_in_order(events, 2_000_000)
        self.assertLess(max(event["ts"] for event in events), 60_000_000)
        links = [event for event in events if event["name"].startswith("link to ")]  # as they are over tcp
        self.assertEqual({event["name"] for event in links}, {f"link to {name}" for name in names.values() if name != "lead"})
        self.assertGreater(min(event["args"]["round trip, us"] for event in links), 0)
        self.assertLess(max(event["args"]["round trip, us"] for event in links), 1_000_000)
        self.assertEqual(harness.ballast("stop", lead).returncode, 0)


if __name__ == "__main__":
    harness.main()

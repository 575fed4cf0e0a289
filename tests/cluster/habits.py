"""Sessions of one key that offer whole steps and, when they are called, each do what once stopped a lane for good: they
connect again and keep what they had, they close, they pay what is of no use, they say that they have nothing, they take no
calls any more. Each beside a job of its own, in the least memory that it can have: no step waits long, the wait does not
come again and again, memory stays within its bounds, and the job ends with the reference's bits.

BALLAST_HABITS_TIER=long: crowds, too, which cost the machine most."""

import json
import os
import time
import unittest

import harness
import jobs
import keys
from peaks import MEBIBYTE, Peaks, least_memory

SESSIONS = 24          # of the one key
# Where it is their number that costs: what each of so many does. A lane has places for 1,024.
CROWDS = {"crowd": ("stop-reading", 400), "readers": ("read-no-weights", 64)}
LASTS = 15             # seconds of each habit
BEGUN = 3              # steps that are over before anybody else comes
# What is called and does not come is taken back after 2 s, and a second for its 64 KB at most. Then the key has failed,
# and nothing is called of it for 2 s, then for 4, then for 8: so there are three such waits in that time at most, one
# after the other. The rest is for a machine that does much else.
LONG = 2               # seconds from one step to the next: less is nobody's call that does not come
MOST_AT_ONCE = 8
MOST_IN_ALL = 12       # of all that are long
MOST_CALLS = 40        # of the key, which pays none: what has room at first, then one at a time, and ever more seldom
ALLOWANCE = 64         # MiB: freed memory stays with the process, and ZeroMQ's buffers are not of the budget

LONG_TIER = os.environ.get("BALLAST_HABITS_TIER") == "long"
# In turns: each habit, and the mode of the job beside it. A crowd costs as much as all others of a turn.
HABITS = ((("stop-reading", "sync"), ("connect-again-and-keep", "sync"), ("close", "sync"), ("pay-in-another-timeline", "sync"),
           ("talk-without-end", "sync"), ("offer-no-items", "async")),
          (("pay-in-another-size", "sync"), ("have-none", "sync"), ("take-no-calls", "sync"), ("read-no-weights", "sync"),
           ("stop-reading", "async"), ("close", "async")),
          *(((("crowd", "sync"),),) if LONG_TIER else ()))


def model(mode="sync"):
    text = jobs.in_small_chunks(jobs.emulated(steps=100_000, compute_ms=15, every_steps=10_000, job="habits"))
    return text.replace("training:\n", f"training:\n  mode: {mode}\n") if mode != "sync" else text


class Neighbour:
    """A job, the text of which is given, beside which strangers live."""

    def __init__(self, case, habit, mode, text):
        self.case, self.habit, self.mode = case, habit, mode
        self.memory = least_memory(case, text)
        self.name = f"{habit}-{mode}"
        self.file = case.job(text.replace("cluster: {", f"cluster: {{memory_mib: {self.memory}, "), name=f"{self.name}.yaml")
        self.database = case.folder / f"{self.name}-shard"
        self.address_file = case.folder / f"{self.name}.lead"
        self.page = f"127.0.0.1:{harness.free_port()}"
        self.server, _ = case.start_by_hand(
            f"{self.name}-server", harness.SERVER, "--job", self.file, "--shard", 0, "--lead", "tcp://127.0.0.1:*",
            "--address-file", self.address_file, "--metrics", self.page, "--database", self.database, "--keys", case.at_servers)

    def begin(self):
        self.case.wait_for("the lead", self.address_file.exists)
        self.lead = self.address_file.read_text().strip()
        self.workers = [self.case.start_by_hand(f"{self.name}-{worker}", harness.WORKER, "--lead", self.lead, "--name", worker,
                                                "--keys", self.case.made / "worker.key")[0] for worker in ("one", "two")]
        self.peaks = Peaks([self.server], [self.page])

    def step(self):
        return self.peaks.seen[0][-1][1] if self.peaks.seen[0] else 0

    def let_in(self):
        self.case.wait_for("steps", lambda: self.step() >= BEGUN)
        self.out = self.case.folder / f"{self.name}-strangers.out"
        habit, sessions = CROWDS.get(self.habit, (self.habit, SESSIONS))
        self.strangers = self.case.start_process(harness.HOSTILE, self.lead, "habit", habit, sessions, 10 * LASTS,
                                                 self.case.made / "stranger.key", out=self.out)
        self.began = time.monotonic()

    def send_away(self):
        self.ended = time.monotonic()
        self.strangers.terminate()

    def judge(self, most_at_once=MOST_AT_ONCE, most_in_all=MOST_IN_ALL):
        """What the strangers said, once they have gone. Given in seconds: the longest wait, and all long ones together."""
        waits = self.waits(self.began, self.ended)
        self.strangers.wait(self.case.patience)
        text = harness.text_of(self.out)
        said = json.loads(text.splitlines()[-1]) if text.startswith("{") else text
        long_waits = [wait for wait in waits if wait > LONG]
        most = max(self.peaks.resident[0].values()) // MEBIBYTE
        held = max(self.peaks.contributions[0].values()) // 1024
        print(f"{self.name}: {len(waits) - 1} steps, waits of {[round(wait, 1) for wait in long_waits]} s; resident {most} of "
              f"{self.memory} MiB, contributions {held} KiB, {self.peaks.taken_back:.0f} connections ended; kept for readers "
              f"{self.peaks.kept / 1024:.0f} KiB, {self.peaks.held_up:.0f} updates waited, {self.peaks.cut:.0f} cut; {said}", flush=True)
        self.case.assertLessEqual(max(waits), most_at_once, self.name)
        self.case.assertLessEqual(sum(long_waits), most_in_all, self.name)
        self.case.assertEqual(self.peaks.beyond, [])
        self.case.assertLessEqual(most, self.memory + ALLOWANCE, self.name)
        return said

    def waits(self, begin, end):
        """The seconds from each step to the next, those before the first and after the last included."""
        moments = [begin, *(moment for moment, _ in self.peaks.seen[0] if begin < moment < end), end]
        return [after - before for before, after in zip(moments, moments[1:])]

    def stop(self):
        before = self.step()
        self.case.wait_for("more steps", lambda: self.step() > before + 2)
        answer = harness.ballast("stop", self.lead, "--keys", self.case.made / "operator.key")
        self.case.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.peaks.end()
        for process in [*self.workers, self.server]:
            self.case.assertEqual(process.wait(self.case.patience), 0, self.case.logs())
        return answer.stdout


class Habits(keys.ByHand):
    def setUp(self):
        super().setUp()
        self.ballast("keygen", self.made, "--add-worker", "stranger")
        self.hand_out()

    def live_beside(self, habits):
        """Each habit beside a job of its own, all at a time; what came of each."""
        neighbours = [Neighbour(self, habit, mode, model(mode)) for habit, mode in habits]
        for neighbour in neighbours:
            neighbour.begin()
        for neighbour in neighbours:
            neighbour.let_in()
        time.sleep(LASTS)
        for neighbour in neighbours:
            neighbour.send_away()
        for neighbour in neighbours:
            with self.subTest(neighbour.name):
                yield neighbour, neighbour.judge()

    def expect_habit(self, neighbour, said):
        """It did what it is here for, again and again."""
        habit = neighbour.habit
        if habit == "read-no-weights":
            self.assertGreater(neighbour.peaks.kept, 0, said)
            return self.assertGreater(said["pulls"], SESSIONS, said)
        if habit == "offer-no-items":
            return self.assertGreaterEqual(said["refused"], SESSIONS, said)
        self.assertGreater(said["calls"], 1, said)
        self.assertLess(said["calls"], MOST_CALLS, said)
        if habit == "talk-without-end":
            self.assertGreater(said["words"], 100_000, said)
        return None

    def test_no_habit_holds_up_a_job(self):
        for habits in HABITS:
            for neighbour, said in self.live_beside(habits):
                self.expect_habit(neighbour, said)
                stopped = neighbour.stop()
                if neighbour.mode == "sync":  # else bits depend on the order of arrival
                    self.expect_bits_so_far(neighbour.file, stopped, [neighbour.database], name=f"{neighbour.name}-gathered")

    @unittest.skipUnless(LONG_TIER, "a crowd")
    def test_readers_of_nothing_hold_up_a_job_of_larger_chunks_hardly(self):
        """Each holds another version of a chunk of 256 KiB, so updates wait. They are cut after 2 s and 4 s for those bytes;
        thereafter, as they share a key, after half a second."""
        neighbour = Neighbour(self, "readers", "sync", jobs.even(100_000, jobs.MOMENTUM, 10_000, compute_ms=15))
        neighbour.begin()
        neighbour.let_in()
        time.sleep(2 * LASTS)
        neighbour.send_away()
        neighbour.judge(most_at_once=10, most_in_all=15)
        self.assertGreater(neighbour.peaks.held_up, 0)
        self.assertGreater(neighbour.peaks.cut, 0)
        self.expect_bits_so_far(neighbour.file, neighbour.stop(), [neighbour.database])


if __name__ == "__main__":
    harness.main()

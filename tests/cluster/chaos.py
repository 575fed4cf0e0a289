"""Workers that come, stand still, wake up and are killed at random while a job runs. $BALLAST_CHAOS_STEPS is the job's
length, $BALLAST_CHAOS_SEED what is drawn; both are told when it fails."""

import os
import random
import signal
import time

import harness
import jobs

STEPS = int(os.environ.get("BALLAST_CHAOS_STEPS", "100"))
SEED = int(os.environ.get("BALLAST_CHAOS_SEED", "1"))
MOST_WORKERS = 5


class Chaos(harness.ClusterCase):
    """The run's own two workers are left alone, so that the job goes on; the others are ours."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.workers = []
        self.started = 0
        self.done = {"start": 0, "kill": 0, "stop": 0, "wake": 0}

    def do_something(self, run):
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        choices = ["kill", "stop", "wake"] if self.workers else []
        if len(self.workers) < MOST_WORKERS:
            choices += ["start", "start"]
        # What has not happened yet comes first: the job may be over soon.
        action = self.random.choice([choice for choice in choices if not self.done[choice]] or choices)
        self.done[action] += 1
        if action == "start":
            self.started += 1
            self.workers.append(self.start_worker(run, f"guest-{self.started}"))
            return
        numbers = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "wake": signal.SIGCONT}
        self.random.choice(self.workers).send_signal(numbers[action])

    def test_random_lives_cost_no_bits(self):
        job = self.job(jobs.emulated(steps=STEPS, compute_ms=20))
        with self.subTest(steps=STEPS, seed=SEED):
            run = self.start(job, options=["--workers", "2", "--shards", "3", "--lanes", "2"])
            run.wait_for_step(1)
            while run.process.poll() is None:
                self.do_something(run)
                time.sleep(self.random.uniform(0.1, 0.8))
            summary = run.finish_but_for(self.workers)
            self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
            self.expect_all_slots(summary, slots=8)
            guests = [slots for name, slots in summary["slots_by_session"].items() if name.startswith("guest-")]
            self.assertTrue(guests and any(guests), summary)
            self.assertTrue(all(self.done.values()), self.done)


if __name__ == "__main__":
    harness.main()

"""Jobs whose servers and workers are killed at random moments, many of them, and their bits.

$BALLAST_KILLS_JOBS jobs (default 3) of $BALLAST_KILLS_STEPS steps (default 100), drawn from $BALLAST_KILLS_SEED. All must
equal the reference; in at least half of them a rollback must have begun past step 0 and cost steps, or the kills prove
nothing. What is told at the end are the figures of all jobs.
"""

import os
import random
import time

import harness
import jobs

JOBS = int(os.environ.get("BALLAST_KILLS_JOBS", "3"))
STEPS = int(os.environ.get("BALLAST_KILLS_STEPS", "100"))
SEED = int(os.environ.get("BALLAST_KILLS_SEED", "1"))
PATIENCE = harness.PATIENCE + STEPS / 5  # seconds
SHARDS = 3
WORKERS = 2

# How many of each die in one blow: one shard, the lead's, any two, all three, a shard and a worker, or a worker.
BLOWS = ([1], [0], [2], [0, 1], [1, 2], [0, 1, 2], [1, "worker"], [0, "worker"], ["worker"])


class RandomKills(harness.ClusterCase):
    def strike(self, run, chance, deaths):
        """Kills those who are alive among a blow's victims; `deaths` are all moments at which shards died."""
        for victim in chance.choice(BLOWS):
            if victim == "worker":
                run.kill("worker", chance.randrange(WORKERS))
                continue
            # Five short lives in a row are the end of a run.
            recent = [moment for shard, moment in deaths if shard == victim and time.monotonic() - moment < 60]
            if len(recent) < 4 and run.kill("server", victim):
                deaths.append((victim, time.monotonic()))

    def one_job(self, number, references):
        chance = random.Random(f"{SEED}/{number}")
        optimizer = chance.choice(tuple(jobs.OPTIMIZERS))
        job = self.job(jobs.even(STEPS, jobs.OPTIMIZERS[optimizer], every_steps=chance.choice((5, 10, 15)), compute_ms=10),
                       name=f"job-{number}.yaml")
        if optimizer not in references:
            references[optimizer] = self.reference(job, jobs.AT_ONCE, patience=PATIENCE)
        options = ["--workers", str(WORKERS), "--shards", str(SHARDS), "--lanes", str(chance.choice((1, 2)))]
        run = self.start(job, name=f"run-{number}", options=options,
                         overrides={"cluster.transport": chance.choice(("ipc", "tcp"))})
        run.wait_until("all processes", lambda: len([entry for entry in run.processes() if entry["pid"]])
                       == SHARDS + WORKERS)
        run.wait_for_snapshot(chance.randrange(0, 33))
        deaths = []
        for _ in range(chance.choice((1, 1, 2, 3, 4)) * max(1, STEPS // 300)):
            self.strike(run, chance, deaths)
            time.sleep(chance.uniform(0.0, 1.5 if STEPS < 300 else 15))
            if run.process.poll() is not None:
                break
        summary = run.finish(patience=PATIENCE)
        self.expect_equal_bits(summary, references[optimizer])
        self.assertEqual(summary["steps"], STEPS)
        return {"deaths": len(deaths), "seconds": summary["wall_seconds"], "rollbacks": summary["rollbacks"],
                "rolled_back_steps": summary["rolled_back_steps"], "base_step": summary["base_step"]}

    def test_no_kill_costs_a_bit(self):
        references = {}
        results = []
        for number in range(JOBS):
            with self.subTest(job=number, seed=SEED, steps=STEPS):
                results.append(self.one_job(number, references))
        went_back = [result for result in results if result["base_step"] > 0 and result["rolled_back_steps"] > 0]
        print(f"\n{len(results)} of {JOBS} jobs with equal bits, {len(went_back)} with a base past step 0 and steps rolled "
              f"back; {sum(result['deaths'] for result in results)} shards killed, "
              f"{sum(result['rollbacks'] for result in results)} rollbacks, "
              f"{sum(result['rolled_back_steps'] for result in results)} steps rolled back, "
              f"{sum(result['seconds'] for result in results) / max(len(results), 1):.1f} s a job")
        self.assertGreaterEqual(2 * len(went_back), JOBS)


if __name__ == "__main__":
    harness.main()

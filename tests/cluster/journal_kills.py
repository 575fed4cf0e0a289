"""Servers killed at random moments in journaled jobs, and what their journals hold at that moment.

$BALLAST_JOURNAL_JOBS jobs (default 1) of $BALLAST_JOURNAL_KILLS kills each (default 5), drawn from
$BALLAST_JOURNAL_SEED. After each kill: promised within recovered within sent (see journals.py). At the end the weights are, bit
for bit, what an independent replay makes of all that was recorded, no timeline has begun, and each life went on.
"""

import os
import random
import time

import harness
import jobs
import journals

JOBS = int(os.environ.get("BALLAST_JOURNAL_JOBS", "1"))
KILLS = int(os.environ.get("BALLAST_JOURNAL_KILLS", "5"))
SEED = int(os.environ.get("BALLAST_JOURNAL_SEED", "1"))
SHARDS = 2
SLOTS = 8
KILLS_OF_ONE = 4  # a fifth short life in a row would end the run
EARLY = 0.4      # part of the kills that do not wait until the life before went on

OPTIMIZERS = ("momentum", "adam", "nesterov", "adamw", "sgd")
MODES = ("mode: async",
         "mode: ssp\n  staleness: {bound: 6, damping: inverse}",
         "mode: async\n  staleness: {damping: inverse}")


def text(number, steps, every_steps):
    training = f"{MODES[number % len(MODES)]}\n  {jobs.OPTIMIZERS[OPTIMIZERS[number % len(OPTIMIZERS)]]}"
    return jobs.in_small_chunks(jobs.emulated(steps, SLOTS, 20, f"journal-{number}", training, every_steps))


class JournalKills(harness.ClusterCase):
    owned = ()  # the chunks of each shard

    def strike(self, run, keeper, account_file, shard):
        """Kills a shard and reads what it left, before its next life begins: how much it had promised. None if it was
        not alive."""
        with journals.no_restarts(run):
            if not journals.kill(run, shard):
                return None
            keeper.take()
            found = journals.records(self, run, SHARDS, shard, keeper.folders[shard])
            account = journals.Account(account_file, SLOTS)
        return (journals.expect_kept(self, account, found, self.owned[shard]),)

    def resumed(self, run):
        return (run.status() or {}).get("resumed_shards", 0)

    def strikes(self, run, keeper, account_file, chance):
        """Returns what the killed had promised, and how many of them were killed before they went on."""
        victims = [shard for shard in range(SHARDS) for _ in range(KILLS_OF_ONE)]
        chance.shuffle(victims)
        promised, early = [], 0
        for shard in victims[:KILLS]:
            if chance.random() < EARLY:
                early += 1
            else:
                expected = len(promised) - early
                run.wait_until("the killed to go on", lambda expected=expected: self.resumed(run) >= expected)
            time.sleep(chance.uniform(0.05, 0.8))
            promised += run.wait_until("a life to kill",
                                       lambda shard=shard: self.strike(run, keeper, account_file, shard))
        return promised, early

    def one_job(self, number):
        chance = random.Random(f"{SEED}/{number}")
        steps = 40 + 20 * KILLS
        account_file = self.folder / f"account-{number}"
        run = self.start(self.job(text(number, steps, chance.choice((10, 25, 1000))), name=f"job-{number}.yaml"),
                         name=f"run-{number}", environment={"BALLAST_WORKER_ACCOUNT": str(account_file)},
                         options=["--workers", str(chance.choice((2, 3))), "--shards", str(SHARDS), "--lanes",
                                  str(chance.choice((1, 2)))],
                         overrides={"durability.mode": "journal", "durability.fsync": "always"})
        keeper = journals.Keeper(self, run, [self.folder / f"journals-{number}" / str(shard) for shard in range(SHARDS)])
        run.wait_for_step(2)
        self.owned = journals.chunks_of(self, run, SHARDS)
        promised, early = self.strikes(run, keeper, account_file, chance)
        summary = run.finish()
        keeper.end()
        keeper.take()
        self.assertGreater(sum(promised), 0, "nothing was promised: the kills prove nothing")
        self.expect_one_timeline(summary, len(promised) - early)
        journals.expect_all(self, run, keeper, summary, journals.Account(account_file, SLOTS), self.owned, steps * SLOTS)
        return {"kills": len(promised), "early": early, "promised": sum(promised),
                "resumed": summary["resumed_shards"], "seconds": summary["wall_seconds"]}

    def expect_one_timeline(self, summary, lives):
        self.assertEqual(summary["timeline"], 1, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)
        self.assertGreaterEqual(summary["resumed_shards"], lives, summary)

    def test_what_was_promised_is_found_again(self):
        results = []
        for number in range(JOBS):
            with self.subTest(job=number, seed=SEED):
                results.append(self.one_job(number))
        print(f"\n{len(results)} of {JOBS} jobs: {sum(result['kills'] for result in results)} kills, "
              f"{sum(result['early'] for result in results)} of them perhaps before the life went on; "
              f"{sum(result['promised'] for result in results)} promises held after kills; "
              f"{sum(result['resumed'] for result in results)} lives went on, 0 rollbacks; "
              f"{sum(result['seconds'] for result in results) / max(len(results), 1):.1f} s a job")


if __name__ == "__main__":
    harness.main()

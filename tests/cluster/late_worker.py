"""Workers that join a running job take part in it, and worker processes that are no use end it."""

import harness
import jobs


class LateWorker(harness.ClusterCase):
    def test_takes_part_and_changes_no_bit(self):
        job = self.job(jobs.emulated(steps=80))
        run = self.start(job, options=["--workers", "1", "--shards", "2"])
        run.wait_for_step(3)
        late = self.start_worker(run, "late")
        summary = run.finish()
        self.assertEqual(late.wait(timeout=harness.PATIENCE), 0, run.logs())
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        self.assertGreater(summary["slots_by_session"]["late"], 0, summary)
        self.assertEqual(summary["lost_workers"], 0, summary)

    def test_at_an_address_where_no_lead_is_says_so(self):
        run = self.start(self.job(jobs.emulated(steps=5000)), options=["--workers", "1"])
        run.wait_for_step(1)
        nowhere = f"ipc://{self.folder}/nobody"
        lost = self.start_worker(run, "lost", lead=nowhere)
        log = run.folder / "logs" / "lost.log"
        run.wait_until("the worker's word", lambda: f"no lead has answered at {nowhere}" in log.read_text())
        self.assertIsNone(lost.poll(), "it goes on asking")
        self.assertNotIn("no lead has answered", (run.folder / "logs" / "worker-0.log").read_text())

    def test_that_cannot_work_ends_the_run_with_its_reason(self):
        data = self.folder / "mnist"
        data.mkdir()
        for split in ("train", "t10k"):
            for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"):
                (data / f"{split}-{kind}").write_bytes(b"no idx file")
        job = self.job(jobs.glyphs().replace("name: glyphs, ", f"name: mnist, path: {data}, "))
        run = self.start(job, options=["--workers", "1"])
        self.assertEqual(run.wait(), 2, run.logs())
        self.assertIn(f"worker 0 cannot read the job's data: {data}", run.errors())
        self.assertNotIn("in a row", run.errors())
        self.assertIn(str(run.folder / "logs" / "worker-0.log"), run.errors())
        run.expect_no_process()

    def test_that_demands_a_gpu_where_there_is_none_says_so_and_the_run_goes_on(self):
        job = self.job(jobs.glyphs(steps=3000))  # for longer than it takes to look at it
        run = self.start(job, options=["--workers", "1"])
        run.wait_for_step(3)
        late = self.start_worker(run, "late", options=["--backend", "cuda"])
        self.assertEqual(late.wait(timeout=harness.PATIENCE), 4, run.logs())  # another life would end so too
        self.assertIn("this build of Ballast has no cuda backend: none is not there",
                      (run.folder / "logs" / "late.log").read_text())
        self.expect_equal_bits(run.finish(), self.reference(job))


if __name__ == "__main__":
    harness.main()

"""Data that a worker cannot read as the job says: told once, ended at once, and no other worker's concern."""

import struct
import zlib

import guard
import harness
import jobs

BAD_JOB = 2  # exit code: the job file, its data or the command line is wrong

TABLE = """
job: table
model: {{name: mlp, hidden: [8]}}
data: {{name: csv, path: {path}, train: train.csv, train_examples: 40, test: test.csv, test_examples: 10,
       classes: ['no', 'yes'], columns: [{{name: a}}, {{name: {label}, kind: label}}]}}
training: {{slots: 4, batch: 8, max_steps: 10, optimizer: {{name: sgd, learning_rate: 0.1}}}}
cluster: {{shards: 1, workers: 2}}
"""

IMAGES = """
job: images
model: {{name: mlp, hidden: [8]}}
data: {{name: images, path: {path}, train: train, test: test, train_examples: 16, test_examples: 4, classes: [cat, dog],
       channels: 1, height: 4, width: 4}}
training: {{slots: 4, batch: 8, max_steps: 200, optimizer: {{name: sgd, learning_rate: 0.1}}}}
cluster: {{shards: 1, workers: 2}}
"""


def png(shade):
    """A grey square of 4 x 4."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes([shade + 8 * row + column for column in range(4)]) for row in range(4))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class BadData(harness.ClusterCase):
    def table(self, label="sold", rows=40, name="data"):
        folder = self.folder / name
        folder.mkdir()
        for file, count in (("train.csv", rows), ("test.csv", 10)):
            lines = [f"{row},{'yes' if row % 2 else 'no'}" for row in range(count)]
            (folder / file).write_text("\n".join(["a,sold", *lines]) + "\n")
        return self.job(TABLE.format(path=folder, label=label))

    def images(self):
        folder = self.folder / "pictures"
        for split, count in (("train", 8), ("test", 4)):
            for kind in ("cat", "dog"):
                (folder / split / kind).mkdir(parents=True)
                for i in range(count):
                    (folder / split / kind / f"{i}.png").write_bytes(png(i + (100 if kind == "dog" else 0)))
        return folder, self.job(IMAGES.format(path=folder))

    def expect_ended_by_data(self, run, *words):
        self.assertEqual(run.wait(), BAD_JOB, run.logs())
        said = run.errors()
        for word in ("cannot read the job's data", *words):
            self.assertIn(word, said)
        self.assertEqual(said.count("cannot read the job's data"), 1, said)
        told = harness.text_of(run.out)
        self.assertNotIn("starting it again", told)
        self.assertTrue(all(entry["restarts"] == 0 for entry in run.processes()))
        run.expect_no_process()
        return told

    def test_a_mistake_about_the_data_ends_the_run_at_once_and_says_what_to_do(self):
        file = self.table(label="bought")
        told = self.expect_ended_by_data(self.start(file), "train.csv, line 1: names no column 'bought'", "data.columns")
        self.assertIn(f"nothing was trained; mend the data or the job file, try it with `ballast check --data`, then start "
                      f"anew: ballast run {file}, in another run folder", told)
        self.assertNotIn("--resume", told)

    def test_check_finds_it_before(self):
        good = self.ballast("check", "--data", self.table())
        self.assertIn("opened as workers open it: 40 training, 0 validation and 10 test examples", good.stdout)
        self.assertIn("class       yes: 20 training, 0 validation and 5 test examples", good.stdout)
        bad = harness.ballast("check", "--data", self.table(rows=39, name="few"))
        self.assertEqual(bad.returncode, BAD_JOB)
        self.assertIn("holds 39 good examples where data.train_examples counts on 40", bad.stderr)
        self.assertIn("--data opens them", self.ballast("check", self.table(rows=39, name="unseen")).stdout)

    def test_no_data_at_all_begin_nothing(self):
        file = self.table()
        run = self.start(file, overrides={"data.path": self.folder / "nowhere"})
        self.assertEqual(run.wait(), BAD_JOB)
        self.assertIn("nowhere: there is no such file or folder; correct data.path", run.errors())
        self.assertFalse(run.folder.exists())

    def test_an_image_that_cannot_be_decoded_is_named_and_ends_the_run(self):
        folder, file = self.images()
        (folder / "train" / "dog" / "3.png").write_bytes(b"no image")
        (folder / "test" / "cat" / "1.png").write_bytes(b"nor this")
        looked = harness.ballast("check", "--examples", file)
        self.assertEqual(looked.returncode, BAD_JOB)
        self.assertEqual([line.split(", byte")[0] for line in looked.stderr.splitlines()],
                         [f"corrupt example: {folder}/train/dog/3.png", f"corrupt example: {folder}/test/cat/1.png"])
        self.expect_ended_by_data(self.start(file), "train/dog/3.png, byte 0", "set data.corrupt: skip")

    def test_data_that_are_gone_for_a_while_let_the_run_be_resumed(self):
        folder, file = self.images()
        # Images are decoded at each reading.
        settings = {"data.cache_mb": 0, "durability.every_steps": 5, "training.max_steps": 60}
        run = self.start(file, overrides=settings, environment={"BALLAST_DELAY": "*:40"})
        run.wait_for_snapshot(5)
        (folder / "train").rename(folder / "elsewhere")
        told = self.expect_ended_by_data(run, "/train/")
        self.assertRegex(told, r"durable is the snapshot of step \d+ of 60; if the data become what they were, or lie "
                               r"elsewhere: ballast run --resume ")
        self.assertIn(f"start anew: ballast run {file}, in another run folder", told)
        (folder / "elsewhere").rename(folder / "train")
        # A mistake on the way back stays no longer than the command that made it.
        self.expect_ended_by_data(self.start(None, overrides={"data.train": "test"}), "job.yaml is as it was before")
        self.expect_equal_bits(self.start(None).finish(), self.reference(file, settings))

    def test_a_batch_larger_than_an_epoch_takes_all_of_it_and_one_of_many_epochs_is_refused(self):
        file = self.job(jobs.glyphs(steps=3))  # of 300 examples
        large = {"training.batch": 400}
        self.assertIn("each step takes all 300 of them",
                      self.ballast("check", file, *harness.set_options(large)).stdout)
        self.expect_equal_bits(self.start(file, overrides=large).finish(), self.reference(file, large))
        refused = self.start(file, name="refused", overrides={"training.batch": 1_000_000})
        self.assertEqual(refused.wait(), BAD_JOB)
        self.assertIn("training.batch: 1000000 is more than twice the 300 examples of an epoch", refused.errors())

    def test_what_is_skipped_is_told_at_the_end(self):
        file = self.table(rows=43)
        path = self.folder / "data" / "train.csv"
        path.write_text(path.read_text().replace("\n3,yes\n", "\nx,yes\n").replace("\n7,yes\n", "\n7,maybe\n"))
        run = self.start(file, overrides={"data.corrupt": "skip"})
        self.assertEqual(run.finish()["corrupt_examples"], 2)
        self.assertIn("corrupt examples, left out or replaced (data.corrupt: skip): 2; ", run.out.read_text())

    def test_a_class_without_a_test_image_is_no_hindrance(self):
        folder, file = self.images()
        for image in (folder / "test" / "cat").iterdir():
            image.unlink()
        (folder / "test" / "cat").rmdir()
        self.assertIn("1 class has no test example: cat", self.ballast("check", "--data", file).stdout)
        run = self.start(file, overrides={"training.max_steps": 4})
        self.assertIsNotNone(run.finish()["test_accuracy"])
        again = self.ballast("status", run.folder).stdout
        self.assertIn("finished, at step 4 of 4", again)
        self.assertIn("test accuracy", again)

    def test_a_worker_elsewhere_that_lacks_the_data_is_no_ones_concern(self):
        good = guard.write_mnist(self.folder / "good", seed=1)
        half = guard.write_mnist(self.folder / "half", seed=1)
        (half / "t10k-labels-idx1-ubyte").unlink()
        file = self.job(guard.on_files(good, steps=400))
        run = self.start(file, environment=guard.SLOW)
        run.wait_for_step(3)
        other = self.start_worker(run, "other", options=["--data", half])
        self.assertEqual(other.wait(timeout=harness.PATIENCE), BAD_JOB)
        self.assertIn("holds only a part of the data set; add t10k-labels-idx1-ubyte", harness.text_of(
            run.folder / "logs" / "other.log"))
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(file))
        self.assertEqual((summary["rollbacks"], summary["worker_restarts"]), (0, 0))


if __name__ == "__main__":
    harness.main()

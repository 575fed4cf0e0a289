"""The same model, to the last bit, however many processes train it."""

import hashlib
import json

import harness
import jobs


class EqualBits(harness.ClusterCase):
    def run_to_end(self, job, name, workers, shards):
        run = self.start(job, name=name, options=["--workers", workers, "--shards", shards, "--hold-start"])
        return run.finish()

    def start_of_output(self, name):
        return (self.folder / f"{name}.out").read_text()[:1000]

    def test_one_process_and_two_by_two_equal_the_reference(self):
        job = self.job(jobs.glyphs(steps=20))
        reference = self.reference(job)
        for name, workers, shards in (("one", 1, 1), ("four", 2, 2)):
            with self.subTest(name):
                summary = self.run_to_end(job, name, str(workers), str(shards))
                self.expect_equal_bits(summary, reference)
                self.expect_all_slots(summary, slots=8)
                self.assertEqual(len(summary["slots_by_session"]), workers, summary)
                self.assertTrue(all(summary["slots_by_session"].values()), summary)
                self.assertEqual(summary["lost_workers"], 0)
                self.assertAlmostEqual(summary["train_loss"], reference["train_loss"], places=4)
                # One example more or less may tip: evaluation batches differ, and with them the last bits.
                self.assertAlmostEqual(summary["test_accuracy"], reference["test_accuracy"], delta=1.5 / 60)

    def test_local_steps_give_equal_bits_whoever_makes_them(self):
        for name, workers, shards in (("averaging", 3, 2), ("diloco", 2, 1), ("diloco", 1, 1), ("trust", 3, 2)):
            with self.subTest(name, workers=workers):
                job = self.job(jobs.glyphs(steps=20, training=jobs.LOCAL[name]), name=f"{name}.yaml")
                reference = self.reference(job)
                summary = self.run_to_end(job, f"{name}-{workers}", str(workers), str(shards))
                self.expect_equal_bits(summary, reference)
                self.expect_all_slots(summary, slots=8)
                self.assertEqual(summary["mode"], "local")
                self.assertIn("mode local: 2 steps of ", self.start_of_output(f"{name}-{workers}"))
                self.assertEqual(reference["optimizer_sha256"] is None, name == "averaging")
                self.assertAlmostEqual(summary["train_loss"], reference["train_loss"], places=4)

    def test_local_steps_by_class_too(self):
        mixed = jobs.LOCAL["diloco"]
        texts = {name: jobs.glyphs(training=mixed.replace("mixed", name)) for name in ("mixed", "by_class")}
        references = {name: self.reference(self.job(text, name=f"{name}.yaml")) for name, text in texts.items()}
        self.assertNotEqual(references["mixed"]["weights_sha256"], references["by_class"]["weights_sha256"])
        summary = self.run_to_end(self.folder / "by_class.yaml", "by-class", "2", "2")
        self.expect_equal_bits(summary, references["by_class"])

    def test_state_has_equal_bits_in_rounds_with_slots_that_are_not_full(self):
        for name, training in {"sync": jobs.MOMENTUM, **jobs.LOCAL}.items():
            with self.subTest(name):
                text = jobs.emulated(steps=8, slots=3, compute_ms=1, training=training.replace(", partition: mixed", ""))
                job = self.job(text.replace("train_examples: 100000", "train_examples: 62"), name=f"state-{name}.yaml")
                reference = self.reference(job)
                for workers in (1, 3):
                    summary = self.run_to_end(job, f"state-{name}-{workers}", str(workers), "2")
                    self.expect_equal_bits(summary, reference)

    def test_averages_are_evaluated_and_exported_with_equal_bits_whoever_dies(self):
        averages = {"sync": jobs.MOMENTUM, "local": jobs.LOCAL["diloco"]}
        for name, training in averages.items():
            with self.subTest(name):
                job = self.job(jobs.glyphs(steps=40, training=f"{training}\n  weight_average: {{decay: 0.95}}"),
                               name=f"averages-{name}.yaml")
                reference = self.reference(job)
                self.assertNotEqual(reference["evaluated_sha256"], reference["weights_sha256"])
                run = self.start(job, name=f"averages-{name}", options=["--workers", "2", "--shards", "2"],
                                 overrides={"durability.every_steps": 5}, environment={"BALLAST_DELAY": "*:20"})
                run.wait_for_snapshot(5)
                self.assertTrue(run.kill("worker", 0))
                self.assertTrue(run.kill("server", 1))
                summary = run.finish()
                self.expect_equal_bits(summary, reference)
                self.assertEqual(summary["restarted_shards"], 1, summary)
                self.assertAlmostEqual(summary["test_accuracy"], reference["test_accuracy"], delta=1.5 / 60)
                for options, digest, kind in (((), reference["evaluated_sha256"], "averages"),
                                              (("--last-weights",), reference["weights_sha256"], "last")):
                    self.expect_exported(run.folder, options, digest, kind)
                evaluated = json.loads(self.ballast("evaluate", "--json", run.folder).stdout)
                self.assertAlmostEqual(evaluated["loss"], summary["test_loss"], places=5)
                last = json.loads(self.ballast("evaluate", "--json", "--last-weights", run.folder).stdout)
                self.assertNotAlmostEqual(last["loss"], summary["test_loss"], places=4)

    def expect_exported(self, folder, options, digest, kind):
        file = self.folder / "exported.safetensors"
        self.ballast("export", folder, "-o", file, *options)
        content = file.read_bytes()
        header = 8 + int.from_bytes(content[:8], "little")
        self.assertEqual(hashlib.sha256(content[header:]).hexdigest(), digest)
        metadata = json.loads(content[8:header])["__metadata__"]
        self.assertEqual((metadata["weights_sha256"], metadata["weights"]), (digest, kind))

    def test_another_seed_gives_another_model(self):
        digests = set()
        for seed in (1, 2):
            job = self.job(jobs.glyphs(seed=seed), name=f"seed-{seed}.yaml")
            summary = self.start(job, name=f"seed-{seed}").finish()
            self.expect_equal_bits(summary, self.reference(job))
            digests |= {summary["weights_sha256"], summary["optimizer_sha256"]}
        self.assertEqual(len(digests), 4)


if __name__ == "__main__":
    harness.main()

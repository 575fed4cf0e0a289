"""A model of a gigabyte: its memory is allocated, filled, updated and written without anybody falling silent."""

import pathlib

import harness

PARAMETERS = 7  # of 8192 x 4096 floats each, 939 MB in all
PATIENCE = 270


def big(steps):
    parameters = "\n".join(f"    - {{name: p{i}.weight, shape: [8192, 4096]}}" for i in range(PARAMETERS))
    return f"""
job: big
model:
  name: emulated
  parameters:
{parameters}
data: {{name: none}}
training:
  batch: 1
  slots: 1
  max_steps: {steps}
  optimizer: {{name: sgd, learning_rate: 0.1, momentum: 0.9}}
cluster: {{shards: 1, workers: 1}}
"""


class BigModel(harness.ClusterCase):
    def test_makes_nobody_silent(self):
        run = self.start(self.job(big(steps=2)))
        summary = run.finish(PATIENCE)
        self.assertEqual(summary["steps"], 2, summary)
        self.assertEqual(summary["lost_workers"], 0, run.logs())
        log = "".join(path.read_text() for path in pathlib.Path(run.folder, "logs").glob("*.log"))
        self.assertNotIn("not heard of", log)
        self.assertNotIn("no lead has answered", log)


if __name__ == "__main__":
    harness.main()

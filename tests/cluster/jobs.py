"""The jobs of the cluster tests: as small as the thing shown allows."""


def glyphs(model="mlp", slots=8, steps=12, seed=3, job="glyphs"):
    """A real network on drawn digits, with momentum and weight decay. `batch` is a multiple of `slots`."""
    hidden = ", hidden: [48]" if model == "mlp" else ""
    return f"""
job: {job}
model: {{name: {model}{hidden}}}
data: {{name: glyphs, train_examples: 300, test_examples: 60}}
training:
  slots: {slots}
  batch: {6 * slots}
  max_steps: {steps}
  seed: {seed}
  optimizer: {{name: sgd, learning_rate: 0.05, momentum: 0.9, weight_decay: 0.0005}}
cluster: {{shards: 1, workers: 1}}
"""


def emulated(steps, slots=8, compute_ms=10, job="emulated"):
    """Several chunks for each of up to three shards and a steady pace, whatever the machine: each slot takes
    compute_ms of waiting. Its gradients depend on step, slot, element and weight, so any wrong sum shows."""
    return f"""
job: {job}
model:
  name: emulated
  compute_ms: {compute_ms}
  parameters:
    - {{name: first.weight, shape: [600, 500]}}
    - {{name: first.bias, shape: [600]}}
    - {{name: second.weight, shape: [300, 600]}}
    - {{name: second.bias, shape: [300]}}
    - {{name: third.weight, shape: [10, 300]}}
data: {{name: none, train_examples: 100000}}
training:
  slots: {slots}
  batch: {8 * slots}
  max_steps: {steps}
  seed: 5
  optimizer: {{name: sgd, learning_rate: 0.05, momentum: 0.9, weight_decay: 0.0005}}
cluster: {{shards: 1, workers: 1}}
"""


# The reference need not wait: time is no part of the bits.
AT_ONCE = {"model.compute_ms": 0}

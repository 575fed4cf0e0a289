"""The jobs of the cluster tests: as small as the thing shown allows."""


MOMENTUM = "optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9, weight_decay: 0.0005}"

# Lines of `training` for slots of 6 or 8 examples: plain averaging, DiLoCo, and trust ratios within slots and outside.
LOCAL = {
    "averaging": "mode: local\n"
                 "  local: {steps: 2, optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9, weight_decay: 0.0005}}",
    "diloco": "mode: local\n"
              "  local: {steps: 2, partition: mixed, optimizer: {name: adamw, learning_rate: 0.002, weight_decay: 0.01}}\n"
              "  optimizer: {name: sgd, learning_rate: 0.7, momentum: 0.9, nesterov: true}\n"
              "  parameter_groups: [{match: '*.bias', learning_rate: 0.5, weight_decay: 0.001}]\n"
              "  clip: {global_norm: 0.9}",
    "trust": "mode: local\n"
             "  local: {steps: 2, optimizer: {name: lars, learning_rate: 4, momentum: 0.9, weight_decay: 0.0005}}\n"
             "  optimizer: {name: lamb, learning_rate: 0.01}\n"
             "  parameter_groups: [{match: '*.bias', learning_rate: 0.01, trust_ratio: false}]",
}


def glyphs(model="mlp", slots=8, steps=12, seed=3, job="glyphs", training=MOMENTUM):
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
  {training}
cluster: {{shards: 1, workers: 1}}
"""


def short_epochs(count, job="short"):
    """Epochs of ten small steps, for two shards and a worker: over in a moment, or not for days."""
    return f"""
job: {job}
model: {{name: mlp, hidden: [16]}}
data: {{name: glyphs, train_examples: 640, test_examples: 64}}
training: {{batch: 64, slots: 4, epochs: {count}, optimizer: {{name: sgd, learning_rate: 0.02}}}}
cluster: {{shards: 2, workers: 1}}
durability: {{every_steps: 10}}
"""


def emulated(steps, slots=8, compute_ms=10, job="emulated", training=MOMENTUM, every_steps=200):
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
    - {{name: first.mean, shape: [600], group: state}}
    - {{name: second.weight, shape: [300, 600]}}
    - {{name: second.bias, shape: [300]}}
    - {{name: second.variance, shape: [300], group: state, momentum: 0.1}}
    - {{name: third.weight, shape: [10, 300]}}
data: {{name: none, train_examples: 100000}}
training:
  slots: {slots}
  batch: {8 * slots}
  max_steps: {steps}
  seed: 5
  {training}
cluster: {{shards: 1, workers: 1}}
durability: {{every_steps: {every_steps}}}
"""


def fixed(steps, slots=8, compute_ms=2, job="fixed", every_steps=200):
    """Each slot's gradient is its own, always the same one, and the updates add up: their order is a matter of rounding."""
    text = emulated(steps, slots, compute_ms, job, "optimizer: {name: sgd, learning_rate: 1}", every_steps)
    text = text.replace("  compute_ms:", "  gradient: fixed\n  compute_ms:")
    return "\n".join(line for line in text.split("\n") if "group: state" not in line)  # its changes do not add up


def even(steps, training, every_steps, slots=8, compute_ms=8, job="even"):
    """Twelve chunks, so that each of up to three shards has three at least, and no shard nine."""
    layers = "".join(f"""
    - {{name: layer{i}.weight, shape: [128, 512]}}
    - {{name: layer{i}.bias, shape: [512]}}""" for i in range(6)) + """
    - {name: layer5.mean, shape: [512], group: state}
    - {name: layer5.variance, shape: [512], group: state, momentum: 0.1}"""
    text = emulated(steps, slots, compute_ms, job, training, every_steps)
    head, rest = text.split("  parameters:", 1)
    return head + "  parameters:" + layers + "\ndata:" + rest.split("\ndata:", 1)[1]


def in_small_chunks(text):
    """A job of emulated() or fixed() with a few chunks of at most 80 KB, so that its journals are small enough to be kept
    whole. With state, in each epoch's last step only the first slot and a part of the second have examples."""
    layers = "".join(f"""
    - {{name: layer{i}.weight, shape: [{120 - 20 * i}, 128]}}
    - {{name: layer{i}.bias, shape: [128]}}""" for i in range(5))
    if "group: state" in text:
        layers += """
    - {name: layer5.mean, shape: [100], group: state, momentum: 0.25}
    - {name: layer5.count, shape: [20], group: state}
    - {name: layer5.variance, shape: [100], group: state, momentum: 0.1}"""
        text = text.replace("train_examples: 100000", "train_examples: 652")  # ten steps of 64, and 12 examples
    head, rest = text.split("  parameters:", 1)
    return head + "  parameters:" + layers + "\ndata:" + rest.split("\ndata:", 1)[1]


# Every optimizer, each schedule and each kind of clipping; lines of `training`.
OPTIMIZERS = {
    "sgd": "optimizer: {name: sgd, learning_rate: 0.05, weight_decay: 0.0005}\n"
           "  schedule: {name: step, decay_steps: 7, decay_rate: 0.5}",
    "momentum": MOMENTUM,
    "nesterov": "optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9, nesterov: true, weight_decay: 0.0005}\n"
                "  parameter_groups: [{match: '*.bias', learning_rate: 0.5, weight_decay: 0.001}]\n"
                "  schedule: {name: exponential, decay_steps: 5, decay_rate: 0.9, warmup_steps: 3}",
    "adam": "optimizer: {name: adam, learning_rate: 0.002, weight_decay: 0.0005}",
    "adam-cosine-global-norm": "optimizer: {name: adam, learning_rate: 0.002}\n"
                               "  schedule: {name: cosine, warmup_steps: 4, final_rate: 0.1}\n"
                               "  clip: {global_norm: 0.4}",
    "adamw": "optimizer: {name: adamw, learning_rate: 0.002, weight_decay: 0.01}\n"
             "  parameter_groups: [{match: '*.weight', learning_rate: 2, weight_decay: 0.02}, {match: '*.bias', learning_rate: 0.5}]\n"
             "  schedule: {name: cosine, warmup_steps: 4}",
    "adagrad": "optimizer: {name: adagrad, learning_rate: 0.01, initial_accumulator: 0.1, weight_decay: 0.0005}\n"
               "  clip: {value: 0.01}",
    "rmsprop": "optimizer: {name: rmsprop, learning_rate: 0.001, momentum: 0.5, weight_decay: 0.0005}\n"
               "  clip: {tensor_norm: 0.1}",
    "lars": "optimizer: {name: lars, learning_rate: 2, momentum: 0.9, weight_decay: 0.0005}\n"
            "  parameter_groups: [{match: '*.bias', learning_rate: 0.01, trust_ratio: false}]\n"
            "  clip: {value: 0.02}\n"
            "  schedule: {name: cosine, warmup_steps: 4}",
    "lamb": "optimizer: {name: lamb, learning_rate: 0.01, weight_decay: 0.01}\n"
            "  parameter_groups: [{match: '*.bias', learning_rate: 0.5, trust_ratio: false}]\n"
            "  schedule: {name: cosine, warmup_steps: 4}",
    "adamw-averaged": "optimizer: {name: adamw, learning_rate: 0.002, weight_decay: 0.01}\n"
                      "  weight_average: {decay: 0.9, begins_at_step: 3}",
}

# The reference need not wait: time is no part of the bits.
AT_ONCE = {"model.compute_ms": 0}

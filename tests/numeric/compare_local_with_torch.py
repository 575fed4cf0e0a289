#!/usr/bin/env python3
"""Holds rounds of local steps against PyTorch: compare_local_with_torch.py LOCAL_ROUNDS

Exits with 77 (skipped) where PyTorch is not installed.
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
    from torch.nn import functional
except ImportError:
    print("PyTorch is not installed: skipped")
    sys.exit(77)

ROUNDS = 3
SLOTS = 4
STEPS = 5
EXAMPLES = 6  # of a local step
# Of the difference between two computations in float, over the way that the parameter's weights have gone.
TOLERANCE = 1e-4

JOB = f"""
job: rounds
model: {{name: mlp, hidden: [24]}}
data: {{name: glyphs, train_examples: {ROUNDS * SLOTS * STEPS * EXAMPLES}}}
training:
  mode: local
  slots: {SLOTS}
  batch: {SLOTS * STEPS * EXAMPLES}
  epochs: 1
"""

# Keys of training, PyTorch's inner and outer optimizer, the limit on the norm of the inner gradient. AdamW's epsilon is
# large, lest the sign of a gradient that is nothing but rounding count as much as any other.
CASES = {
    "averaging": ("  local: {steps: 5, optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9}}\n",
                  lambda groups: torch.optim.SGD(groups, lr=0.05, momentum=0.9),
                  lambda groups: torch.optim.SGD(groups, lr=1), 0, None),
    "diloco": ("  local: {steps: 5, optimizer: {name: adamw, learning_rate: 0.002, epsilon: 1e-3, weight_decay: 0.1}}\n"
               "  optimizer: {name: sgd, learning_rate: 0.7, momentum: 0.9, nesterov: true}\n"
               "  clip: {global_norm: 0.8}\n",
               lambda groups: torch.optim.AdamW(groups, lr=0.002, eps=1e-3),
               lambda groups: torch.optim.SGD(groups, lr=0.7, momentum=0.9, nesterov=True), 0.1, 0.8),
}


def read_parameters(folder, file):
    """Names to tensors of the parameters' shapes."""
    arena = torch.from_numpy(numpy.fromfile(folder / file, dtype=numpy.float32))
    parameters = {}
    for line in (folder / "layout.txt").read_text().splitlines():
        name, offset, *shape = line.split()
        shape = [int(extent) for extent in shape]
        parameters[name] = arena[int(offset):int(offset) + int(numpy.prod(shape))].reshape(shape).clone()
    return parameters


def loss_of(x, labels, p):
    hidden = functional.relu(functional.linear(x, p["fc1.weight"], p["fc1.bias"]))
    return functional.cross_entropy(functional.linear(hidden, p["fc2.weight"], p["fc2.bias"]), labels)


def train_slot(weights, examples, make_inner, decay, norm):
    """The weights that a slot's local steps make of these."""
    own = {name: value.detach().clone().requires_grad_() for name, value in weights.items()}
    inner = make_inner([{"params": [value], "weight_decay": decay if name.endswith("weight") else 0}
                        for name, value in own.items()])
    for features, labels in examples:
        inner.zero_grad()
        loss_of(features, labels, own).backward()
        if norm is not None:
            torch.nn.utils.clip_grad_norm_(list(own.values()), norm)
        inner.step()
    return own


def train(folder, make_inner, make_outer, decay, norm):
    weights = {name: value.requires_grad_() for name, value in read_parameters(folder, "before.f32").items()}
    outer = make_outer(list(weights.values()))
    features = numpy.fromfile(folder / "features.f32", dtype=numpy.float32).reshape(-1, EXAMPLES, 784)
    labels = numpy.fromfile(folder / "labels.i32", dtype=numpy.int32).reshape(-1, EXAMPLES)
    batches = [(torch.from_numpy(x), torch.from_numpy(y).long()) for x, y in zip(features, labels)]
    assert len(batches) == ROUNDS * SLOTS * STEPS
    slots = [batches[begin:begin + STEPS] for begin in range(0, len(batches), STEPS)]
    for begin in range(0, len(slots), SLOTS):
        trained = [train_slot(weights, slot, make_inner, decay, norm) for slot in slots[begin:begin + SLOTS]]
        for name, value in weights.items():
            value.grad = torch.stack([value.detach() - own[name].detach() for own in trained]).mean(dim=0)
        outer.step()
    return weights


def compare(program, name, keys, *how):
    """Yields a line for each disagreement."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "job.yaml").write_text(JOB + keys)
        subprocess.run([program, folder / "job.yaml", folder], check=True)
        theirs = train(folder, *how)
        before = read_parameters(folder, "before.f32")
        for parameter, ours in read_parameters(folder, "after.f32").items():
            way = (theirs[parameter] - before[parameter]).abs().max()
            difference = ((ours - theirs[parameter]).abs().max() / way).item()
            print(f"  {name}, {parameter}: {difference:.1e}")
            if not difference <= TOLERANCE:
                yield f"{name}, {parameter}: weights differ by {difference:.1e} of their way, more than {TOLERANCE:.0e}"


def main():
    torch.set_num_threads(1)
    failures = [line for name, case in CASES.items() for line in compare(sys.argv[1], name, *case)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

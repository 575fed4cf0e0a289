#!/usr/bin/env python3
"""Holds the networks' losses and gradients against PyTorch's: compare_with_torch.py DUMP_GRADIENTS

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

TOLERANCE = 1e-5  # of the difference between two computations in float, over the parameter's largest gradient


def mlp(x, p):
    x = x.flatten(1)
    last = len(p) // 2
    for layer in range(1, last):
        x = functional.relu(functional.linear(x, p[f"fc{layer}.weight"], p[f"fc{layer}.bias"]))
    return functional.linear(x, p[f"fc{last}.weight"], p[f"fc{last}.bias"])


def lenet5(x, p):
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, p["conv1.weight"], p["conv1.bias"], padding=2)), 2)
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, p["conv2.weight"], p["conv2.bias"])), 2)
    x = functional.relu(functional.linear(x.flatten(1), p["fc1.weight"], p["fc1.bias"]))
    x = functional.relu(functional.linear(x, p["fc2.weight"], p["fc2.bias"]))
    return functional.linear(x, p["fc3.weight"], p["fc3.bias"])


def read_parameters(folder):
    """Names to (weights, gradients), each a tensor of the parameter's shape."""
    weights = torch.from_numpy(numpy.fromfile(folder / "weights.f32", dtype=numpy.float32))
    gradients = torch.from_numpy(numpy.fromfile(folder / "gradients.f32", dtype=numpy.float32))
    parameters = {}
    for line in (folder / "layout.txt").read_text().splitlines():
        name, offset, *shape = line.split()
        shape = [int(extent) for extent in shape]
        begin, end = int(offset), int(offset) + int(numpy.prod(shape))
        parameters[name] = (weights[begin:end].reshape(shape), gradients[begin:end].reshape(shape))
    return parameters


def compare(network, folder):
    """Yields a line for each disagreement."""
    parameters = read_parameters(folder)
    features = torch.from_numpy(numpy.fromfile(folder / "features.f32", dtype=numpy.float32)).reshape(-1, 1, 28, 28)
    labels = torch.from_numpy(numpy.fromfile(folder / "labels.i32", dtype=numpy.int32)).long()
    variables = {name: weights.clone().requires_grad_() for name, (weights, _) in parameters.items()}
    loss = functional.cross_entropy(network(features, variables), labels, reduction="sum")
    (loss / len(labels)).backward()

    ours = float((folder / "loss.txt").read_text())
    if not abs(ours - loss.item()) <= 1e-5 * abs(loss.item()):
        yield f"loss: {ours}, PyTorch has {loss.item()}"
    for name, (_, gradient) in parameters.items():
        expected = variables[name].grad
        difference = ((gradient - expected).abs().max() / expected.abs().max()).item()
        print(f"  {name}: {difference:.1e}")
        if not difference <= TOLERANCE:
            yield f"{name}: gradients differ by {difference:.1e} of the largest, more than {TOLERANCE:.0e}"


def main():
    torch.set_num_threads(1)
    failures = []
    for network in (mlp, lenet5):
        print(network.__name__)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[1], network.__name__, folder], check=True)
            failures += [f"{network.__name__}, {line}" for line in compare(network, pathlib.Path(folder))]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds the networks that gpu-bench measures PyTorch with (bench/gpu/torch_networks.py) against those that ours are
compared with (compare_with_torch.py): the same parameters, losses and gradients; and one short measure of each kind.

Exits with 77 (skipped) where PyTorch is not installed.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu")]

import compare_with_torch  # pylint: disable=wrong-import-position  # exits with 77 without PyTorch
import torch  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position

import torch_networks  # pylint: disable=wrong-import-position
import torch_speed  # pylint: disable=wrong-import-position


def disagreements(name, plain):
    """`plain`: the network as a function of features and {name: parameter}."""
    measured = torch_networks.network(name)
    images, labels = torch.randn(9, 1, 28, 28), torch.randint(0, 10, (9,))
    functional.cross_entropy(measured(images), labels).backward()
    parameters = {name: value.detach().clone().requires_grad_() for name, value in measured.named_parameters()}
    functional.cross_entropy(plain(images, parameters), labels).backward()
    for parameter, value in measured.named_parameters():
        expected = parameters[parameter].grad
        if expected is None:
            yield f"{name}: {parameter} is not one of ours"
        elif not torch.allclose(value.grad, expected, rtol=1e-5, atol=1e-7):
            yield f"{name}: the gradient of {parameter} differs"


def arena_disagreements():
    """What the `worker` kind of work brings to the host are the gradients that PyTorch computes."""
    subject = torch_speed.Subject("cpu", {"model": "lenet5", "examples": 4, "precision": "float32", "work": "worker"})
    subject.step()
    expected = [gradient.flatten() for gradient in torch.autograd.grad(subject._loss(), list(subject.network.parameters()))]
    if not torch.allclose(subject.host_gradients, torch.cat(expected), rtol=1e-5, atol=1e-7):
        yield "worker: the gradients that came to the host are others"
    if not subject.host_gradients.abs().max() > 0:
        yield "worker: no gradients came to the host"


def failing_measures():
    for work in ("pass", "worker", "training"):
        for precision in ("float32", "tf32", "bfloat16"):
            request = {"model": "mlp:32", "examples": 8, "seconds": 0.05, "precision": precision, "work": work}
            if not torch_speed.measure("cpu", request)["examples_per_s"] > 0:
                yield f"{work}, {precision}: no speed"


def main():
    torch_speed.be_deterministic()
    found = [*disagreements("lenet5", compare_with_torch.lenet5), *disagreements("mlp", compare_with_torch.mlp),
             *disagreements("mlp:33,17,5", compare_with_torch.mlp), *arena_disagreements(), *failing_measures()]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

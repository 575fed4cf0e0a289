#!/usr/bin/env python3
"""Holds whole networks against PyTorch: compare_networks_with_torch.py DUMP_NETWORK JOB...

Each job's model is trained for 20 steps by DUMP_NETWORK. From its weights at versions 0, 10 and 20 PyTorch computes the
same slots (dropout masks are handed over), and for each tensor the mean gradient must agree within 1e-4 of its norm, or
within three times PyTorch's own distance in float32 from its gradient in float64, if that is more; running statistics
after the step within 1e-5, the first two losses within 1e-5 (PyTorch makes the step between them itself). Then an error of 2 % is planted
into each kind of layer that the network has and no network before it, and each must show.

A value within rounding of a ReLU's kink may fall on its other side: then all gradients before that layer differ by some
thousandths, and none behind it. Which values do so depends on the processor. So where gradients are too far apart, those
values are sought, among the few that are near enough, and PyTorch computes the same step with them on the other side.

Exits with 77 (skipped) where PyTorch is not installed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError:
    print("PyTorch is not installed: skipped")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import torch_graph

GRADIENTS = 1e-4  # of a tensor's norm
OWN_ERROR = 3  # times PyTorch's
BUFFERS = 1e-5
LOSSES = 1e-5
VERSIONS = (0, 10, 20)
MOST_NEAR = 40  # values near a kink that are tried
MOST_FLIPPED = 6  # and that may turn out to be on its other side
TYPES = {"f32": numpy.float32, "i32": numpy.int32, "u32": numpy.int32, "u8": numpy.uint8}


class Dump:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.network = json.loads((self.folder / "network.json").read_text())
        self.state = {parameter["name"] for parameter in self.network["parameters"] if parameter["state"]}
        self.losses = [float(line) for line in (self.folder / "losses.txt").read_text().split()]

    def array(self, name):
        return torch.from_numpy(numpy.fromfile(self.folder / name, dtype=TYPES[name.rsplit(".", 1)[1]]))

    def tensors(self, name):
        """The parameters of a whole arena."""
        arena = self.array(name)
        found = {}
        for parameter in self.network["parameters"]:
            shape, offset = parameter["shape"], parameter["offset"]
            found[parameter["name"]] = arena[offset : offset + int(numpy.prod(shape))].reshape(shape)
        return found

    def batch(self, version, slot, dtype):
        prefix = f"slot-{version}-{slot}."
        count = self.network["batch"] // self.network["slots"]
        steps = self.network["steps"]

        def shaped(name, *shape):
            values = self.array(prefix + name)
            values = values.to(dtype) if name.endswith("f32") else torch.from_numpy(values.numpy().astype(numpy.int64))
            return values.reshape(count, *shape) if len(values) else None

        masks = {layer["name"]: self.array(f"{prefix}mask-{layer['name']}.u8").to(dtype)
                 for layer in self.network["layers"] if layer["kind"] == "dropout"}
        arrays = {
            "count": count,
            "features": shaped("features.f32", steps, *self.network["example"]),
            "labels": shaped("labels.i32", -1),
            "targets": shaped("targets.f32", -1),
            "tokens": shaped("tokens.i32", steps),
            "lengths": shaped("lengths.u32"),
            "children": shaped("children.i32", steps, 2),
            "masks": masks,
        }
        if arrays["lengths"] is not None:
            arrays["lengths"] = arrays["lengths"].reshape(count)
        return torch_graph.Batch(arrays, steps)


def computed(dump, version, dtype, fault=None, weights=None, flipped=(), near=None):
    """The mean loss of the step from `version`, and a gradient or a statistic for each tensor. To `near` values near a
    kink are added; `flipped` are those on its other side: slot, layer and place."""
    state = dump.state
    weights = weights or dump.tensors(f"weights-{version}.f32")
    weights = {name: tensor.to(dtype).requires_grad_(name not in state) for name, tensor in weights.items()}
    slots = dump.network["slots"]
    loss = 0.0
    statistics = {}
    for slot in range(slots):
        sides = [(layer, place) for at, layer, place in flipped if at == slot]
        network = torch_graph.Network(dump.network, weights, fault, sides)
        value = network(dump.batch(version, slot, dtype), training=True) / dump.network["batch"]
        value.backward()
        loss += value.item()
        if near is not None:
            near += [(nearness, slot, layer, place) for nearness, layer, place in network.near]
        for name, statistic in network.statistics.items():
            statistics[name] = statistics.get(name, 0) + statistic / slots
    return loss, {name: statistics[name] if name in state else tensor.grad for name, tensor in weights.items()}


def distance(a, b):
    """Of a from b, relative to b's norm."""
    difference, norm = (a.double() - b.double()).norm().item(), b.double().norm().item()
    return difference / norm if norm > 0 else (0.0 if difference == 0 else float("inf"))


def gradient_limit(rounded, exact):
    """How far apart a tensor's gradient may be: PyTorch's own in both precisions are given."""
    return max(GRADIENTS, OWN_ERROR * distance(rounded, exact))


def judge_losses(dump, loss, gradients):
    """Of versions 0 and 1: `gradients` are PyTorch's of version 0."""
    weights = {}
    for parameter in dump.network["parameters"]:
        name, momentum = parameter["name"], parameter["momentum"]
        old = dump.tensors("weights-0.f32")[name].double()
        if parameter["state"]:
            weights[name] = old + momentum * (gradients[name] - old)
        else:
            weights[name] = old - dump.network["learning_rate"] * gradients[name]
    second, _ = computed(dump, 1, torch.float64, weights=weights)
    for version, value in enumerate((loss, second)):
        if not abs(dump.losses[version] - value) <= LOSSES * abs(value):
            yield f"version {version}: loss {dump.losses[version]}, PyTorch has {value}"


def layers_by_parameter(network):
    """Of each parameter the number of its layer, the last one if it has several."""
    return {name: number for number, layer in enumerate(network["layers"]) for name in layer["parameters"]}


def other_sides(dump, version, limit=gradient_limit):
    """The values near a kink that are on its other side in our gradients; none if these agree without, within `limit`.

    All gradients before such a value's layer are apart, and none behind it: so the next one is sought behind the last
    tensor that is too far apart."""
    ours = dump.tensors(f"gradient-{version}.f32")
    learnt = [name for name in ours if name not in dump.state]
    place_of = layers_by_parameter(dump.network)
    number_of = {layer["name"]: number for number, layer in enumerate(dump.network["layers"])}
    near, flipped = [], []
    _, exact = computed(dump, version, torch.float64, near=near)
    _, rounded = computed(dump, version, torch.float32)
    limits = {name: limit(rounded[name], exact[name]) for name in learnt}
    near.sort()

    def excess(exact):
        return {name: distance(ours[name], exact[name]) / limits[name] for name in learnt}

    def step(best):
        """One value more, and what is apart then; nothing if none helps."""
        last = max((name for name in learnt if best[name] > 1), key=place_of.__getitem__)
        behind = [value for _, *value in near if number_of[value[1]] > place_of[last] and value not in flipped]
        for value in behind[:MOST_NEAR]:
            now = excess(computed(dump, version, torch.float64, flipped=[*flipped, value])[1])
            if now[last] < 0.8 * best[last]:
                return value, now
        return None

    best = excess(exact)
    while max(best.values()) > 1 and len(flipped) < MOST_FLIPPED:
        found = step(best)
        if found is None:
            break
        value, best = found
        flipped.append(value)
    for slot, layer, place in flipped:
        print(f"  version {version}, slot {slot}: value {place} that enters {layer} is on the other side of the kink")
    return flipped


def judge(dump, version, flipped, fault=None, tell=print):
    """Yields a line for each disagreement."""
    ours = dump.tensors(f"gradient-{version}.f32")
    loss, exact = computed(dump, version, torch.float64, fault, flipped=flipped)
    _, rounded = computed(dump, version, torch.float32, fault, flipped=flipped)
    if version == 0:
        yield from judge_losses(dump, loss, exact)
    old = dump.tensors(f"weights-{version}.f32")
    for parameter in dump.network["parameters"]:
        name = parameter["name"]
        mine, torchs, best = (made[name] for made in (ours, rounded, exact))
        if parameter["state"]:  # what becomes of the buffer
            mine, torchs, best = (old[name] + parameter["momentum"] * (made - old[name]) for made in (mine, torchs, best))
        own = distance(torchs, best)
        apart = distance(mine, best)
        limit = BUFFERS if parameter["state"] else gradient_limit(torchs, best)
        tell(f"  version {version}, {name}: {apart:.1e} (PyTorch's own {own:.1e})")
        if not apart <= limit:
            yield f"version {version}, {name}: {apart:.1e} apart, more than {limit:.1e}"


def faults(dump, flipped, done):
    """Each kind of layer, and the loss, whose planted error is not seen; those of `done` were planted before."""
    kinds = {layer["kind"] for layer in dump.network["layers"]} | {dump.network["loss"]["kind"]}
    for kind in sorted(kinds - done):
        done.add(kind)
        seen = any(True for _ in judge(dump, 0, flipped, kind, tell=lambda line: None))
        print(f"  planted into {kind}: {'seen' if seen else 'NOT SEEN'}")
        if not seen:
            yield f"an error planted into {kind} is not seen"


def check_job(program, job, done):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, job, folder], check=True)
        dump = Dump(folder)
        flipped = {version: other_sides(dump, version) for version in VERSIONS}
        if any(judge_losses(dump, *computed(dump, 0, torch.float64, flipped=flipped[0]))):
            # PyTorch's own gradients may be as far from exact ones, but the second loss is what a step made of them.
            flipped[0] = other_sides(dump, 0, lambda rounded, exact: GRADIENTS)
        for version in VERSIONS:
            yield from judge(dump, version, flipped[version])
        yield from faults(dump, flipped[0], done)


def main():
    torch.set_num_threads(1)
    failures = []
    done = set()
    for job in sys.argv[2:]:
        name = pathlib.Path(job).stem
        print(name)
        failures += [f"{name}: {line}" for line in check_job(sys.argv[1], job, done)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

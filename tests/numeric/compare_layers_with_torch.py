#!/usr/bin/env python3
"""Holds every layer and loss of the cpu backend against PyTorch's in float64: compare_layers_with_torch.py DUMP_LAYERS

Exits with 77 (skipped) where PyTorch is not installed.
"""

import json
import subprocess
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    print("PyTorch is not installed: skipped")
    sys.exit(77)

# Of the difference, over the largest value of the tensor; a gradient's is at least 1, as the output's gradient has.
TOLERANCE = 1e-5
# What PyTorch draws differently; the numeric tests compare it with loops.
WITHOUT_FORM = ("dropout",)


def tensor(values, shape=None):
    made = torch.tensor(values, dtype=torch.float64)
    return made if shape is None else made.reshape(shape)


class Case:
    """A drawn layer: inputs are n, steps, c, h, w; parameters are flat."""

    def __init__(self, line):
        self.line = line
        self.options = line["options"]
        self.inputs = [tensor(x["values"], x["shape"]).requires_grad_() for x in line["inputs"]]
        self.parameters = [tensor(p).requires_grad_() for p in line["parameters"]]
        self.shape = line["shape"]
        self.training = line["training"]
        self.statistics = {}  # by parameter, in place of a gradient

    @property
    def x(self):
        return self.inputs[0]

    def rows(self, x=None):
        return (self.x if x is None else x).flatten(0, 1)

    def vectors(self, x=None):
        """n, steps, c"""
        return (self.x if x is None else x).flatten(2)

    def lengths(self):
        n, steps = self.x.shape[:2]
        return torch.tensor(self.line["lengths"] or [steps] * n)

    def within(self):
        """n x steps, true up to each example's length."""
        return torch.arange(self.x.shape[1])[None, :] < self.lengths()[:, None]

    def weight(self, *shape):
        return self.parameters[0].reshape(shape)

    def bias(self):
        return self.parameters[1] if len(self.parameters) > 1 else None


def conv2d(case):
    o = case.options
    weight = case.weight(case.shape[2], -1, *o["kernel"])
    return functional.conv2d(case.rows(), weight, case.bias(), o["stride"], o["padding"], o["dilation"], o["groups"])


def transposed_conv2d(case):
    o = case.options
    weight = case.weight(case.x.shape[2], -1, *o["kernel"])
    return functional.conv_transpose2d(case.rows(), weight, case.bias(), o["stride"], o["padding"],
                                       o["output_padding"], o["groups"])


def conv1d(case):
    o = case.options
    weight = case.weight(case.shape[2], case.x.shape[2] // o["groups"], -1)
    x = (case.vectors() * case.within()[:, :, None]).transpose(1, 2)
    y = functional.conv1d(x, weight, case.bias(), o["stride"], o["padding"], o["dilation"], o["groups"])
    return y.transpose(1, 2)


def linear(case):
    return functional.linear(case.rows().flatten(1), case.weight(case.shape[2], -1), case.bias())


def batch_norm(case):
    weight, bias, mean, variance = case.parameters
    if case.training and case.x.numel() == len(mean):
        return None  # PyTorch refuses one value of a channel
    running = [mean.detach().clone(), variance.detach().clone()]
    y = functional.batch_norm(case.rows(), *running, weight, bias, case.training, 1.0, case.options["epsilon"])
    case.statistics = dict(zip((2, 3), running))
    return y


def layer_norm(case):
    shape = case.x.shape[2:]
    weight, bias = (p.reshape(shape) for p in case.parameters)
    return functional.layer_norm(case.x, shape, weight, bias, case.options["epsilon"])


def group_norm(case):
    return functional.group_norm(case.rows(), case.options["groups"], *case.parameters, case.options["epsilon"])


def embedding(case):
    tokens = torch.tensor(case.line["tokens"]).reshape(case.x.shape[:2])
    return functional.embedding(tokens, case.weight(-1, case.shape[2])) * case.within()[:, :, None]


def position_embedding(case):
    return case.vectors() + case.weight(-1, case.shape[2])[: case.x.shape[1]]


def recurrent(case, made):
    both = case.options["both_directions"]
    module = made(case.x.shape[2], case.options["units"], batch_first=True, bidirectional=both).double()
    names = [name for name, _ in module.named_parameters()]
    for name, values in zip(names, case.parameters):
        setattr(module, name, nn.Parameter(values.detach().reshape(getattr(module, name).shape)))
    case.parameters = [getattr(module, name) for name in names]
    packed = nn.utils.rnn.pack_padded_sequence(case.vectors(), case.lengths(), batch_first=True, enforce_sorted=False)
    return nn.utils.rnn.pad_packed_sequence(module(packed)[0], batch_first=True, total_length=case.x.shape[1])[0]


def lstm(case):
    return recurrent(case, nn.LSTM)


def gru(case):
    return recurrent(case, nn.GRU)


def tree_lstm(case):
    units, x = case.options["units"], case.vectors()
    n, steps, c = x.shape
    weight_leaf, bias_leaf, weight_node, bias_node = case.parameters
    weight_leaf, weight_node = weight_leaf.reshape(3 * units, c), weight_node.reshape(5 * units, 2 * units)
    children = torch.tensor(case.line["children"]).reshape(n, steps, 2).tolist()
    zero = torch.zeros(units, dtype=torch.float64)
    rows = []
    for example, length in enumerate(case.lengths().tolist()):
        h, memory = [], []
        for left, right in children[example][:length]:
            if left < 0:
                i, o, u = (weight_leaf @ x[example, len(h)] + bias_leaf).reshape(3, units)
                state = i.sigmoid() * u.tanh()
            else:
                i, f, g, o, u = (weight_node @ torch.cat([h[left], h[right]]) + bias_node).reshape(5, units)
                state = i.sigmoid() * u.tanh() + f.sigmoid() * memory[left] + g.sigmoid() * memory[right]
            memory.append(state)
            h.append(o.sigmoid() * state.tanh())
        rows += h + [zero] * (steps - length)
    return torch.stack(rows)


def max_pool2d(case):
    o = case.options
    return functional.max_pool2d(case.rows(), o["window"], o["stride"], o["padding"])


def average_pool2d(case):
    o = case.options
    return functional.avg_pool2d(case.rows(), o["window"], o["stride"], o["padding"],
                                 count_include_pad=o["count_padding"])


def global_pool2d(case):
    return case.rows().amax((2, 3)) if case.options["max"] else case.rows().mean((2, 3))


def step_pool(case):
    kind = case.options["kind"]
    rows = []
    for example, length in zip(case.x, case.lengths().tolist()):
        rows.append({"average": lambda e: e.mean(0), "max": lambda e: e.amax(0), "first": lambda e: e[0],
                     "last": lambda e: e[-1]}[kind](example[:length]))
    return torch.stack(rows)


def attention(case):
    q, k, v = (case.vectors(x) for x in case.inputs)
    n, steps, c = q.shape
    heads = case.options["heads"]
    q, k, v = (t.reshape(n, steps, heads, c // heads).transpose(1, 2) for t in (q, k, v))
    allowed = case.within()[:, None, None, :].expand(n, 1, steps, steps)
    if case.options["causal"]:
        allowed = allowed & torch.ones(steps, steps, dtype=torch.bool).tril()
    scores = (q @ k.transpose(2, 3) / (c // heads) ** 0.5).masked_fill(~allowed, -torch.inf)
    return (scores.softmax(3) @ v).transpose(1, 2)


FORMS = {
    "conv2d": conv2d, "conv1d": conv1d, "transposed_conv2d": transposed_conv2d, "linear": linear,
    "batch_norm": batch_norm, "layer_norm": layer_norm, "group_norm": group_norm, "embedding": embedding,
    "position_embedding": position_embedding, "lstm": lstm, "gru": gru, "tree_lstm": tree_lstm,
    "max_pool2d": max_pool2d, "average_pool2d": average_pool2d, "global_pool2d": global_pool2d,
    "step_pool": step_pool, "attention": attention,
    "relu": lambda case: case.x.relu(),
    "leaky_relu": lambda case: functional.leaky_relu(case.x, case.options["slope"]),
    "gelu": lambda case: functional.gelu(case.x),
    "tanh": lambda case: case.x.tanh(),
    "sigmoid": lambda case: case.x.sigmoid(),
    "add": lambda case: sum(case.inputs),
    "concatenate": lambda case: torch.cat(case.inputs, 2),
    "reshape": lambda case: case.x,
}


class Worst:
    """The largest difference of each kind, over what it is allowed to be."""

    def __init__(self):
        self.by_kind = {}
        self.failures = []

    def compare(self, kind, what, actual, expected, least=0.0):
        actual, expected = tensor(actual).flatten(), expected.detach().flatten()
        if actual.shape != expected.shape:
            self.failures.append(f"{kind}: {what} has {len(actual)} values, PyTorch's has {len(expected)}")
            return
        largest = max(expected.abs().max().item(), least, 1e-30)
        difference = (actual - expected).abs().max().item() / largest
        self.by_kind[kind] = max(self.by_kind.get(kind, 0.0), difference)
        if not difference <= TOLERANCE:
            self.failures.append(f"{kind}: {what} differs by {difference:.1e} of the largest, more than {TOLERANCE:.0e}")


def compare_layer(line, worst):
    case = Case(line)
    y = FORMS[line["layer"]](case)
    if y is None:
        return
    worst.compare(line["kind"], "y", line["y"], y)
    if not case.training:
        return
    y.backward(tensor(line["y_gradient"], y.shape))
    for i, gradient in enumerate(line["input_gradients"]):
        if gradient:
            worst.compare(line["kind"], f"the gradient of input {i}", gradient, grad_of(case.inputs[i]), 1.0)
    for i, gradient in enumerate(line["parameter_gradients"]):
        expected = case.statistics[i] if i in case.statistics else grad_of(case.parameters[i])
        worst.compare(line["kind"], f"the gradient of parameter {i}", gradient, expected, 1.0)


def grad_of(variable):
    return torch.zeros_like(variable) if variable.grad is None else variable.grad


def softmax_cross_entropy(line, prediction, n):
    o = line["options"]
    weights = tensor(o["class_weights"]) if o["class_weights"] else None
    labels = torch.tensor(line["labels"])
    losses = functional.cross_entropy(prediction, labels, weights, ignore_index=-1, reduction="none",
                                      label_smoothing=o["smoothing"]).reshape(n, -1)
    counted = (labels >= 0).reshape(n, -1).sum(1).clamp(min=1)
    return (losses.sum(1) / counted).sum(), prediction.softmax(1)


def squared_error(line, prediction, n):
    targets = tensor(line["features"] if line["options"]["of_input"] else line["targets"]).reshape(n, -1)
    return ((prediction.reshape(n, -1) - targets) ** 2).mean(1).sum(), prediction


def logistic_loss(line, prediction, n):
    losses = functional.binary_cross_entropy_with_logits(prediction.reshape(n, -1),
                                                         tensor(line["targets"]).reshape(n, -1), reduction="none")
    return losses.mean(1).sum(), prediction.sigmoid()


LOSSES = {form.__name__: form for form in (softmax_cross_entropy, squared_error, logistic_loss)}


def compare_loss(line, worst):
    n, steps = line["shape"][:2]
    prediction = tensor(line["values"]).reshape(n * steps, -1).requires_grad_()
    loss, predictions = LOSSES[line["loss"]](line, prediction, n)
    (line["scale"] * loss).backward()
    worst.compare(line["kind"], "the loss", [line["loss_sum"]], loss)
    worst.compare(line["kind"], "the predictions", line["predictions"], predictions)
    worst.compare(line["kind"], "the gradient", line["gradient"], grad_of(prediction))


def main():
    torch.set_num_threads(1)
    worst = Worst()
    dumped = subprocess.run(sys.argv[1:2], check=True, stdout=subprocess.PIPE).stdout
    for text in dumped.splitlines():
        line = json.loads(text)
        if "loss" in line:
            compare_loss(line, worst)
        elif line["layer"] not in WITHOUT_FORM:
            compare_layer(line, worst)
    for kind, difference in worst.by_kind.items():
        print(f"  {kind}: {difference:.1e}")
    for failure in worst.failures:
        print(failure, file=sys.stderr)
    return 1 if worst.failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""A network, as Ballast describes it, computed by PyTorch: an interpreter of graphs that shares nothing with Ballast's.

What a layer computes stands in common/network/layers.h. `fault` plants an error into one kind of layer, for tests of the
tests.
"""

import torch
from torch.nn import functional

FAULT = 0.02
NEAR = 1e-4  # of the root of a layer's mean square: some times what float32 has made of a value after fifty layers


def spoilt(y):
    """A planted fault: every third value is off by 2 %, which no normalization takes out again."""
    places = torch.arange(y.numel()).reshape(y.shape)
    return y * (1 + FAULT * (places % 3 == 0))


def pair(value):
    return (value["h"], value["w"])


class Batch:
    """One slot's examples: tensors by name, as dump-network writes them."""

    def __init__(self, arrays, steps):
        self.steps = steps
        self.features = arrays["features"]
        self.labels = arrays["labels"]
        self.targets = arrays["targets"]
        self.tokens = arrays["tokens"]
        self.children = arrays["children"]
        self.masks = arrays["masks"]  # of dropout layers, by name: 1 where a value is kept
        self.count = arrays["count"]
        self.lengths = arrays["lengths"]  # none: all sequences are whole

    def within(self, x):
        """Which steps of a value count: examples x steps."""
        if self.lengths is None:
            return torch.ones(x.shape[:2], dtype=torch.bool)
        return torch.arange(x.shape[1])[None, :] < self.lengths[:, None]


class Network:
    """`parameters` maps names to tensors; state becomes a statistic of the batch, gathered in `statistics`.

    Values that enter a ReLU within NEAR of its kink are gathered in `near`: nearness, layer and place. `flipped`: those
    (layer, place) that are taken to be on the other side.
    """

    def __init__(self, graph, parameters, fault=None, flipped=()):
        self.graph, self.parameters, self.fault, self.flipped = graph, parameters, fault, flipped
        self.statistics = {}
        self.near = []

    def __call__(self, batch, training):
        """The sum of the examples' losses."""
        values = [batch.features if batch.tokens is None else batch.tokens]
        for layer in self.graph["layers"]:
            compute = getattr(self, layer["kind"])
            inputs = [values[i] for i in layer["inputs"]]
            weights = [self.parameters[name] for name in layer["parameters"]]
            y = compute(layer, inputs, weights, batch, training)
            values.append(spoilt(y) if layer["kind"] == self.fault else y)
        loss = getattr(self, self.graph["loss"]["kind"])
        value = loss(self.graph["loss"], values[self.graph["prediction"]], batch)
        return value * (1 + FAULT) if self.graph["loss"]["kind"] == self.fault else value

    # Values are examples x steps x channels x height x width.

    @staticmethod
    def rows(x):
        return x.flatten(0, 1)

    @staticmethod
    def unrows(y, x):
        y = y.unflatten(0, x.shape[:2])
        return y.reshape(*y.shape[:3], *(y.shape[3:] or (1, 1)))

    def conv2d(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        y = functional.conv2d(self.rows(inputs[0]), weights[0], weights[1] if len(weights) > 1 else None,
                              pair(o["stride"]), pair(o["padding"]), pair(o["dilation"]), o["groups"])
        return self.unrows(y, inputs[0])

    def transposed_conv2d(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        y = functional.conv_transpose2d(self.rows(inputs[0]), weights[0], weights[1] if len(weights) > 1 else None,
                                        pair(o["stride"]), pair(o["padding"]), pair(o["output_padding"]), o["groups"])
        return self.unrows(y, inputs[0])

    def conv1d(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        x = inputs[0][..., 0, 0] * batch.within(inputs[0])[..., None]
        y = functional.conv1d(x.transpose(1, 2), weights[0], weights[1] if len(weights) > 1 else None, o["stride"],
                              o["padding"], o["dilation"], o["groups"])
        return y.transpose(1, 2)[..., None, None]

    def linear(self, layer, inputs, weights, batch, training):
        y = functional.linear(inputs[0].flatten(2), weights[0], weights[1] if len(weights) > 1 else None)
        return y[..., None, None]

    def batch_norm(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        x = self.rows(inputs[0])
        scale, shift, mean, variance = weights
        if training:
            variance, mean = torch.var_mean(x, (0, 2, 3), unbiased=False)
            n = x.numel() // x.shape[1]
            unbiased = variance * n / (n - 1) if n > 1 else variance
            self.statistics[layer["parameters"][2]] = mean.detach()
            self.statistics[layer["parameters"][3]] = unbiased.detach()
        y = (x - mean[:, None, None]) / torch.sqrt(variance[:, None, None] + o["epsilon"])
        return self.unrows(y * scale[:, None, None] + shift[:, None, None], inputs[0])

    def layer_norm(self, layer, inputs, weights, batch, training):
        x = inputs[0]
        y = functional.layer_norm(x, x.shape[2:], eps=layer["settings"]["epsilon"])
        return y * weights[0].reshape(x.shape[2:]) + weights[1].reshape(x.shape[2:])

    def group_norm(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        return self.unrows(functional.group_norm(self.rows(inputs[0]), o["groups"], *weights, o["epsilon"]), inputs[0])

    def embedding(self, layer, inputs, weights, batch, training):
        return (functional.embedding(batch.tokens, weights[0]) * batch.within(batch.tokens)[..., None])[..., None, None]

    def position_embedding(self, layer, inputs, weights, batch, training):
        return inputs[0] + weights[0][: inputs[0].shape[1], :, None, None]

    def recurrent(self, cell, layer, inputs, weights, batch):
        """Step by step; an example's states stay as they are beyond its length."""
        x = inputs[0][..., 0, 0]
        within = batch.within(x)
        outputs = []
        for first in range(0, len(weights), 4):
            w_ih, w_hh, b_ih, b_hh = weights[first : first + 4]
            state = [x.new_zeros(x.shape[0], w_hh.shape[1])] * 2
            steps = range(x.shape[1]) if first == 0 else reversed(range(x.shape[1]))
            ys = {}
            for t in steps:
                inside = within[:, t, None]
                new = cell(functional.linear(x[:, t], w_ih, b_ih), functional.linear(state[0], w_hh, b_hh), state)
                state = [torch.where(inside, a, b) for a, b in zip(new, state)]
                ys[t] = state[0] * inside
            outputs.append(torch.stack([ys[t] for t in range(x.shape[1])], 1))
        return torch.cat(outputs, 2)[..., None, None]

    def lstm(self, layer, inputs, weights, batch, training):
        def cell(from_x, from_h, state):
            i, f, g, o = (from_x + from_h).chunk(4, 1)
            c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
            return torch.sigmoid(o) * torch.tanh(c), c

        return self.recurrent(cell, layer, inputs, weights, batch)

    def gru(self, layer, inputs, weights, batch, training):
        def cell(from_x, from_h, state):
            (xr, xz, xn), (hr, hz, hn) = from_x.chunk(3, 1), from_h.chunk(3, 1)
            z = torch.sigmoid(xz + hz)
            n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
            return (1 - z) * n + z * state[0], state[1]

        return self.recurrent(cell, layer, inputs, weights, batch)

    def tree_lstm(self, layer, inputs, weights, batch, training):
        """Node by node, each example for itself."""
        leaf, leaf_bias, node, node_bias = weights
        units = node.shape[1] // 2
        zeros = inputs[0].new_zeros(units)
        within = batch.within(inputs[0])
        examples = []
        for n in range(batch.count):
            h, c = [], []
            for t in range(batch.steps):
                left, right = batch.children[n, t].tolist()
                if not within[n, t]:
                    h_t, c_t = zeros, zeros
                elif left < 0:
                    i, o, u = functional.linear(inputs[0][n, t, :, 0, 0], leaf, leaf_bias).chunk(3)
                    c_t = torch.sigmoid(i) * torch.tanh(u)
                    h_t = torch.sigmoid(o) * torch.tanh(c_t)
                else:
                    gates = functional.linear(torch.cat([h[left], h[right]]), node, node_bias)
                    i, fl, fr, o, u = gates.chunk(5)
                    c_t = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * c[left] + torch.sigmoid(fr) * c[right]
                    h_t = torch.sigmoid(o) * torch.tanh(c_t)
                h.append(h_t)
                c.append(c_t)
            examples.append(torch.stack(h))
        return torch.stack(examples)[..., None, None]

    def max_pool2d(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        y = functional.max_pool2d(self.rows(inputs[0]), pair(o["window"]), pair(o["stride"]), pair(o["padding"]))
        return self.unrows(y, inputs[0])

    def average_pool2d(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        y = functional.avg_pool2d(self.rows(inputs[0]), pair(o["window"]), pair(o["stride"]), pair(o["padding"]),
                                  count_include_pad=o["count_padding"])
        return self.unrows(y, inputs[0])

    def global_pool2d(self, layer, inputs, weights, batch, training):
        if layer["settings"]["kind"] == "max":
            return inputs[0].amax((3, 4), keepdim=True)
        return inputs[0].mean((3, 4), keepdim=True)

    def step_pool(self, layer, inputs, weights, batch, training):
        x = inputs[0]
        within = batch.within(x)[..., None, None, None]
        kind = layer["settings"]["kind"]
        if kind == "max":
            return x.masked_fill(~within, -torch.inf).amax(1, keepdim=True)
        if kind == "average":
            lengths = within.sum(1, keepdim=True)
            return (x * within).sum(1, keepdim=True) / lengths
        places = torch.zeros(x.shape[0], dtype=torch.long)
        if kind == "last":
            places = batch.within(x).sum(1) - 1
        return x[torch.arange(x.shape[0]), places][:, None]

    def relu(self, layer, inputs, weights, batch, training):
        x = inputs[0]
        nearness = x.detach().abs().flatten() / x.detach().square().mean().sqrt()
        for place in (nearness < NEAR).nonzero().flatten().tolist():
            self.near.append((nearness[place].item(), layer["name"], place))
        kept = x.detach().flatten() > 0
        for name, place in self.flipped:
            if name == layer["name"]:
                kept[place] = ~kept[place]
        return x * kept.reshape(x.shape)

    def leaky_relu(self, layer, inputs, weights, batch, training):
        return functional.leaky_relu(inputs[0], layer["settings"]["slope"])

    def gelu(self, layer, inputs, weights, batch, training):
        return functional.gelu(inputs[0])

    def tanh(self, layer, inputs, weights, batch, training):
        return torch.tanh(inputs[0])

    def sigmoid(self, layer, inputs, weights, batch, training):
        return torch.sigmoid(inputs[0])

    def dropout(self, layer, inputs, weights, batch, training):
        if not training:
            return inputs[0]
        return inputs[0] * batch.masks[layer["name"]].reshape(inputs[0].shape) / (1 - layer["settings"]["rate"])

    def attention(self, layer, inputs, weights, batch, training):
        heads = layer["settings"]["heads"]
        # examples x heads x steps x channels of a head
        q, k, v = (x[..., 0, 0].unflatten(2, (heads, -1)).transpose(1, 2) for x in inputs)
        scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
        allowed = batch.within(inputs[0])[:, None, None, :]
        if layer["settings"]["causal"]:
            allowed = allowed & torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril()
        y = torch.softmax(scores.masked_fill(~allowed, -torch.inf), 3) @ v
        return y.transpose(1, 2).flatten(2)[..., None, None]

    def add(self, layer, inputs, weights, batch, training):
        return sum(inputs[1:], inputs[0])

    def concatenate(self, layer, inputs, weights, batch, training):
        return torch.cat(inputs, 2)

    def reshape(self, layer, inputs, weights, batch, training):
        o = layer["settings"]
        x = inputs[0]
        steps = 1 if o["join_steps"] else x.shape[1]
        return x.reshape(x.shape[0], steps, -1, o["height"], o["width"])

    # ---- losses

    def softmax_cross_entropy(self, loss, prediction, batch):
        logits = prediction.flatten(0, 1).flatten(1)
        labels = batch.labels.flatten()
        weights = loss["class_weights"]
        weights = torch.tensor(weights or [1.0] * logits.shape[1], dtype=logits.dtype)
        logs = -torch.log_softmax(logits, 1) * weights
        labelled = labels >= 0
        own = logs.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        each = (1 - loss["smoothing"]) * own + loss["smoothing"] * logs.mean(1)
        each = torch.where(labelled, each, torch.zeros_like(each)).reshape(batch.count, -1)
        return (each.sum(1) / labelled.reshape(batch.count, -1).sum(1).clamp(min=1)).sum()

    def squared_error(self, loss, prediction, batch):
        target = batch.features if loss["of_input"] else batch.targets
        return ((prediction.reshape(batch.count, -1) - target.reshape(batch.count, -1)) ** 2).mean(1).sum()

    def logistic_loss(self, loss, prediction, batch):
        each = functional.binary_cross_entropy_with_logits(prediction.reshape(batch.count, -1),
                                                           batch.targets.reshape(batch.count, -1), reduction="none")
        return each.mean(1).sum()

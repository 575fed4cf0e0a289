"""Our networks in PyTorch, layer by layer, with our names of parameters."""

import torch
from torch import nn
from torch.nn import functional


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        # Pooling first: the same values as relu first, on a quarter of the elements.
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = functional.relu(functional.max_pool2d(self.conv2(x), 2))
        x = functional.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(functional.relu(self.fc2(x)))


class Perceptron(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        widths = [784, *hidden, 10]
        for layer in range(1, len(widths)):
            self.add_module(f"fc{layer}", nn.Linear(widths[layer - 1], widths[layer]))
        self._layers = len(hidden)

    def forward(self, x):
        x = torch.flatten(x, 1)
        for layer in range(1, self._layers + 1):
            x = functional.relu(getattr(self, f"fc{layer}")(x))
        return getattr(self, f"fc{self._layers + 1}")(x)


def network(name):
    """As model-speed names them: lenet5, mlp, mlp:4096,4096."""
    model, _, widths = name.partition(":")
    if model == "lenet5":
        return LeNet5()
    if model != "mlp":
        raise ValueError(f"{name}: lenet5 or mlp is wanted")
    return Perceptron([int(width) for width in widths.split(",")] if widths else [256, 128])

"""Measures PyTorch: torch_speed.py cuda|cpu, then for each line of JSON on standard input one on standard output.

In:  {"model": "lenet5", "examples": 128, "seconds": 1, "precision": "float32", "work": "pass"}
Out: {"examples_per_s": 123456.7}, with "not_deterministic" and an operation where PyTorch has no other; or
     {"error": "..."}; at first, once: {"torch": "2.11.0", "cudnn": 91900, ...}

Work, each with a batch that comes from (pinned) host memory:
  pass      forward and backward; weights and gradients stay on the device, and the host never waits but at the end
  worker    what a worker of Ballast must do besides: weights come from host memory, gradients and loss go there
  training  pass, and an update by SGD with momentum: a whole loop of training
"""

import contextlib
import json
import os
import sys
import time

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position

from torch_networks import network  # pylint: disable=wrong-import-position

WARM_UP = 20  # steps at least, and 0.2 s


def be_deterministic():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if hasattr(torch.utils, "deterministic"):  # filling fresh memory is for debugging, and takes time
        torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True


def allow_tf32(allowed):
    """Of two interfaces, the newer one where it is there: they must not be mixed."""
    if hasattr(torch.backends.cudnn, "conv") and hasattr(torch.backends.cudnn.conv, "fp32_precision"):
        torch.backends.cuda.matmul.fp32_precision = "tf32" if allowed else "ieee"
        torch.backends.cudnn.conv.fp32_precision = "tf32" if allowed else "ieee"
    else:
        torch.backends.cuda.matmul.allow_tf32 = allowed
        torch.backends.cudnn.allow_tf32 = allowed


def one_arena(parameters, device):
    """Weights and gradients become views of one tensor each, so that they move in one copy each."""
    elements = sum(parameter.numel() for parameter in parameters)
    weights = torch.empty(elements, device=device)
    gradients = torch.zeros(elements, device=device)
    at = 0
    for parameter in parameters:
        end = at + parameter.numel()
        weights[at:end] = parameter.detach().flatten()
        parameter.data = weights[at:end].view_as(parameter)
        parameter.grad = gradients[at:end].view_as(parameter)
        at = end
    return weights, gradients


class Subject:
    def __init__(self, device, request):
        self.device, self.on_gpu = device, device == "cuda"
        self.work = request["work"]
        allow_tf32(request["precision"] == "tf32")
        self.bfloat16 = request["precision"] == "bfloat16"
        self.network = network(request["model"]).to(device)
        parameters = list(self.network.parameters())
        self.images = self._on_host(torch.rand(request["examples"], 1, 28, 28))
        self.labels = self._on_host(torch.full((request["examples"],), 3))
        if self.work == "worker":
            self.weights, self.gradients = one_arena(parameters, device)
            self.host_weights = self._on_host(self.weights.cpu().clone())
            self.host_gradients = self._on_host(torch.empty(self.gradients.numel()))
        elif self.work == "training":
            self.optimizer = torch.optim.SGD(parameters, lr=0.001, momentum=0.9)
        elif self.work != "pass":
            raise ValueError(f"work {self.work}")

    def _on_host(self, tensor):
        return tensor.pin_memory() if self.on_gpu else tensor

    def _precision(self):
        return torch.autocast(self.device, dtype=torch.bfloat16) if self.bfloat16 else contextlib.nullcontext()

    def _loss(self):
        images = self.images.to(self.device, non_blocking=True)
        labels = self.labels.to(self.device, non_blocking=True)
        with self._precision():
            return functional.cross_entropy(self.network(images), labels)

    def step(self):
        if self.work == "worker":
            self.weights.copy_(self.host_weights, non_blocking=True)
            self.gradients.zero_()
            loss = self._loss()
            loss.backward()
            self.host_gradients.copy_(self.gradients, non_blocking=True)
            loss.item()
            self.wait()
            return
        for parameter in self.network.parameters():
            parameter.grad = None
        self._loss().backward()
        if self.work == "training":
            self.optimizer.step()

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()


def measure(device, request):
    """Examples a second, and what is not deterministic in it all the same: what has no such algorithm is not refused,
    for the comparison's sake, but named."""
    torch.use_deterministic_algorithms(True)
    try:
        return {"examples_per_s": speed(device, request)}
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        torch.use_deterministic_algorithms(True, warn_only=True)
        return {"examples_per_s": speed(device, request), "not_deterministic": str(error).split(" ", 1)[0]}


def speed(device, request):
    subject = Subject(device, request)
    until, steps = time.monotonic() + 0.2, 0
    while time.monotonic() < until or steps < WARM_UP:
        subject.step()
        steps += 1
    subject.wait()
    begin, steps = time.monotonic(), 0
    while time.monotonic() - begin < request["seconds"]:
        for _ in range(5):
            subject.step()
        steps += 5
    subject.wait()
    return request["examples"] * steps / (time.monotonic() - begin)


def main():
    device = sys.argv[1]
    be_deterministic()
    said = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}
    if device == "cuda":
        said.update({"cuda": torch.version.cuda, "card": torch.cuda.get_device_name(0)})
    print(json.dumps(said), flush=True)
    for line in sys.stdin:
        try:
            answer = measure(device, json.loads(line))
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

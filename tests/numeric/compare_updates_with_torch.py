#!/usr/bin/env python3
"""Holds optimizers and schedules against PyTorch's over many steps: compare_updates_with_torch.py APPLY_UPDATES

Exits with 77 (skipped) where PyTorch is not installed.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
    from torch.optim import lr_scheduler, swa_utils
except ImportError:
    print("PyTorch is not installed: skipped")
    sys.exit(77)

STEPS = 50
ELEMENTS = 203
FIRST = 88  # of the elements: those of the first parameter
RATE = 0.02
# Of the difference between two computations in float, over the way that the weights have gone.
TOLERANCE = 2e-5
WARMUP = 7

JOB = """
job: updates
model: {{name: emulated, parameters: [{{name: first, shape: [{first}], group: decay}},
                                      {{name: second, shape: [{second}], group: decay}}]}}
data: {{name: none}}
training:
  max_steps: {steps}
  optimizer: {{name: {name}, learning_rate: {rate}{keys}}}
  schedule: {{{schedule}}}
  clip: {{{clip}}}
{groups}"""


class Lars(torch.optim.Optimizer):
    """Algorithm 1 of Y. You, I. Gitman, B. Ginsburg, "Large Batch Training of Convolutional Networks" (2017)."""

    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0, coefficient=1e-3, eps=1e-8, adapts=True):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, coefficient=coefficient,
                                          eps=eps, adapts=adapts))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                g, decay = w.grad, group["weight_decay"]
                norm, gradient = w.norm(), g.norm()
                rate = torch.tensor(group["lr"])
                if group["adapts"] and norm > 0 and gradient > 0:
                    rate = rate * group["coefficient"] * norm / (gradient + decay * norm + group["eps"])
                buffer = self.state[w].setdefault("momentum_buffer", torch.zeros_like(w))
                buffer.mul_(group["momentum"]).add_(rate * (g + decay * w))
                w.sub_(buffer)


class Lamb(torch.optim.Optimizer):
    """Algorithm 2 of Y. You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes" (2020),
    phi being the identity."""

    def __init__(self, parameters, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, adapts=True):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, adapts=adapts))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (beta1, beta2) = group["betas"]
            for w in group["params"]:
                state = self.state[w]
                if not state:
                    state.update(t=0, m=torch.zeros_like(w), v=torch.zeros_like(w))
                state["t"] += 1
                state["m"].mul_(beta1).add_(w.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(w.grad, w.grad, value=1 - beta2)
                m = state["m"] / (1 - beta1 ** state["t"])
                v = state["v"] / (1 - beta2 ** state["t"])
                update = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * w
                norm, of_update = w.norm(), update.norm()
                ratio = norm / of_update if group["adapts"] and norm > 0 and of_update > 0 else 1.0
                w.sub_(group["lr"] * ratio * update)


def optimizers():
    """Name, our keys, and PyTorch's optimizer of some parameters; each with and without decay."""
    optim = torch.optim
    plain = [
        ("sgd", {}, optim.SGD, {}),
        ("sgd", {"momentum": 0.9}, optim.SGD, {"momentum": 0.9}),
        ("sgd", {"momentum": 0.9, "nesterov": "true"}, optim.SGD, {"momentum": 0.9, "nesterov": True}),
        ("adam", {}, optim.Adam, {}),
        ("adam", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, optim.Adam, {"betas": (0.8, 0.95), "eps": 1e-3}),
        ("adamw", {}, optim.AdamW, {}),
        ("adagrad", {}, optim.Adagrad, {}),
        ("adagrad", {"initial_accumulator": 0.5, "epsilon": 1e-4}, optim.Adagrad,
         {"initial_accumulator_value": 0.5, "eps": 1e-4}),
        ("rmsprop", {}, optim.RMSprop, {}),
        ("rmsprop", {"alpha": 0.9, "momentum": 0.5, "epsilon": 1e-3}, optim.RMSprop,
         {"alpha": 0.9, "momentum": 0.5, "eps": 1e-3}),
        ("lars", {}, Lars, {}),
        ("lars", {"momentum": 0.9, "trust_coefficient": 0.02, "epsilon": 0.5}, Lars,
         {"momentum": 0.9, "coefficient": 0.02, "eps": 0.5}),
        ("lamb", {}, Lamb, {}),
        ("lamb", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, Lamb, {"betas": (0.8, 0.95), "eps": 1e-3}),
    ]
    for (name, keys, kind, arguments), decay in itertools.product(plain, (0, 0.1)):
        keys = dict(keys, weight_decay=decay)
        arguments = dict(arguments, weight_decay=decay, lr=RATE)
        yield name, keys, lambda parameters, kind=kind, arguments=arguments: kind(parameters, **arguments)


def schedules():
    """Our keys and PyTorch's scheduler of an optimizer."""
    return [
        ("name: constant", lambda o: lr_scheduler.LambdaLR(o, lambda _: 1)),
        ("name: step, decay_steps: 9, decay_rate: 0.3", lambda o: lr_scheduler.StepLR(o, 9, 0.3)),
        ("name: exponential, decay_steps: 9, decay_rate: 0.3",
         lambda o: lr_scheduler.ExponentialLR(o, 0.3 ** (1 / 9))),
        ("name: cosine, final_rate: 0.05",
         lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS, eta_min=0.05 * RATE)),
    ]


def run_ours(program, folder, name, keys, schedule="name: constant", clip="", groups="", averages=""):
    keys = "".join(f", {key}: {value}" for key, value in keys.items())
    job = folder / "job.yaml"
    groups = (f"  parameter_groups: [{groups}]\n" if groups else "") + averages
    job.write_text(JOB.format(steps=STEPS, name=name, rate=RATE, keys=keys, schedule=schedule, clip=clip,
                              groups=groups, first=FIRST, second=ELEMENTS - FIRST))
    subprocess.run([program, job, folder], check=True)
    after = numpy.fromfile(folder / "after.f32", dtype=numpy.float32).reshape(STEPS, ELEMENTS)
    return torch.from_numpy(after), numpy.fromfile(folder / "rates.f32", dtype=numpy.float32)


def run_torch(weights, gradients, make_optimizer, make_schedule=None, clip_value=None):
    variable = weights.clone().requires_grad_()
    optimizer = make_optimizer([variable])
    schedule = make_schedule(optimizer) if make_schedule else None
    after = []
    for gradient in gradients:
        variable.grad = gradient.clone()
        if clip_value is not None:
            torch.nn.utils.clip_grad_value_([variable], clip_value)
        optimizer.step()
        if schedule:
            schedule.step()
        after.append(variable.detach().clone())
    return torch.stack(after)


def disagreement(label, weights, ours, theirs):
    """A line if the two ways through weight space part."""
    # For each element, since their gradients differ by orders of magnitude; what rounds a weight also counts.
    way = (theirs - weights).abs().amax(dim=0) + 0.01 * weights.abs()
    difference = ((ours - theirs).abs().amax(dim=0) / way).max().item()
    print(f"  {label}: {difference:.1e}")
    if not difference <= TOLERANCE:
        return [f"{label}: weights differ by {difference:.1e} of their way, more than {TOLERANCE:.0e}"]
    return []


def compare_optimizers(program, folder, weights, gradients):
    for name, keys, make in optimizers():
        ours, _ = run_ours(program, folder, name, keys)
        yield from disagreement(f"{name} {keys}", weights, ours, run_torch_in_parts(weights, gradients, make))


def compare_in_combination(program, folder, weights, gradients):
    """AdamW's decay follows the schedule; clipping comes before decay."""
    keys = {"weight_decay": 0.1}
    (_, _), _, _, (schedule, make_schedule) = schedules()
    make = lambda parameters: torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.1)
    ours, _ = run_ours(program, folder, "adamw", keys, schedule)
    theirs = run_torch(weights, gradients, make, make_schedule)
    yield from disagreement("adamw with cosine", weights, ours, theirs)
    make = lambda parameters: torch.optim.SGD(parameters, lr=RATE, momentum=0.9, weight_decay=0.1)
    ours, _ = run_ours(program, folder, "sgd", dict(keys, momentum=0.9), clip="value: 0.5")
    theirs = run_torch(weights, gradients, make, clip_value=0.5)
    yield from disagreement("sgd with clipping by value", weights, ours, theirs)


def compare_groups(program, folder, weights, gradients):
    """Parameters with a rate and a decay of their own, beside others with the optimizer's."""
    for name, keys, make in optimizers():
        rate, decay = 0.3, 0.05
        ours, _ = run_ours(program, folder, name, keys,
                           groups=f"{{match: s*d, learning_rate: {rate}, weight_decay: {decay}}}")
        of_group = lambda variables, make=make: make([
            {"params": variables[:1]}, {"params": variables[1:], "lr": rate * RATE, "weight_decay": decay}])
        theirs = run_torch_in_parts(weights, gradients, of_group)
        yield from disagreement(f"{name} {keys} in groups", weights, ours, theirs)


def compare_without_ratio(program, folder, weights, gradients):
    """A parameter whose ratio is 1 beside one with a ratio; and decay and clipping together with a schedule."""
    (_, _), _, _, (schedule, make_schedule) = schedules()
    for name, keys, kind, arguments in (
            ("lars", {"momentum": 0.9, "weight_decay": 0.1}, Lars, {"momentum": 0.9, "weight_decay": 0.1}),
            ("lamb", {"weight_decay": 0.1}, Lamb, {"weight_decay": 0.1})):
        ours, _ = run_ours(program, folder, name, keys, schedule, clip="value: 0.5",
                           groups="{match: second, trust_ratio: false}")
        of_group = lambda variables, kind=kind, arguments=arguments: kind(
            [{"params": variables[:1]}, {"params": variables[1:], "adapts": False}], lr=RATE, **arguments)
        theirs = run_torch_in_parts(weights, gradients.clamp(-0.5, 0.5), of_group, make_schedule)
        yield from disagreement(f"{name} {keys} partly without ratios, with cosine", weights, ours, theirs)


def exponential_average(decay):
    """What AveragedModel takes for an exponential moving average."""
    if hasattr(swa_utils, "get_ema_multi_avg_fn"):
        return {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(decay)}
    # Before PyTorch 2.0, which averages by torch.lerp.
    return {"avg_fn": lambda average, weights, _: torch.lerp(average, weights, 1 - decay)}


def averages_of(weights, after, decay, begins):
    """AveragedModel's parameters after each step, of a model that has gone the way of `after`."""
    model = torch.nn.Linear(1, ELEMENTS, bias=False)
    averaged = swa_utils.AveragedModel(model, **exponential_average(decay))
    averages = []
    for step, now in enumerate([weights, *after]):
        with torch.no_grad():
            model.weight.copy_(now.unsqueeze(1))
        if step >= begins:
            averaged.update_parameters(model)  # the first one copies
        average = averaged.module if step >= begins else model
        averages.append(average.weight.detach().clone().squeeze(1))
    return torch.stack(averages[1:])


def compare_averages(program, folder, weights, gradients):
    for name, decay, begins in itertools.product(("sgd", "adamw"), (0.999, 0.9, 0.5, 0.3, 0), (0, None, 10)):
        keys = f"  weight_average: {{decay: {decay}{'' if begins is None else f', begins_at_step: {begins}'}}}\n"
        ours, _ = run_ours(program, folder, name, {}, averages=keys)
        averages = numpy.fromfile(folder / "averages.f32", dtype=numpy.float32).reshape(STEPS, ELEMENTS)
        theirs = averages_of(weights, ours, decay, 1 if begins is None else begins)
        yield from disagreement(f"{name}, average with decay {decay} from {begins}", weights,
                                torch.from_numpy(averages), theirs)


def run_torch_in_parts(weights, gradients, make_optimizer, make_schedule=None):
    variables = [weights[:FIRST].clone().requires_grad_(), weights[FIRST:].clone().requires_grad_()]
    optimizer = make_optimizer(variables)
    schedule = make_schedule(optimizer) if make_schedule else None
    after = []
    for gradient in gradients:
        variables[0].grad, variables[1].grad = gradient[:FIRST].clone(), gradient[FIRST:].clone()
        optimizer.step()
        if schedule:
            schedule.step()
        after.append(torch.cat([variable.detach() for variable in variables]))
    return torch.stack(after)


def rates_of(make_schedule, steps):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    schedule = make_schedule(optimizer)
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def compare_schedules(program, folder):
    for (keys, make), warmup in itertools.product(schedules(), (0, WARMUP)):
        if "cosine" in keys and warmup:
            make = lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS - WARMUP, eta_min=0.05 * RATE)
        _, ours = run_ours(program, folder, "sgd", {}, f"{keys}, warmup_steps: {warmup}")
        theirs = rates_of(make, STEPS - warmup)
        if warmup:
            rising = lambda o: lr_scheduler.LinearLR(o, start_factor=1 / (WARMUP + 1), total_iters=WARMUP)
            theirs = rates_of(rising, warmup) + theirs
        difference = max(abs(a - b) / b for a, b in zip(ours, theirs))
        print(f"  {keys}, warm-up {warmup}: {difference:.1e}")
        if not difference <= 1e-6:
            yield f"{keys}, warm-up {warmup}: {list(ours)}, PyTorch has {theirs}"


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    weights = torch.randn(ELEMENTS)
    gradients = torch.randn(STEPS, ELEMENTS) * torch.logspace(-3, 1, ELEMENTS)
    gradients[:, 0] = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        weights.numpy().tofile(folder / "weights.f32")
        gradients.numpy().tofile(folder / "gradients.f32")
        failures = list(compare_optimizers(sys.argv[1], folder, weights, gradients))
        failures += compare_in_combination(sys.argv[1], folder, weights, gradients)
        failures += compare_groups(sys.argv[1], folder, weights, gradients)
        failures += compare_without_ratio(sys.argv[1], folder, weights, gradients)
        failures += compare_averages(sys.argv[1], folder, weights, gradients)
        failures += compare_schedules(sys.argv[1], folder)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

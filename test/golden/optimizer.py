# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes unittests/Transforms/OptimizerGolden.inc: what PyTorch's optimizers do.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python test/golden/optimizer.py > unittests/Transforms/OptimizerGolden.inc

Two f64 parameters of 6 and 3 elements and six steps with given gradients and
learning rates; every case lists both parameters after each step.
"""
import math

import torch

STEPS = 6
SIZES = [6, 3]
# Exact in f32, which the learning rate is given in.
RATES = [0.125, 0.125, 0.0625, 0.25, 0.03125, 0.125]


def initial(p):
    return [math.sin(1.0 + p + 0.7 * i) for i in range(SIZES[p])]


def gradient(step, p):
    return [2.0 * math.cos(3.1 * step + 1.3 * p + 0.9 * i) + 0.25
            for i in range(SIZES[p])]


# (name, options of echo-optimizer, the same for this script)
CASES = [
    ("sgd", "kind=sgd", dict(kind="sgd")),
    ("sgd_l2", "kind=sgd weight-decay=0.25", dict(kind="sgd", decay=0.25)),
    ("sgd_decoupled", "kind=sgd weight-decay=0.25 decoupled=true",
     dict(kind="sgd", decay=0.25, decoupled=True)),
    ("sgd_clip", "kind=sgd clip-norm=1.5", dict(kind="sgd", clip=1.5)),
    ("momentum", "kind=momentum momentum=0.75", dict(kind="momentum")),
    ("momentum_l2", "kind=momentum momentum=0.75 weight-decay=0.25",
     dict(kind="momentum", decay=0.25)),
    ("momentum_accumulate", "kind=momentum momentum=0.75 accumulate=2",
     dict(kind="momentum", accumulate=2)),
    ("adam", "kind=adam", dict(kind="adam")),
    ("adam_options", "kind=adam beta1=0.5 beta2=0.875 epsilon=0.125",
     dict(kind="adam", betas=(0.5, 0.875), epsilon=0.125)),
    ("adam_l2", "kind=adam weight-decay=0.25", dict(kind="adam", decay=0.25)),
    ("adamw", "kind=adam weight-decay=0.25 decoupled=true",
     dict(kind="adam", decay=0.25, decoupled=True)),
    ("adam_clip", "kind=adam clip-norm=2.5", dict(kind="adam", clip=2.5)),
    ("adamw_clip_accumulate",
     "kind=adam weight-decay=0.25 decoupled=true clip-norm=1 accumulate=3",
     dict(kind="adam", decay=0.25, decoupled=True, clip=1.0, accumulate=3)),
]


def run(kind, decay=0.0, decoupled=False, clip=0.0, accumulate=1,
        betas=(0.9, 0.999), epsilon=1e-8):
    params = [torch.tensor(initial(p), dtype=torch.float64, requires_grad=True)
              for p in range(2)]
    if kind == "adam":
        make = torch.optim.AdamW if decoupled else torch.optim.Adam
        optimizer = make(params, lr=1.0, betas=betas, eps=epsilon,
                         weight_decay=decay)
    else:
        optimizer = torch.optim.SGD(
            params, lr=1.0, momentum=0.75 if kind == "momentum" else 0.0,
            weight_decay=0.0 if decoupled else decay)
    history = []
    for step in range(STEPS):
        for p, param in enumerate(params):
            g = torch.tensor(gradient(step, p), dtype=torch.float64)
            loss = (param * g).sum() / accumulate
            loss.backward()
        if (step + 1) % accumulate == 0:
            if clip:
                torch.nn.utils.clip_grad_norm_(params, clip)
            for group in optimizer.param_groups:
                group["lr"] = RATES[step]
            if decoupled and kind != "adam":
                # torch.optim.SGD has no decoupled decay of its own.
                with torch.no_grad():
                    for param in params:
                        param.mul_(1.0 - RATES[step] * decay)
            optimizer.step()
            optimizer.zero_grad()
        history.append([x for param in params for x in param.tolist()])
    return history


def row(values):
    return "{" + ", ".join(f"{v:.17g}" for v in values) + "}"


def main():
    print("// Written by test/golden/optimizer.py with PyTorch "
          f"{torch.__version__.split('+')[0]}.")
    for p, name in enumerate(["kInitialW", "kInitialB"]):
        print(f"const std::vector<double> {name} =\n    {row(initial(p))};")
    for p, name in enumerate(["kGradientW", "kGradientB"]):
        rows = ",\n    ".join(row(gradient(s, p)) for s in range(STEPS))
        print(f"const std::vector<std::vector<double>> {name} = {{\n    {rows}}};")
    print(f"const std::vector<double> kRates =\n    {row(RATES)};")
    print("const std::vector<GoldenCase> kCases = {")
    for name, options, arguments in CASES:
        rows = ",\n      ".join(row(h) for h in run(**arguments))
        print(f'    {{"{name}", "{options}",\n     {{{rows}}}}},')
    print("};")


main()

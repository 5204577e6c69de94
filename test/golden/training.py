# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the reference scripts of models share: training with PyTorch."""

import sys

import numpy as np
import torch

STEPS = 3
# Exact in f32. With a larger epsilon a gradient near zero moves its parameter
# by about as much in f32 as in f64.
SGD_RATE, ADAM_RATE, ADAM_EPSILON = 0.5, 2.0 ** -7, 1e-3


def record(model, inputs, random, values, prefix):
    """Adds to `values`, under `prefix`, the inputs, weights drawn from `random`,
    every gradient, and all parameters and losses of a few steps of SGD and of
    Adam. model.echo_names() gives the parameters by Echo's names."""
    names = model.echo_names()
    initial = {}
    for name in sorted(names):
        shape = tuple(names[name].shape)
        # Exact in f32, so that f32 and f64 start from the same weights.
        initial[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
    arguments = [torch.from_numpy(value.astype(np.int64))
                 for value in inputs.values()]
    for name, value in inputs.items():
        values["%s:input:%s" % (prefix, name)] = value
    for name, value in initial.items():
        values["%s:weight:%s" % (prefix, name)] = value

    def reset():
        with torch.no_grad():
            for name, parameter in names.items():
                parameter.copy_(torch.from_numpy(initial[name]))
        model.zero_grad()

    reset()
    model(*arguments).backward()
    for name, parameter in names.items():
        values["%s:gradient:%s" % (prefix, name)] = parameter.grad.numpy()
    trained = [p for p in model.parameters() if p.requires_grad]
    for kind, optimizer in (
            ("sgd", lambda: torch.optim.SGD(trained, lr=SGD_RATE)),
            ("adam", lambda: torch.optim.Adam(trained, lr=ADAM_RATE,
                                              betas=(0.9, 0.999),
                                              eps=ADAM_EPSILON))):
        reset()
        steps, losses = optimizer(), []
        for _ in range(STEPS):
            steps.zero_grad()
            loss = model(*arguments)
            loss.backward()
            steps.step()
            losses.append(loss.item())
        values["%s:%s_losses" % (prefix, kind)] = np.array(losses)
        for name, parameter in names.items():
            values["%s:%s:%s" % (prefix, kind, name)] = (
                parameter.detach().numpy().copy())


def write(run_variant, variants):
    """Writes the values of all variants to the file of the first argument."""
    values = {}
    for prefix, options in variants.items():
        run_variant(options, values, prefix)
    np.savez_compressed(sys.argv[1], **values)

#!/usr/bin/env python3
#===- problems.py - Strategies on graphs that no frontend makes ------------===#
#
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Writes problems of rematerialization for a Transformer, ResNets and
DeepSpeech2, plans them with every strategy, and writes
docs/results/problems.md.

    benchmarks/problems.py --build=build          all of it
    benchmarks/problems.py --write=DIR            the problems alone"""

import argparse
import json
import os
import tempfile

from common import SOURCE, Tools, run
from training_graphs import Graph, write_problem

DEVICE = "rtx2080ti"


def transformer(layers=6, words=4096, length=100, width=512, inner=2048,
                heads=8, vocabulary=32768):
    """Encoder and decoder, layer norm first, one embedding for three uses."""
    graph = Graph(states=2)
    embedding = graph.parameter("embedding", vocabulary * width)
    scores = words * heads * length

    def embed(name):
        tokens = graph.input(name + "/tokens", words)
        x = graph.op(name, [tokens, embedding], [(name, words * width)])

        def backward():
            graph.add_gradient(embedding, graph.op(
                name + " gradient", [tokens, x.gradient],
                [(name + " gradient", vocabulary * width)]))
        backward.parameters = [embedding]
        graph.record([x], backward)
        return graph.dropout(name + "/dropout", x)

    def attention(name, x, memory):
        q = graph.linear(name + "/q", x, words, width, width)
        k = graph.linear(name + "/k", memory, words, width, width)
        v = graph.linear(name + "/v", memory, words, width, width)
        flops = 2 * words * length * width
        a = graph.heavy(name + "/scores", [q, k], scores, flops)
        a = graph.softmax(name + "/softmax", a, length)
        a = graph.dropout(name + "/dropout", a)
        c = graph.heavy(name + "/context", [a, v], words * width, flops)
        return graph.linear(name + "/out", c, words, width, width)

    def residual(name, x, inside):
        y = inside(graph.layer_norm(name + "/norm", x, width))
        return graph.add(name + "/add", x, graph.dropout(name + "/post", y))

    def feed_forward(name):
        def inside(x):
            y = graph.linear(name + "/1", x, words, width, inner)
            y = graph.relu(name + "/relu", y)
            y = graph.dropout(name + "/dropout", y)
            return graph.linear(name + "/2", y, words, inner, width)
        return inside

    x = embed("source")
    for layer in range(layers):
        name = "encoder%d" % layer
        x = residual(name + "/self", x,
                     lambda y, n=name: attention(n + "/self", y, y))
        x = residual(name + "/ff", x, feed_forward(name + "/ff"))
    memory = graph.layer_norm("encoder/norm", x, width)
    x = embed("target")
    for layer in range(layers):
        name = "decoder%d" % layer
        x = residual(name + "/self", x,
                     lambda y, n=name: attention(n + "/self", y, y))
        x = residual(name + "/source", x,
                     lambda y, n=name: attention(n + "/source", y, memory))
        x = residual(name + "/ff", x, feed_forward(name + "/ff"))
    x = graph.layer_norm("decoder/norm", x, width)
    logits = graph.linear("output", x, words, width, vocabulary, embedding)
    return graph, graph.cross_entropy("cross entropy", logits, words)


def resnet(blocks, before=False, batch=32):
    """Bottleneck blocks; `before`: batch norm and ReLU before a convolution."""
    graph = Graph(states=1)

    def convolve(name, x, side, inputs, outputs, kernel):
        """`side`: of the output."""
        weight = graph.parameter(name + "/weight",
                                 inputs * outputs * kernel * kernel)
        return graph.heavy(
            name, [x, weight], batch * outputs * side * side,
            2 * batch * outputs * side * side * inputs * kernel * kernel)

    def norm(name, x, channels, relu=True):
        y = graph.batch_norm(name + "/norm", x, channels)
        return graph.relu(name + "/relu", y) if relu else y

    def pool(name, x, size):
        y = graph.op(name, [x], [(name, size), (name + " places", size, 1)])
        y, places = y
        graph.record([y], lambda: graph.add_gradient(x, graph.op(
            name + " gradient", [y.gradient, places],
            [(name + " gradient", x.size)])))
        return y

    x = graph.input("image", batch * 3 * 224 * 224)
    x = convolve("stem", x, 112, 3, 64, 7)
    x = pool("pool", norm("stem", x, 64), batch * 64 * 56 * 56)
    channels = 64
    for stage, count in enumerate(blocks):
        side, inner = 56 >> stage, 64 << stage
        for block in range(count):
            name = "stage%d/block%d" % (stage, block)
            # The first block of a stage halves the sides at its 3x3.
            first = side if block or stage == 0 else 2 * side
            y = norm(name + "/a", x, channels) if before else x
            start = y
            y = convolve(name + "/1", y, first, channels, inner, 1)
            y = norm(name + "/1", y, inner)
            y = convolve(name + "/2", y, side, inner, inner, 3)
            y = norm(name + "/2", y, inner)
            y = convolve(name + "/3", y, side, inner, 4 * inner, 1)
            if not before:
                y = norm(name + "/3", y, 4 * inner, relu=False)
            if block == 0:
                x = convolve(name + "/shortcut", start if before else x, side,
                             channels, 4 * inner, 1)
                if not before:
                    x = norm(name + "/shortcut", x, 4 * inner, relu=False)
            x = graph.add(name + "/add", x, y)
            if not before:
                x = graph.relu(name + "/relu", x)
            channels = 4 * inner
    if before:
        x = norm("end", x, channels)
    mean = graph.op("mean", [x], [("mean", batch * channels)], x.size)
    end = x
    graph.record([mean], lambda: graph.add_gradient(end, graph.pointwise(
        "mean gradient", [mean.gradient], end.size)))
    logits = graph.linear("output", mean, batch, channels, 1000)
    return graph, graph.cross_entropy("cross entropy", logits, batch)


def gru_direction(graph, name, x, steps, batch, width, hidden):
    """One direction of a layer. The input's products are one, the weight's
    gradients too; r, z, hn and n are tensors of their own."""
    gx = graph.linear(name + "/input", x, steps * batch, width, 3 * hidden)
    weight = graph.parameter(name + "/weight", 3 * hidden * hidden)
    size = batch * hidden
    flops = 2 * batch * hidden * 3 * hidden
    h = graph.input(name + "/start", size)
    outputs, trace = [], []
    for t in range(steps):
        at = "%s/t%d" % (name, t)
        grz, hn = graph.op(at + "/product", [h, weight],
                           [(at + "/rz", 2 * size), (at + "/hn", size)],
                           flops, heavy=True)

        def part(of, which):
            return graph.view("%s/%s" % (at, which), of, size)
        r = graph.pointwise(at + "/r", [part(gx, "xr"), part(grz, "hr")], size)
        z = graph.pointwise(at + "/z", [part(gx, "xz"), part(grz, "hz")], size)
        rh = graph.pointwise(at + "/rh", [r, hn], size)
        n = graph.pointwise(at + "/n", [part(gx, "xn"), rh], size)
        before = h
        h = graph.pointwise(at + "/h", [n, z, before], size)
        trace.append((at, before, r, z, n, hn))
        outputs.append(h)

    def backward():
        carried, gradients = None, []
        for t in reversed(range(steps)):
            at, before, r, z, n, hn = trace[t]
            inputs = [outputs[t].gradient] + ([carried] if carried else [])
            dgates, direct = graph.op(
                at + "/gates gradient", inputs + [before, r, z, n, hn],
                [(at + "/gates gradient", 4 * size),
                 (at + "/h gradient", size)], 20 * size)
            product = graph.op(at + "/product gradient", [dgates, weight],
                               [(at + "/product gradient", size)], flops,
                               heavy=True)
            carried = graph.pointwise(at + "/h gradient", [direct, product],
                                      size)
            gradients.append(dgates)
        states = [entry[1] for entry in trace]
        graph.add_gradient(weight, graph.op(
            name + "/weight gradient", gradients + states,
            [(name + "/weight gradient", weight.size)], flops * steps,
            heavy=True))
        # Parts of the gates' gradients, read where they are.
        gx.gradient = graph.op(name + "/input gradients", gradients,
                               [(name + "/input gradients", gx.size)])
    backward.parameters = [weight]
    graph.record([outputs[-1]], backward)
    return outputs


def deep_speech(steps=800, batch=24, hidden=1760, layers=5, frequencies=161):
    """Two convolutions, five bidirectional GRU layers, CTC."""
    graph = Graph(states=1)
    x = graph.input("sound", batch * 2 * steps * frequencies)
    inputs, rows, kernel = 1, frequencies, 11 * 41
    for layer in range(2):
        name = "conv%d" % layer
        rows = -(-rows // 2)
        weight = graph.parameter(name + "/weight", inputs * 32 * kernel)
        x = graph.heavy(name, [x, weight], batch * 32 * steps * rows,
                        2 * batch * 32 * steps * rows * inputs * kernel)
        x = graph.relu(name + "/relu", graph.batch_norm(name + "/norm", x, 32))
        inputs, kernel = 32, 11 * 21
    width = 32 * rows
    for layer in range(layers):
        name = "gru%d" % layer
        parts = []
        for direction in ("forward", "backward"):
            parts += gru_direction(graph, "%s/%s" % (name, direction), x,
                                   steps, batch, width, hidden)
        joined = graph.op(name + "/join", parts,
                          [(name + "/join", steps * batch * 2 * hidden)],
                          mirrored=False)

        def backward(joined=joined, parts=parts):
            for part in parts:
                part.gradient = graph.view("output gradient", joined.gradient,
                                           part.size)
        graph.record([joined], backward)
        x, width = joined, 2 * hidden
    x = graph.linear("fc", x, steps * batch, width, hidden)
    x = graph.relu("fc/relu", x)
    logits = graph.linear("output", x, steps * batch, hidden, 29)
    return graph, graph.cross_entropy("ctc", logits, steps * batch)


# With the table of an independent model (total GB; persistent, none, mirror,
# echo) for comparison; docs/results/problems.md says what it is.
PROBLEMS = [
    ("transformer", "Transformer, 6 + 6 layers, 4096 words", transformer, {},
     (0.73, 3.96, 3.74, 2.87)),
    ("resnet50", "ResNet-50, batch 32", resnet, {"blocks": (3, 4, 6, 3)},
     (0.20, 2.90, 2.79, 2.35)),
    ("resnet152", "ResNet-152, batch 32", resnet, {"blocks": (3, 8, 36, 3)},
     (0.48, 6.11, 6.00, 5.07)),
    ("resnet152-pre", "ResNet-152, pre-activation, batch 32", resnet,
     {"blocks": (3, 8, 36, 3), "before": True}, (0.48, 5.94, 5.99, 3.20)),
    ("deepspeech2", "DeepSpeech2, batch 24, 1600 frames", deep_speech, {},
     (2.10, 11.2, 13.8, 10.1)),
]


def make(build, arguments):
    graph, loss = build(**arguments)
    return graph.finish(loss)


def gb(number):
    return "%.2f" % (number / 1e9)


def table(rows, header):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def plan_all(tools, folder):
    """Rows for the two tables: figures of every strategy, and the other model's
    totals beside ours."""
    figures, compared = [], []
    for name, title, build, arguments, other in PROBLEMS:
        path = os.path.join(folder, name + ".json")
        report = os.path.join(folder, name + "-report.json")
        write_problem(make(build, arguments), path)
        run(tools.echo_plan, "--problem=" + path, "--compare", "--quiet",
            "--device=" + DEVICE, "--report=" + report)
        with open(report, encoding="utf-8") as file:
            strategies = json.load(file)["strategies"]
        totals = {}
        for entry in strategies:
            strategy, size, ops = (entry["strategy"], entry["bytes"],
                                   entry["ops"])
            totals[strategy] = size["total"]
            figures.append([
                title, strategy, str(ops["forward"] + ops["backward"]),
                gb(size["total"]), gb(size["feature_maps"]),
                gb(size["logical_peak"]), str(ops["recomputed"]),
                "%.2f%%" % (100 * entry["overhead"]["modelled"])])
        compared.append([title] + [
            "%s / %s" % (gb(ours), "%.2f" % theirs)
            for ours, theirs in zip(
                [strategies[0]["bytes"]["persistent"], totals["none"],
                 totals["mirror"], totals["echo"]], other)])
    return figures, compared


INTRODUCTION = """# Problems from JSON

Written by `benchmarks/problems.py` from `echo-plan --problem= --compare
--device=rtx2080ti`: op-level graphs of networks that no frontend of Echo makes yet, as
problems of [remat.md](../remat.md). Nothing was run. GB are 1e9 bytes; total is
parameters + optimizer state + logical peak (there is no placement); every strategy's
plan is shown as it is, applied or not. The overhead is that of the modelled step, with
fusion of the clones; ops between products are pointwise or row reductions, statistics of
batch norm and the gradients of scales kernels of their own.
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--write", metavar="DIR",
                        help="write the problems there and plan nothing")
    options = parser.parse_args()
    if options.write:
        os.makedirs(options.write, exist_ok=True)
        for name, _, build, arguments, _ in PROBLEMS:
            write_problem(make(build, arguments),
                          os.path.join(options.write, name + ".json"))
        return
    with tempfile.TemporaryDirectory() as folder:
        figures, compared = plan_all(Tools(options.build), folder)
    output = os.path.join(SOURCE, "docs/results/problems.md")
    with open(output, encoding="utf-8") as file:
        remarks = file.read().partition("## Differences\n")[2]
    text = "\n".join([
        INTRODUCTION,
        table(figures, ["problem", "strategy", "ops", "total GB",
                        "feature maps GB", "logical peak GB", "recomputed",
                        "overhead"]),
        "\n## Beside an independent model\n",
        "Total GB, ours / the estimate of a separate model of the same "
        "networks.\n",
        table(compared, ["problem", "parameters and state", "none", "mirror",
                         "echo"]),
        "\n## Differences\n"])
    with open(output, "w", encoding="utf-8") as file:
        file.write(text + remarks)


if __name__ == "__main__":
    main()

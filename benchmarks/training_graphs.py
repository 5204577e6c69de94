# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training graphs as problems of rematerialization (docs/remat.md), op by op.

A Graph records forward ops with a function each that makes their gradients, and
writes the backward part in reverse. Everything is f32; gradients read outputs
where both work. Times are the model of docs/devices.md for an RTX 2080 Ti."""

import json

BANDWIDTH = 616e9 * 0.88
FLOPS = 13.4e12 * 0.9
LAUNCH, STARTUP = 1e-6, 6e-6
SAME, ANY = "same", "any"


class Tensor:
    """A value; `size` counts elements."""

    def __init__(self, index, size, width, whole=None):
        self.index, self.size, self.width = index, size, width
        self.whole = whole  # what it is a view of
        self.gradient = None
        self.needs_gradient = True

    @property
    def bytes(self):
        return self.size * self.width


class Graph:
    def __init__(self, states):
        self.states = states  # of the optimizer, for each parameter
        self.values, self.ops, self.outputs = [], [], []
        self.tape, self.updates = [], []
        self.bit_readers = {}  # by value
        self.forward = True
        self.resident = 0

    # Values

    def value(self, name, size, width=4, **fields):
        self.values.append({"name": name, "bytes": size * width, **fields})
        return Tensor(len(self.values) - 1, size, width)

    def view(self, name, whole, size):
        """`size` elements of a tensor, read where they are."""
        self.values.append({"name": name, "view_of": whole.index})
        view = Tensor(len(self.values) - 1, size, whole.width, whole)
        self.ops.append({"name": name, "inputs": [whole.index],
                         "results": [view.index], "part": self.part,
                         "seconds": 0})
        return view

    def input(self, name, size, width=4):
        tensor = self.value(name, size, width)
        tensor.needs_gradient = False
        return tensor

    def parameter(self, name, size):
        tensor = self.value(name, size, resident=True)
        for state in range(self.states):
            self.value("%s/state%d" % (name, state), size, resident=True)
        self.resident += 4 * size * (1 + self.states)
        return tensor

    def with_bits(self, tensor, reader):
        """The op `reader` of the backward part could do with a bit an
        element."""
        self.bit_readers[tensor.index] = (reader, -(-tensor.size // 8))
        return tensor

    def write_bits(self):
        """A value may be stashed as bits if no other late reader needs more."""
        late = [op for op in self.ops if op["part"] == "backward"]
        for value, (reader, size) in self.bit_readers.items():
            if all(op["name"] == reader for op in late
                   if value in op["inputs"]):
                self.values[value]["bits"] = size

    # Ops

    @property
    def part(self):
        return "forward" if self.forward else "backward"

    def op(self, name, inputs, results, flops=0, heavy=False, accesses=None,
           **fields):
        """`results`: pairs of name and size, or of name, size and width. With
        accesses it is pointwise over its first result's elements."""
        made = [self.value(*result) for result in results]
        moved = sum(t.bytes for t in list(inputs) + made)
        entry = {"name": name, "inputs": [t.index for t in inputs],
                 "results": [t.index for t in made], "part": self.part}
        if heavy:
            entry["seconds"] = (LAUNCH + STARTUP +
                                max(flops / FLOPS, moved / BANDWIDTH))
            entry["heavy"] = True
        else:
            entry["seconds"] = LAUNCH + max(flops / 13.4e12,
                                            moved / BANDWIDTH)
        entry["flops"] = int(flops)
        if accesses:
            size = made[0].size
            entry["flops"] = int(flops or size)
            entry["fusion"] = {
                "class": "pointwise", "elements": size, "reads": accesses,
                "writes": [SAME if t.size == size else "other" for t in made]}
            if any(t.whole for t in inputs):
                entry["read_bytes"] = [t.bytes for t in inputs]
        entry.update(fields)
        self.ops.append(entry)
        return made if len(made) != 1 else made[0]

    def pointwise(self, name, inputs, size, width=4, **fields):
        accesses = [SAME if t.size == size and not t.whole else ANY
                    for t in inputs]
        return self.op(name, inputs, [(name, size, width)], accesses=accesses,
                       in_place=True, **fields)

    # Gradients

    def add_gradient(self, tensor, gradient):
        if not tensor.needs_gradient:
            return
        if tensor.gradient:
            gradient = self.pointwise("sum of gradients",
                                      [tensor.gradient, gradient], tensor.size)
        tensor.gradient = gradient

    def record(self, results, backward):
        """`backward()` makes gradients from those of `results`."""
        self.tape.append((results, backward))

    def update(self, parameter, readers):
        """Runs as soon as the gradient is complete."""
        self.updates.append([parameter, readers])

    def finish(self, loss):
        self.outputs.append(loss.index)
        self.forward = False
        seed = self.value("loss gradient", 1, resident=True)
        loss.gradient = seed
        uses = {}
        for results, backward in self.tape:
            for parameter in getattr(backward, "parameters", []):
                uses[parameter] = uses.get(parameter, 0) + 1
        for results, backward in reversed(self.tape):
            if any(t.gradient for t in results):
                backward()
            for parameter in getattr(backward, "parameters", []):
                uses[parameter] -= 1
                if uses[parameter] == 0:
                    self.write_update(parameter)
        self.write_bits()
        return {"values": self.values, "ops": self.ops, "loss": loss.index,
                "targets": self.outputs[1:], "outputs": self.outputs,
                "memory_bandwidth": BANDWIDTH, "launch_seconds": LAUNCH}

    def write_update(self, parameter):
        """The new value and states take the old ones' memory."""
        old = [parameter] + [
            Tensor(parameter.index + 1 + i, parameter.size, 4)
            for i in range(self.states)]
        new = [self.value("updated", 0, resident=True) for _ in old]
        seconds = LAUNCH + 4 * parameter.size * (2 * len(old) + 1) / BANDWIDTH
        self.ops.append({
            "name": "update", "part": "backward", "seconds": seconds,
            "inputs": [t.index for t in old] + [parameter.gradient.index],
            "results": [t.index for t in new]})
        self.outputs += [t.index for t in new]
        parameter.gradient = None

    # Layers

    def heavy(self, name, inputs, size, flops):
        """A product or convolution; the gradient of each operand reads the
        others."""
        result = self.op(name, inputs, [(name, size)], flops, heavy=True)

        def backward():
            for tensor in inputs:
                if not tensor.needs_gradient:
                    continue
                others = [t for t in inputs if t is not tensor]
                self.add_gradient(tensor, self.op(
                    name + " gradient", [result.gradient] + others,
                    [(name + " gradient", tensor.size)], flops, heavy=True))
        backward.parameters = [t for t in inputs
                               if self.values[t.index].get("resident")]
        self.record([result], backward)
        return result

    def linear(self, name, x, rows, inputs, outputs, weight=None):
        weight = weight or self.parameter(name + "/weight", inputs * outputs)
        return self.heavy(name, [x, weight], rows * outputs,
                          2 * rows * inputs * outputs)

    def relu(self, name, x):
        y = self.with_bits(self.pointwise(name, [x], x.size),
                           name + " gradient")
        self.record([y], lambda: self.add_gradient(x, self.pointwise(
            name + " gradient", [y.gradient, y], x.size)))
        return y

    def add(self, name, a, b):
        y = self.pointwise(name, [a, b], a.size)

        def backward():
            self.add_gradient(a, y.gradient)
            self.add_gradient(b, y.gradient)
        self.record([y], backward)
        return y

    def dropout(self, name, x):
        """The mask takes a byte an element; it is counter-based."""
        mask = self.with_bits(self.op(
            name + " mask", [], [(name + " mask", x.size, 1)],
            mirrored=False, accesses=[]), name + " gradient")
        del self.ops[-1]["flops"]
        self.ops[-1]["fusion"] = {"class": "pointwise", "elements": x.size,
                                  "weight": 40, "reads": [], "writes": [SAME]}
        y = self.pointwise(name, [x, mask], x.size, mirrored=False)
        self.record([y], lambda: self.add_gradient(x, self.pointwise(
            name + " gradient", [y.gradient, mask], x.size)))
        return y

    def rows_op(self, name, inputs, size, columns, results, **fields):
        """An op over rows of `columns` elements."""
        made = self.op(name, inputs, results, 5 * size, **fields)
        self.ops[-1]["fusion"] = {
            "class": "row_reduction", "elements": size, "columns": columns,
            "weight": 5,
            "reads": [SAME if t.size == size else
                      {"row": columns} if t.size * columns == size else ANY
                      for t in inputs],
            "writes": [SAME if r[1] == size else "row" for r in results]}
        return made

    def softmax(self, name, x, columns):
        y = self.rows_op(name, [x], x.size, columns, [(name, x.size)],
                         mirrored=False)
        self.record([y], lambda: self.add_gradient(x, self.rows_op(
            name + " gradient", [y.gradient, y], x.size, columns,
            [(name + " gradient", x.size)])))
        return y

    def layer_norm(self, name, x, columns):
        scale = self.parameter(name + "/scale", 2 * columns)
        rows = x.size // columns
        y, mean, deviation = self.rows_op(
            name, [x, scale], x.size, columns,
            [(name, x.size), (name + " mean", rows),
             (name + " deviation", rows)])

        def backward():
            stats = [mean, deviation]
            self.add_gradient(scale, self.op(
                name + " scale gradient", [y.gradient, x] + stats,
                [(name + " scale gradient", 2 * columns)], 4 * x.size))
            self.add_gradient(x, self.rows_op(
                name + " gradient", [y.gradient, x, scale] + stats, x.size,
                columns, [(name + " gradient", x.size)]))
        backward.parameters = [scale]
        self.record([y], backward)
        return y

    def batch_norm(self, name, x, channels):
        """Statistics, then a pointwise op; the gradient reads the input."""
        scale = self.parameter(name + "/scale", 2 * channels)
        stats = self.op(name + " statistics", [x],
                        [(name + " statistics", 2 * channels)], 3 * x.size,
                        mirrored=False)
        y = self.pointwise(name, [x, stats, scale], x.size, mirrored=False)

        def backward():
            sums = self.op(name + " sums", [y.gradient, x, stats],
                           [(name + " sums", 2 * channels)], 4 * x.size)
            self.add_gradient(scale, sums)
            self.add_gradient(x, self.pointwise(
                name + " gradient", [y.gradient, x, stats, scale, sums],
                x.size))
        backward.parameters = [scale]
        self.record([y], backward)
        return y

    def cross_entropy(self, name, logits, rows):
        """The gradient reads the logits and what was summed up of a row."""
        columns = logits.size // rows
        labels = self.input("labels", rows)
        loss, sums = self.rows_op(
            name, [logits, labels], logits.size, columns,
            [(name, rows), (name + " sums", rows)], mirrored=False)
        total = self.op("loss", [loss], [("loss", 1)])

        def backward():
            self.add_gradient(logits, self.pointwise(
                name + " gradient", [logits, sums, labels, total.gradient],
                logits.size))
        self.record([total], backward)
        return total


def write_problem(problem, path):
    """An entry a line."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
        for i, (name, entry) in enumerate(problem.items()):
            file.write("%s\n  %s: " % ("," if i else "", json.dumps(name)))
            if isinstance(entry, list):
                lines = ",\n    ".join(json.dumps(line) for line in entry)
                file.write("[\n    %s\n  ]" % lines)
            else:
                file.write(json.dumps(entry))
        file.write("\n}\n")

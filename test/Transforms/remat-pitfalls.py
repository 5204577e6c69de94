"""Small steps in which recomputation changes results elsewhere: they have the bits
of the step without it, in the interpreter, whatever the strategy.

RUN: %python %s %t %echo_src/benchmarks
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np

folder, benchmarks = sys.argv[1:3]
sys.path.insert(0, benchmarks)
sys.dont_write_bytecode = True
import problems
import training_graphs

shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def path(name):
    return os.path.join(folder, name)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


class Function:
    """A forward function whose parameters are `p0`, `p1`, ..."""

    def __init__(self, *arguments):
        self.arguments = ['%seed: tensor<i64> {echo.role = "state", '
                          'echo.name = "seed"}']
        self.arguments += [
            '%%p%d: %s {echo.role = "parameter", echo.name = "p%d"}' %
            (i, type, i) for i, type in enumerate(arguments)]
        self.lines = []

    def op(self, name, operands, types, result, attributes=""):
        value = "%%v%d" % len(self.lines)
        results = 2 if "," in result else 1
        self.lines.append("  %s%s = echo.%s %s%s : (%s) -> %s" % (
            value, ":2" if results == 2 else "", name, ", ".join(operands),
            attributes, ", ".join(types), result))
        return value + ("#0" if results == 2 else "")

    def dropout(self, value, type):
        return self.op("dropout", [value] + ["%seed"] * 3,
                       [type] + ["tensor<i64>"] * 3,
                       "(%s, %s)" % (type, type.replace("f32", "i1")),
                       " {rate = 0.5 : f64}")

    def write(self, name, value, type):
        """The training step, whose loss is the sum of squares of `value`."""
        square = self.op("mul", [value, value], [type, type], type)
        rank = type.count("x")
        loss = self.op("reduce sum", [square], [type], "tensor<f32>",
                       " {dims = array<i64: %s>}" % ", ".join(
                           str(i) for i in range(rank)))
        with open(path(name + ".forward.mlir"), "w") as file:
            file.write("func.func @f(%s) -> tensor<f32> {\n%s\n"
                       "  return %s : tensor<f32>\n}\n" % (
                           ", ".join(self.arguments), "\n".join(self.lines),
                           loss))
        run("echo-opt", path(name + ".forward.mlir"), "--echo-gradient",
            "-o", path(name + ".none.mlir"))


def results_of(name):
    run("echo-run", path(name + ".mlir"), "--target=interpreter", "--seed=7",
        "--strategy=none", "--output=" + path(name))
    return {file: np.load(os.path.join(path(name), file))
            for file in sorted(os.listdir(path(name)))
            if file.endswith(".npy")}


def rematerialize(name, new, strategy):
    run("echo-opt", path(name + ".mlir"), "--canonicalize", "--cse",
        "--echo-remat=strategy=%s promise=none" % strategy,
        "-o", path(new + ".mlir"))
    with open(path(new + ".mlir")) as file:
        return file.read()


def compare(name, op, strategy):
    """The step again with `op` recomputed."""
    new = name + "." + strategy
    text = rematerialize(name + ".none", new, strategy)
    with open(path(name + ".none.mlir")) as file:
        before = file.read().count(op)
    assert text.count(op) > before, (name, strategy, text)
    expected, found = results_of(name + ".none"), results_of(new)
    assert len(expected) > 1 and expected.keys() == found.keys()
    for key, tensor in expected.items():
        assert tensor.tobytes() == found[key].tobytes(), (name, strategy, key)
    return expected


SQUARE, TALL, WIDE = "tensor<16x16xf32>", "tensor<24x16xf32>", "tensor<16x24xf32>"

# The mask of a dropout that is made again is the mask that it had. Half of what
# it lets through is zero, so that another mask would show.
step = Function(TALL, SQUARE, SQUARE)
value = step.op("matmul", ["%p0", "%p1"], [TALL, SQUARE], TALL)
value = step.op("tanh", [value], [TALL], TALL)
value = step.dropout(value, TALL)
value = step.op("matmul", [value, "%p2"], [TALL, SQUARE], TALL)
step.write("dropout", value, TALL)
gradients = compare("dropout", "echo.dropout", "echo")
assert np.count_nonzero(gradients["p2.grad.npy"]) > 0
compare("dropout", "echo.dropout", "echo-paper")

# The same behind a transpose, whose elements lie in another order than those of
# what it reads.
step = Function(TALL, SQUARE, TALL)
value = step.op("matmul", ["%p0", "%p1"], [TALL, SQUARE], TALL)
value = step.op("tanh", [value], [TALL], TALL)
value = step.op("transpose", [value], [TALL], WIDE,
                " {permutation = array<i64: 1, 0>}")
value = step.dropout(value, WIDE)
value = step.op("matmul", [value, "%p2"], [WIDE, TALL], SQUARE)
step.write("transposed", value, SQUARE)
for strategy in ("echo", "echo-paper"):
    compare("transposed", "echo.dropout", strategy)

# A choice among equals: rows of which about half are zeros behind relu, and the
# sign of what is left has ties everywhere. The gradient scatters by the choice.
step = Function(TALL, SQUARE, SQUARE)
value = step.op("matmul", ["%p0", "%p1"], [TALL, SQUARE], TALL)
value = step.op("sign", [step.op("relu", [value], [TALL], TALL)], [TALL], TALL)
value = step.op("argmax", [value], [TALL], "tensor<24xi32>", " {axis = 1 : i64}")
value = step.op("embedding", ["%p2", value], [SQUARE, "tensor<24xi32>"], TALL)
step.write("choice", value, TALL)
gradients = compare("choice", "echo.argmax", "mirror")
assert 1 < np.count_nonzero(gradients["p2.grad.npy"].any(axis=1)) < 16

# Twenty blocks, each made again, and the step with its clones once more: fresh
# values in an order that the verifier accepts, and the same bits.
step = Function(TALL, *[SQUARE] * 20)
value = "%p0"
for block in range(20):
    value = step.op("matmul", [value, "%%p%d" % (block + 1)], [TALL, SQUARE],
                    TALL)
    for _ in range(2):
        value = step.op("tanh", [value], [TALL], TALL)
step.write("blocks", value, TALL)
expected = compare("blocks", "echo.tanh", "echo")
once = rematerialize("blocks.none", "blocks.once", "echo")
for strategy in ("echo", "mirror"):
    twice = rematerialize("blocks.once", "blocks.twice." + strategy, strategy)
    assert once.count("echo.tanh") == 60 <= twice.count("echo.tanh")
    found = results_of("blocks.twice." + strategy)
    for key, tensor in expected.items():
        assert tensor.tobytes() == found[key].tobytes(), (strategy, key)

# ReLU behind batch norm in ResNet-50: mirror's clones of ReLU read what batch
# norm made, stashed for them alone. It would take more memory than without, and
# isn't applied; ours takes less.
for name, _, build, arguments, _ in problems.PROBLEMS:
    if name == "resnet50":
        training_graphs.write_problem(problems.make(build, arguments),
                                      path(name + ".json"))
run("echo-plan", "--problem=" + path("resnet50.json"), "--compare", "--quiet",
    "--report=" + path("report.json"))
with open(path("report.json")) as file:
    reports = {entry["strategy"]: entry
               for entry in json.load(file)["strategies"]}
peaks = {name: entry["bytes"]["logical_peak"]
         for name, entry in reports.items()}
assert peaks["mirror"] > peaks["none"] > peaks["echo"], peaks
assert not reports["mirror"]["applied"] and reports["echo"]["applied"]

"""A step's problem and plan as JSON: the problem has the plan that the model has,
and a plan that was saved is applied as one that is made. A step with it gives the
bits of one without.

RUN: %python %s %t
"""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def path(name):
    return os.path.join(folder, name)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def report(name):
    return json.loads(read(name))


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result


def train(model, name, *options):
    """What three steps leave behind."""
    run("echo-run", model, "--optimizer=adam", "--steps=3", "--seed=5",
        "--report=" + path(name + ".json"),
        "--checkpoint=" + path(name + ".npz"), *options)
    tensors = np.load(path(name + ".npz"))
    return (report(name + ".json")["loss"],
            {key: tensors[key].tobytes() for key in tensors.files})


VIEWS = ("echo.reshape", "echo.slice", "echo.split", "echo.constant")


def count_written_again(text):
    """Ops that compute what one in front of them has computed, from the same
    values, and whose result a kernel or the host program hands on in memory of
    its own. `text` is a step of kernels in generic form, where names are unique.
    """
    value_of = {}  # by name: what is computed, as the op, its result, and values
    again = {}     # by name: the op, if it isn't the first to compute that
    numbers, written = {}, set()
    for line in map(str.strip, text.split("\n")):
        arguments = re.match(r"\^bb0\((.*)\):", line)
        if arguments:
            names = re.findall(r"(%\w+): ", arguments[1])
            # A kernel's are its operands, the function's are themselves.
            value_of.update(zip(names, inputs if result else names))
        if line.startswith("})") and result:
            define(value_of, result, yielded)
            result = None
        op = re.match(r'(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^()]*)\)(.*)', line)
        if not op:
            continue
        operands = re.findall(r"%[\w#]+", op[4])
        values = [value_of[operand] for operand in operands]
        if op[3] == "echo.kernel":
            result, inputs = op[1], values
        elif op[3] in ("echo.yield", "func.return"):
            yielded = values
            written.update(again[operand] for operand in operands
                           if operand in again)
        elif op[3] == "echo.optimization_barrier":
            value_of[op[1]] = values[0]
        elif op[1]:
            key = (op[3], op[5], *values)
            is_first = key not in numbers
            number = numbers.setdefault(key, len(numbers))
            names = define(value_of, op[1],
                           [(number, i) for i in range(int(op[2] or 1))])
            if not is_first and result:
                again.update((name, op[1]) for name in names)
            elif not is_first and op[3] not in VIEWS:
                written.add(op[1])
        else:
            result = None  # a function
    return len(written)


def define(value_of, result, values):
    """Gives the names of an op's results their values."""
    names = ([result] if len(values) == 1 else
             [f"{result}#{i}" for i in range(len(values))])
    value_of.update(zip(names, values))
    return names


MODELS = {
    "nmt": ["nmt", "--batch=3", "--src-len=5", "--tgt-len=6", "--hidden=8",
            "--embed=8", "--src-vocab=20", "--tgt-vocab=22",
            "--layer-norm=true", "--dropout=0.2"],
    "lstm-lm": ["lstm-lm", "--batch=3", "--length=6", "--hidden=8",
                "--embed=8", "--vocab=20", "--layers=2", "--dropout=0.3"],
}
# What the tools do to a step before they plan it.
CLEAN_UP = ["--canonicalize", "--cse", "--echo-eliminate-dead-nodes"]

for name, options in MODELS.items():
    model, step = path(name + ".mlir"), path(name + ".step.mlir")
    run("echo-zoo", *options, "-o", model)
    run("echo-plan", model, "--optimizer=adam", "--quiet",
        "--save-problem=" + path("problem.json"),
        "--save-plan=" + path("plan.json"),
        "--report=" + path("applied.json"))
    run("echo-plan", model, "--optimizer=adam", "--quiet", "--compare",
        "--report=" + path("model.json"))
    run("echo-plan", "--problem=" + path("problem.json"), "--quiet",
        "--save-plan=" + path("again.json"),
        "--report=" + path("problem-report.json"))

    # The same decisions, clones and reads.
    assert read("plan.json") == read("again.json"), name
    of_model = {entry["strategy"]: entry
                for entry in report("model.json")["strategies"]}["echo"]
    of_problem = report("problem-report.json")
    recomputed = of_problem["ops"]["recomputed"]
    assert recomputed == of_model["ops"]["recomputed"] > 0, name
    assert (of_problem["bytes"]["persistent"] ==
            of_model["bytes"]["persistent"]), name
    # The bytes by which the pass decides.
    run("echo-opt", model, "--echo-training-step=optimizer=adam", *CLEAN_UP,
        "-o", step)
    summary = run("echo-opt", step, "--echo-remat=promise=none",
                  "--remark-format=emitRemark", "--remarks-filter=echo-remat",
                  "-o", path("direct.mlir")).stderr
    found = re.search(r"recomputes (\d+) ops[^:]*: (\d+) bytes of feature maps "
                      r"instead of \d+, logical peak (\d+) instead", summary)
    assert [int(number) for number in found.groups()] == [
        recomputed, of_problem["bytes"]["feature_maps"],
        of_problem["bytes"]["logical_peak"]], name

    # What clones leave in memory, counted in the kernels that are formed.
    kernels = run("echo-opt", path("direct.mlir"),
                  "--echo-eliminate-dead-nodes", "--echo-form-kernels",
                  "--mlir-print-op-generic").stdout
    # Forming kernels splits some ops, which planning doesn't.
    unwritten = recomputed - count_written_again(kernels)
    assert unwritten > 0, name
    assert abs(of_problem["ops"]["unwritten"] - unwritten) <= (
        recomputed // 20), name
    assert of_problem["ops"]["unwritten"] == of_model["ops"]["unwritten"], name

    # The names are those of layers, and the time is that of kernels.
    problem = report("problem.json")
    for entries in (problem["values"], problem["ops"]):
        assert all(entry["name"] for entry in entries)
    assert any("lstm1" in op["name"] for op in problem["ops"])
    assert any("fusion" in op for op in problem["ops"])
    none = report("model.json")["strategies"][0]
    ratio = of_problem["time"]["baseline"] / none["time"]["modelled"]
    assert 0.5 < ratio < 2, (name, ratio)

    # The plan applied is the plan made.
    plan = "plan=" + path("plan.json")
    run("echo-opt", step, "--echo-remat=promise=none " + plan,
        "-o", path("saved.mlir"))
    assert read("saved.mlir") == read("direct.mlir"), name
    for pipeline in ("--echo-to-buffers", "--echo-to-buffers=" + plan):
        run("echo-opt", model, "--echo-training-step=optimizer=adam", pipeline,
            "-o", path("buffers%d.mlir" % ("plan" in pipeline)))
    assert read("buffers0.mlir") == read("buffers1.mlir"), name
    run("echo-plan", model, "--optimizer=adam", "--quiet",
        "--" + plan, "--report=" + path("saved.json"))
    saved = report("saved.json")
    assert saved["strategy"] == "saved"
    for key in ("bytes", "by_structure", "by_layer", "ops"):
        assert saved[key] == report("applied.json")[key], (name, key)
    run("echo-plan", "--problem=" + path("problem.json"), "--quiet",
        "--" + plan, "--report=" + path("saved.json"))
    assert report("saved.json")["bytes"] == of_problem["bytes"]

    # The same bits, compiled and interpreted.
    expected = train(model, "none", "--strategy=none")
    assert train(model, "saved", "--" + plan) == expected, name
    if name == "lstm-lm":
        interpreted = train(model, "none", "--target=interpreter")
        assert train(model, "saved", "--target=interpreter",
                     "--" + plan) == interpreted
        for index, option in enumerate(("--strategy=echo", "--" + plan)):
            run("echo-compile", model, "--optimizer=adam", option,
                "--emit=mlir", "-o", path("compiled%d.mlir" % index))
        assert read("compiled0.mlir") == read("compiled1.mlir")

"""Rematerialization on training graphs of linalg, tensor, arith, math and scf
that hold no Echo op: models of echo-zoo, differentiated and lowered as a whole.
It has to save feature maps there, too, and what MLIR's own tools compile the
graph to has to compute the same bits with it as without.

RUN: %python %s %t %mlir_lib
"""

import os
import re
import shutil
import subprocess
import sys

folder, mlir_lib = sys.argv[1:3]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)

# Upstream's way from linalg on tensors to LLVM.
LOWERING = ["--convert-elementwise-to-linalg",
            "--one-shot-bufferize=bufferize-function-boundaries",
            "--convert-linalg-to-loops", "--convert-scf-to-cf",
            "--expand-strided-metadata", "--lower-affine",
            "--convert-math-to-libm", "--convert-to-llvm",
            "--reconcile-unrealized-casts"]
RUNNER = ["mlir-runner", "-O0", "-e", "main", "--entry-point-result=void",
          "--shared-libs=" + ",".join(
              os.path.join(mlir_lib, f"libmlir_{name}_utils.so")
              for name in ("runner", "c_runner"))]
INTEGER = {"f32": "i32", "f64": "i64"}
SUMMARY = re.compile(r"recomputes (\d+) ops: (\d+) bytes of feature maps "
                     r"instead of (\d+), logical peak (\d+) instead of (\d+)")


def run(*command, input=None):
    result = subprocess.run(command, input=input, capture_output=True,
                            text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result


def element_of(type):
    return type[len("tensor<"):-1].split("x")[-1]


def make_argument(number, type):
    """Numbers between -1/4 and 1/4, integers from 0 to 4, by the index."""
    element = element_of(type)
    rank = type.count("x")
    dims = ", ".join(f"d{i}" for i in range(rank))
    loops = ", ".join(['"parallel"'] * rank)
    yield f"%e{number} = tensor.empty() : {type}"
    yield (f"%a{number} = linalg.generic {{indexing_maps = "
           f"[affine_map<({dims}) -> ({dims})>], iterator_types = [{loops}]}} "
           f"outs(%e{number} : {type}) {{")
    yield f"^bb0(%old: {element}):"
    yield f"  %h0 = arith.constant {7 * number + 3} : index"
    for i, factor in zip(range(rank), (37, 101, 59, 83)):
        yield f"  %i{i} = linalg.index {i} : index"
        yield f"  %f{i} = arith.constant {factor} : index"
        yield f"  %m{i} = arith.muli %i{i}, %f{i} : index"
        yield f"  %h{i + 1} = arith.addi %h{i}, %m{i} : index"
    yield f"  %size = arith.constant {29 if element in INTEGER else 5} : index"
    yield f"  %r = arith.remui %h{rank}, %size : index"
    if element in INTEGER:
        yield "  %n = arith.index_cast %r : index to i32"
        yield f"  %x = arith.sitofp %n : i32 to {element}"
        yield f"  %scale = arith.constant 58.0 : {element}"
        yield f"  %y = arith.divf %x, %scale : {element}"
        yield f"  %middle = arith.constant 0.25 : {element}"
        yield f"  %v = arith.subf %y, %middle : {element}"
    else:
        yield f"  %v = arith.index_cast %r : index to {element}"
    yield f"  linalg.yield %v : {element}"
    yield f"}} -> {type}"


def print_bits(number, type):
    element = element_of(type)
    integer = INTEGER.get(element, element)
    bits = type.replace(element, integer)
    value = f"%r#{number}"
    if integer != element:
        yield f"%b{number} = arith.bitcast {value} : {type} to {bits}"
        value = f"%b{number}"
    buffer = "memref" + bits[len("tensor"):]
    yield f"%m{number} = bufferization.to_buffer {value} : {bits} to {buffer}"
    yield f"%u{number} = memref.cast %m{number} : {buffer} to memref<*x{integer}>"
    yield (f"func.call @printMemref{integer.upper()}(%u{number}) "
           f": (memref<*x{integer}>) -> ()")


def results_of(file):
    """What the step of a module computes, as the bits of every result."""
    with open(file) as module:
        text = module.read()
    text = re.sub(r" \{echo\.[^{}]*\}", "", text)
    assert "echo." not in text, file
    name, arguments, results = re.search(
        r"func\.func @(\w+)\((.*?)\) -> (.*) \{\n", text).groups()
    arguments = re.findall(r"tensor<[^>]*>", arguments)
    results = re.findall(r"tensor<[^>]*>", results)
    lines = []
    for number, type in enumerate(arguments):
        lines += make_argument(number, type)
    operands = ", ".join(f"%a{i}" for i in range(len(arguments)))
    lines.append(f"%r:{len(results)} = func.call @{name}({operands}) : "
                 f"({', '.join(arguments)}) -> ({', '.join(results)})")
    for number, type in enumerate(results):
        lines += print_bits(number, type)
    main = "".join(
        f"func.func private @printMemref{kind.upper()}(memref<*x{kind}>) "
        "attributes {llvm.emit_c_interface}\n" for kind in ("i32", "i64"))
    main += "func.func @main() {\n" + "\n".join(lines) + "\nreturn\n}\n"
    end = text.rindex("}")
    lowered = run("mlir-opt", *LOWERING, input=text[:end] + main + text[end:])
    bits = run(*RUNNER, input=lowered.stdout).stdout
    assert bits.count("data =") == len(results), bits
    return re.sub(r"base@ = \S+", "", bits)


NMT = ["nmt", "--batch=4", "--src-len=6", "--tgt-len=5", "--hidden=8",
       "--embed=8", "--layers=1", "--src-vocab=20", "--tgt-vocab=22",
       "--layer-norm=true", "--dropout=0.2"]
LM = ["lstm-lm", "--batch=4", "--length=5", "--hidden=8", "--embed=8",
      "--vocab=20", "--layers=1"]

for model in (NMT, LM):
    forward = os.path.join(folder, model[0] + ".mlir")
    step = os.path.join(folder, model[0] + ".step.mlir")
    again = os.path.join(folder, model[0] + ".again.mlir")
    run("echo-zoo", *model, "-o", forward)
    run("echo-opt", forward, "--echo-training-step",
        "--convert-echo-graph-to-linalg", "--canonicalize", "--cse",
        "-o", step)
    remarks = run("echo-opt", step, "--echo-eliminate-dead-nodes",
                  "--echo-remat=strategy=echo", "--canonicalize", "--cse",
                  "--echo-remove-barriers", "-o", again,
                  "--remark-format=emitRemark",
                  "--remarks-filter=echo-remat").stderr
    count, maps, maps_before, peak, peak_before = map(
        int, SUMMARY.search(remarks).groups())
    print(model[0], count, maps, maps_before, peak, peak_before)
    assert count > 0 and peak <= peak_before, remarks
    assert maps < 0.75 * maps_before, remarks
    assert results_of(step) == results_of(again), model

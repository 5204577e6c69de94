#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Size of an artefact for GPUs, and what opening it and issuing its calls take
on the host.

    benchmarks/gpu/artifact.py --build=build

Compiles the translator of `echo-zoo nmt` with Adam for the chips and the
simulator. Opens it with a driver that does nothing (stub-driver.c), and on the
simulator, each time in a process of its own; issues steps with the former; and
times a launch (launches.cpp). The build is a Release one. Replaces the section
"Artefacts" of docs/results/gpu.md. Fails if a step of more than 10,000 ops has
8 MB or is opened in 0.3 s.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from common import (SOURCE, Tools, build_setting, describe_build,
                    describe_machine, load, run, write)

HEADING = "## Artefacts"
LIMIT_BYTES, LIMIT_SECONDS = 8 * 10**6, 0.3


def resident_bytes():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_once(path, device, steps):
    """In a process of its own: prints what opening takes, and the fastest step
    whose calls are all issued."""
    from echo_session import Session, load_library
    Session.library = load_library()
    before, start = resident_bytes(), time.perf_counter()
    session = Session(path, device, without_graph=1)
    seconds = time.perf_counter() - start
    found = session.statistics()
    result = {"seconds": seconds, "resident": resident_bytes() - before,
              "arena": found.arena_bytes, "calls": found.calls}
    if steps:
        session.initialize(0)
        times = []
        for _ in range(steps):
            session.step()
            times.append(session.statistics().last_step_seconds)
        result["step"] = min(times)
    session.close()
    print(json.dumps(result))


def open_often(path, device, times, steps=0):
    """The median of openings, with what doesn't change."""
    results = [json.loads(run(sys.executable, __file__, "--open", path,
                              "--device=" + device, "--steps=%d" % steps))
               for _ in range(times)]
    result = results[0]
    for name in ("seconds", "resident") + (("step",) if steps else ()):
        result[name] = statistics.median(each[name] for each in results)
    return result


def build_programs(build, folder):
    """The driver that does nothing, and the program that times launches."""
    def entry(name):
        return build_setting(build, name)

    driver = os.path.join(folder, "libstub-driver.so")
    run(entry("CMAKE_C_COMPILER"), "-O2", "-shared", "-fPIC", "-o", driver,
        os.path.join(HERE, "stub-driver.c"))
    launches = os.path.join(folder, "launches")
    run(entry("CMAKE_CXX_COMPILER"), "-O2", "-std=c++17", "-o", launches,
        "-I", os.path.join(SOURCE, "runtime"),
        "-I", os.path.join(SOURCE, "runtime", "common"),
        "-I", os.path.join(SOURCE, "runtime", "include"),
        os.path.join(HERE, "launches.cpp"),
        os.path.join(build, "lib", "libEchoRuntime.a"),
        entry("ECHO_OPENBLAS_LIBRARY"), entry("ECHO_LIBZIP_LIBRARY"),
        "-lpthread", "-ldl")
    return driver, launches


def count_ops(tools, graph):
    text = run(tools.echo_opt, graph, "--echo-training-step=optimizer=adam")
    return len(re.findall(r"^ +(?:%[^=]* = )?echo\.", text, re.MULTILINE))


def measure(options, folder):
    tools = Tools(options.build)
    graph, step = (os.path.join(folder, name) for name in ("nmt.mlir",
                                                           "nmt.so"))
    zoo = ["--batch=%d" % options.batch, "--hidden=%d" % options.hidden,
           "--src-len=%d" % options.length, "--tgt-len=%d" % options.length]
    run(tools.echo_zoo, "nmt", *zoo, "-o", graph)
    start = time.monotonic()
    run(tools.echo_compile, graph, "--optimizer=adam", "--target=cuda",
        "--chip=" + ",".join(options.chips.split(",") + ["sim"]), "--no-cache", "-o", step)
    found = {"zoo": " ".join(zoo), "compile": time.monotonic() - start,
             "ops": count_ops(tools, graph), "bytes": os.path.getsize(step)}
    driver, launches = build_programs(options.build, folder)
    os.environ["ECHO_RUNTIME"] = os.path.join(options.build, "lib",
                                              "libEchoRuntime.so")
    os.environ["ECHO_CUDA_DRIVER"] = os.environ["ECHO_CUBLAS"] = driver
    os.environ["ECHO_NVML"] = os.path.join(folder, "none")
    found["sim"] = open_often(step, "sim", options.repetitions)
    found["cuda"] = open_often(step, "cuda", options.repetitions, steps=20)
    found["launch"] = json.loads(run(launches))
    return found


def describe(found, options, load_before):
    cuda, sim, launch = found["cuda"], found["sim"], found["launch"]
    rows = [
        ("ops of the training step", "%d" % found["ops"]),
        ("calls of the host program", "%d" % cuda["calls"]),
        ("size of the artefact", "%.1f MB" % (found["bytes"] / 1e6)),
        ("compiling", "%.0f s" % found["compile"]),
        ("arena", "%.0f MB" % (cuda["arena"] / 1e6)),
        ("opening, driver that does nothing",
         "%.0f ms" % (cuda["seconds"] * 1e3)),
        ("opening, simulator", "%.0f ms" % (sim["seconds"] * 1e3)),
        ("memory that opening touches, simulator",
         "%.0f MB" % (sim["resident"] / 1e6)),
        ("issuing a step's calls, driver that does nothing",
         "%.2f ms" % (cuda["step"] * 1e3)),
        ("a launch: the driver's function", "%.1f ns" % launch["driver"]),
        ("a launch: the wrapper, in a session", "%.1f ns" % launch["session"]),
        ("a launch: the wrapper, called by code of `gpu-to-llvm`",
         "%.1f ns" % launch["alone"]),
    ]
    return "\n".join([
        HEADING, "",
        "`benchmarks/gpu/artifact.py` on %s, %s, load %s before.\n"
        "That machine has no GPU: a driver and cuBLAS that return at once, or "
        "the simulator,\nare in its place. Echo: %s.\n"
        "The model is `echo-zoo nmt %s` with Adam,\nfor %s and the "
        "simulator.\nOpening is `echo_session_open`, the median of %d "
        "processes; a launch and a step are\nthe fastest of some."
        % (describe_machine(1), datetime.date.today(), load_before,
           describe_build(options.build), found["zoo"],
           options.chips.replace(",", ", "), options.repetitions),
        "", "| what | how much |", "|---|---|",
        *("| %s | %s |" % row for row in rows)]) + "\n"


def check_limits(found):
    """What a step of more than 10,000 ops may take; others aren't judged."""
    if found["ops"] <= 10000:
        return
    if found["bytes"] >= LIMIT_BYTES:
        raise SystemExit("the artefact has %d bytes, %d are too many" %
                         (found["bytes"], LIMIT_BYTES))
    slowest = max(found[device]["seconds"] for device in ("sim", "cuda"))
    if slowest >= LIMIT_SECONDS:
        raise SystemExit("it is opened in %.2f s, %.1f are too many" %
                         (slowest, LIMIT_SECONDS))


def replace_section(text, section):
    """`text` with its section of the same heading replaced, or at its end."""
    begin = text.find(HEADING + "\n")
    if begin < 0:
        return text.rstrip("\n") + "\n\n" + section
    end = text.find("\n## ", begin)
    return text[:begin] + section + (text[end:] if end >= 0 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--chips",
                        default="sm_75,sm_80,sm_89,sm_90,sm_100,sm_120")
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "gpu.md"))
    parser.add_argument("--open", help=argparse.SUPPRESS)
    parser.add_argument("--device", help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        open_once(options.open, options.device, options.steps)
        return
    options.build = os.path.abspath(options.build)
    load_before = load()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    section = describe(found, options, load_before)
    print(section)
    with open(options.output, encoding="utf-8") as file:
        text = file.read()
    write(options.output, replace_section(text, section))
    check_limits(found)


if __name__ == "__main__":
    main()

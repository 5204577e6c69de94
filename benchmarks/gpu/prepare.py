#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the archive that check.sh takes to a machine with a GPU.

    benchmarks/gpu/prepare.py --build=build --output=gpu-check.tar.xz

Compiles the steps of cases.py for the chips, runs the same steps on this
machine's CPU, and packs artefacts, expected values, the runtime with the
libraries that it needs, and the scripts. --target=cpu makes an archive for the
CPU, to try the scripts.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LIMIT = 40 << 20
# What every machine with PyTorch has.
SYSTEM_LIBRARIES = ("libc.so", "libm.so", "libdl.so", "libpthread.so",
                    "librt.so", "ld-linux", "linux-vdso", "libstdc++.so",
                    "libgcc_s.so")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise SystemExit("%s\n%s" % (" ".join(command), result.stdout))
    return result.stdout


class Builder:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.bin = os.path.join(options.build, "bin")
        for name in ("artefacts", "expected", "lib"):
            os.makedirs(os.path.join(folder, name))

    def compile(self, graph, name, *arguments):
        """The step for the device, and for this CPU."""
        target = ["--target=" + self.options.target]
        if self.options.target == "cuda":
            target.append("--chip=" + self.options.chips)
        artefact = os.path.join(self.folder, "artefacts", name + ".so")
        compiler = os.path.join(self.bin, "echo-compile")
        run(compiler, graph, *target, "--no-cache", "-o", artefact, *arguments)
        if self.options.target == "cpu":
            return artefact
        run(compiler, graph, "--no-cache", "-o", self.temporary(name + ".so"),
            *arguments)
        return self.temporary(name + ".so")

    def temporary(self, name):
        folder = os.path.join(self.folder, "temporary")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def expect(self, name, artefact, inputs, steps):
        """Runs steps on the CPU: the losses of all, and the last values."""
        from cases import start, values_of
        from echo_session import Session
        with Session(artefact, "cpu") as session:
            start(session, inputs)
            losses = []
            for _ in range(steps):
                session.step()
                losses.append(session.get("loss"))
            np.savez_compressed(
                os.path.join(self.folder, "expected", name + ".npz"),
                **{"losses": np.array(losses)},
                **{"value " + key: value
                   for key, value in values_of(session).items()})

    def zoo(self, model, name, sizes, further=()):
        from cases import zoo_options
        graph = self.temporary(name + ".mlir")
        run(os.path.join(self.bin, "echo-zoo"), model,
            *zoo_options(sizes, further), "-o", graph)
        return graph

    def pack_runtime(self):
        """The runtime and what it needs that a machine may not have."""
        library = os.path.realpath(
            os.path.join(self.options.build, "lib", "libEchoRuntime.so"))
        target = os.path.join(self.folder, "lib")
        shutil.copy(library, os.path.join(target, "libEchoRuntime.so"))
        for line in run("ldd", library).splitlines():
            name, _, rest = line.strip().partition(" => ")
            path = rest.split(" (")[0]
            if path and not name.startswith(SYSTEM_LIBRARIES):
                shutil.copy(os.path.realpath(path), os.path.join(target, name))
        run("strip", "--strip-unneeded", *(os.path.join(target, name)
                                            for name in os.listdir(target)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--output", default="gpu-check.tar.xz")
    parser.add_argument("--target", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--chips",
                        default="sm_75,sm_80,sm_89,sm_90,sm_100,sm_120")
    parser.add_argument("--without-timing", action="store_true",
                        help="leave out the steps that are timed")
    options = parser.parse_args()
    os.environ["ECHO_RUNTIME"] = os.path.join(options.build, "lib",
                                              "libEchoRuntime.so")
    sys.path.insert(0, HERE)
    import cases
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(options, folder)
        for name in cases.KERNELS:
            artefact = builder.compile(
                os.path.join(HERE, "kernels.mlir"), "kernel-" + name,
                "--entry=" + name, "--optimizer=sgd")
            builder.expect("kernel-" + name, artefact, {}, cases.KERNEL_STEPS)
            print("kernel", name, flush=True)
        for name, (model, further, strategy) in cases.TINY_CASES.items():
            sizes = cases.TINY[model]
            artefact = builder.compile(
                builder.zoo(model, name, sizes, further), "tiny-" + name,
                "--optimizer=adam", "--strategy=" + strategy)
            builder.expect("tiny-" + name, artefact,
                           cases.make_inputs(model, sizes), cases.TINY_STEPS)
            print("tiny", name, flush=True)
        for model, timed in cases.TIMED.items():
            if options.without_timing:
                break
            graph = builder.zoo(model, "timed-" + model, timed["options"])
            for strategy in cases.STRATEGIES:
                builder.compile(graph, "timed-%s-%s" % (model, strategy),
                                "--optimizer=adam", "--strategy=" + strategy)
                print("timed", model, strategy, flush=True)
        shutil.rmtree(os.path.join(folder, "temporary"), ignore_errors=True)
        builder.pack_runtime()
        for name in ("cases.py", "check.py", "check.sh", "echo_session.py",
                     os.path.join("..", "pytorch_models.py")):
            shutil.copy(os.path.join(HERE, name), folder)
        with tarfile.open(options.output + ".new", "w:xz") as archive:
            archive.add(folder, "gpu-check")
    size = os.path.getsize(options.output + ".new")
    if size > LIMIT:
        os.remove(options.output + ".new")
        raise SystemExit("the archive has %d bytes, more than %d" %
                         (size, LIMIT))
    os.replace(options.output + ".new", options.output)
    print("%s: %.1f MB" % (options.output, size / 1e6))


if __name__ == "__main__":
    main()

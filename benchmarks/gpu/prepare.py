#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the archive that check.sh takes to a machine with a GPU.

    benchmarks/gpu/prepare.py --build=build --output=gpu-check.tar.xz

Compiles the steps of cases.py for the chips, runs the same steps on this
machine's CPU, and packs artefacts, inputs, expected values, the runtime with
the libraries that it needs, and the scripts. --chips=sim makes an archive for
the stand-in of CUDA, --target=cpu one for the CPU, to try the scripts.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

import cases
from values import FLOATS, numbers, save

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LIMIT = 40 * 10**6
# What every machine has.
SYSTEM_LIBRARIES = ("libc.so", "libm.so", "libdl.so", "libpthread.so",
                    "librt.so", "ld-linux", "linux-vdso")
# What every machine has too, but perhaps an older one.
COMPILER_LIBRARIES = ("libstdc++.so", "libgcc_s.so")
SCRIPTS = ("check.sh", "check.py", "report.py", "echo_session.py", "monitor.py",
           "processes.py", "pytorch_steps.py", "values.py",
           os.path.join("..", "pytorch_models.py"))


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit("%s\n%s" % (" ".join(command), result.stdout))
    return result.stdout


class Archive:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.temporary = os.path.join(folder, "temporary")
        for name in ("artefacts", "values", "lib", "temporary"):
            os.makedirs(os.path.join(folder, name))

    def tool(self, name):
        return os.path.join(self.options.build, "bin", name)

    def is_wanted(self, name):
        return re.search(self.options.only, name) is not None

    def compile(self, graph, name, *arguments):
        """The step for the device; its name in the archive."""
        target = ["--target=" + self.options.target]
        if self.options.target == "cuda":
            target.append("--chip=" + self.options.chips)
        run(self.tool("echo-compile"), graph, *target, "--no-cache", "-o",
            os.path.join(self.folder, "artefacts", name + ".so"), *arguments)
        return name + ".so"

    def save(self, name, tensors):
        save(os.path.join(self.folder, "values", name), tensors)
        return name

    def checked_step(self, graph, kind, name, inputs, steps, *arguments):
        """A step for the device, and what it does on the CPU."""
        from echo_session import Session
        file_name = (kind + "-" + name).replace(", ", "-")
        artefact = self.compile(graph, file_name, *arguments)
        cpu = os.path.join(self.temporary, artefact)
        run(self.tool("echo-compile"), graph, "--no-cache", "-o", cpu,
            *arguments)
        tensors = cases.as_tensors(inputs)
        with Session(cpu, "cpu") as session:
            session.initialize(cases.SEED)
            for key, (_, data) in tensors.items():
                session.set(key, data)
            losses = []
            for _ in range(steps):
                session.step()
                losses.append(session.loss())
            expected = {key: (tensor.type, session.get(key))
                        for key, tensor in session.tensors.items()
                        if tensor.role in ("parameter", "state", "result")}
        nan = [key for key, value in expected.items() if value[0] in FLOATS and
               any(x != x for x in numbers(*value))]
        if nan:
            raise SystemExit("%s: NaN in %s can't be compared" %
                             (name, ", ".join(nan)))
        print(kind, name, flush=True)
        return {"name": name, "artefact": artefact, "seed": cases.SEED,
                "steps": steps, "losses": losses,
                "inputs": self.save(file_name + "-inputs", tensors),
                "expected": self.save(file_name + "-expected", expected)}

    def functions(self, file_name, kind, types):
        """A step for each function of a file and each type."""
        with open(os.path.join(HERE, file_name), encoding="utf-8") as file:
            text = file.read()
        functions = re.split(r"^func\.func @", text, flags=re.M)[1:]
        for element_type in types:
            path = os.path.join(self.temporary, element_type + file_name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("!t = f32", "!t = " + element_type)
                           .replace("!sum = f32", "!sum = " + (
                               "f64" if element_type == "f64" else "f32")))
            for function in functions:
                entry = re.match(r"\w+", function).group()
                name = entry + (", " + element_type if "!t" in function else "")
                if not self.is_wanted(name):
                    continue
                training = (["--optimizer=sgd"] if "echo.loss" in function
                            else [])
                step = self.checked_step(path, kind, name, {},
                                         cases.KERNEL_STEPS,
                                         "--entry=" + entry, *training)
                step["sanitized"] = element_type in cases.SANITIZED_TYPES
                yield element_type, step

    def kernels(self):
        return [step for file_name, types in cases.KERNEL_FILES.items()
                for _, step in self.functions(file_name, "kernel", types)]

    def zoo(self, model, name, sizes, further=()):
        graph = os.path.join(self.temporary, name + ".mlir")
        run(self.tool("echo-zoo"), model, *cases.zoo_options(sizes, further),
            "-o", graph)
        return graph

    def models(self):
        steps = []
        for element_type, step in self.functions(
                cases.PRODUCT_FILE, "model", cases.PRODUCT_TOLERANCES):
            step["sanitized"] = False
            step["tolerance"] = cases.PRODUCT_TOLERANCES[element_type]
            steps.append(step)
        for name, case in cases.MODELS.items():
            if not self.is_wanted(name):
                continue
            model, further, element_type, optimizer, strategy = case
            sizes = cases.SMALL[model]
            rate = cases.SGD_RATE if optimizer == "sgd" else cases.RATE
            step = self.checked_step(
                self.zoo(model, name, sizes, {**further, "type": element_type}),
                "model", name, cases.make_inputs(model, sizes, rate),
                cases.MODEL_STEPS, "--optimizer=" + optimizer,
                "--strategy=" + strategy)
            step["tolerance"] = cases.TOLERANCES[element_type]
            step["sanitized"] = name in cases.SANITIZED_MODELS
            steps.append(step)
        return steps

    def timed(self):
        entries = []
        for model, timed in cases.TIMED.items():
            if not self.is_wanted("timed " + model):
                continue
            sizes = cases.SMALL[model] if self.options.small else timed["sizes"]
            graph = self.zoo(model, "timed-" + model, sizes)
            artefacts = {}
            for strategy in cases.STRATEGIES:
                artefacts[strategy] = self.compile(
                    graph, "timed-%s-%s" % (model, strategy),
                    "--optimizer=adam", "--strategy=" + strategy)
                print("timed", model, strategy, flush=True)
            tensors = cases.as_tensors(cases.make_inputs(model, sizes))
            entries.append({
                **timed, "name": model, "title": timed["title"].format(**sizes),
                "sizes": sizes, "artefacts": artefacts, "seed": cases.SEED,
                "inputs": self.save("timed-" + model, tensors),
                "learning_rate": cases.RATE, "settling": cases.SETTLING_STEPS,
                "steps": cases.TIMED_STEPS, "seconds": cases.TIMED_SECONDS})
        return entries

    def pack_runtime(self):
        """The runtime and what it needs that a machine may not have."""
        library = os.path.realpath(
            os.path.join(self.options.build, "lib", "libEchoRuntime.so"))
        packed = [os.path.join(self.folder, "lib", "libEchoRuntime.so")]
        shutil.copy(library, packed[0])
        os.makedirs(os.path.join(self.folder, "lib", "libstdc++"))
        for line in run("ldd", library).splitlines():
            name, _, rest = line.strip().partition(" => ")
            path = rest.split(" (")[0]
            if not path or name.startswith(SYSTEM_LIBRARIES):
                continue
            folder = "libstdc++" if name.startswith(COMPILER_LIBRARIES) else ""
            packed.append(os.path.join(self.folder, "lib", folder, name))
            shutil.copy(os.path.realpath(path), packed[-1])
        run("strip", "--strip-unneeded", *packed)

    def fill(self):
        from echo_session import version
        chips = (self.options.chips if self.options.target == "cuda"
                 else self.options.target)
        manifest = {
            "title": "for %s, Echo %s" % (chips, version()),
            "kernels": self.kernels(), "models": self.models(),
            "timed": [] if self.options.without_timing else self.timed()}
        if not any(manifest[kind] for kind in ("kernels", "models", "timed")):
            raise SystemExit("nothing is named '%s'" % self.options.only)
        with open(os.path.join(self.folder, "manifest.json"), "w",
                  encoding="utf-8") as file:
            json.dump(manifest, file, indent=1)
        shutil.rmtree(self.temporary)
        self.pack_runtime()
        for name in SCRIPTS:
            shutil.copy(os.path.join(HERE, name), self.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--output", default="gpu-check.tar.xz")
    parser.add_argument("--target", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--chips",
                        default="sm_75,sm_80,sm_89,sm_90,sm_100,sm_120")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="what to pack: kernels, small models, timed NAME")
    parser.add_argument("--small", action="store_true",
                        help="time small models")
    parser.add_argument("--without-timing", action="store_true",
                        help="leave out the steps that are timed")
    options = parser.parse_args()
    os.environ["ECHO_RUNTIME"] = os.path.join(options.build, "lib",
                                              "libEchoRuntime.so")
    # As a signal that ends it, an error leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unfinished = options.output + ".new"
    try:
        # Before the time for compiling is spent.
        with open(unfinished, "wb") as file, \
                tempfile.TemporaryDirectory() as folder:
            Archive(options, folder).fill()
            with tarfile.open(fileobj=file, mode="w:xz", preset=2) as archive:
                archive.add(folder, "gpu-check")
        size = os.path.getsize(unfinished)
        if size >= LIMIT:
            raise SystemExit("the archive has %d bytes, %d are too many" %
                             (size, LIMIT))
        os.replace(unfinished, options.output)
    except OSError as error:
        raise SystemExit(str(error)) from error
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)
    print("%s: %.1f MB" % (options.output, size / 1e6))


if __name__ == "__main__":
    main()

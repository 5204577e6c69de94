# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of check.sh, each in a process of its own:

    check.py PART FOLDER SECONDS  writes FOLDER/PART.json, also half-way

Python's own library is enough, but for PyTorch's part.
"""

import ctypes
import glob
import importlib.util
import json
import math
import os
import platform
import re
import shutil
import sys
import tempfile
import time

import processes
from monitor import Monitor, difference, time_steps
from values import FLOATS, load, numbers

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = os.environ.get("ECHO_DEVICE", "cuda")
# A part ends by itself before it is ended.
RESERVE = 2


def path(*names):
    return os.path.join(HERE, *names)


def read_manifest():
    with open(path("manifest.json"), encoding="utf-8") as file:
        return json.load(file)


class Part:
    """Results that are on the disk after every one of them."""

    def __init__(self, name, folder, seconds):
        self.file = os.path.join(folder, name + ".json")
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds - RESERVE
        self.results = {}
        self.worker = [sys.executable, os.path.abspath(__file__), "worker",
                       name]

    def add(self, name, result):
        self.results[name] = result
        print(name, json.dumps(result), flush=True)
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.results, file, indent=1)
        os.replace(self.file + ".new", self.file)

    def run(self, name, function, *arguments):
        """Adds what a function returns, or its error."""
        try:
            result = function(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            result = {"error": "%s: %s" % (type(error).__name__, error)}
        self.add(name, result)

    def run_items(self, names, share):
        for name, result in processes.run_items(
                self.worker, list(names), share * self.seconds, self.deadline):
            self.add(name, result)

    def left(self, share):
        """Seconds for what may take a share of the part's; an error if there
        are none."""
        left = min(share * self.seconds, self.deadline - time.monotonic())
        if left < 1:
            raise RuntimeError("no time was left")
        return left

    def is_good(self):
        return all(is_good(result) for result in self.results.values())


def is_good(result):
    return "error" not in result and result.get("ok", True)


# The runtime.

def use_own_libstdcxx():
    """Starts this program again with the archive's libstdc++, if that of the
    machine is older than the runtime's."""
    if os.environ.get("ECHO_OWN_LIBSTDCXX"):
        return
    try:
        load_libraries()
        return
    except OSError as error:
        if "GLIBCXX" not in str(error) and "CXXABI" not in str(error):
            return  # opening a session tells
    folder = path("lib", "libstdc++")
    os.environ["ECHO_OWN_LIBSTDCXX"] = "1"
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(
        [folder] + [part for part in
                    os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
                    if part])
    os.execv(sys.executable, [sys.executable] + sys.argv)


def load_libraries():
    """What the runtime needs: the machine's own libraries, and where it has
    none, those of the archive. The loader goes by their names afterwards."""
    folder = path("lib")
    left = [name for name in os.listdir(folder)
            if ".so" in name and not name.startswith("libEchoRuntime")]
    while left:
        rest = []
        for name in left:
            for place in (name, os.path.join(folder, name)):
                try:
                    ctypes.CDLL(place)
                    break
                except OSError:
                    pass
            else:
                rest.append(name)  # needs another one of them
        if len(rest) == len(left):
            break  # loading the runtime tells
        left = rest
    ctypes.CDLL(os.environ["ECHO_RUNTIME"])


def find_cublas():
    """Where no CUDA Toolkit has cuBLAS, PyTorch's own is taken."""
    if os.environ.get("ECHO_CUBLAS"):
        return
    names = ["libcublas.so.13", "libcublas.so.12"]
    folders = ["/usr/local/cuda/lib64"]
    if os.environ.get("CUDA_HOME"):
        folders.append(os.path.join(os.environ["CUDA_HOME"], "lib64"))
    for place in names + [os.path.join(folder, name)
                          for folder in folders for name in names]:
        try:
            ctypes.CDLL(place)
            return
        except OSError:
            pass
    for folder in sys.path:
        for place in sorted(glob.glob(os.path.join(
                glob.escape(folder), "nvidia", "*", "lib", "libcublas.so.*"))):
            os.environ["ECHO_CUBLAS"] = place
            return


def open_session(artefact, **options):
    load_libraries()
    if DEVICE.startswith("cuda"):
        find_cublas()
    from echo_session import Session
    return Session(path("artefacts", artefact), DEVICE, **options)


def start(session, step):
    """Draws all values and sets the inputs of a step of the manifest."""
    session.initialize(step["seed"])
    for name, (_, data) in load(path("values", step["inputs"])).items():
        session.set(name, data)


# What the machine is.

def text_of(*command, wanted=""):
    if not shutil.which(command[0]):
        return {"text": "no %s" % os.path.basename(command[0])}
    _, output, errors = processes.run_limited(command, 8)
    lines = (output.strip() or errors.strip()).split("\n")
    return {"text": "; ".join([line for line in lines if not wanted or
                               wanted in line][-8:])}


def in_toolkit(name):
    return shutil.which(name) or os.path.join(
        os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", name)


def describe_device():
    manifest = read_manifest()
    steps = manifest["kernels"] + manifest["models"]
    with open_session(steps[0]["artefact"]) as session:
        found = session.statistics()
        return {"text": found.device.decode(),
                "total_bytes": found.device_total_bytes,
                "free_bytes": found.device_free_bytes,
                "used_bytes_of_all": Monitor(DEVICE).used_bytes()}


def machine_items():
    return {
        "GPUs": lambda: text_of(
            "nvidia-smi", "--query-gpu=name,driver_version,memory.total,"
            "clocks.max.sm,power.limit", "--format=csv,noheader"),
        "toolkit": lambda: text_of(in_toolkit("nvcc"), "--version",
                                   wanted="release"),
        "host": lambda: {"text": "%s, %d cores, %s, Python %s" % (
            platform.platform(), os.cpu_count(), " ".join(platform.libc_ver()),
            platform.python_version())},
        "archive": lambda: {"text": read_manifest()["title"]},
        "device": describe_device,
    }


# Values.

kept = []


def keep_device():
    """Keeps a session open: others on the device open sooner."""
    if not kept:
        kept.append(None)
        try:
            kept.append(open_session(read_manifest()["kernels"][0]["artefact"]))
        except Exception:  # pylint: disable=broad-except
            pass  # the step that runs next tells


def run_step(step, times=0, **options):
    """The losses of some steps, the values after them, statistics, and roles of
    tensors."""
    keep_device()
    with open_session(step["artefact"], **options) as session:
        start(session, step)
        losses = []
        for _ in range(times or step["steps"]):
            session.step()
            losses.append(session.loss())
        values = {name: (tensor.type, session.get(name))
                  for name, tensor in session.tensors.items()
                  if tensor.role in ("parameter", "state", "result")}
        return losses, values, session.statistics(), {
            name: tensor.role for name, tensor in session.tensors.items()}


def check_bits(step):
    losses, values, found, _ = run_step(step)
    wrong = [name for name, expected in
             load(path("values", step["expected"])).items()
             if values[name] != expected]
    if losses != step["losses"]:
        wrong.append("loss of a step")
    return {"ok": not wrong, "different": wrong,
            "graph_steps": found.graph_steps}


def largest_difference(value, expected):
    """Of the largest element; for what a product's order of sums, or Adam's
    quotients near 0, may change."""
    (kind, data), (expected_kind, expected_data) = value, expected
    if kind != expected_kind or kind not in FLOATS:
        return 0.0 if value == expected else math.inf
    elements, wanted = numbers(kind, data), numbers(kind, expected_data)
    if len(elements) != len(wanted):
        return math.inf
    if not all(map(math.isfinite, elements)):
        return math.inf
    scale = max(map(abs, wanted), default=0) or 1e-30
    return max((abs(a - b) for a, b in zip(elements, wanted)),
               default=0) / scale


def check_near(step, **options):
    losses, values, found, roles = run_step(step, **options)
    worst, where = 0.0, ""
    compared = [("loss of step %d" % (i + 1), abs(loss - expected) /
                 abs(expected) if math.isfinite(loss) else math.inf)
                for i, (loss, expected) in enumerate(zip(losses,
                                                         step["losses"]))
                if expected is not None]
    for name, expected in load(path("values", step["expected"])).items():
        # Moments may be nothing but rounding errors, where a gradient is 0.
        if expected[0] not in FLOATS or roles[name] != "state":
            compared.append((name, largest_difference(values[name], expected)))
    for name, error in compared:
        if error > worst:
            worst, where = error, name
    return {"ok": worst <= step["tolerance"],
            "largest_difference": worst if math.isfinite(worst) else None,
            "where": where, "graph_steps": found.graph_steps}


def kernels_items():
    return {step["name"]: lambda step=step: check_bits(step)
            for step in read_manifest()["kernels"]}


def models_items():
    steps = read_manifest()["models"]
    items = {step["name"]: lambda step=step: check_near(step)
             for step in steps}
    for step in steps[-1:]:
        items[step["name"] + ", no graph"] = lambda step=step: check_near(
            step, without_graph=1)
    return items


# The sanitizer.

# Tools, what they look at, and their share of the time. Memory is checked with
# cuBLAS between our kernels, what only our kernels can do wrong without.
SANITIZER_TOOLS = {"memcheck": ("kernels,models", 0.4),
                   "racecheck": ("kernels", 0.3), "synccheck": ("kernels", 0.3)}


def sanitizer_target(kinds):
    manifest = read_manifest()
    for kind in kinds.split(","):
        for step in manifest[kind]:
            if step["sanitized"]:
                run_step(step, times=1, without_graph=1)


def sanitize(part, tool, kinds, share):
    program = in_toolkit("compute-sanitizer")
    if not os.path.exists(program):
        return {"skipped": "no compute-sanitizer"}
    if not DEVICE.startswith("cuda"):
        return {"skipped": "the device is " + DEVICE}
    code, output, errors = processes.run_limited(
        [program, "--tool", tool, "--error-exitcode", "9",
         "--target-processes", "all", sys.executable,
         os.path.abspath(__file__), "sanitizer-target", kinds], part.left(share))
    lines = (output + errors).strip().split("\n")
    return {"ok": code == 0, "text": lines[-1] if code == 0
            else "; ".join([processes.describe_exit(code)] + lines[-12:])}


def sanitizer(part):
    for tool, (kinds, share) in SANITIZER_TOOLS.items():
        part.run(tool, sanitize, part, tool, kinds, share)


# Times.

def time_echo(model, strategy, **options):
    monitor = Monitor(DEVICE)
    used = monitor.used_bytes()
    begin = time.perf_counter()
    with open_session(model["artefacts"][strategy], **options) as session:
        opened = time.perf_counter() - begin
        start(session, model)

        def step():
            session.step()
            return session.loss()
        for _ in range(model["settling"]):
            step()
        ready = time.perf_counter() - begin
        times = time_steps(step, lambda: session.statistics().last_issue_seconds,
                           monitor, model["steps"], model["seconds"])
        found = session.statistics()
        return {**times, "model": model["name"], "load_seconds": opened,
                "ready_seconds": ready, "calls": found.calls,
                "graph_steps": found.graph_steps,
                "arena_bytes": found.arena_bytes,
                "persistent_bytes": found.persistent_bytes,
                # Nothing is allocated later: the allocator's peak.
                "allocated_bytes": found.device_bytes,
                "device_bytes": difference(monitor.used_bytes(), used)}


def timing_items():
    items = {}
    def add(model, strategy, suffix="", **options):
        items["%s, %s%s" % (model["name"], strategy, suffix)] = (
            lambda: time_echo(model, strategy, **options))
    models = read_manifest()["timed"]
    for model in models:
        for strategy in model["artefacts"]:
            add(model, strategy)
    for model in models:
        last = list(model["artefacts"])[-1]
        add(model, last, ", no graph", without_graph=1)
        add(model, last, ", TF32", allow_tf32=1)
    return items


def compare_losses(results, model):
    """Recomputing changes no bit, replaying a graph neither."""
    losses = {}
    for name, result in results.items():
        if result.get("model") == model and not name.endswith("TF32"):
            losses[name] = result["losses"]
    count = min(map(len, losses.values()))
    first = next(iter(losses.values()))[:count]
    different = [name for name, each in losses.items()
                 if each[:count] != first]
    return {"ok": not different, "different": different, "steps": count}


def timing(part):
    part.run_items(timing_items(), 0.35)
    for model in sorted({result["model"] for result in part.results.values()
                         if "model" in result}):
        part.run(model + ", equal losses", compare_losses, part.results, model)
    if not part.results:
        part.add("timing", {"skipped": "the archive was made without"})


# PyTorch.

def time_pytorch(part, model, variant, mode, share):
    code, output, errors = processes.run_limited(
        [sys.executable, path("pytorch_steps.py"), model["name"], variant,
         mode], part.left(share))
    if code != 0:
        # Python's last words, without the advice that may follow.
        lines = re.findall(r"^[\w.]+(?:Error|Exception): .*", errors, re.M)
        raise RuntimeError((lines or [processes.describe_exit(code)])[-1])
    return {**json.loads(output.strip().split("\n")[-1]),
            "model": model["name"]}


def pytorch(part):
    if importlib.util.find_spec("torch") is None:
        part.add("pytorch", {"skipped": "no PyTorch"})
        return
    with tempfile.TemporaryDirectory() as cache:
        # Nothing that an earlier run has left behind, perhaps half-way.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        for mode, share in (("eager", 0.25), ("compiled", 0.45),
                            ("eager, TF32", 0.25)):
            for model in read_manifest()["timed"]:
                for variant, modes in model["variants"].items():
                    if mode in modes:
                        part.run("%s, %s, %s" % (model["name"], variant, mode),
                                 time_pytorch, part, model, variant, mode,
                                 share)
    if not part.results:
        part.add("pytorch", {"skipped": "the archive was made without"})


ITEMS = {"machine": machine_items, "kernels": kernels_items,
         "models": models_items, "timing": timing_items}


def worker(name, first):
    from echo_session import DEVICE_ERROR
    processes.work(ITEMS[name](), int(first), lambda error: getattr(
        error, "status", None) == DEVICE_ERROR)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        raise SystemExit(__doc__.strip())
    name, *arguments = sys.argv[1:]
    if name in ("worker", "sanitizer-target"):
        use_own_libstdcxx()
    if name == "worker":
        return worker(*arguments)
    if name == "sanitizer-target":
        return sanitizer_target(*arguments)
    folder, seconds = arguments
    processes.end_with_children()
    part = Part(name, folder, float(seconds))
    if name == "machine":
        part.run_items(machine_items(), 0.6)
    elif name in ("kernels", "models"):
        part.run_items(ITEMS[name](), 0.3)
        if not part.results:
            part.add(name, {"error": "the archive has none"})
    else:
        {"sanitizer": sanitizer, "timing": timing, "pytorch": pytorch}[name](
            part)
    return 0 if part.is_good() else 1


if __name__ == "__main__":
    sys.exit(main())

# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of check.sh, each in a process of its own:

    check.py PART FOLDER          writes FOLDER/PART.json, also half-way
    check.py report FOLDER OUTPUT
"""

import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = os.environ.get("ECHO_DEVICE", "cuda")
SETTLING, STEPS = 5, 30
# Parts whose failure is Echo's.
DECIDING = ("kernels", "models", "sanitizer", "timing")
PARTS = ("machine",) + DECIDING + ("pytorch",)


def path(kind, name):
    return os.path.join(HERE, kind, name)


class Part:
    """Results that are on the disk after every one of them."""

    def __init__(self, name, folder):
        self.file = os.path.join(folder, name + ".json")
        self.results = {}

    def add(self, name, result):
        self.results[name] = result
        print(name, json.dumps(result), flush=True)
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.results, file, indent=1)
        os.replace(self.file + ".new", self.file)

    def run(self, name, function, *arguments):
        """Adds what a function returns, or its error; whether it went well."""
        try:
            result = function(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            result = {"error": "%s: %s" % (type(error).__name__, error)}
        self.add(name, result)
        return "error" not in result and result.get("ok", True)


def load_libraries(folder):
    """What the runtime needs: the machine's own libraries, and where it has
    none, those of the archive. The loader goes by their names afterwards."""
    left = [name for name in os.listdir(folder)
            if not name.startswith("libEchoRuntime")]
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
            return  # opening a session will tell
        left = rest


def open_session(artefact, **options):
    if "ECHO_LIBRARIES" in os.environ:
        load_libraries(os.environ["ECHO_LIBRARIES"])
    from echo_session import Session
    return Session(artefact, DEVICE, **options)


# What the machine is.

def command_output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return "unknown (%s)" % error


def machine(part):
    part.add("gpu", {"text": command_output(
        "nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.sm,"
        "power.limit", "--format=csv,noheader")})
    part.add("toolkit", {"text": command_output("nvcc", "--version")
                         .split("\n")[-1]})
    def device():
        with open_session(path("artefacts", "kernel-pointwise.so")) as session:
            found = session.statistics()
            return {"text": found.device.decode(),
                    "total_bytes": found.device_total_bytes,
                    "free_bytes": found.device_free_bytes}
    return part.run("device", device)


# Values.

def run_steps(name, inputs, steps, **options):
    with open_session(path("artefacts", name + ".so"), **options) as session:
        cases.start(session, inputs)
        losses = []
        for _ in range(steps):
            session.step()
            losses.append(session.get("loss"))
        return np.array(losses), cases.values_of(session), session.statistics()


def expected(name):
    with np.load(path("expected", name + ".npz")) as file:
        return file["losses"], {key[len("value "):]: file[key]
                                for key in file.files
                                if key.startswith("value ")}


def check_bits(name):
    losses, values, found = run_steps(name, {}, cases.KERNEL_STEPS)
    expected_losses, expected_values = expected(name)
    wrong = [key for key, value in expected_values.items()
             if values[key].tobytes() != value.tobytes()]
    if losses.tobytes() != expected_losses.tobytes():
        wrong.append("loss of a step")
    return {"ok": not wrong, "different": wrong,
            "graph_steps": found.graph_steps}


def check_near(name, model, **options):
    losses, values, _ = run_steps(
        name, cases.make_inputs(model, cases.TINY[model]), cases.TINY_STEPS,
        **options)
    expected_losses, expected_values = expected(name)
    worst, where = 0.0, ""
    def compare(key, value, wanted):
        nonlocal worst, where
        if wanted.dtype.kind != "f":
            error = 0.0 if np.array_equal(value, wanted) else np.inf
        else:
            scale = max(np.abs(wanted).max(initial=0), 1e-30)
            error = float(np.abs(value - wanted).max(initial=0) / scale)
            if not np.isfinite(value).all():
                error = np.inf
        if error > worst:
            worst, where = error, key
    compare("loss", losses, expected_losses)
    for key, wanted in expected_values.items():
        # Adam divides first moments by roots of second ones: what is near 0
        # counts by the largest element.
        compare(key, values[key], wanted)
    return {"ok": bool(worst <= cases.TINY_TOLERANCE),
            "largest_difference": worst if np.isfinite(worst) else None,
            "where": where, "last_loss": float(losses[-1])}


def kernels(part):
    return all([part.run(name, check_bits, "kernel-" + name)
                for name in cases.KERNELS])


def models(part):
    ok = []
    for name, (model, _, _) in cases.TINY_CASES.items():
        ok.append(part.run(name, check_near, "tiny-" + name, model))
    ok.append(part.run("nmt, no graph", lambda: check_near(
        "tiny-nmt", "nmt", without_graph=1)))
    return all(ok)


# The sanitizer.

def sanitizer_target():
    run_steps("tiny-lstm-lm",
              cases.make_inputs("lstm-lm", cases.TINY["lstm-lm"]), 2,
              without_graph=1)


def sanitize(tool):
    program = shutil.which("compute-sanitizer") or \
        "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(program):
        return {"skipped": "no compute-sanitizer"}
    if not DEVICE.startswith("cuda"):
        return {"skipped": "the device is " + DEVICE}
    result = subprocess.run(
        [program, "--tool", tool, "--error-exitcode", "9", sys.executable,
         os.path.abspath(__file__), "sanitizer-target", "."],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=28, check=False)
    return {"ok": result.returncode == 0,
            "text": result.stdout.strip().split("\n")[-1]}


def sanitizer(part):
    return all([part.run(tool, sanitize, tool)
                for tool in ("memcheck", "racecheck")])


# Times.

def time_echo(model, strategy, **options):
    inputs = cases.make_inputs(model, cases.TIMED[model]["options"])
    artefact = path("artefacts", "timed-%s-%s.so" % (model, strategy))
    if not os.path.exists(artefact):
        return {"skipped": "not in the archive"}
    begin = time.perf_counter()
    with open_session(artefact, **options) as session:
        load = time.perf_counter() - begin
        cases.start(session, inputs)
        seconds, losses = [], []
        for step in range(SETTLING + STEPS):
            if step == SETTLING:
                joules = session.statistics().energy_joules
            begin = time.perf_counter()
            session.step()
            seconds.append(time.perf_counter() - begin)
            losses.append(float(session.get("loss")))
        found = session.statistics()
        used = found.device_total_bytes - found.device_free_bytes
        return {"median_seconds": statistics.median(seconds[SETTLING:]),
                "least_seconds": min(seconds[SETTLING:]),
                "losses": losses, "last_loss": losses[-1],
                "load_seconds": load, "calls": found.calls,
                "graph_steps": found.graph_steps,
                "allocated_bytes": found.device_bytes,
                "device_used_bytes": used,
                "joules_per_step": (found.energy_joules - joules) / STEPS}


def timing(part):
    ok = []
    for model in cases.TIMED:
        names = ["%s, %s" % (model, strategy) for strategy in cases.STRATEGIES]
        for name, strategy in zip(names, cases.STRATEGIES):
            ok.append(part.run(name, time_echo, model, strategy))
        losses = [part.results[name].get("losses") for name in names]
        if all(losses):
            # Recomputing changes no bit.
            ok.append(part.run(model + ", equal losses", lambda: {
                "ok": all(each == losses[0] for each in losses)}))
    ok.append(part.run("nmt, echo, no graph", lambda: time_echo(
        "nmt", "echo", without_graph=1)))
    ok.append(part.run("nmt, echo, TF32", lambda: time_echo(
        "nmt", "echo", allow_tf32=1)))
    return all(ok)


def time_pytorch(model, variant, compiled):
    import pytorch_models
    import torch
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")
    torch.manual_seed(cases.SEED)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    sizes = cases.TIMED[model]["options"]
    names = ("src_vocab", "tgt_vocab") if model == "nmt" else ("vocab",)
    module = getattr(pytorch_models, variant)(
        *(sizes[name] for name in names), sizes["embed"], sizes["hidden"],
        sizes["layers"]).cuda()
    inputs = [torch.from_numpy(value.astype(np.int64)).cuda()
              for name, value in cases.make_inputs(model, sizes).items()
              if name != "src_lengths"]
    optimizer = torch.optim.Adam(
        [p for p in module.parameters() if p.requires_grad], lr=cases.RATE,
        fused=True)
    forward = torch.compile(module) if compiled else module
    seconds, losses = [], []
    for step in range(SETTLING + STEPS):
        if step == SETTLING:
            torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    free, total = torch.cuda.mem_get_info()
    return {"median_seconds": statistics.median(seconds[SETTLING:]),
            "least_seconds": min(seconds[SETTLING:]),
            "last_loss": losses[-1],
            "allocated_bytes": torch.cuda.max_memory_allocated(),
            "device_used_bytes": total - free,
            "version": torch.__version__}


def pytorch_worker(model, variant, compiled):
    """In a process of its own, so that memory is that of one model."""
    json.dump(time_pytorch(model, variant, compiled == "compiled"), sys.stdout)


def pytorch(part):
    def measure(model, variant, mode, seconds):
        result = subprocess.run(
            [sys.executable, os.path.abspath(__file__), "pytorch-worker", ".",
             model, variant, mode], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=seconds, check=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr.strip().split("\n")[-1])
        return json.loads(result.stdout.strip().split("\n")[-1])
    ok = []
    # Compiling takes longest: last, and it may run out of its time alone.
    for mode, seconds in (("eager", 20), ("compiled", 40)):
        for model, timed in cases.TIMED.items():
            for title, variant in timed["variants"].items():
                if mode == "compiled" and title == "LSTMCell decoder":
                    continue  # unrolled: its compilation takes minutes
                ok.append(part.run("%s, %s, %s" % (model, title, mode), measure,
                                   model, variant, mode, seconds))
    return any(ok)


# The report.

def cell(value, factor, form="%.2f"):
    return form % (value * factor) if value else "-"


def report(folder, output):
    results, failed = {}, []
    for name in PARTS:
        file = os.path.join(folder, name + ".json")
        entry = {"results": {}}
        if os.path.exists(file):
            with open(file, encoding="utf-8") as source:
                entry["results"] = json.load(source)
        with open(os.path.join(folder, name + ".status"),
                  encoding="utf-8") as source:
            entry["exit_code"], entry["seconds"], entry["limit_seconds"] = map(
                int, source.read().split())
        results[name] = entry
        if name in DECIDING and entry["exit_code"] != 0:
            failed.append(name)
    with open(os.path.join(output, "results.json"), "w",
              encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    lines = ["# Echo on a GPU", ""]
    for name, found in results["machine"]["results"].items():
        lines.append("- %s: %s" % (name, found.get("text",
                                                   found.get("error"))))
    lines += ["", "| part | exit code | seconds | results |", "|---|---|---|---|"]
    for name, entry in results.items():
        bad = [key for key, found in entry["results"].items()
               if "error" in found or not found.get("ok", True)]
        skipped = sum("skipped" in found for found in entry["results"].values())
        good = len(entry["results"]) - len(bad) - skipped
        lines.append("| %s | %d | %d | %d good%s%s |" % (
            name, entry["exit_code"], entry["seconds"], good,
            ", %d skipped" % skipped if skipped else "",
            ", wrong: " + "; ".join(bad) if bad else ""))
    lines += ["", "| step | median, ms | least, ms | allocated, MB | of the "
              "device, MB | J/step | last loss |",
              "|---|---|---|---|---|---|---|"]
    for title, entry in (("Echo", results["timing"]),
                         ("PyTorch", results["pytorch"])):
        for name, found in entry["results"].items():
            if "ok" in found and "error" not in found:
                continue
            if "median_seconds" not in found:
                lines.append("| %s: %s | %s | | | | | |" % (
                    title, name, found.get("error", found.get("skipped"))))
                continue
            lines.append("| %s: %s | %s | %s | %s | %s | %s | %.4f |" % (
                title, name, cell(found["median_seconds"], 1e3),
                cell(found["least_seconds"], 1e3),
                cell(found["allocated_bytes"], 1e-6, "%.0f"),
                cell(found["device_used_bytes"], 1e-6, "%.0f"),
                cell(found.get("joules_per_step"), 1),
                found["last_loss"]))
    lines += ["", "Sizes:", ""]
    lines += ["- %s" % timed["title"] for timed in cases.TIMED.values()]
    text = "\n".join(lines) + "\n"
    with open(os.path.join(output, "results.md"), "w",
              encoding="utf-8") as file:
        file.write(text)
    print(text)
    return not failed


def main():
    name, folder, *rest = sys.argv[1:]
    if name == "report":
        ok = report(folder, *rest)
    elif name == "sanitizer-target":
        ok = sanitizer_target() is None
    elif name == "pytorch-worker":
        ok = pytorch_worker(*rest) is None
    else:
        ok = globals()[name](Part(name, folder))
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()

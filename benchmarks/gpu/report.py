# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One JSON and one table of what the parts of check.sh found:

    report.py FOLDER-OF-THE-PARTS OUTPUT-FOLDER

Exits with 1 if a check of Echo failed or couldn't be made.
"""

import json
import math
import os
import sys

# Parts whose failure is Echo's.
DECIDING = ("kernels", "models", "sanitizer", "timing")
PARTS = ("machine",) + DECIDING + ("pytorch",)
COLUMNS = (  # title, key, factor, form
    ("ms", "median_seconds", 1e3, "%.2f"),
    ("least, ms", "least_seconds", 1e3, "%.2f"),
    ("host, ms", "host_seconds", 1e3, "%.3f"),
    ("allocated, MB", "allocated_bytes", 1e-6, "%.1f"),
    ("reserved, MB", "reserved_bytes", 1e-6, "%.1f"),
    ("of the device, MB", "device_bytes", 1e-6, "%.1f"),
    ("J", "joules_per_step", 1, "%.2f"),
    ("ready, s", "ready_seconds", 1, "%.1f"),
    ("last loss", "last_loss", 1, "%.4f"),
)
NOTES = """
A step computes loss, gradients and the update by Adam, in f32 (TF32 where it says
so); `ms` is the median from its call to its end, `host` the host's time until all of
its work was handed to the device, `ready` from opening to the end of the steps that
aren't measured. Memory: what the session allocated, or the peak of PyTorch's allocator
in the measured steps, and what that reserved; `of the device` is how much more NVML
says is in use than before the model was there, with the context and libraries.
"""


def read(folder, name, default):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return default


def finite(value):
    """Without what JSON hasn't."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def is_good(result):
    return "error" not in result and result.get("ok", True)


def read_part(folder, name):
    part = {"exit_code": None, "seconds": None, "limit_seconds": None,
            "results": read(folder, name + ".json", {})}
    try:
        with open(os.path.join(folder, name + ".status"),
                  encoding="utf-8") as file:
            part["exit_code"], part["seconds"], part["limit_seconds"] = map(
                int, file.read().split())
    except (OSError, ValueError):
        pass
    if part["exit_code"] != 0 and all(map(is_good, part["results"].values())):
        # It ended before it could say why.
        try:
            with open(os.path.join(folder, name + ".log"), encoding="utf-8",
                      errors="replace") as file:
                part["log"] = file.read()[-4000:]
        except OSError:
            part["log"] = "it didn't run"
    return part


def number(result, key, factor, form):
    value = result.get(key)
    return form % (value * factor) if isinstance(value, (int, float)) else "-"


def one_line(text, limit=300):
    text = " ".join(str(text).split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit] + " ..."


def table(head, rows):
    return (["| %s |" % " | ".join(head), "|" + "---|" * len(head)] +
            ["| %s |" % " | ".join(row) for row in rows] + [""])


def summary(parts):
    rows = []
    for name, part in parts.items():
        results = part["results"].values()
        good = sum(is_good(result) and "skipped" not in result
                   for result in results)
        skipped = sum("skipped" in result for result in results)
        text = "%d good" % good
        if skipped:
            text += ", %d skipped" % skipped
        if good + skipped < len(results):
            text += ", **%d failed**" % (len(results) - good - skipped)
        if "log" in part:
            text += ", **ended early**"
        rows.append([name, str(part["exit_code"]), str(part["seconds"]), text])
    return table(["part", "exit code", "s", "results"], rows)


def failures(parts):
    lines = []
    for name, part in parts.items():
        for key, result in part["results"].items():
            if not is_good(result):
                told = {kind: value for kind, value in result.items()
                        if kind != "ok"}
                lines.append("- %s, %s: %s" % (name, key, one_line(
                    result.get("error") or
                    result.get("text") or json.dumps(told), 600)))
            elif "skipped" in result:
                lines.append("- %s, %s: skipped, %s" % (
                    name, key, one_line(result["skipped"])))
        if "log" in part:
            lines.append("- %s ended early: %s" % (
                name, one_line(part["log"][-600:], 600)))
    return lines + [""] if lines else []


def results_of(parts, name):
    return parts.get(name, {"results": {}})["results"]


def timed_rows(parts):
    """(who, step, result) of everything that was timed."""
    return [(who, name, result)
            for who, part in (("Echo", "timing"), ("PyTorch", "pytorch"))
            for name, result in results_of(parts, part).items()
            if "median_seconds" in result]


def ratios(parts):
    """Of every step to Echo's first of its model and precision: how many times
    as long, how many times the memory."""
    rows, first = [], {}
    for who, name, result in timed_rows(parts):
        key = (result["model"], name.endswith("TF32"))
        base = first.setdefault(key, (who + ": " + name, result))
        if base[1] is result or not base[0].startswith("Echo"):
            continue
        quotients = {}
        for column in ("median_seconds", "allocated_bytes", "device_bytes"):
            if result.get(column) and base[1].get(column):
                quotients[column] = result[column] / base[1][column]
        rows.append((who + ": " + name, base[0], quotients))
    return rows


def write(output, name, text):
    path = os.path.join(output, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.strip())
    folder, output = sys.argv[1:]
    wanted = os.environ.get("PARTS", "").split() or PARTS
    parts = finite({name: read_part(folder, name) for name in wanted})
    failed = [name for name in wanted
              if name in DECIDING and parts[name]["exit_code"] != 0]
    compared = ratios(parts)
    manifest = read(os.path.dirname(os.path.abspath(__file__)),
                    "manifest.json", {"timed": []})
    write(output, "results.json", json.dumps({
        "ok": not failed, "failed": failed, "parts": parts,
        "ratios": [{"step": step, "to": base, **quotients}
                   for step, base, quotients in compared]}, indent=1) + "\n")
    lines = ["# Echo on a GPU", ""]
    lines += ["- %s: %s" % (name, one_line(result.get("text", result.get(
        "error", "-")))) for name, result in
              results_of(parts, "machine").items()]
    versions = {result["version"] for _, _, result in timed_rows(parts)
                if "version" in result}
    lines += ["- PyTorch: %s" % (", ".join(sorted(versions)) or "-"), ""]
    lines += summary(parts)
    lines += failures(parts)
    lines += ["- %s: %s" % (model["name"], model["title"])
              for model in manifest["timed"]]
    lines += [NOTES]
    lines += table(
        ["step"] + [title for title, *_ in COLUMNS],
        [[who + ": " + name] + [number(result, *column[1:])
                                for column in COLUMNS]
         for who, name, result in timed_rows(parts)])
    lines += table(
        ["step", "relative to", "time", "allocated", "of the device"],
        [[step, base] + [number(quotients, key, 1, "%.2f") for key in (
            "median_seconds", "allocated_bytes", "device_bytes")]
         for step, base, quotients in compared])
    text = "\n".join(lines)
    write(output, "results.md", text)
    print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

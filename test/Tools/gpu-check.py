# RUN: %python %s %echo_src %echo_bin %t
# UNSUPPORTED: sanitized
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check for machines with a GPU (benchmarks/gpu), rehearsed with stand-ins
for NVIDIA's libraries and tools: everything good, and each part failing alone."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

SOURCE, BUILD, FOLDER = (sys.argv.pop(1) for _ in range(3))
CHECK = os.path.join(SOURCE, "benchmarks", "gpu")
FAKE = os.path.join(BUILD, "unittests", "programs", "libEchoFakeCuda.so")
# The folder's name has a space.
ARCHIVE = os.path.join(FOLDER, "another machine", "gpu-check")
PACKED = "^(lookup|random|tables, f16|products, f32|lstm-lm-echo|timed lstm-lm)$"
PARTS = ["machine", "kernels", "models", "sanitizer", "timing"]
SANITIZER = """#!/bin/sh
echo $$ >>"$0.pids"
while case $1 in --*) true;; *) false;; esac; do shift 2; done
%s
"""


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        packed = os.path.join(FOLDER, "check.tar.xz")
        subprocess.run(
            [sys.executable, os.path.join(CHECK, "prepare.py"),
             "--build=" + BUILD, "--chips=sim", "--small", "--only=" + PACKED,
             "--output=" + packed], check=True)
        subprocess.run(["tar", "xJf", packed, "-C", FOLDER], check=True)

    def setUp(self):
        shutil.rmtree(ARCHIVE, ignore_errors=True)
        unpacked = os.path.join(FOLDER, "gpu-check")
        shutil.copytree(unpacked, ARCHIVE,
                        ignore=shutil.ignore_patterns("lib"))
        os.symlink(os.path.join(unpacked, "lib"), os.path.join(ARCHIVE, "lib"))
        self.output = os.path.join(FOLDER, "the results")
        self.tools = os.path.join(FOLDER, "tools")
        shutil.rmtree(self.tools, ignore_errors=True)
        os.makedirs(self.tools)

    def sanitizer(self, what):
        """A stand-in for compute-sanitizer."""
        path = os.path.join(self.tools, "compute-sanitizer")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SANITIZER % what)
        os.chmod(path, 0o755)

    def check(self, *parts, **environment):
        """Runs parts: exit code, results of the parts, the table."""
        begin = time.monotonic()
        result = subprocess.run(
            [os.path.join(ARCHIVE, "check.sh"), self.output],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, env={
                **os.environ, "PATH": self.tools + os.pathsep +
                os.environ["PATH"], "PYTHON": sys.executable,
                "PARTS": " ".join(parts), "ECHO_CUDA_DRIVER": FAKE,
                "ECHO_CUBLAS": FAKE, "ECHO_NVML": FAKE,
                # The simulator takes longer than a GPU.
                "LIMITS": " ".join(part + "=120" for part in PARTS),
                **environment})
        self.seconds = time.monotonic() - begin
        self.text = result.stdout
        results = json.loads(read(self.output, "results.json"))
        table = read(self.output, "results.md")
        self.assertIn(table, result.stdout)
        self.assertEqual(result.returncode, 0 if results["ok"] else 1)
        return results, {name: part["results"] for name, part in
                         results.get("parts", {}).items()}, table

    def exit_codes(self, results):
        return {name: part["exit_code"]
                for name, part in results["parts"].items()}

    def test_all_good(self):
        self.sanitizer('exec "$@"')
        results, parts, table = self.check(*PARTS)
        self.assertEqual(self.exit_codes(results), dict.fromkeys(PARTS, 0),
                         self.text)
        self.assertEqual(parts["machine"]["device"]["text"], "cuda:0 Fake")
        self.assertEqual(list(parts["kernels"]),
                         ["lookup", "random", "tables, f16"])
        for result in parts["kernels"].values():
            self.assertEqual(result, {"ok": True, "different": [],
                                      "graph_steps": 2})
        self.assertEqual(list(parts["models"]), [
            "products, f32", "lstm-lm-echo", "lstm-lm-echo, no graph"])
        self.assertEqual(
            [parts["models"][name]["graph_steps"] for name in
             ("lstm-lm-echo", "lstm-lm-echo, no graph")], [4, 0])
        self.assertEqual(list(parts["sanitizer"]),
                         ["memcheck", "racecheck", "synccheck"])
        self.assertTrue(all(result["ok"]
                            for result in parts["sanitizer"].values()))
        timing = parts["timing"]
        self.assertEqual(list(timing), [
            "lstm-lm, none", "lstm-lm, echo", "lstm-lm, echo, no graph",
            "lstm-lm, echo, TF32", "lstm-lm, equal losses"])
        for name, result in list(timing.items())[:4]:
            self.assertGreater(result["median_seconds"],
                               result["host_seconds"])
            self.assertGreater(result["host_seconds"], 0)
            # All steps but the first.
            self.assertEqual(result["graph_steps"],
                             0 if "no graph" in name
                             else 5 + result["measured_steps"] - 1)
            # What the session says, and NVML; without parameters' alignment.
            self.assertEqual(result["allocated_bytes"],
                             result["arena_bytes"] + result["persistent_bytes"])
            self.assertGreaterEqual(result["device_bytes"],
                                    result["allocated_bytes"])
            self.assertGreater(result["joules_per_step"], 0)
            self.assertIn("| Echo: %s |" % name, table)
        self.assertEqual(timing["lstm-lm, equal losses"]["different"], [])
        ratio = results["ratios"][0]
        self.assertEqual((ratio["step"], ratio["to"]),
                         ("Echo: lstm-lm, echo", "Echo: lstm-lm, none"))
        self.assertAlmostEqual(
            ratio["allocated_bytes"],
            timing["lstm-lm, echo"]["allocated_bytes"] /
            timing["lstm-lm, none"]["allocated_bytes"])

    def test_without_a_driver(self):
        results, parts, table = self.check(
            *PARTS, ECHO_CUDA_DRIVER="/nowhere/libcuda.so.1")
        self.assertEqual(results["failed"], ["kernels", "models", "timing"])
        errors = [result["error"] for part in ("kernels", "models", "timing")
                  for result in parts[part].values()]
        errors.append(parts["machine"]["device"]["error"])
        for error in errors:
            self.assertIn("the CUDA driver isn't there: /nowhere", error)
        self.assertIn("the CUDA driver isn't there: /nowhere", table)
        self.assertIn("Python", parts["machine"]["host"]["text"])

    def test_one_part_fails(self):
        # The last bit of a result.
        path = os.path.join(ARCHIVE, "values", "kernel-lookup-expected")
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        results, parts, table = self.check("machine", "kernels", "models")
        self.assertEqual(results["failed"], ["kernels"])
        self.assertFalse(parts["kernels"]["lookup"]["ok"])
        self.assertEqual(len(parts["kernels"]["lookup"]["different"]), 1)
        self.assertTrue(parts["kernels"]["random"]["ok"])
        self.assertEqual(self.exit_codes(results)["models"], 0)
        self.assertIn("| kernels | 1 |", table)
        self.assertRegex(table, r"- kernels, lookup: .*different")

    def test_an_artefact_is_truncated(self):
        path = os.path.join(ARCHIVE, "artefacts", "model-lstm-lm-echo.so")
        os.truncate(path, os.path.getsize(path) // 2)
        results, parts, _ = self.check("kernels", "models")
        self.assertEqual(results["failed"], ["models"])
        self.assertIn("truncated", parts["models"]["lstm-lm-echo"]["error"])
        self.assertTrue(parts["models"]["products, f32"]["ok"])

    def test_the_device_is_lost(self):
        # In every process at its third launch: each case is told alone.
        results, parts, _ = self.check("kernels",
                                       ECHO_FAKE_CUDA="fault_launch=3")
        self.assertEqual(results["failed"], ["kernels"])
        for name in ("lookup", "random"):
            self.assertIn("CUDA_ERROR_LAUNCH_FAILED",
                          parts["kernels"][name]["error"])

    def test_a_process_dies(self):
        check = os.path.join(ARCHIVE, "check.py")
        text = read(check)
        with open(check, "w", encoding="utf-8") as file:
            file.write(text.replace(
                "def check_bits(step):\n",
                "def check_bits(step):\n"
                "    if step['name'] == 'random':\n"
                "        os.kill(os.getpid(), 11)\n"))
        results, parts, _ = self.check("kernels", "models")
        self.assertEqual(results["failed"], ["kernels"])
        self.assertEqual(parts["kernels"]["random"],
                         {"error": "the process ended with signal 11"})
        for name in ("lookup", "tables, f16"):
            self.assertTrue(parts["kernels"][name]["ok"])

    def test_the_sanitizer_reports(self):
        self.sanitizer('"$@" && echo "ERROR SUMMARY: 2 errors"; exit 9')
        results, parts, table = self.check("sanitizer")
        self.assertEqual(results["failed"], ["sanitizer"])
        self.assertIn("exit code 9; ERROR SUMMARY: 2 errors",
                      parts["sanitizer"]["racecheck"]["text"])
        self.assertIn("ERROR SUMMARY: 2 errors", table)

    def test_the_sanitizer_hangs(self):
        self.sanitizer('sleep 1000 & echo $! >>"$0.pids"; wait')
        results, parts, _ = self.check("sanitizer", "models",
                                       LIMITS="sanitizer=12 models=120")
        self.assertEqual(results["failed"], ["sanitizer"])
        self.assertEqual(parts["sanitizer"]["memcheck"]["error"],
                         "RuntimeError: no end after 5 s")
        started = read(self.tools, "compute-sanitizer.pids").split()
        self.assertGreaterEqual(len(started), 6)
        for number in started:
            try:
                state = read("/proc", number, "stat").rpartition(")")[2].split()
            except OSError:
                continue
            self.assertEqual(state[0], "Z")  # ended, if nobody asked for it

    def test_no_sanitizer(self):
        results, parts, _ = self.check("sanitizer", CUDA_HOME="/nowhere",
                                       PATH="/usr/bin:/bin")
        self.assertTrue(results["ok"])
        self.assertEqual(parts["sanitizer"]["memcheck"],
                         {"skipped": "no compute-sanitizer"})

    def test_a_part_hangs(self):
        check = os.path.join(ARCHIVE, "check.py")
        text = read(check)
        with open(check, "w", encoding="utf-8") as file:
            file.write(text.replace("def main():\n", """def main():
    import signal
    if sys.argv[1] == "models":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
"""))
        results, _, table = self.check("machine", "models", "kernels",
                                       LIMITS="models=2 kernels=120")
        self.assertEqual(self.exit_codes(results),
                         {"machine": 0, "models": 137, "kernels": 0})
        self.assertEqual(results["failed"], ["models"])
        self.assertIn("- models ended early", table)

    def test_interrupted(self):
        """It ends at once, and what it has started with it."""
        check, began = (os.path.join(ARCHIVE, name)
                        for name in ("check.py", "began"))
        text = read(check)
        with open(check, "w", encoding="utf-8") as file:
            file.write(text.replace("def main():\n", """def main():
    with open("%s", "w") as file:
        file.write(str(os.getpid()))
    time.sleep(1000)
""" % began))
        process = subprocess.Popen(
            [os.path.join(ARCHIVE, "check.sh"), self.output],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHON": sys.executable, "PARTS": "models"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not os.path.exists(began) or not read(began):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 130)
        for _ in range(500):
            if not os.path.exists("/proc/" + read(began)):
                break
            time.sleep(0.01)
        self.assertFalse(os.path.exists("/proc/" + read(began)))

    def test_another_device(self):
        results, parts, _ = self.check("machine", "kernels", DEVICE="cuda:1",
                                       ECHO_FAKE_CUDA="devices=2")
        self.assertTrue(results["ok"], self.text)
        self.assertEqual(parts["machine"]["device"]["text"], "cuda:1 Fake")
        results, parts, _ = self.check("kernels", DEVICE="cuda:2",
                                       ECHO_FAKE_CUDA="devices=2")
        self.assertIn("no device cuda:2: the driver sees 2 devices",
                      parts["kernels"]["lookup"]["error"])

    def test_another_chip(self):
        results, parts, _ = self.check("kernels",
                                       ECHO_FAKE_CUDA="capability=90")
        self.assertEqual(results["failed"], ["kernels"])
        self.assertIn("compile with --chip=sm_90",
                      parts["kernels"]["lookup"]["error"])

    def test_unknown_words(self):
        """They're told, and nothing is run or removed."""
        kept = os.path.join(FOLDER, "kept", "parts")
        os.makedirs(kept)
        for arguments, environment, text in [
                (["--chips"], {}, "unknown option '--chips'"),
                (["a", "b"], {}, "expected one folder, found 2"),
                ([], {"PARTS": "kernles"}, "there is no part 'kernles'"),
                ([], {"LIMITS": "kernels"}, "expected PART=SECONDS in LIMITS"),
                ([], {"LIMITS": "tests=3"}, "there is no part 'tests'")]:
            result = subprocess.run(
                [os.path.join(ARCHIVE, "check.sh")] + arguments,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                check=False, cwd=os.path.dirname(kept),
                env={**os.environ, **environment})
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(text, result.stdout)
            self.assertEqual(os.listdir(os.path.dirname(kept)), ["parts"])
        result = subprocess.run([os.path.join(ARCHIVE, "check.sh"), "--help"],
                                stdout=subprocess.PIPE, text=True, check=True)
        self.assertTrue(result.stdout.startswith("Checks and times Echo"))
        self.assertIn("  PARTS ", result.stdout)

    def test_empty_archive(self):
        """What wasn't packed wasn't checked."""
        path = os.path.join(ARCHIVE, "manifest.json")
        manifest = json.loads(read(path))
        manifest["kernels"] = []
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        results, parts, _ = self.check("machine", "kernels")
        self.assertEqual(results["failed"], ["kernels"])
        self.assertEqual(parts["kernels"]["kernels"]["error"],
                         "the archive has none")
        self.assertEqual(parts["machine"]["device"]["text"], "cuda:0 Fake")

    def test_nothing_to_pack(self):
        unpackable = os.path.join(FOLDER, "unpackable")
        for arguments, text in [
                (["--only=^softmaxx$"], "nothing is named '^softmaxx$'"),
                (["--output=" + os.path.join(FOLDER, "no", "folder.tar.xz")],
                 "No such file or directory")]:
            result = subprocess.run(
                [sys.executable, os.path.join(CHECK, "prepare.py"),
                 "--build=" + BUILD, "--chips=sim", "--output=" + unpackable]
                + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stdout)
            self.assertFalse(os.path.exists(unpackable + ".new"))

    def test_no_python(self):
        results, _, table = self.check("kernels", PYTHON="/nowhere/python")
        self.assertEqual(results["failed"], ["python"])
        self.assertIn("no Python: '/nowhere/python'", table)

    def test_limits(self):
        """All parts at their limits, with two seconds to be ended, and the
        report."""
        text = read(CHECK, "check.sh")
        limits = [int(seconds) for seconds in
                  re.findall(r"^part \w+ (\d+)$", text, re.M)]
        self.assertEqual(len(limits), 6)
        report = int(re.search(r"timeout -k 2 (\d+) .*report", text).group(1))
        self.assertLess(sum(limits) + 2 * len(limits) + report + 2, 360)

    def test_every_op_is_checked(self):
        """Kernels have every op; those of libraries are in products."""
        text = (read(CHECK, "kernels.mlir") + read(CHECK, "typed_kernels.mlir") +
                read(CHECK, "products.mlir"))
        documented = set(re.findall(r"^### `echo\.(\w+)`",
                                    read(SOURCE, "docs", "dialect.md"), re.M))
        self.assertGreater(len(documented), 50)
        # Of buffers and of kernels, which passes write, and what is computed
        # again in whole models.
        written = {"buffer_view", "copy", "gemm", "kernel", "launch",
                   "optimization_barrier", "yield"}
        self.assertEqual(documented - written -
                         set(re.findall(r"echo\.(\w+)", text)), set())


if __name__ == "__main__":
    unittest.main()

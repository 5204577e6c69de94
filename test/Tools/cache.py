# RUN: %python %s %S/Inputs/regression.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled steps that are kept: a second run doesn't compile, whatever was
changed or damaged is compiled again, and processes at once don't disturb each
other."""

import json
import os
import shutil
import subprocess
import sys
import unittest

MODEL, FOLDER = sys.argv.pop(1), sys.argv.pop(1)


class Cache(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        self.cache = os.path.join(FOLDER, "cache")

    def start(self, *options, tool="echo-run", cache=None, name="report",
              model=MODEL):
        report = os.path.join(FOLDER, name + ".json")
        command = [tool, model, *options]
        if cache is not False:
            command.append("--cache-dir=" + (cache or self.cache))
        if tool == "echo-run":
            command += ["--quiet", "--steps=2", "--report=" + report]
        return subprocess.Popen(command, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True), report

    def run_tool(self, *options, expect=0, **others):
        process, report = self.start(*options, **others)
        _, error = process.communicate()
        self.assertEqual(process.returncode, expect, error)
        if expect or others.get("tool") == "echo-compile":
            return error
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def entries(self):
        return sorted(os.listdir(self.cache))

    def test_second_run_does_not_compile(self):
        first = self.run_tool("--optimizer=adam")
        second = self.run_tool("--optimizer=adam")
        self.assertEqual((first["cache"], second["cache"]), ("miss", "hit"))
        names = [phase["name"] for phase in first["phases"]]
        for name in ("parse", "echo-gradient", "echo-emit-program", "codegen",
                     "link", "cache", "load"):
            self.assertIn(name, names)
        self.assertEqual([phase["name"] for phase in second["phases"]],
                         ["cache", "load"])
        for key in ("loss", "function", "bytes", "calls", "tensors"):
            self.assertEqual(first[key], second[key])
        self.assertEqual(first["function"], "forward")
        self.assertEqual(len(self.entries()), 1)

    def test_changes_are_compiled(self):
        self.assertEqual(self.run_tool()["cache"], "miss")
        self.assertEqual(self.run_tool("--optimizer=sgd")["cache"], "miss")
        model = os.path.join(FOLDER, "model.mlir")
        with open(MODEL, encoding="utf-8") as file:
            text = file.read()
        with open(model, "w", encoding="utf-8") as file:
            file.write(text.replace("echo.sub", "echo.add"))
        changed = self.run_tool(model=model)
        self.assertEqual(changed["cache"], "miss")
        # The same text under another name is the same graph.
        shutil.copy(MODEL, model)
        kept = self.run_tool(model=model)
        self.assertEqual(kept["cache"], "hit")
        self.assertNotEqual(changed["loss"], kept["loss"])
        self.assertEqual(self.run_tool("--threads=1")["cache"], "hit")

    def test_plans_are_told_apart(self):
        """By what is in them: the file's name doesn't matter."""
        plans = {}
        for strategy in ("none", "mirror"):
            plan = os.path.join(FOLDER, strategy + ".json")
            process, _ = self.start("--optimizer=sgd", "--quiet",
                                    "--strategy=" + strategy,
                                    "--save-plan=" + plan, tool="echo-plan",
                                    cache=False)
            self.assertEqual(process.communicate()[1], "")
            with open(plan, encoding="utf-8") as file:
                plans[strategy] = file.read()
        path = os.path.join(FOLDER, "plan.json")
        self.assertEqual(self.run_tool("--optimizer=sgd")["cache"], "miss")
        for strategy, expected in (("none", "miss"), ("mirror", "miss"),
                                   ("none", "hit")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(plans[strategy])
            report = self.run_tool("--optimizer=sgd", "--plan=" + path)
            self.assertEqual(report["cache"], expected)
        report = self.run_tool("--optimizer=sgd",
                               "--plan=" + os.path.join(FOLDER, "none.json"))
        self.assertEqual(report["cache"], "hit")

    def test_damage_is_repaired(self):
        loss = self.run_tool()["loss"]
        path = os.path.join(self.cache, self.entries()[0])
        with open(path, "rb") as file:
            whole = file.read()
        middle = len(whole) // 2
        flipped = bytearray(whole)
        flipped[middle] ^= 1
        for damaged in (whole[:middle], b"", bytes(flipped)):
            with open(path, "wb") as file:
                file.write(damaged)
            report = self.run_tool()
            self.assertEqual((report["cache"], report["loss"]), ("miss", loss))
            self.assertEqual(self.run_tool()["cache"], "hit")

    def test_processes_at_once(self):
        started = [self.start("--optimizer=sgd", name="report%d" % i)
                   for i in range(4)]
        losses = []
        for process, report in started:
            _, error = process.communicate()
            self.assertEqual(process.returncode, 0, error)
            with open(report, encoding="utf-8") as file:
                losses.append(json.load(file)["loss"])
        self.assertEqual(losses, losses[:1] * 4)
        self.assertEqual(self.run_tool("--optimizer=sgd")["cache"], "hit")
        self.assertEqual(len(self.entries()), 1)

    def test_off_and_full(self):
        for _ in range(2):
            self.assertEqual(self.run_tool("--no-cache")["cache"], "off")
        self.assertFalse(os.path.exists(self.cache))
        for _ in range(2):
            self.assertEqual(self.run_tool("--cache-size=0")["cache"], "miss")
        self.assertEqual(self.entries(), [])

    def test_environment(self):
        folder = os.path.join(FOLDER, "from-environment")
        for name, inner in (("ECHO_CACHE_DIR", ""), ("XDG_CACHE_HOME", "echo")):
            old = {key: os.environ.pop(key) for key in
                   ("ECHO_CACHE_DIR", "XDG_CACHE_HOME") if key in os.environ}
            os.environ[name] = os.path.join(folder, name)
            try:
                states = [self.run_tool(cache=False)["cache"]
                          for _ in range(2)]
            finally:
                del os.environ[name]
                os.environ.update(old)
            self.assertEqual(states, ["miss", "hit"])
            self.assertEqual(
                len(os.listdir(os.path.join(folder, name, inner))), 1)

    def test_compile(self):
        paths = [os.path.join(FOLDER, name) for name in ("a.so", "b.so")]
        for path in paths:
            self.run_tool("--optimizer=sgd", "-o", path, tool="echo-compile")
            self.assertEqual(len(self.entries()), 1)
        with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
            self.assertEqual(first.read(), second.read())
        # Both tools keep the same thing.
        self.assertEqual(self.run_tool("--optimizer=sgd")["cache"], "hit")
        self.assertNotIn("cache", self.run_tool(model=paths[1], cache=False))
        self.run_tool("--emit=llvm", "-o", os.path.join(FOLDER, "a.ll"),
                      tool="echo-compile")
        self.assertEqual(len(self.entries()), 1)

    def test_warnings_are_said_again(self):
        model = os.path.join(FOLDER, "model.mlir")
        with open(model, "w", encoding="utf-8") as file:
            file.write('''func.func @f(
    %p: tensor<2xf32> {echo.role = "parameter"},
    %q: tensor<2xf32> {echo.role = "parameter"}) -> tensor<f32> {
  %s = echo.reduce sum %p {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
''')
        for _ in range(2):
            process, report = self.start("--optimizer=sgd", model=model)
            _, error = process.communicate()
            self.assertEqual(process.returncode, 0, error)
            self.assertIn("the loss doesn't depend on parameter", error)
            with open(report, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["cache"], "miss")

    def test_errors(self):
        path = os.path.join(FOLDER, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write("x")
        for tool, options in (("echo-run", []),
                              ("echo-compile",
                               ["-o", os.path.join(FOLDER, "a.so")])):
            error = self.run_tool(*options, tool=tool, expect=1,
                                  cache=os.path.join(path, "cache"))
            self.assertIn("can't make the cache folder", error)


unittest.main()

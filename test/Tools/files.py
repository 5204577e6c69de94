# RUN: %python %s %S/Inputs/regression.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the tools write: devices, FIFOs and links stay what they are, earlier
files stay whole where there is no space, and a closed or full standard output
is an error."""

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest

MODEL, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
ZOO = ["echo-zoo", "nmt", "--batch=2", "--src-len=2", "--tgt-len=2"]
COMPILE = ["echo-compile", MODEL, "--emit=asm"]
LINK = ["echo-compile", MODEL]
RUN = ["echo-run", MODEL, "--target=interpreter", "--quiet"]


def path(name):
    return os.path.join(FOLDER, name)


def run(command, **options):
    return subprocess.run(command, stderr=subprocess.PIPE, text=True,
                          check=False, **options)


def writers(target):
    """Every way of the tools to write a file, to `target`."""
    return [ZOO + ["-o", target], COMPILE + ["-o", target],
            LINK + ["-o", target], RUN + ["--report=" + target],
            RUN + ["--checkpoint=" + target]]


def limit_files():
    """Files may not grow beyond 100 bytes, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class Files(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)

    def test_devices(self):
        # By way of links: were they replaced, the devices would stay.
        os.symlink("/dev/null", path("null"))
        os.symlink("/dev/full", path("full"))
        for command in writers(path("null")):
            result = run(command)
            self.assertEqual(result.returncode, 0, (command, result.stderr))
        for command in writers(path("full")):
            result = run(command)
            self.assertEqual(result.returncode, 1, command)
            self.assertIn("can't write '%s': No space left on device" %
                          path("full"), result.stderr)
        for name in ("null", "full"):
            self.assertTrue(stat.S_ISCHR(os.stat(path(name)).st_mode))
        self.assertEqual(sorted(os.listdir(FOLDER)), ["full", "null"])

    def test_fifo_and_link(self):
        os.mkfifo(path("fifo"))
        os.symlink("file", path("link"))
        for to_fifo, to_link in zip(writers(path("fifo")),
                                    writers(path("link"))):
            found = []

            def read():
                with open(path("fifo"), "rb") as file:
                    found.append(file.read())

            reader = threading.Thread(target=read)
            reader.start()
            self.assertEqual(run(to_fifo).returncode, 0, to_fifo)
            reader.join()
            self.assertEqual(run(to_link).returncode, 0, to_link)
            self.assertTrue(os.path.islink(path("link")))
            with open(path("file"), "rb") as file:
                content = file.read()
            self.assertEqual(found[0][:20], content[:20], to_fifo)
            # The times in a report differ.
            if "--report=" not in to_link[-1]:
                self.assertEqual(found[0], content, to_fifo)
            os.remove(path("file"))

    def test_no_space(self):
        for command in writers(path("file")):
            with open(path("file"), "w", encoding="utf-8") as file:
                file.write("earlier")
            result = run(command, preexec_fn=limit_files)
            self.assertEqual(result.returncode, 1, (command, result.stderr))
            self.assertIn("File too large", result.stderr)
            self.assertNotIn("PLEASE submit a bug report", result.stderr)
            with open(path("file"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "earlier", command)
            self.assertEqual(os.listdir(FOLDER), ["file"])

    def test_names(self):
        for name, reason in ((FOLDER, "Is a directory"),
                             ("", "No such file or directory")):
            for command in (ZOO + ["-o", name], COMPILE + ["-o", name]):
                result = run(command)
                self.assertEqual(result.returncode, 1)
                self.assertIn("can't write '%s': %s" % (name, reason),
                              result.stderr)

    def test_standard_output(self):
        commands = [ZOO, ["echo-zoo", "--help"], COMPILE, RUN[:-1]]
        for command in commands:
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = run(command, stdout=full)
            self.assertEqual(result.returncode, 1, command)
            self.assertIn("can't write to the standard output: "
                          "No space left on device", result.stderr)
            result = run(command, preexec_fn=lambda: os.close(1))
            self.assertEqual(result.returncode, 1, command)
            self.assertIn("Bad file descriptor", result.stderr)
        # What is printed doesn't get into the first file that is opened.
        result = run(RUN[:-1] + ["--checkpoint=" + path("c.npz")],
                     preexec_fn=lambda: os.close(1))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(run(RUN + ["--resume=" + path("c.npz")]).returncode, 0)

    def test_append(self):
        with open(path("log"), "w", encoding="utf-8") as log:
            log.write("before\n")
        with open(path("log"), "a", encoding="utf-8") as log:
            self.assertEqual(
                run(ZOO + ["-o", "/dev/stdout"], stdout=log).returncode, 0)
        with open(path("log"), encoding="utf-8") as log:
            content = log.read()
        self.assertTrue(content.startswith("before\n"))
        self.assertIn("func.func @nmt", content)

    def test_interrupted(self):
        """Nothing is left wherever a signal comes, in compiling or in
        writing."""
        temporary = path("tmp")
        os.makedirs(temporary)
        run(LINK + ["--optimizer=sgd", "-o", path("step.so")])
        compiling = ["echo-run", MODEL, "--steps=1000000", "--optimizer=sgd"]
        writing = ["echo-run", path("step.so"), "--steps=1000000",
                   "--threads=1", "--checkpoint-every=1",
                   "--checkpoint=" + path("c.npz")]
        for number in (signal.SIGINT, signal.SIGTERM):
            for delay in (0.05, 0.2, 0.4, 0.8):
                for command in (compiling, writing):
                    process = self.start(command, temporary)
                    time.sleep(delay)
                    self.interrupt(process, number, temporary)
                    self.assertLessEqual(set(os.listdir(FOLDER)),
                                         {"tmp", "step.so", "c.npz"})

    def test_interrupted_assembler(self):
        """Nor while ptxas is at work."""
        temporary, tools = path("tmp"), path("tools")
        os.makedirs(temporary)
        os.makedirs(tools)
        with open(os.path.join(tools, "ptxas"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ntouch "$0.began"\nexec sleep 5\n')
        os.chmod(file.name, 0o755)
        process = self.start(
            ["echo-compile", MODEL, "--target=cuda", "-o", path("step.so")],
            temporary, PATH=tools + os.pathsep + os.environ["PATH"])
        while not os.path.exists(file.name + ".began"):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        self.assertNotEqual(os.listdir(temporary), [])
        self.interrupt(process, signal.SIGTERM, temporary)
        self.assertEqual(set(os.listdir(FOLDER)), {"tmp", "tools"})

    def start(self, command, temporary, **environment):
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": temporary,
                 "OPENBLAS_NUM_THREADS": "1", **environment},
            # Where tests run in the background it is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def interrupt(self, process, number, temporary):
        process.send_signal(number)
        process.wait()
        self.assertEqual(process.returncode, -number)
        self.assertEqual(os.listdir(temporary), [])


unittest.main()

# RUN: %python %s %S/Inputs/gpu.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A changed bit of an artefact is told, wherever it is."""

import os
import subprocess
import sys

MODEL, FOLDER = sys.argv[1:]
PLACES = 12  # evenly spread, the first and last bytes among them


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


os.makedirs(FOLDER, exist_ok=True)
for target in "cpu", "sim":
    whole = os.path.join(FOLDER, target + ".so")
    result = run("echo-compile", MODEL, "--target=" + target, "--no-cache",
                 "-o", whole)
    assert result.returncode == 0, result.stdout
    right = run("echo-run", whole, "--quiet")
    assert right.returncode == 0, right.stdout
    with open(whole, "rb") as file:
        content = file.read()
    # The last 16 bytes are the checksum; its own name can't be checked.
    for index in range(PLACES):
        place = index * (len(content) - 1) // (PLACES - 1)
        damaged = os.path.join(FOLDER, "damaged.so")
        with open(damaged, "wb") as file:
            file.write(content[:place] + bytes([content[place] ^ 16]) +
                       content[place + 1:])
        result = run("echo-run", damaged, "--quiet")
        assert result.returncode == 1, (target, place, result)
        assert "damaged file" in result.stdout or (
            place < 64 and "not a shared object" in result.stdout), (
                target, place, result.stdout)

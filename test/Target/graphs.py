# RUN: %python %s %S/Inputs %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that once didn't compile: every target gives what the interpreter
gives, in which nothing is rounded otherwise."""

import os
import subprocess
import sys

import numpy as np

INPUTS, FOLDER = sys.argv[1:]
GRAPHS = {"forward": [], "bag-of-words": ["--optimizer=sgd"]}
for name, options in GRAPHS.items():
    values = {}
    for target in "interpreter", "cpu", "sim":
        folder = os.path.join(FOLDER, name + "-" + target)
        subprocess.run(
            ["echo-run", os.path.join(INPUTS, name + ".mlir"), "--seed=3",
             "--target=" + target, "--output=" + folder, *options], check=True)
        values[target] = {
            file: np.load(os.path.join(folder, file))
            for file in os.listdir(folder) if file.endswith(".npy")}
    assert values["cpu"], name
    for target in "cpu", "sim":
        assert values[target].keys() == values["interpreter"].keys()
        for file, value in values[target].items():
            np.testing.assert_array_equal(value, values["interpreter"][file],
                                          err_msg=name + " " + file)

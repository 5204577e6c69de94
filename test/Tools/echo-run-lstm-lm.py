# RUN: %python %s %echo_src %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language model against PyTorch (test/golden/lstm_lm.py)."""

import os
import sys
import unittest

import numpy as np

SOURCE, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "test", "Tools", "Inputs"))
from golden import GoldenTest


class LstmLm(GoldenTest):
    MODEL = "lstm-lm"
    OPTIONS = ["--batch=3", "--length=5", "--hidden=6", "--vocab=11"]
    VARIANTS = {
        "plain": ["--layers=2", "--embed=5"],
        "tied": ["--layers=3", "--embed=6", "--tie-embeddings=true"],
    }
    GOLDEN = np.load(os.path.join(SOURCE, "test", "golden", "lstm_lm.npz"))
    FOLDER = FOLDER


del GoldenTest
unittest.main()

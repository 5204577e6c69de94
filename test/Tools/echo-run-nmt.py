# RUN: %python %s %echo_src %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The NMT model against PyTorch (test/golden/nmt.py)."""

import os
import sys
import unittest

import numpy as np

SOURCE, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "test", "Tools", "Inputs"))
from golden import GoldenTest


class Nmt(GoldenTest):
    MODEL = "nmt"
    OPTIONS = ["--batch=3", "--src-len=5", "--tgt-len=4", "--hidden=6",
               "--embed=5", "--src-vocab=11", "--tgt-vocab=9"]
    VARIANTS = {
        "plain": ["--layers=2"],
        "layer_norm": ["--layers=2", "--layer-norm=true",
                       "--label-smoothing=0.1"],
        "no_attention": ["--layers=1", "--attention=none"],
    }
    GOLDEN = np.load(os.path.join(SOURCE, "test", "golden", "nmt.npz"))
    FOLDER = FOLDER


del GoldenTest
unittest.main()

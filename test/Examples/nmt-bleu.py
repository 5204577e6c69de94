# RUN: %python %s %echo_src
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BLEU of the NMT example against sacrebleu's numbers (test/golden/bleu.py)."""

import json
import os
import sys
import unittest

SOURCE = sys.argv.pop(1)
sys.path.insert(0, os.path.join(SOURCE, "examples", "nmt"))
import bleu  # noqa: E402

with open(os.path.join(SOURCE, "test", "golden", "bleu.json"),
          encoding="utf-8") as file:
    GOLDEN = json.load(file)


class Bleu(unittest.TestCase):
    def test_tokens(self):
        self.assertGreaterEqual(len(GOLDEN["tokens"]), 10)
        for line, tokens in GOLDEN["tokens"]:
            self.assertEqual(bleu.tokenize_13a(line), tokens)

    def test_scores(self):
        self.assertGreaterEqual(len(GOLDEN["cases"]), 10)
        for case in GOLDEN["cases"]:
            score = bleu.corpus_bleu(case["hypotheses"], case["references"])
            # Both are f64; the order of a few sums differs.
            self.assertAlmostEqual(score, case["bleu"], delta=1e-9)

    def test_lengths(self):
        with self.assertRaises(ValueError):
            bleu.corpus_bleu(["a"], [])


unittest.main()

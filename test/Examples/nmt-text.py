# RUN: %python %s %echo_src
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisation, tokens and vocabularies of the NMT example."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(sys.argv.pop(1), "examples", "nmt"))
import text  # noqa: E402


class Text(unittest.TestCase):
    def test_access_keys(self):
        for marked, plain in [
                ("_File", "File"), ("E&xit", "Exit"), ("~Save As...",
                                                       "Save As..."),
                ("Mở (_O)", "Mở"), ("Lưu (&S)…", "Lưu…"),
                ("Tom & Jerry", "Tom & Jerry"), ("a_b_c", "a_b_c"),
                ("~/.config", "~/.config")]:
            self.assertEqual(text.clean(marked), plain)

    def test_key(self):
        same = ["Open _file %s (3 times)", "open file %1$s (12 Times)!",
                "OPEN FILE $(ARG1), (7 times)", "  Open \n file {name} 1 times"]
        self.assertEqual(len({text.key(line) for line in same}), 1)
        self.assertNotEqual(text.key("open file"), text.key("open the file"))

    def test_slots(self):
        for line, slots in [
                ("Can't open '%s': %d errors", ["%s", "%d"]),
                ("%PRODUCTNAME %PRODUCTVERSION is 100% free",
                 ["%PRODUCTNAME", "%PRODUCTVERSION", "100"]),
                ("$(ARG1) of ${count} in {0} and %(name)s",
                 ["$(ARG1)", "${count}", "{0}", "%(name)s"]),
                ("<b>bold</b> 3.14 --help", ["<b>", "</b>", "3.14",
                                             "--help"]),
                ("100 % done, well-known", ["100"]),
                ("%-10.3lf|%*d%%", ["%-10.3lf", "%*d", "%%"])]:
            self.assertEqual(text.source_slots(line), slots)

    def test_tokens(self):
        tokens, slots = text.source_tokens("Copy %s to %s, don't ask")
        self.assertEqual(tokens, ["copy", "@0", "to", "@1", ",", "don't",
                                  "ask"])
        self.assertEqual(slots, ["%s", "%s"])
        tokens, slots = text.source_tokens("Copied 2 of 10 files")
        # The translation may turn the order round.
        self.assertEqual(text.target_tokens("Trong 10 tập tin có 2", slots),
                         ["trong", "@1", "tập", "tin", "có", "@0"])
        self.assertEqual(text.target_tokens("OpenGL bị thiếu", []),
                         ["OpenGL", "bị", "thiếu"])

    def test_round_trip(self):
        for source, target in [
                ("Can't open \"%s\" (code 5).",
                 "Không thể mở “%s” (mã 5)."),
                ("Save...", "Lưu..."), ("save all", "lưu tất cả"),
                ("Read/write: %d?", "Đọc/ghi: %d?")]:
            slots = text.source_tokens(source)[1]
            tokens = text.target_tokens(target, slots)
            self.assertEqual(text.detokenize(tokens, slots, source), target)

    def test_slots_that_do_not_exist(self):
        self.assertEqual(text.detokenize(["a", "@3", "<unk>"], [], "b"), "a")

    def test_vocabulary(self):
        sentences = [["a", "b", "a"], ["b", "a", "c", "@0"]]
        vocabulary = text.Vocabulary.build(sentences, 2, 100)
        self.assertEqual(vocabulary.words, text.RESERVED +
                         ["@%d" % i for i in range(10)] + ["a", "b"])
        numbers = vocabulary.encode(["b", "c", "@1"])
        self.assertEqual(numbers, [15, text.UNKNOWN, 5])
        self.assertEqual(vocabulary.decode(numbers + [text.END, 14]),
                         ["b", "<unk>", "@1"])
        self.assertEqual(len(text.Vocabulary.build(sentences, 1, 15)), 15)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "words")
            vocabulary.save(path)
            self.assertEqual(text.Vocabulary.load(path).words,
                             vocabulary.words)
        with self.assertRaises(ValueError):
            text.Vocabulary(["a"])


unittest.main()

# UNSUPPORTED: sanitized
# RUN: %python %s %echo_src %echo_bin %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The NMT example from text to translations, on a language that a small model
learns in seconds: every word has one translation, and the adjective follows
its noun."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

SOURCE, BUILD, FOLDER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
EXAMPLE = os.path.join(SOURCE, "examples", "nmt")
sys.path.insert(0, EXAMPLE)
import corpus  # noqa: E402
import steps  # noqa: E402
import translate  # noqa: E402

MODEL = ["--max-tokens", "5", "--held-out", "60", "--hidden", "32", "--embed",
         "32", "--batch", "32", "--least-count", "1", "--label-smoothing", "0",
         "--learning-rate", "0.01", "--warm-up", "20", "--build-dir", BUILD]


def language(count):
    generator = random.Random(3)
    verbs = dict(zip("open close print find".split(), "mo dong in tim".split()))
    adjectives = dict(zip("new old big small last red".split(),
                          "moi cu lon nho cuoi do".split()))
    nouns = dict(zip("file page font image folder table".split(),
                     "tap trang phong anh muc bang".split()))
    places = dict(zip("here there now later".split(),
                      "day kia gio sau".split()))
    pairs = []
    for _ in range(count):
        verb, adjective, noun, place = (generator.choice(list(words)) for words
                                        in (verbs, adjectives, nouns, places))
        source = [verb, adjective, noun, place]
        target = [verbs[verb], nouns[noun], adjectives[adjective],
                  places[place]]
        if generator.random() < 0.4:
            source, target = source[:3], target[:3]
        pairs.append((" ".join(source), " ".join(target)))
    return pairs


def command(tool, *arguments):
    return [sys.executable, os.path.join(EXAMPLE, tool), *arguments]


def run(*arguments):
    return subprocess.run(command(*arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        prefix = os.path.join(FOLDER, "text")
        corpus.write_pairs(language(3000), prefix)
        cls.text = ["--train-src", prefix + ".src", "--train-tgt",
                    prefix + ".tgt"]
        cls.folder = os.path.join(FOLDER, "demo")
        cls.result = run("demo.py", "--folder", cls.folder, "--steps", "900",
                         *MODEL, *cls.text)

    def test_1_demo(self):
        """The whole demo; the translator is nearly perfect and far above the
        untrained model and copying."""
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        out = self.result.stdout
        self.assertIn("900 steps", out)
        self.assertIn("BLEU on 60 held-out sentences", out)
        self.assertEqual(out.count("translation:"), 5)
        pairs = translate.train.load_splits(
            os.path.join(self.folder, "corpus"))["test"]
        measured = translate.evaluate(
            translate.Translator(self.folder, BUILD), pairs)
        self.assertGreater(measured["model"], 60)
        self.assertLess(measured["untrained"], 20)
        self.assertLess(measured["copy"], 20)

    def test_2_translate(self):
        result = run("translate.py", self.folder, "--build-dir", BUILD,
                     "Open new file here", "print old page")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "Mo tap moi day\nin trang cu\n")

    def test_3_padding(self):
        """A sentence's translation doesn't depend on the bucket, that is on
        how much padding follows it, nor on its neighbours."""
        translator = translate.Translator(self.folder, BUILD)
        sentence = translator.source.encode("print old page".split())
        other = translator.source.encode("find big table there".split())
        bucket = translator.buckets[-1]
        found = []
        for length, neighbours in ((3, []), (bucket[0], []),
                                   (bucket[0], [other] * 5)):
            small = next(b for b in translator.buckets if b[0] >= length)
            session = translator.session(small)
            session.step(**steps.source_batch([sentence] + neighbours,
                                              translate.BATCH, small[0]))
            found.append(translator.target.decode(session.get("tokens")[:, 0]))
        self.assertEqual(found[0], ["in", "trang", "cu"])
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[2], found[0])

    def test_4_resume(self):
        """Training goes on from the checkpoint; the optimizer's step count
        shows it."""
        path = os.path.join(self.folder, "checkpoint.npz")
        with np.load(path) as values:
            self.assertEqual(int(values["optimizer.step"]), 900)
        result = run("train.py", self.folder, "--steps", "3", "--resume",
                     *MODEL, *self.text)
        self.assertEqual(result.returncode, 0, result.stderr)
        with np.load(path) as values:
            self.assertEqual(int(values["optimizer.step"]), 903)

    def test_5_interrupt(self):
        """Ctrl-C ends the training in order and keeps what it learned."""
        path = os.path.join(self.folder, "checkpoint.npz")
        os.remove(path)
        process = subprocess.Popen(
            command("train.py", self.folder, "--minutes", "5", *MODEL,
                    *self.text), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = ""
        while not line.startswith("step "):
            line = process.stdout.readline()
            self.assertTrue(line, process.stderr)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("checkpoint", out)
        with np.load(path) as values:
            self.assertGreater(int(values["optimizer.step"]), 0)

    def test_6_other_corpus(self):
        """Text that is given is taken, also where a corpus is."""
        result = run("train.py", self.folder, "--steps", "1", *MODEL,
                     "--train-src", "/nowhere/a", "--train-tgt", "/nowhere/b")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nowhere/a", result.stderr)
        result = run("train.py", self.folder, "--steps", "1", "--packages",
                     "nothing", "--build-dir", BUILD)
        self.assertEqual(result.returncode, 1)
        self.assertIn("has a corpus, which --packages doesn't change",
                      result.stderr)

    def test_7_numbers(self):
        for option, value, message in [
                ("--seed", "-1", "expected at least 0, found -1"),
                ("--steps", "-1", "expected at least 0, found -1"),
                ("--minutes", "nan", "expected at least 0, found nan"),
                ("--most-words", "0", "expected at least 1, found 0"),
                ("--batch", "x", "invalid int value: 'x'")]:
            result = run("train.py", self.folder, option, value)
            self.assertEqual(result.returncode, 2)
            self.assertIn("argument %s: %s" % (option, message), result.stderr)
        for option, value in (("--least-count", "99999"), ("--most-words", "5")):
            result = run("train.py", self.folder, *MODEL, *self.text, option,
                         value)
            self.assertEqual(result.returncode, 1)
            self.assertIn("no source word is left", result.stderr)

    def test_8_errors(self):
        for arguments, message in [
                (("translate.py", "/nowhere/model", "a"), "/nowhere/model"),
                (("translate.py", self.folder, "--build-dir", "/nowhere", "a"),
                 "/nowhere"),
                (("train.py", self.folder, *MODEL, *self.text, "--build-dir",
                  "/nowhere"), "/nowhere")]:
            result = run(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn("error:", result.stderr)
            self.assertIn(message, result.stderr)
            self.assertNotIn("Traceback", result.stderr)


unittest.main()

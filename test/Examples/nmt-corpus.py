# RUN: %python %s %echo_src
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Catalogues, cleaning and the split of the NMT example's corpus."""

import gettext
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)
sys.path.insert(0, os.path.join(SOURCE, "examples", "nmt"))
import corpus  # noqa: E402
import text  # noqa: E402


def write_mo(path, messages, order="<"):
    """`messages` maps msgid to msgstr, as gettext stores them."""
    ids = sorted(messages)
    header = struct.pack(order + "7I", 0x950412de, 0, len(ids), 28,
                         28 + 8 * len(ids), 0, 0)
    tables, data = [], b""
    position = 28 + 16 * len(ids)
    for strings in (ids, [messages[i] for i in ids]):
        for string in strings:
            raw = string.encode()
            tables.append(struct.pack(order + "2I", len(raw),
                                      position + len(data)))
            data += raw + b"\0"
    with open(path, "wb") as file:
        file.write(header + b"".join(tables) + data)


MESSAGES = {
    "": "Content-Type: text/plain; charset=UTF-8\n",
    "_Open": "_Mở",
    "menu\x04Close": "Đóng",
    "one file\0%d files": "%d tập tin",
    "untranslated": "",
}
FORMS = {"": MESSAGES[""], "a file\0%d files": "eine Datei\0%d Dateien"}


class Catalogues(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "test.mo")

    def tearDown(self):
        self.folder.cleanup()

    def test_read(self):
        for order in "<>":
            write_mo(self.path, MESSAGES, order)
            self.assertEqual(sorted(corpus.read_mo(self.path)), [
                ("%d files", "%d tập tin"), ("Close", "Đóng"),
                ("_Open", "_Mở")])
        write_mo(self.path, FORMS)
        self.assertEqual(corpus.read_mo(self.path), [
            ("a file", "eine Datei"), ("%d files", "%d Dateien")])

    def test_against_gettext(self):
        """Python's own reader finds the same messages."""
        write_mo(self.path, MESSAGES)
        paths = [self.path] + sorted(glob.glob(
            "/usr/share/locale/vi/LC_MESSAGES/*.mo"))[:5]
        for path in paths:
            with open(path, "rb") as file:
                catalogue = gettext.GNUTranslations(file)
            ours = corpus.read_mo(path)
            simple = {key: value for key, value in catalogue._catalog.items()
                      if isinstance(key, str) and key and value
                      and "\x04" not in key}
            self.assertTrue(set(simple.items()) <= set(ours))

    def test_malformed(self):
        write_mo(self.path, MESSAGES)
        with open(self.path, "rb") as file:
            data = file.read()
        for broken in (b"", data[:10], b"x" + data[1:], data[:60],
                       data[:-20], data[:8] + b"\xff" * 4 + data[12:]):
            with open(self.path, "wb") as file:
                file.write(broken)
            with self.assertRaisesRegex(corpus.CorpusError, "test.mo"):
                corpus.read_mo(self.path)


def sentences(seed, count):
    """Pairs with many near repetitions: other case, numbers, access keys and
    placeholders, and sources that share a translation."""
    generator = random.Random(seed)
    nouns = {"file": "tệp", "page": "trang", "window": "cửa sổ", "font":
             "phông", "image": "ảnh", "folder": "thư mục", "table": "bảng",
             "document": "tệp"}
    verbs = {"open": "mở", "close": "đóng", "print": "in", "delete": "xoá",
             "remove": "xoá", "save": "lưu", "find": "tìm"}
    places = {"here": "ở đây", "there": "ở đó", "later": "sau này",
              "now": "bây giờ", "again": "lại", "first": "trước"}
    pairs = []
    for _ in range(count):
        verb, noun, place = (generator.choice(sorted(words))
                             for words in (verbs, nouns, places))
        number = generator.choice(["1", "22", "%s", "%d", "{0}", "$(ARG1)"])
        source = "%s %s %s %s" % (verb, number, noun, place)
        target = "%s %s %s %s" % (verbs[verb], number, nouns[noun],
                                  places[place])
        shape = generator.randrange(4)
        if shape == 0:
            source, target = source.capitalize(), target.capitalize()
        elif shape == 1:
            source, target = "_" + source, target + " (_X)"
        elif shape == 2:
            source, target = source.upper() + "!", target + "!"
        pairs.append((source, target))
    return pairs


class Split(unittest.TestCase):
    def check(self, splits, held_out):
        """No source or target of one part is in another, whatever its case,
        digits, access keys and placeholders are. The comparison here is on
        its own: everything but letters is dropped."""
        def bare(line):
            line = text.PLACEHOLDER.sub(" ", line)
            return "".join(c for c in line.casefold() if c.isalpha() or
                           c == " ").split()

        for side in (0, 1):
            parts = [{tuple(bare(pair[side])) for pair in splits[name]}
                     for name in corpus.SPLITS]
            self.assertFalse(parts[0] & parts[1])
            self.assertFalse(parts[0] & parts[2])
            self.assertFalse(parts[1] & parts[2])
        for name in ("dev", "test"):
            self.assertEqual(len(splits[name]), held_out)
        self.assertTrue(splits["train"])

    def test_near_repetitions(self):
        pairs = corpus.clean_pairs(sentences(1, 4000), 24)
        splits = corpus.split(pairs, 20)
        self.check(splits, 20)
        self.assertEqual(splits, corpus.split(pairs[::-1][::-1], 20))

    def test_too_few(self):
        pairs = corpus.clean_pairs(sentences(1, 50), 24)
        with self.assertRaisesRegex(corpus.CorpusError, "expected 1000"):
            corpus.split(pairs, 500)

    def test_this_system(self):
        """Real catalogues, as the demo takes them."""
        cache = os.environ.get("ECHO_NMT_CACHE") or os.path.join(
            SOURCE, ".cache", "nmt")
        paths = (glob.glob(os.path.join(cache, "vi", "*", "*.mo")) +
                 corpus.find_catalogues("/usr/share/locale", "vi"))
        raw = [pair for path in paths for pair in corpus.read_mo(path)]
        pairs = corpus.clean_pairs(raw[:20000], 24)
        if len(pairs) < 4000:
            self.skipTest("%d sentence pairs on this system" % len(pairs))
        self.check(corpus.split(pairs, 500), 500)


class Cleaning(unittest.TestCase):
    def test_usable(self):
        self.assertTrue(corpus.usable("Open %s", "Mở %s", 24))
        for source, target in [
                ("Open %s", "Mở"), ("OpenGL", "openGL"), ("%s", "%s:"),
                ("42", "bốn hai"), ("a", "b " * 30), ("Open %s", "Mở %d"),
                ("one", "a b c d e f g h i j k l")]:
            self.assertFalse(corpus.usable(source, target, 24))

    def test_votes(self):
        pairs = corpus.clean_pairs([("Open", "Mở"), ("Open", "Mở ra"),
                                    ("_Open", "_Mở ra"), ("Shut", "Đóng")], 24)
        self.assertEqual(pairs, [("Open", "Mở ra"), ("Shut", "Đóng")])


class Files(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run(
            [sys.executable, os.path.join(SOURCE, "examples", "nmt",
                                          "corpus.py"), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)

    def test_parallel_text(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "text")
            corpus.write_pairs(sentences(2, 3000), prefix)
            out = os.path.join(folder, "out")
            result = self.run_tool(out, "--train-src", prefix + ".src",
                                   "--train-tgt", prefix + ".tgt",
                                   "--held-out", "15")
            self.assertEqual(result.returncode, 0, result.stderr)
            splits = {}
            for name in corpus.SPLITS:
                splits[name] = corpus.read_parallel(
                    *(os.path.join(out, "%s.%s" % (name, side))
                      for side in ("src", "tgt")))
            Split.check(self, splits, 15)

            with open(prefix + ".tgt", "a", encoding="utf-8") as file:
                file.write("thừa\n")
            result = self.run_tool(out, "--train-src", prefix + ".src",
                                   "--train-tgt", prefix + ".tgt")
            self.assertEqual(result.returncode, 1)
            self.assertIn("error:", result.stderr)
            self.assertIn("lines", result.stderr)

    def test_last_line(self):
        """The last line counts once, whether it ends or not; so do lines of
        Windows."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "text")
            for data, lines in [(b"a\nb\n", ["a", "b"]),
                                (b"a\nb", ["a", "b"]), (b"", []),
                                (b"a\r\nb\r\n", ["a", "b"]),
                                (b"a\n\n", ["a", ""]), (b"\n", [""])]:
                with open(path, "wb") as file:
                    file.write(data)
                self.assertEqual(corpus.read_lines(path), lines)
            with open(path, "wb") as file:
                file.write(b"a\nb\n")
            other = os.path.join(folder, "other")
            with open(other, "wb") as file:
                file.write(b"c\nd")
            self.assertEqual(corpus.read_parallel(path, other),
                             [("a", "c"), ("b", "d")])
            with open(other, "wb") as file:
                file.write(b"c\nd\ne\n")
            with self.assertRaisesRegex(corpus.CorpusError,
                                        "text has 2 lines, .*other has 3"):
                corpus.read_parallel(path, other)

    def test_not_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "text")
            corpus.write_pairs(sentences(2, 10), prefix)
            with open(prefix + ".tgt", "ab") as file:
                file.write("x\nM\u00f4".encode("latin-1"))
            result = self.run_tool(os.path.join(folder, "out"), "--train-src",
                                   prefix + ".src", "--train-tgt",
                                   prefix + ".tgt")
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, "corpus.py: error: %s.tgt:12: not "
                             "UTF-8: byte 0xf4\n" % prefix)

    def test_numbers(self):
        for arguments in (["--held-out", "0"], ["--held-out", "-5"],
                          ["--max-tokens", "0"]):
            result = self.run_tool("/nowhere/corpus", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("argument %s: expected at least 1, found %s" %
                          tuple(arguments), result.stderr)

    def test_errors(self):
        for arguments, message in [
                (["--train-src", "a"], "go together"),
                (["--test-src", "a", "--test-tgt", "b"], "--train-src"),
                (["--train-src", "/nowhere/a", "--train-tgt", "/nowhere/b"],
                 "/nowhere/a"),
                (["--language", "xx"], "--packages is needed")]:
            result = self.run_tool("/nowhere/corpus", *arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


unittest.main()

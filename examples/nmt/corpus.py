#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sentence pairs from the translations of Debian's programs.

gettext catalogues (.mo) hold a program's messages in English and another
language. They come from Debian packages, fetched with apt-get, or from
/usr/share/locale, or from any pair of parallel text files. Pairs are cleaned,
told apart, and split so that no held-out source or target occurs in training,
not even with other case, digits, access keys, placeholders or punctuation.
"""

import argparse
import glob
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import text

# Packages with many messages of a kind: dialogs and manuals in short sentences.
PACKAGES = {
    "vi": ["libreoffice-l10n-vi", "blender-data"],
    "de": ["libreoffice-l10n-de", "blender-data"],
}
LANGUAGES = {"vi": "Vietnamese", "de": "German"}
SPLITS = ("train", "dev", "test")
SYSTEM_CATALOGUES = "/usr/share/locale"


class CorpusError(Exception):
    """Something that the user can put right; the message says what."""


def read_mo(path):
    """(English, translation) pairs of a .mo file; the forms of a plural are
    pairs of their own."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 28:
        raise CorpusError("%s: not a .mo file: %d bytes" % (path, len(data)))
    order = {0x950412de: "<", 0xde120495: ">"}.get(
        struct.unpack("<I", data[:4])[0])
    if order is None:
        raise CorpusError("%s: not a .mo file: wrong magic number" % path)
    _, count, originals, translations = struct.unpack(order + "4I", data[4:20])
    pairs = []
    for i in range(count):
        fields = []
        for table in (originals, translations):
            if table + 8 * i + 8 > len(data):
                raise CorpusError("%s: truncated .mo file" % path)
            length, offset = struct.unpack_from(order + "2I", data,
                                                table + 8 * i)
            if offset + length > len(data):
                raise CorpusError("%s: truncated .mo file" % path)
            fields.append(data[offset:offset + length])
        try:
            source, target = (field.decode("utf-8") for field in fields)
        except UnicodeDecodeError:
            continue  # the few catalogues that aren't in UTF-8
        if not source or not target:
            continue  # the header
        source = source.rpartition("\x04")[2]  # the context stands before it
        sources, targets = source.split("\0"), target.split("\0")
        if len(targets) == 1:
            # A language without plurals translates the plural.
            pairs.append((sources[-1], targets[0]))
        else:
            pairs.append((sources[0], targets[0]))
            pairs.append((sources[-1], targets[1]))
    return pairs


def fetch_catalogues(package, language, cache):
    """The .mo files of a package, fetched once into the cache folder."""
    folder = os.path.join(cache, language, package)
    if not os.path.isdir(folder):
        os.makedirs(os.path.join(cache, language), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as work:
            result = subprocess.run(["apt-get", "-q", "download", package],
                                    cwd=work, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True,
                                    check=False)
            debs = glob.glob(os.path.join(work, "*.deb"))
            if result.returncode or not debs:
                lines = result.stdout.strip().split("\n")
                raise CorpusError("apt-get download %s: %s" %
                                  (package, lines[-1]))
            tree = os.path.join(work, "tree")
            subprocess.run(["dpkg-deb", "-x", debs[0], tree], check=True)
            kept = os.path.join(work, "kept")
            os.mkdir(kept)
            for path in find_catalogues(tree, language):
                shutil.copy(path, kept)
            os.rename(kept, folder)
    return sorted(glob.glob(os.path.join(folder, "*.mo")))


def find_catalogues(tree, language):
    pattern = os.path.join(tree, "**", language, "LC_MESSAGES", "*.mo")
    return sorted(glob.glob(pattern, recursive=True))


def catalogue_pairs(language, packages, cache, system, progress):
    """All pairs of the packages, in a fixed order. What is installed on this
    system joins them if asked for, or if no package can be had."""
    paths = []
    for package in packages:
        try:
            paths += fetch_catalogues(package, language, cache)
        except (CorpusError, OSError, subprocess.CalledProcessError) as error:
            progress("skipped: %s" % error)
    if not paths and not system:
        progress("no package could be fetched: taking the catalogues in %s" %
                 SYSTEM_CATALOGUES)
        system = True
    if system:
        paths += find_catalogues(SYSTEM_CATALOGUES, language)
    pairs = []
    for path in paths:
        try:
            pairs += read_mo(path)
        except CorpusError as error:
            progress("skipped: %s" % error)
    return pairs


def read_lines(path):
    """The lines of a text file, whether the last one ends or not."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError("%s:%d: not UTF-8: byte 0x%02x" % (
            path, data.count(b"\n", 0, error.start) + 1,
            data[error.start])) from error
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def read_parallel(source_path, target_path):
    sources, targets = read_lines(source_path), read_lines(target_path)
    if len(sources) != len(targets):
        raise CorpusError("%s has %d lines, %s has %d: expected as many" %
                          (source_path, len(sources), target_path,
                           len(targets)))
    return [pair for pair in zip(sources, targets) if pair[0] and pair[1]]


def usable(source, target, most_tokens):
    """Whether a pair is a sentence and its translation."""
    if max(source.count(" "), target.count(" ")) >= most_tokens:
        return False
    source_key, target_key = text.key(source), text.key(target)
    if not source_key or not target_key or source_key == target_key:
        return False
    slots = text.source_slots(source)
    target_slots = [target[a:b] for a, b in text.find_slots(target)]
    if sorted(slots) != sorted(target_slots):
        return False
    if not any(character.isalpha() for character in source_key):
        return False
    source_length = len(text.source_tokens(source)[0])
    target_length = len(text.target_tokens(target, slots))
    return (max(source_length, target_length) <= most_tokens and
            target_length <= 3 * source_length + 5 and
            source_length <= 3 * target_length + 5)


def clean_pairs(pairs, most_tokens):
    """Usable pairs, one translation per source: the most frequent one, the
    first of equals."""
    votes = {}
    for source, target in pairs:
        source, target = text.clean(source), text.clean(target)
        if usable(source, target, most_tokens):
            counts = votes.setdefault(source.lower(), {})
            counts[source, target] = counts.get((source, target), 0) + 1
    return [max(counts, key=counts.get) for counts in votes.values()]


def split(pairs, held_out):
    """Splits into train, dev and test; the last two have `held_out` pairs
    each, drawn by a hash of the source among those of at least three words,
    and share no source or target key with train or each other."""
    def rank(pair):
        return hashlib.sha256(text.key(pair[0]).encode()).digest()

    chosen, sources, targets = [], set(), set()
    for pair in sorted(pairs, key=rank):
        source, target = text.key(pair[0]), text.key(pair[1])
        if len(chosen) == 2 * held_out:
            break
        if (len(text.words(pair[0])) >= 3 and
                len(text.words(pair[1])) >= 3 and
                source not in sources and target not in targets):
            chosen.append(pair)
            sources.add(source)
            targets.add(target)
    if len(chosen) < 2 * held_out:
        raise CorpusError("found %d sentences to hold out, expected %d" %
                          (len(chosen), 2 * held_out))
    train = [pair for pair in pairs if text.key(pair[0]) not in sources and
             text.key(pair[1]) not in targets]
    return {"train": train, "dev": chosen[0::2], "test": chosen[1::2]}


def write_pairs(pairs, prefix):
    for side, suffix in enumerate(("src", "tgt")):
        with open("%s.%s" % (prefix, suffix), "w", encoding="utf-8") as file:
            file.write("".join(pair[side] + "\n" for pair in pairs))


def build(folder, language="vi", packages=None, cache=None, most_tokens=14,
          held_out=500, parallel=None, system=False, progress=print):
    """Writes train, dev and test (.src and .tgt) into `folder` and returns
    them. `parallel` maps "train" and maybe "dev" and "test" to pairs of
    files."""
    if parallel:
        splits = {name: clean_pairs(read_parallel(*files), most_tokens)
                  for name, files in parallel.items()}
        if "test" not in splits:
            splits = split(splits["train"], held_out)
        else:
            splits.setdefault("dev", splits["test"])
            known = [{text.key(pair[side]) for name in ("dev", "test")
                      for pair in splits[name]} for side in (0, 1)]
            splits["train"] = [
                pair for pair in splits["train"]
                if text.key(pair[0]) not in known[0] and
                text.key(pair[1]) not in known[1]]
    else:
        if packages is None:
            packages = PACKAGES[language]
        raw = catalogue_pairs(language, packages, cache, system, progress)
        progress("%d messages in English and %s" %
                 (len(raw), LANGUAGES.get(language, language)))
        splits = split(clean_pairs(raw, most_tokens), held_out)
    os.makedirs(folder, exist_ok=True)
    for name in SPLITS:
        write_pairs(splits[name], os.path.join(folder, name))
    progress("%d pairs for training, %d for choosing, %d held out, in %s" %
             (len(splits["train"]), len(splits["dev"]), len(splits["test"]),
              folder))
    return splits


def at_least(least, kind=int):
    """A type of argparse: a number that isn't below `least`."""
    def convert(value):
        number = kind(value)
        if not number >= least:
            raise argparse.ArgumentTypeError("expected at least %s, found %s" %
                                             (least, value))
        return number

    convert.__name__ = kind.__name__  # for argparse's own message
    return convert


def parallel_files(arguments):
    """The pairs of text files that were given, by part of the corpus."""
    parallel = {}
    for name in SPLITS:
        files = [getattr(arguments, name + "_" + side)
                 for side in ("src", "tgt")]
        if any(files) and not all(files):
            raise CorpusError("--%s-src and --%s-tgt go together" %
                              (name, name))
        if all(files):
            parallel[name] = files
    if parallel and "train" not in parallel:
        raise CorpusError("parallel text needs --train-src and --train-tgt")
    return parallel


def check_reuse(arguments, parser, folder):
    """Raises CorpusError if an option would make another corpus than the one
    that is in the folder."""
    for name in ("language", "packages", "system", "held_out"):
        if getattr(arguments, name) != parser.get_default(name):
            raise CorpusError(
                "%s has a corpus, which --%s doesn't change; remove it to make "
                "another" % (folder, name.replace("_", "-")))


def add_arguments(parser):
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--language", default="vi",
                        help="language code: vi, de or another (default vi)")
    parser.add_argument("--packages", default=None,
                        help="Debian packages with catalogues, separated by "
                        "commas (default: a list for vi and de)")
    parser.add_argument("--system", action="store_true",
                        help="also take the catalogues in %s" %
                        SYSTEM_CATALOGUES)
    parser.add_argument("--cache", default=os.path.normpath(
        os.path.join(here, "..", "..", ".cache", "nmt")),
        help="folder for fetched catalogues (default %(default)s)")
    parser.add_argument("--max-tokens", type=at_least(1), default=14,
                        help="longest sentence (default %(default)s)")
    parser.add_argument("--held-out", type=at_least(1), default=500,
                        help="pairs for choosing and for testing, each "
                        "(default %(default)s)")
    for name in SPLITS:
        for side in ("src", "tgt"):
            parser.add_argument("--%s-%s" % (name, side), metavar="FILE",
                                help="parallel text, one sentence a line")


def build_from_arguments(arguments, folder, progress=print):
    parallel = parallel_files(arguments)
    packages = arguments.packages
    if packages is None:
        packages = PACKAGES.get(arguments.language)
        if packages is None and not parallel:
            raise CorpusError("--packages is needed for the language '%s'" %
                              arguments.language)
    else:
        packages = [p for p in packages.split(",") if p]
    return build(folder, arguments.language, packages, arguments.cache,
                 arguments.max_tokens, arguments.held_out, parallel,
                 arguments.system, progress)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="where to write the corpus")
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        build_from_arguments(arguments, arguments.folder)
    except (CorpusError, OSError) as error:
        sys.exit("corpus.py: error: %s" % error)


if __name__ == "__main__":
    main()

# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled steps of the model, one per bucket of lengths, and their batches."""

import hashlib
import json
import os
import subprocess

import numpy as np

import text


class BuildError(Exception):
    """A tool that failed; the message is its error."""


def make_buckets(most_tokens):
    """The largest source and target length of each bucket; one target token
    ends the sentence. Short sentences may grow more in translation."""
    buckets = []
    for part in (0.3, 0.45, 0.65, 1.0):
        source = max(1, round(part * most_tokens))
        target = most_tokens if part == 1 else min(most_tokens,
                                                   round(1.4 * source) + 2)
        if not buckets or source > buckets[-1][0]:
            buckets.append((source, target + 1))
    return buckets


def bucket_of(buckets, source_length, target_length=0):
    """The first bucket that holds a pair, or None."""
    for bucket in buckets:
        if source_length <= bucket[0] and target_length + 1 <= bucket[1]:
            return bucket
    return None


class Builder:
    """Makes artefacts with echo-zoo and echo-compile, each once."""

    def __init__(self, build_dir, folder):
        self.build_dir, self.folder = build_dir, folder
        os.makedirs(folder, exist_ok=True)

    def runtime_path(self):
        return os.path.join(self.build_dir, "lib", "libEchoRuntime.so")

    def _tool(self, name):
        path = os.path.join(self.build_dir, "bin", name)
        if not os.access(path, os.X_OK):
            raise BuildError("%s isn't there: build Echo first, or give "
                             "--build-dir" % path)
        return path

    def artifact(self, options, optimizer=None):
        """The path of the step with echo-zoo's `options`."""
        zoo, compiler = self._tool("echo-zoo"), self._tool("echo-compile")
        library = os.path.join(self.build_dir, "lib", "libEcho.so")
        stamps = [os.stat(path).st_mtime_ns
                  for path in (zoo, compiler, library) if os.path.exists(path)]
        arguments = ["--%s=%s" % item for item in sorted(options.items())]
        digest = hashlib.sha256(json.dumps(
            [arguments, optimizer, stamps]).encode()).hexdigest()[:16]
        name = "%s-%sx%sx%s-%s" % (options["mode"], options["batch"],
                                   options["src-len"], options["tgt-len"],
                                   digest)
        path = os.path.join(self.folder, name + ".so")
        if os.path.exists(path):
            return path
        model = os.path.join(self.folder, name + ".mlir")
        self._run([zoo, "nmt", *arguments, "-o", model])
        command = [compiler, model, "--target=cpu", "-o", path]
        if optimizer:
            command.append("--optimizer=" + optimizer)
        self._run(command)
        return path

    @staticmethod
    def _run(command):
        result = subprocess.run(command, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode:
            raise BuildError("%s failed:\n%s" % (
                " ".join(command), result.stderr.strip()[-2000:]))


def source_batch(sentences, batch, length):
    """src and src_lengths; sentences are reversed, as the decoder then starts
    near the first words. Missing ones are a single unknown word."""
    src = np.full((length, batch), text.PADDING, np.int32)
    lengths = np.ones(batch, np.int32)
    src[0] = text.UNKNOWN
    for i, sentence in enumerate(sentences):
        src[:len(sentence), i] = sentence[::-1]
        lengths[i] = len(sentence)
    return {"src": src, "src_lengths": lengths}


def training_batch(pairs, batch, bucket):
    """The inputs of a step. Sentences that are missing from the last batch of
    an epoch are padding alone and don't count."""
    inputs = source_batch([source for source, _ in pairs], batch, bucket[0])
    tgt_in = np.full((bucket[1], batch), text.PADDING, np.int32)
    tgt_out = np.full((bucket[1], batch), text.PADDING, np.int32)
    tgt_in[0] = text.BEGINNING
    for i, (_, target) in enumerate(pairs):
        tgt_in[1:len(target) + 1, i] = target
        tgt_out[:len(target), i] = target
        tgt_out[len(target), i] = text.END
    return {**inputs, "tgt_in": tgt_in, "tgt_out": tgt_out}


def encode_pairs(pairs, buckets, source_vocabulary, target_vocabulary):
    """Pairs of numbers, by bucket; pairs that fit none are left out."""
    encoded = {bucket: [] for bucket in buckets}
    for source, target in pairs:
        source_tokens, slots = text.source_tokens(source)
        target_tokens = text.target_tokens(target, slots)
        bucket = bucket_of(buckets, len(source_tokens), len(target_tokens))
        if bucket and source_tokens and target_tokens:
            encoded[bucket].append((source_vocabulary.encode(source_tokens),
                                    target_vocabulary.encode(target_tokens)))
    return encoded


def epoch(buckets, batch, random):
    """All batches of one epoch in a random order: (bucket, pairs)."""
    batches = []
    for bucket, pairs in buckets.items():
        order = random.permutation(len(pairs))
        for start in range(0, len(pairs), batch):
            batches.append((bucket, [pairs[i]
                                     for i in order[start:start + batch]]))
    return [batches[i] for i in random.permutation(len(batches))]

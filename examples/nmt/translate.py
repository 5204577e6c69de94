#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translates with a trained model, greedily, and measures BLEU."""

import argparse
import json
import os
import sys

import bleu
import echo_runtime
import steps
import text
import train

BATCH = 32


class Translator:
    """A model in a folder that train.py wrote."""

    def __init__(self, folder, build_dir, threads=0):
        with open(os.path.join(folder, train.SETTINGS),
                  encoding="utf-8") as file:
            settings = json.load(file)
        self.options = settings["options"]
        self.buckets = [tuple(bucket) for bucket in settings["buckets"]]
        self.source, self.target = (
            text.Vocabulary.load(os.path.join(folder, name + ".vocabulary"))
            for name in ("source", "target"))
        self.builder = steps.Builder(build_dir, os.path.join(folder, "steps"))
        self.runtime = echo_runtime.Runtime(self.builder.runtime_path())
        self.checkpoint = os.path.join(folder, train.CHECKPOINT)
        self.threads = threads
        self.sessions = {}
        self.first = None

    def session(self, bucket):
        if bucket not in self.sessions:
            path = self.builder.artifact({
                **self.options, "mode": "decode", "batch": BATCH,
                "src-len": bucket[0], "tgt-len": bucket[1]})
            session = self.runtime.open(path, self.threads)
            if self.first:
                session.share(self.first)
            else:
                self.first = session
                session.load(self.checkpoint)
            self.sessions[bucket] = session
        return self.sessions[bucket]

    def forget(self, seed=0):
        """Parameters as before any training."""
        self.session(self.buckets[0])
        for session in self.sessions.values():
            session.initialize(seed)

    def recall(self):
        """The checkpoint's parameters."""
        self.session(self.buckets[0])
        self.first.load(self.checkpoint)

    def translate(self, sentences):
        """Sentences that are longer than the longest bucket are cut."""
        groups, prepared = {}, []
        for i, sentence in enumerate(sentences):
            tokens, slots = text.source_tokens(text.clean(sentence))
            tokens = tokens[:self.buckets[-1][0]]
            prepared.append((self.source.encode(tokens), slots))
            if tokens:
                groups.setdefault(steps.bucket_of(self.buckets,
                                                  len(tokens)), []).append(i)
        translations = [""] * len(sentences)
        for bucket, members in sorted(groups.items()):
            session = self.session(bucket)
            for start in range(0, len(members), BATCH):
                batch = members[start:start + BATCH]
                session.step(**steps.source_batch(
                    [prepared[i][0] for i in batch], BATCH, bucket[0]))
                tokens = session.get("tokens")
                for column, i in enumerate(batch):
                    translations[i] = text.detokenize(
                        self.target.decode(tokens[:, column]), prepared[i][1],
                        text.clean(sentences[i]))
        return translations


def evaluate(translator, pairs):
    """BLEU of the model, of the untrained model and of copying, and the
    model's translations."""
    sources = [source for source, _ in pairs]
    references = [target for _, target in pairs]
    translator.forget()
    untrained = bleu.corpus_bleu(translator.translate(sources), references)
    translator.recall()
    translations = translator.translate(sources)
    return {"model": bleu.corpus_bleu(translations, references),
            "untrained": untrained,
            "copy": bleu.corpus_bleu(sources, references),
            "translations": translations}


def report(result, pairs, shown=5):
    print("BLEU on %d held-out sentences: %.2f (untrained model %.2f, copying "
          "the source %.2f)" % (len(pairs), result["model"],
                                result["untrained"], result["copy"]))
    shown = min(shown, len(pairs))
    for i in (number * len(pairs) // shown for number in range(shown)):
        print("\n  source:      %s\n  translation: %s\n  reference:   %s" %
              (pairs[i][0], result["translations"][i], pairs[i][1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="what train.py wrote")
    parser.add_argument("text", nargs="*", help="sentences to translate; "
                        "without any, BLEU on held-out sentences")
    parser.add_argument("--split", choices=["dev", "test"], default="test",
                        help="which sentences to measure on "
                        "(default %(default)s)")
    parser.add_argument("--shown", type=int, default=5,
                        help="how many translations to show")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--build-dir", default=train.default_build_dir(),
                        help="where Echo was built (default %(default)s)")
    arguments = parser.parse_intermixed_args()
    try:
        translator = Translator(arguments.folder, arguments.build_dir,
                                arguments.threads)
        if arguments.text:
            print("\n".join(translator.translate(arguments.text)))
            return
        pairs = train.load_splits(os.path.join(arguments.folder, "corpus"))[
            arguments.split]
        report(evaluate(translator, pairs), pairs, arguments.shown)
    except train.ERRORS as error:
        sys.exit("translate.py: error: %s" % error)


if __name__ == "__main__":
    main()

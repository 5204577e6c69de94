#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a translator: one compiled step per bucket of sentence lengths, all
on the same parameters. Ctrl-C ends the training and keeps what it learned."""

import argparse
import json
import os
import signal
import sys
import time

import numpy as np

import corpus
import echo_runtime
import steps
import text

CHECKPOINT, SETTINGS = "checkpoint.npz", "settings.json"
CHECKPOINT_SECONDS = 30
FORGET_BIAS = 1.0


def default_build_dir():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(here, "..", "..", "build"))


def add_model_arguments(parser):
    parser.add_argument("--hidden", type=int, default=128,
                        help="width of the LSTMs (default %(default)s)")
    parser.add_argument("--embed", type=int, default=128,
                        help="width of the embeddings (default %(default)s)")
    parser.add_argument("--layers", type=int, default=1,
                        help="LSTM layers of encoder and decoder "
                        "(default %(default)s)")
    parser.add_argument("--attention", choices=["mlp", "none"], default="mlp")
    parser.add_argument("--layer-norm", action="store_true",
                        help="layer normalization inside the attention")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--label-smoothing", type=float, default=0.1)


def add_training_arguments(parser):
    parser.add_argument("--minutes", type=corpus.at_least(0, float), default=4.0,
                        help="how long to train (default %(default)s)")
    parser.add_argument("--steps", type=corpus.at_least(0), default=None,
                        help="how many steps to train, instead of --minutes")
    parser.add_argument("--batch", type=corpus.at_least(1), default=64,
                        help="sentences in a batch (default %(default)s)")
    parser.add_argument("--learning-rate",
                        type=corpus.at_least(0, float), default=3e-3,
                        help="the highest (default %(default)s)")
    parser.add_argument("--warm-up", type=corpus.at_least(0), default=100,
                        help="steps to reach it (default %(default)s)")
    parser.add_argument("--clip-norm", type=corpus.at_least(0, float), default=5.0,
                        help="largest norm of all gradients; 0 for none "
                        "(default %(default)s)")
    parser.add_argument("--least-count", type=corpus.at_least(1), default=3,
                        help="a word that is rarer is unknown "
                        "(default %(default)s)")
    parser.add_argument("--most-words", type=corpus.at_least(1), default=12000,
                        help="largest vocabulary (default %(default)s)")
    parser.add_argument("--seed", type=corpus.at_least(0), default=1)
    parser.add_argument("--threads", type=corpus.at_least(0), default=0,
                        help="0 takes all cores (default)")
    parser.add_argument("--resume", action="store_true",
                        help="go on from the last checkpoint")
    parser.add_argument("--build-dir", default=default_build_dir(),
                        help="where Echo was built (default %(default)s)")


def learning_rate(peak, warm_up, step, done):
    """Linear warm-up over steps, then linear decay over the training's time:
    `done` is the part of it that is over."""
    return peak * min(1.0, (step + 1) / warm_up if warm_up else 1.0) * max(
        0.02, 1.0 - done)


class Progress:
    """One line that is written over in a terminal; a line now and then in a
    file."""

    def __init__(self, out=sys.stdout):
        self.out, self.terminal = out, out.isatty()
        self.last = None

    def show(self, line, last=False):
        now = time.monotonic()
        wait = 0.2 if self.terminal else 10
        if not last and self.last is not None and now - self.last < wait:
            return
        self.last = now
        if self.terminal:
            self.out.write("\r\x1b[K" + line + ("\n" if last else ""))
        else:
            self.out.write(line + "\n")
        self.out.flush()


def write_atomically(path, content):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(path + ".tmp", path)


class Trainer:
    def __init__(self, folder, splits, arguments):
        self.folder, self.arguments = folder, arguments
        self.builder = steps.Builder(arguments.build_dir,
                                     os.path.join(folder, "steps"))
        tokens = []
        for source, target in splits["train"]:
            source_tokens, slots = text.source_tokens(source)
            tokens.append((source_tokens, text.target_tokens(target, slots)))
        vocabularies = [text.Vocabulary.build(
            (pair[side] for pair in tokens), arguments.least_count,
            arguments.most_words) for side in (0, 1)]
        for vocabulary, name in zip(vocabularies, ("source", "target")):
            if not vocabulary.has_words():
                raise corpus.CorpusError(
                    "no %s word is left: none of the --most-words %d most "
                    "frequent ones occurs --least-count %d times" %
                    (name, arguments.most_words, arguments.least_count))
            vocabulary.save(os.path.join(folder, name + ".vocabulary"))
        buckets = steps.make_buckets(arguments.max_tokens)
        self.buckets = {
            bucket: pairs for bucket, pairs in steps.encode_pairs(
                splits["train"], buckets, *vocabularies).items() if pairs}
        if not self.buckets:
            raise corpus.CorpusError("no pair is short enough to train on")
        self.options = {
            "batch": arguments.batch, "hidden": arguments.hidden,
            "embed": arguments.embed, "layers": arguments.layers,
            "src-vocab": len(vocabularies[0]),
            "tgt-vocab": len(vocabularies[1]),
            "attention": arguments.attention,
            "layer-norm": str(arguments.layer_norm).lower(),
            "dropout": arguments.dropout,
            "label-smoothing": arguments.label_smoothing, "mode": "train",
        }
        write_atomically(os.path.join(folder, SETTINGS),
                         json.dumps({"options": self.options,
                                     "buckets": buckets}, indent=1) + "\n")
        self.sessions = {}

    def compile(self, progress=print):
        """One session per bucket; they share parameters and states."""
        optimizer = "adam"
        if self.arguments.clip_norm:
            optimizer += ",clip-norm=%g" % self.arguments.clip_norm
        runtime = echo_runtime.Runtime(self.builder.runtime_path())
        start, first = time.monotonic(), None
        for bucket in self.buckets:
            path = self.builder.artifact(
                {**self.options, "src-len": bucket[0], "tgt-len": bucket[1]},
                optimizer)
            session = runtime.open(path, self.arguments.threads)
            if first:
                session.share(first)
            else:
                first = session
            self.sessions[bucket] = session
        arena = max(session.statistics()["arena_bytes"]
                    for session in self.sessions.values())
        persistent = first.statistics()["persistent_bytes"]
        progress("%d training steps compiled in %.0f s; %.0f MB of parameters "
                 "and state, %.0f MB for a step" %
                 (len(self.sessions), time.monotonic() - start,
                  persistent / 1e6, arena / 1e6))
        self.first = first

    def initialize(self):
        for session in self.sessions.values():
            session.initialize(self.arguments.seed)
        # The forget gates start open.
        for tensor in self.first.tensors.values():
            if (tensor.role == echo_runtime.PARAMETER and "lstm" in tensor.name
                    and tensor.name.endswith("input/bias")):
                quarter = tensor.shape[0] // 4
                self.first.data(tensor.name)[quarter:2 * quarter] = FORGET_BIAS
        if self.arguments.resume:
            self.first.load(self.checkpoint_path())

    def checkpoint_path(self):
        return os.path.join(self.folder, CHECKPOINT)

    def run(self):
        """Trains; returns (steps, seconds, target words)."""
        arguments, random = self.arguments, np.random.RandomState(
            self.arguments.seed)
        progress, stop = Progress(), []
        previous = signal.signal(signal.SIGINT, lambda *_: stop.append(True))
        start = saved = time.monotonic()
        step = words = 0
        average = None
        try:
            while not stop:
                for bucket, pairs in steps.epoch(self.buckets, arguments.batch,
                                                 random):
                    elapsed = time.monotonic() - start
                    done = (step / max(arguments.steps, 1)
                            if arguments.steps is not None else
                            elapsed / max(60 * arguments.minutes, 1e-9))
                    if done >= 1:
                        stop.append(True)
                    if stop:
                        break
                    rate = learning_rate(arguments.learning_rate,
                                         arguments.warm_up, step, done)
                    loss = self.sessions[bucket].step(
                        learning_rate=np.float32(rate),
                        **steps.training_batch(pairs, arguments.batch, bucket))
                    if not np.isfinite(loss):
                        raise echo_runtime.EchoError(
                            "the loss of step %d is %s" % (step + 1, loss))
                    average = (loss if average is None else
                               0.98 * average + 0.02 * loss)
                    step += 1
                    words += sum(len(target) + 1 for _, target in pairs)
                    now = time.monotonic()
                    left = ((now - start) / step * (arguments.steps - step)
                            if arguments.steps is not None else
                            60 * arguments.minutes - (now - start))
                    progress.show(
                        "step %d  loss %.3f  %d words/s  %d:%02d left" %
                        (step, average, words / (now - start),
                         *divmod(int(max(left, 0)), 60)))
                    if now - saved > CHECKPOINT_SECONDS:
                        self.first.save(self.checkpoint_path())
                        saved = now
        finally:
            signal.signal(signal.SIGINT, previous)
        seconds = time.monotonic() - start
        self.first.save(self.checkpoint_path())
        progress.show("%d steps, loss %.3f, %d words in %.0f s; checkpoint: %s"
                      % (step, average if average is not None else np.nan,
                         words, seconds, self.checkpoint_path()), last=True)
        return step, seconds, words


def train(folder, splits, arguments):
    trainer = Trainer(folder, splits, arguments)
    trainer.compile()
    trainer.initialize()
    return trainer.run()


def load_splits(folder):
    splits = {}
    for name in corpus.SPLITS:
        splits[name] = corpus.read_parallel(
            *(os.path.join(folder, "%s.%s" % (name, side))
              for side in ("src", "tgt")))
    return splits


ERRORS = (corpus.CorpusError, steps.BuildError, echo_runtime.EchoError,
          OSError, ValueError)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="where everything is written")
    corpus.add_arguments(parser)
    add_model_arguments(parser)
    add_training_arguments(parser)
    arguments = parser.parse_args()
    try:
        data = os.path.join(arguments.folder, "corpus")
        if (os.path.exists(os.path.join(data, "test.tgt")) and
                not corpus.parallel_files(arguments)):
            corpus.check_reuse(arguments, parser, data)
            splits = load_splits(data)
        else:
            splits = corpus.build_from_arguments(arguments, data)
        train(arguments.folder, splits, arguments)
    except ERRORS as error:
        sys.exit("train.py: error: %s" % error)
    except KeyboardInterrupt:
        sys.exit("train.py: interrupted before the training began")


if __name__ == "__main__":
    main()

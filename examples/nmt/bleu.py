#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Corpus BLEU with one reference, as sacrebleu defines it by default:
13a tokens, case kept, up to 4-grams, exponential smoothing."""

import argparse
import collections
import math
import re

ORDER = 4
ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
RULES = tuple((re.compile(pattern), replacement) for pattern, replacement in (
    (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 "),  # punctuation but . , - '
    (r"([^0-9])([\.,])", r"\1 \2 "),  # . and , not after a digit
    (r"([\.,])([^0-9])", r" \1 \2"),  # . and , not before a digit
    (r"([0-9])(-)", r"\1 \2 "),  # - after a digit
))


def tokenize_13a(line):
    line = line.rstrip().replace("<skipped>", "").replace("-\n", "")
    line = line.replace("\n", " ")
    for entity, character in ENTITIES:
        line = line.replace(entity, character)
    line = " %s " % line
    for pattern, replacement in RULES:
        line = pattern.sub(replacement, line)
    return line.split()


def ngrams(tokens, order):
    return collections.Counter(tuple(tokens[i:i + order])
                               for i in range(len(tokens) - order + 1))


def corpus_bleu(hypotheses, references):
    """The score, from 0 to 100."""
    if len(hypotheses) != len(references):
        raise ValueError("%d hypotheses, %d references" %
                         (len(hypotheses), len(references)))
    correct, total = [0] * ORDER, [0] * ORDER
    hypothesis_length = reference_length = 0
    for hypothesis, reference in zip(hypotheses, references):
        found, wanted = tokenize_13a(hypothesis), tokenize_13a(reference)
        hypothesis_length += len(found)
        reference_length += len(wanted)
        for order in range(1, ORDER + 1):
            counts = ngrams(found, order)
            total[order - 1] += sum(counts.values())
            correct[order - 1] += sum((counts & ngrams(wanted, order)).values())
    if not any(correct) or not all(total):
        return 0.0
    smoothing, logarithms = 1.0, 0.0
    for right, tried in zip(correct, total):
        if right:
            precision = right / tried
        else:
            smoothing *= 2
            precision = 1 / (smoothing * tried)
        logarithms += math.log(precision)
    brevity = min(0.0, 1 - reference_length / hypothesis_length)
    return 100 * math.exp(brevity + logarithms / ORDER)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hypotheses", help="file, one sentence a line")
    parser.add_argument("references", help="file, one sentence a line")
    arguments = parser.parse_args()
    lines = []
    for path in (arguments.hypotheses, arguments.references):
        with open(path, encoding="utf-8") as file:
            lines.append(file.read().splitlines())
    print("BLEU %.2f" % corpus_bleu(*lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From nothing to a translator: fetches sentence pairs, trains for a few
minutes, and shows BLEU on held-out sentences and five translations."""

import argparse
import os
import sys
import time

import corpus
import train
import translate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=None,
                        help="where everything is written "
                        "(default: nmt-demo in the build folder)")
    corpus.add_arguments(parser)
    train.add_model_arguments(parser)
    train.add_training_arguments(parser)
    arguments = parser.parse_args()
    folder = arguments.folder or os.path.join(arguments.build_dir, "nmt-demo")
    start = time.monotonic()
    try:
        os.makedirs(folder, exist_ok=True)
        print("Writing to %s" % folder)
        splits = corpus.build_from_arguments(
            arguments, os.path.join(folder, "corpus"))
        train.train(folder, splits, arguments)
        pairs = splits["test"]
        result = translate.evaluate(
            translate.Translator(folder, arguments.build_dir,
                                 arguments.threads), pairs)
        translate.report(result, pairs)
    except train.ERRORS as error:
        sys.exit("demo.py: error: %s" % error)
    except KeyboardInterrupt:
        sys.exit("demo.py: interrupted; what there is lies in %s" % folder)
    print("\nDone in %.1f minutes. More translations: %s %s TEXT..." %
          ((time.monotonic() - start) / 60,
           os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "translate.py"), folder))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BLEU scores from sacrebleu, to check examples/nmt/bleu.py against.

    python3 -m venv venv && venv/bin/pip install sacrebleu
    venv/bin/python bleu.py bleu.json
"""

import json
import random
import sys

import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

LINES = [
    "Open the file \"%s\" (read-only), then close it.",
    "Không thể mở tập tin “%s”: quyền truy cập bị từ chối.",
    "It costs 1,234.56 dollars, 12-13 of them; e.g. A&amp;B &lt;tag&gt;!",
    "  two  spaces, a trailing one and a tab\t ",
    "C:\\Windows\\system32 and /usr/lib {curly} [square] ~tilde` ^caret_",
    "1.5.2,3 3-4 x-y 'quoted' don't -dash- 5.",
    "Đổi kích cỡ… xong?",
    "&quot;a&quot; <skipped> b",
    "",
    "one",
]


def cases():
    generator = random.Random(5)
    words = ("the file a of is opened closed saved , . tập tin đã được mở "
             "lưu 3.14 10 % ( ) - \" & lỗi").split()
    yield LINES, LINES
    yield LINES[1:] + LINES[:1], LINES
    yield ["the file is closed"], ["a file was opened now"]
    yield ["the file"], ["the file"]
    yield [""], ["a reference"]
    yield ["nothing in common here now"], ["completely different words used"]
    for size, change in ((1, 0.1), (20, 0.3), (50, 0.6), (200, 0.2)):
        references = [" ".join(generator.choices(words,
                                                 k=generator.randint(1, 25)))
                      for _ in range(size)]
        hypotheses = [" ".join(
            generator.choice(words) if generator.random() < change else word
            for word in reference.split() if generator.random() > change / 4)
            for reference in references]
        yield hypotheses, references


def main():
    tokenize = Tokenizer13a()
    golden = {
        "sacrebleu": sacrebleu.__version__,
        "tokens": [[line, tokenize(line.rstrip()).split()] for line in LINES],
        "cases": [{
            "hypotheses": hypotheses, "references": references,
            "bleu": sacrebleu.corpus_bleu(hypotheses, [references]).score,
        } for hypotheses, references in cases()],
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

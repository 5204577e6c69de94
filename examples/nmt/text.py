# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sentences as token sequences: normalisation, tokens, vocabularies."""

import collections
import re
import unicodedata

PADDING, BEGINNING, END, UNKNOWN = 0, 1, 2, 3
RESERVED = ["<pad>", "<s>", "</s>", "<unk>"]
# A sentence has at most this many tokens that stand for a placeholder or a
# number; such tokens are "@0", "@1", ... in the order of the source.
MAX_SLOTS = 10

# What a program fills in or marks up: printf and Python formats, braces,
# LibreOffice's $(ARG1) and %PRODUCTNAME, markup tags, entities, options.
PLACEHOLDER = re.compile(
    r"%%|%\([A-Za-z_]\w*\)[-+#0-9.]*[a-zA-Z]"
    r"|%[-+#0']*(?:\d+\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t|q[+#]?)?"
    r"[A-Za-z](?![A-Za-z])|%[<>]"
    r"|%[A-Z][A-Z0-9_]+%?|%\d+"
    r"|\$\(\w+\)|\$\{\w+\}|\$\w+\$?"
    r"|\{\w*(?:[:!.][^{}\s]*)?\}"
    r"|</?[A-Za-z][^<>]*>|<\w+>"
    r"|&[a-z]+;"
    r"|(?<![\w-])--?[a-z][\w-]*=?")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
PLACEHOLDER_OR_NUMBER = re.compile(PLACEHOLDER.pattern + "|" + NUMBER.pattern)
SLOT = re.compile(r"@\d")
TOKEN = re.compile(r"@\d|[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")


def strip_accelerator(text):
    """Removes the mark of an access key: "_File", "E&xit", "~Save"."""
    for mark in "_&~":
        marks = re.findall(re.escape(mark) + r"(?=[^\W_])", text)
        if len(marks) == 1 and text.count(mark) == 1:
            # Translations may carry the key in brackets: "Mở (_O)".
            text = re.sub(r"\s*\(" + re.escape(mark) + r"[^\W_]\)", "", text)
            text = text.replace(mark, "")
    return text


def clean(text):
    """One line of text without access keys, in composed Unicode."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"\s+", " ", text).strip()
    return strip_accelerator(text)


def key(text):
    """What two sentences have in common if they differ by nothing but case,
    digits, access keys, placeholders, punctuation and spaces."""
    return "".join(words(text))


def words(text):
    """The words without placeholders and numbers, in one case."""
    text = PLACEHOLDER_OR_NUMBER.sub(" ", clean(text)).casefold()
    return re.findall(r"[^\W_]+", text)


def find_slots(text):
    """Where the placeholders and numbers of a text are."""
    return [match.span() for match in PLACEHOLDER_OR_NUMBER.finditer(text)]


def mask_slots(text, slots):
    """Replaces what `slots` maps by "@n"; the rest stays as it is. A slot
    that occurs twice is used in order."""
    remaining = collections.defaultdict(list)
    for number, value in enumerate(slots):
        remaining[value].append(number)
    out, position = [], 0
    for start, end in find_slots(text):
        queue = remaining.get(text[start:end])
        if queue:
            out.append(text[position:start] + " @%d " % queue.pop(0))
            position = end
    return "".join(out) + text[position:]


def source_slots(text):
    return [text[start:end] for start, end in find_slots(text)][:MAX_SLOTS]


def source_tokens(text):
    """Lower-case tokens and the values of their slots."""
    slots = source_slots(text)
    return TOKEN.findall(mask_slots(text, slots).lower()), slots


def target_tokens(text, slots):
    """Tokens of a translation. The case of the first word goes with the
    source's, so it is lower case here."""
    tokens = TOKEN.findall(mask_slots(text, slots))
    for i, token in enumerate(tokens):
        if token[0].isalpha():
            if token[1:] == token[1:].lower():
                tokens[i] = token.lower()
            break
    return tokens


def detokenize(tokens, slots, source):
    """The text of a translation of `source`."""
    words = []
    for token in tokens:
        if SLOT.fullmatch(token):
            number = int(token[1:])
            if number < len(slots):
                words.append(slots[number])
        elif token not in RESERVED:
            words.append(token)
    first = next((c for c in source if c.isalpha()), "")
    for i, word in enumerate(words):
        if word[0].isalpha():
            if first.isupper():
                words[i] = word[0].upper() + word[1:]
            break
    text = " ".join(words)
    text = re.sub(r" ([,.;:!?)\]}…])", r"\1", text)
    text = re.sub(r"([(\[{]) ", r"\1", text)
    text = re.sub(r"(\w) ([-/]) (\w)", r"\1\2\3", text)
    text = re.sub(r"([\"“‘']) ([^\"“”’']*) ([\"”’'])", r"\1\2\3", text)
    return re.sub(r"\.(?: ?\.)+", lambda m: m.group().replace(" ", ""), text)


class Vocabulary:
    """Words by number; the first four are the reserved tokens."""

    def __init__(self, words):
        self.words = list(words)
        if self.words[:len(RESERVED)] != RESERVED:
            raise ValueError("a vocabulary begins with " + " ".join(RESERVED))
        self.numbers = {word: i for i, word in enumerate(self.words)}

    @staticmethod
    def build(sentences, least_count, most_words):
        counts = collections.Counter(t for s in sentences for t in s)
        slots = ["@%d" % i for i in range(MAX_SLOTS)]
        words = [w for w, c in counts.items()
                 if c >= least_count and w not in slots]
        words.sort(key=lambda w: (-counts[w], w))
        room = max(0, most_words - len(RESERVED) - len(slots))
        return Vocabulary(RESERVED + slots + words[:room])

    @staticmethod
    def load(path):
        with open(path, encoding="utf-8") as file:
            return Vocabulary(file.read().split("\n")[:-1])

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(word + "\n" for word in self.words))

    def has_words(self):
        return len(self.words) > len(RESERVED) + MAX_SLOTS

    def __len__(self):
        return len(self.words)

    def encode(self, tokens):
        return [self.numbers.get(token, UNKNOWN) for token in tokens]

    def decode(self, numbers):
        """The tokens up to the end of the sentence."""
        tokens = []
        for number in numbers:
            if number == END:
                break
            tokens.append(self.words[number])
        return tokens

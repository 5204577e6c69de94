# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads PTX as LLVM writes it, and follows threads through it.

Integers are computed, floats aren't, and what comes out of memory or from
another thread is unknown. A condition on what is unknown counts as false.
"""

import re

MOST_INSTRUCTIONS = 5_000_000  # of a thread

REGISTER = re.compile(r"%(?:tid|ctaid|ntid|nctaid)\.[xyz]|%\w+")
LINE = re.compile(r"(?:@(!?)(%p\d+)\s+)?([a-z][\w.:]*)\s*(.*);$")


class Kernel:
    """An entry function: instructions as (negated, predicate, name, operands),
    and the instruction that each label stands in front of."""

    def __init__(self, name):
        self.name = name
        self.parameters = []
        self.code = []
        self.labels = {}

    def widths(self, access):
        """Bytes of each load ("ld") or store ("st") of global memory, each
        size once."""
        found = set()
        for _, _, name, _ in self.code:
            if not name.startswith(access + ".global"):
                continue
            bits = int(re.search(r"\.[bfsu](\d+)$", name).group(1))
            vector = re.search(r"\.v(\d)\.", name)
            found.add(bits // 8 * (int(vector.group(1)) if vector else 1))
        return sorted(found)


def parse(text):
    """The kernels of a PTX module, by name."""
    kernels, kernel = {}, None
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        entry = re.match(r"\.visible \.entry (\w+)\(", line)
        if entry:
            kernel = kernels[entry.group(1)] = Kernel(entry.group(1))
        elif kernel is None or not line or line in "{})":
            continue
        elif line.startswith("."):
            parameter = re.match(r"\.param .*?(\w+_param_\d+)", line)
            if parameter:
                kernel.parameters.append(parameter.group(1))
        elif re.match(r"\$\w+:$", line):
            kernel.labels[line[:-1]] = len(kernel.code)
        else:
            # { .reg .b32 tmp; mov.b64 {tmp, %r2}, %rd1; } takes the high half.
            half = re.match(r"\{ \.reg \.b32 tmp; (.*;) \}$", line)
            match = LINE.match(half.group(1) if half else line)
            if not match:
                raise ValueError("can't read the PTX line: " + line)
            negated, predicate, name, operands = match.groups()
            kernel.code.append((bool(negated), predicate, name,
                                split(operands)))
    return kernels


def split(operands):
    """Operands, those in braces or brackets as one each."""
    return [part.strip() for part in
            re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,]+", operands)
            if part.strip()]


def typed(value, bits, kind):
    """A register's content as a number of a type."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind == "s" and value >> (bits - 1) else value


def compute(name, bits, kind, values):
    """The result of an operation on integers, or None."""
    if kind == "f" or None in values:
        return None
    a, b, c = ([typed(value, bits, kind) for value in values] + [0, 0])[:3]
    if name in ("add", "sub"):
        return a + b if name == "add" else a - b
    if name in ("mul.lo", "mul.wide", "mad.lo", "mad.wide"):
        return a * b + (values[2] if name.startswith("mad") else 0)
    if name == "mul.hi":
        return a * b >> bits
    if name in ("div", "rem"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if name == "div" else a - quotient * b
    if name in ("min", "max"):
        return (min if name == "min" else max)(a, b)
    if name in ("and", "or", "xor"):
        return {"and": a & b, "or": a | b, "xor": a ^ b}[name]
    if name == "shl":
        return a << b if b < bits else 0
    if name == "shr":
        return a >> min(b, bits)
    if name == "not":
        return ~a
    if name == "neg":
        return -a
    if name == "brev":
        return int(format(a, "0%db" % bits)[::-1], 2)
    if name == "bfe":
        return a >> b & ((1 << c) - 1)
    return None


COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}


class Thread:
    """One thread of a launch, on x alone."""

    def __init__(self, kernel, thread, block, threads, blocks, parameters):
        self.kernel = kernel
        self.registers = {"%tid.x": thread, "%ctaid.x": block,
                          "%ntid.x": threads, "%nctaid.x": blocks,
                          "%laneid": thread % 32}
        self.parameters = dict(zip(kernel.parameters, parameters))

    def value(self, operand):
        if operand.startswith("%"):
            return self.registers.get(operand)
        try:
            return int(operand, 0)
        except ValueError:
            return None  # a float, or a symbol

    def run(self):
        """The number of instructions until the thread returns."""
        code, position, count = self.kernel.code, 0, 0
        while position < len(code):
            negated, predicate, name, operands = code[position]
            position += 1
            count += 1
            if count > MOST_INSTRUCTIONS:
                raise ValueError("%s: a thread doesn't end" % self.kernel.name)
            if predicate is not None:
                if bool(self.registers.get(predicate)) == negated:
                    continue
            if name == "ret":
                break
            if name in ("bra", "bra.uni"):
                position = self.kernel.labels[operands[0]]
            elif operands:
                self.execute(name, operands)
        return count

    def execute(self, name, operands):
        parts = name.split(".")
        base, target = parts[0], operands[0]
        if base in ("st", "bar", "barrier", "red", "fence", "membar"):
            return
        last = re.match(r"(pred|[busf])(\d*)$", parts[-1])
        kind = last.group(1) if last else "b"
        bits = int(last.group(2) or 1) if last else 32
        sources = [self.value(operand) for operand in operands[1:]]
        result = None
        if name.startswith("ld.param"):
            result = self.parameters.get(operands[1].strip("[]"))
        elif base in ("mov", "cvta") and target.startswith("{"):
            # Takes a value apart.
            names = [part.strip() for part in target[1:-1].split(",")]
            for i, part in enumerate(names):
                whole = sources[0]
                size = bits // len(names)
                self.registers[part] = (None if whole is None else
                                        whole >> (i * size) & (1 << size) - 1)
            return
        elif base in ("mov", "cvta"):
            result = sources[0]
        elif base == "cvt":
            if "f" not in (parts[-1][0], parts[-2][0]):
                result = compute("add", bits, kind, [sources[0], 0])
        elif base == "setp":
            if kind != "f" and None not in sources[:2]:
                result = COMPARISONS[parts[1]](
                    *[typed(value, bits, kind) for value in sources[:2]])
            self.registers[target] = result
            return
        elif base == "selp":
            condition = self.registers.get(operands[3])
            result = sources[0] if condition else sources[1]
        elif base in ("mul", "mad"):
            result = compute(base + "." + parts[1], bits, kind, sources)
        elif base not in ("ld", "shfl", "vote", "atom"):
            result = compute(base, bits, kind, sources)
        for part in re.findall(r"%\w+", target):
            # A register's own size.
            size = (64 if part.startswith("%rd") else
                    16 if part.startswith("%rs") else
                    1 if part.startswith("%p") else 32)
            self.registers[part] = (None if result is None else
                                    result & ((1 << size) - 1))


def instructions(kernel, blocks, threads, parameters):
    """What all threads of a launch execute, about: as much as some of them,
    which are spread over blocks and threads."""
    def spread(count):
        return sorted({0, count // 3, 2 * count // 3, count - 1})
    counts = [Thread(kernel, thread, block, threads, blocks, parameters).run()
              for block in spread(blocks) for thread in spread(threads)]
    return sum(counts) / len(counts) * blocks * threads

# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors as bytes, in files and as numbers, with Python's own library alone:
a machine with PyTorch may have no numpy."""

import array
import json
import struct

# The element types of echo_runtime.h in their order, with bytes an element.
TYPES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i32": 4, "i64": 8,
         "i1": 1}
FLOATS = ("f32", "f64", "f16", "bf16")
CODES = {"f32": "f", "f64": "d", "i8": "b", "i32": "i", "i64": "q", "i1": "b"}


def save(path, tensors):
    """Writes {name: (type, bytes)}: a line of JSON, then all bytes."""
    head = [[name, kind, len(data)] for name, (kind, data) in tensors.items()]
    with open(path, "wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        for _, data in tensors.values():
            file.write(data)


def load(path):
    with open(path, "rb") as file:
        head = json.loads(file.readline().decode())
        tensors = {}
        for name, kind, size in head:
            data = file.read(size)
            if len(data) != size:
                raise ValueError("%s: truncated" % path)
            tensors[name] = (kind, data)
        return tensors


def numbers(kind, data):
    """The elements as numbers of Python."""
    if kind == "f16":
        return struct.unpack("<%de" % (len(data) // 2), data)
    if kind == "bf16":
        # The upper half of an f32.
        wide = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
        return array.array("f", wide)
    return array.array(CODES[kind], data)

# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions of libEchoRuntime through its C ABI (echo_runtime.h). Values are
bytes. The library is $ECHO_RUNTIME, or found by the loader."""

import collections
import ctypes
import os

import values

TYPES = list(values.TYPES)
ROLES = ["input", "label", "parameter", "state", "result"]
DEVICE_ERROR = 6

Tensor = collections.namedtuple("Tensor", "role type shape bytes is_loss")


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32),
                ("device", ctypes.c_char_p), ("allow_tf32", ctypes.c_int32),
                ("without_graph", ctypes.c_int32),
                ("reverse_order", ctypes.c_int32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_int),
                ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_uint64), ("is_loss", ctypes.c_int32)]


class Statistics(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, kind) for name, kind in (
            ("steps", ctypes.c_uint64), ("last_step_seconds", ctypes.c_double),
            ("total_step_seconds", ctypes.c_double),
            ("arena_bytes", ctypes.c_uint64),
            ("logical_peak_bytes", ctypes.c_uint64),
            ("persistent_bytes", ctypes.c_uint64), ("calls", ctypes.c_uint64),
            ("last_step_allocations", ctypes.c_uint64),
            ("training_steps", ctypes.c_uint64), ("device", ctypes.c_char_p),
            ("device_bytes", ctypes.c_uint64),
            ("device_free_bytes", ctypes.c_uint64),
            ("device_total_bytes", ctypes.c_uint64),
            ("graph_steps", ctypes.c_uint64), ("power_watts", ctypes.c_double),
            ("energy_joules", ctypes.c_double),
            ("last_issue_seconds", ctypes.c_double))]


class EchoError(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def load_library():
    library = ctypes.CDLL(os.environ.get("ECHO_RUNTIME", "libEchoRuntime.so.0"))
    library.echo_last_error.restype = ctypes.c_char_p
    library.echo_runtime_version.restype = ctypes.c_char_p
    for name, *arguments in (
            ("open", ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p),
            ("tensor_info", ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p),
            ("initialize", ctypes.c_void_p, ctypes.c_uint64),
            ("set", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p,
             ctypes.c_uint64),
            ("get", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p,
             ctypes.c_uint64),
            ("step", ctypes.c_void_p), ("num_tensors", ctypes.c_void_p),
            ("statistics", ctypes.c_void_p, ctypes.c_void_p),
            ("close", ctypes.c_void_p)):
        getattr(library, "echo_session_" + name).argtypes = arguments
    return library


def version():
    return load_library().echo_runtime_version().decode()


class Session:
    library = None

    def __init__(self, path, device="", **options):
        if Session.library is None:
            Session.library = load_library()
        self.handle = ctypes.c_void_p()
        given = Options(ctypes.sizeof(Options), 0, device.encode(), **options)
        self.check(self.library.echo_session_open(
            os.fsencode(path), ctypes.byref(given), ctypes.byref(self.handle)))
        self.tensors = {}
        for i in range(self.library.echo_session_num_tensors(self.handle)):
            info = TensorInfo()
            self.check(self.library.echo_session_tensor_info(
                self.handle, i, ctypes.byref(info)))
            self.tensors[info.name.decode()] = Tensor(
                ROLES[info.role], TYPES[info.type],
                tuple(info.shape[:info.rank]), info.bytes, bool(info.is_loss))

    def check(self, status):
        if status != 0:
            raise EchoError(status, self.library.echo_last_error().decode())

    def close(self):
        self.library.echo_session_close(self.handle)
        self.handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def initialize(self, seed):
        self.check(self.library.echo_session_initialize(self.handle, seed))

    def set(self, name, data):
        self.check(self.library.echo_session_set(
            self.handle, name.encode(), data, len(data)))

    def get(self, name):
        data = ctypes.create_string_buffer(max(self.tensors[name].bytes, 1))
        self.check(self.library.echo_session_get(
            self.handle, name.encode(), data, self.tensors[name].bytes))
        return data.raw[:self.tensors[name].bytes]

    def loss(self):
        """The loss of the last step; None if the step has none."""
        for name, tensor in self.tensors.items():
            if tensor.is_loss:
                return float(values.numbers(tensor.type, self.get(name))[0])
        return None

    def step(self):
        self.check(self.library.echo_session_step(self.handle))

    def statistics(self):
        found = Statistics(ctypes.sizeof(Statistics))
        self.check(self.library.echo_session_statistics(
            self.handle, ctypes.byref(found)))
        return found

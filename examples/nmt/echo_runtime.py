# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Echo's runtime (echo_runtime.h) from Python, with numpy arrays."""

import ctypes
import os

import numpy as np

INPUT, LABEL, PARAMETER, STATE, RESULT = range(5)
# By echo_data_type; numpy has no bf16, which is shown as its bits.
DATA_TYPES = (np.float32, np.float64, np.float16, np.uint16, np.int8, np.int32,
              np.int64, np.bool_)


class EchoError(Exception):
    """What echo_last_error() says."""


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32)]


class _TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_int),
                ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_uint64), ("is_loss", ctypes.c_int32)]


class _Statistics(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("steps", ctypes.c_uint64),
                ("last_step_seconds", ctypes.c_double),
                ("total_step_seconds", ctypes.c_double),
                ("arena_bytes", ctypes.c_uint64),
                ("logical_peak_bytes", ctypes.c_uint64),
                ("persistent_bytes", ctypes.c_uint64),
                ("calls", ctypes.c_uint64),
                ("last_step_allocations", ctypes.c_uint64),
                ("training_steps", ctypes.c_uint64)]


class Tensor:
    """An argument or a result of a step."""

    def __init__(self, info):
        self.name = info.name.decode()
        self.role = info.role
        self.dtype = np.dtype(DATA_TYPES[info.type])
        self.shape = tuple(info.shape[i] for i in range(info.rank))
        self.bytes = info.bytes
        self.is_loss = bool(info.is_loss)


class Runtime:
    """libEchoRuntime.so."""

    def __init__(self, path):
        library = ctypes.CDLL(os.path.abspath(path))
        session, text = ctypes.c_void_p, ctypes.c_char_p
        signatures = {
            "open": [text, ctypes.POINTER(_Options), ctypes.POINTER(session)],
            "tensor_info": [session, ctypes.c_int32,
                            ctypes.POINTER(_TensorInfo)],
            "initialize": [session, ctypes.c_uint64],
            "set": [session, text, ctypes.c_void_p, ctypes.c_uint64],
            "get": [session, text, ctypes.c_void_p, ctypes.c_uint64],
            "data": [session, text, ctypes.POINTER(ctypes.c_void_p),
                     ctypes.POINTER(ctypes.c_uint64)],
            "share": [session, session, ctypes.POINTER(ctypes.c_int32)],
            "step": [session],
            "save": [session, text],
            "load": [session, text],
            "statistics": [session, ctypes.POINTER(_Statistics)],
        }
        for name, arguments in signatures.items():
            function = getattr(library, "echo_session_" + name)
            function.argtypes, function.restype = arguments, ctypes.c_int
        library.echo_session_close.argtypes = [session]
        library.echo_session_close.restype = None
        library.echo_session_num_tensors.argtypes = [session]
        library.echo_session_num_tensors.restype = ctypes.c_int32
        library.echo_last_error.restype = text
        self._library = library

    def call(self, name, *arguments):
        if getattr(self._library, "echo_session_" + name)(*arguments):
            raise EchoError(self._library.echo_last_error().decode())

    def open(self, path, threads=0):
        """A session on an artefact; threads=0 takes all cores."""
        return Session(self, path, threads)


class Session:
    """A compiled step with its tensors."""

    def __init__(self, runtime, path, threads):
        self._runtime = runtime
        self._handle = ctypes.c_void_p()
        options = _Options(ctypes.sizeof(_Options), threads)
        runtime.call("open", os.fsencode(path), ctypes.byref(options),
                     ctypes.byref(self._handle))
        self.tensors = {}
        library = runtime._library
        for index in range(library.echo_session_num_tensors(self._handle)):
            info = _TensorInfo()
            runtime.call("tensor_info", self._handle, index,
                         ctypes.byref(info))
            tensor = Tensor(info)
            self.tensors[tensor.name] = tensor

    def close(self):
        if self._handle:
            self._runtime._library.echo_session_close(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def _tensor(self, name):
        if name not in self.tensors:
            raise EchoError("there is no tensor '%s'" % name)
        return self.tensors[name]

    def initialize(self, seed):
        self._runtime.call("initialize", self._handle, seed)

    def set(self, name, value):
        tensor = self._tensor(name)
        array = np.asarray(value, tensor.dtype, order="C")
        if array.shape != tensor.shape:
            raise EchoError("'%s' has shape %s, found %s" %
                            (name, tensor.shape, array.shape))
        self._runtime.call("set", self._handle, name.encode(),
                           array.ctypes.data, array.nbytes)

    def get(self, name):
        tensor = self._tensor(name)
        array = np.empty(tensor.shape, tensor.dtype)
        self._runtime.call("get", self._handle, name.encode(),
                           array.ctypes.data, array.nbytes)
        return array

    def data(self, name):
        """The memory of a parameter or state, for reading and writing."""
        tensor = self._tensor(name)
        pointer, size = ctypes.c_void_p(), ctypes.c_uint64()
        self._runtime.call("data", self._handle, name.encode(),
                           ctypes.byref(pointer), ctypes.byref(size))
        if not size.value:
            return np.empty(tensor.shape, tensor.dtype)
        buffer = (ctypes.c_char * size.value).from_address(pointer.value)
        return np.frombuffer(buffer, tensor.dtype).reshape(tensor.shape)

    def share(self, source):
        """Uses `source`'s parameters and states of the same names."""
        count = ctypes.c_int32()
        self._runtime.call("share", self._handle, source._handle,
                           ctypes.byref(count))
        return count.value

    def step(self, **inputs):
        """Sets inputs, runs the step, and returns the loss if it has one."""
        for name, value in inputs.items():
            self.set(name, value)
        self._runtime.call("step", self._handle)
        for tensor in self.tensors.values():
            if tensor.is_loss:
                return float(self.get(tensor.name))
        return None

    def save(self, path):
        self._runtime.call("save", self._handle, os.fsencode(path))

    def load(self, path):
        self._runtime.call("load", self._handle, os.fsencode(path))

    def statistics(self):
        statistics = _Statistics()
        statistics.struct_size = ctypes.sizeof(_Statistics)
        self._runtime.call("statistics", self._handle,
                           ctypes.byref(statistics))
        return {name: getattr(statistics, name)
                for name, _ in _Statistics._fields_[1:]}

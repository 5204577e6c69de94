# UNSUPPORTED: sanitized
# RUN: echo-compile %S/Inputs/line.mlir --optimizer=sgd -o %t.so
# RUN: %python %s %echo_lib/libEchoRuntime.so %t.so
"""An artefact trains: values by hand.

The loss is the sum of w * x, its gradient x. With x = (1, 2, 3, 4), w = 1 and
learning rate 1/2 (every number is exact in f32):
  step 1: loss 1 + 2 + 3 + 4 = 10,            w = (1/2, 0, -1/2, -1)
  step 2: loss 1/2 + 0 - 3/2 - 4 = -5,        w = (0, -1, -2, -3)
"""
import ctypes
import sys

runtime = ctypes.CDLL(sys.argv[1])
runtime.echo_last_error.restype = ctypes.c_char_p


def check(status):
    assert status == 0, runtime.echo_last_error().decode()


def floats(*values):
    return (ctypes.c_float * len(values))(*values)


session = ctypes.c_void_p()
check(runtime.echo_session_open(sys.argv[2].encode(), None, ctypes.byref(session)))


def put(name, values):
    check(runtime.echo_session_set(session, name, values,
                                   ctypes.c_uint64(ctypes.sizeof(values))))


def get(name, count):
    values = floats(*[0] * count)
    check(runtime.echo_session_get(session, name, values,
                                   ctypes.c_uint64(ctypes.sizeof(values))))
    return list(values)


check(runtime.echo_session_initialize(session, ctypes.c_uint64(0)))
put(b"x", floats(1, 2, 3, 4))
put(b"learning_rate", floats(0.5))
assert get(b"w", 4) == [1, 1, 1, 1]
check(runtime.echo_session_step(session))
assert get(b"loss", 1) == [10], get(b"loss", 1)
assert get(b"w", 4) == [0.5, 0, -0.5, -1], get(b"w", 4)
check(runtime.echo_session_step(session))
assert get(b"loss", 1) == [-5], get(b"loss", 1)
assert get(b"w", 4) == [0, -1, -2, -3], get(b"w", 4)
runtime.echo_session_close(session)

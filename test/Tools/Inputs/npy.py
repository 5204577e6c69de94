# npy.py write FILE DESCR v...: an array of rank 1. npy.py show FILE...: what
# files hold, .npz members by name.
import ast
import struct
import sys
import zipfile

CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}


def show(name, data):
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    values = struct.iter_unpack("<" + CODES[header["descr"]], data[10 + length:])
    print(name, header["descr"], header["shape"], *(v for (v,) in values))


if sys.argv[1] == "write":
    path, descr, values = sys.argv[2], sys.argv[3], sys.argv[4:]
    header = repr({"descr": descr, "fortran_order": False,
                   "shape": (len(values),)}).encode()
    number = float if descr[1] == "f" else int
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for value in values:
            f.write(struct.pack("<" + CODES[descr], number(value)))
else:
    for path in sys.argv[2:]:
        if path.endswith(".npz"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    show(name, archive.read(name))
        else:
            with open(path, "rb") as f:
                show(path.rsplit("/", 1)[-1], f.read())

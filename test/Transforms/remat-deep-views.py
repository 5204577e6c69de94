"""A mask whose gradient reads it through very many views: the views of its bits
are as many, and nothing in the pass is as deep as they are.

RUN: %python %s %t
"""

import os
import re
import subprocess
import sys

VIEWS = 50000
TYPES = ["tensor<64x32xi1>", "tensor<2048xi1>"]

lines = ["func.func @f(%x: tensor<64x32xf32>, %seed: tensor<f32>)",
         "    -> (tensor<f32>, tensor<f32>) {",
         "  %zero = echo.constant dense<0.0> : tensor<f32>",
         "  %v0 = echo.compare gt %x, %zero : "
         "(tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xi1>"]
for i in range(VIEWS):
    lines.append("  %%v%d = echo.reshape %%v%d : (%s) -> %s" % (
        i + 1, i, TYPES[i % 2], TYPES[1 - i % 2]))
last = "%%v%d" % VIEWS
select = ("  %%%s = echo.select %s, %s, %%zero : (tensor<64x32xi1>, %s, "
          "tensor<f32>) -> tensor<64x32xf32>")
total = ("  %%%s = echo.reduce sum %%%s {dims = array<i64: 0, 1>} : "
         "(tensor<64x32xf32>) -> tensor<f32>")
lines += [select % ("y", last, "%x", "tensor<64x32xf32>"), total % ("loss", "y"),
          select % ("dy", last, "%seed", "tensor<f32>"), total % ("dx", "dy"),
          "  return %loss, %dx : tensor<f32>, tensor<f32>", "}"]
source = sys.argv[1] + ".mlir"
os.makedirs(os.path.dirname(source), exist_ok=True)
with open(source, "w", encoding="utf-8") as file:
    file.write("\n".join(lines))
text = subprocess.run(
    ["echo-opt", source, "--echo-remat=strategy=echo-paper promise=none loss=0"],
    stdout=subprocess.PIPE, text=True, check=True).stdout
assert text.count("echo.binarize") == 1, text.count("echo.binarize")
assert text.count("echo.debinarize") == 1, text.count("echo.debinarize")
# The forward part's, and the bits'.
assert text.count("echo.reshape") == 2 * VIEWS, text.count("echo.reshape")
reader = re.findall(r"echo\.select (%\w+),", text)[1]
assert re.search(re.escape(reader) + r" = echo\.reshape", text), reader

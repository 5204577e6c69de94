# UNSUPPORTED: sanitized
# RUN: %python %s %echo_src %echo_bin %t.md
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/gpu/artifact.py says of a small model, and that it leaves the
rest of the page as it is."""

import os
import re
import subprocess
import sys

source, build, page = sys.argv[1:]
BEFORE, AFTER = "# Page\n\nBefore.\n", "## Next\n\nAfter.\n"
with open(page, "w", encoding="utf-8") as file:
    file.write(BEFORE + "\n## Artefacts\n\nOld.\n\n" + AFTER)
subprocess.run([sys.executable,
                os.path.join(source, "benchmarks", "gpu", "artifact.py"),
                "--build=" + build, "--batch=2", "--hidden=8", "--length=2",
                "--chips=sm_90", "--repetitions=1", "--output=" + page],
               check=True)
with open(page, encoding="utf-8") as file:
    text = file.read()
assert text.startswith(BEFORE + "\n## Artefacts\n") and text.endswith(AFTER)
assert "Old." not in text
rows = {what: float(number) for what, number in
        re.findall(r"^\| ([^|]*) \| ([0-9.]+)[^|]* \|$", text, re.MULTILINE)}
# Forward and backward 10 LSTM cells each: 3 x 2 of the encoder, 2 x 2 of the
# decoder. 6 of them depend on each other.
assert rows["ops of the training step"] >= 2 * 10, rows
assert rows["calls of the host program"] >= 2 * 6, rows
for what in ("a launch: the driver's function",
             "a launch: the wrapper, in a session",
             "opening, driver that does nothing", "opening, simulator"):
    assert rows[what] > 0, (what, rows)

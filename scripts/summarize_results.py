#===- summarize_results.py - Counts what lit reports -----------------------===#
#
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Prints 'N passed, N failed[, N skipped]' from lit's xunit report.

The exit code is 0 if something passed and nothing failed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def main(path):
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        reason = case.find("skipped")
        if case.find("failure") is not None:
            failed += 1
        elif reason is None:
            passed += 1
        elif not reason.get("message").startswith("Test not selected"):
            skipped += 1
    summary = f"{passed} passed, {failed} failed"
    if skipped:
        summary += f", {skipped} skipped"
    print(summary)
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

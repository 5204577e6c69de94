#===- sanitizers.py - How sanitized programs run in tests ------------------===#
#
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""What both lit suites need to know of a build with ECHO_SANITIZE."""

import os


def configure(config):
    """Sets the sanitizers' options, and the feature 'sanitized'."""
    if not config.echo_sanitize:
        return
    config.available_features.add("sanitized")
    # The packaged libraries are not instrumented: their containers carry no
    # annotations, they don't unpoison what they take from a pool that our code
    # has poisoned, and LLVM keeps what it allocates once.
    config.environment["ASAN_OPTIONS"] = (
        "detect_container_overflow=0:allow_user_poisoning=0")
    config.environment["LSAN_OPTIONS"] = "print_suppressions=0:suppressions=" + os.path.join(
        config.echo_source_dir, "cmake", "lsan-suppressions.txt")
    config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"

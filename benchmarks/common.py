# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks share: running the tools, and saying what ran them."""

import os
import platform
import re
import subprocess
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command):
    """The standard output of a command; an error with its messages."""
    result = subprocess.run([str(part) for part in command],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    if result.returncode:
        raise SystemExit("%s\n%s" % (" ".join(map(str, command)),
                                     result.stderr))
    return result.stdout


class Tools:
    """The tools of a build folder."""

    def __init__(self, build):
        self.build = os.path.abspath(build)

    def __getattr__(self, name):
        return os.path.join(self.build, "bin", name.replace("_", "-"))


def describe_machine(threads):
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo", encoding="utf-8") as file:
        gib = int(file.readline().split()[1]) / 2 ** 20
    return "%s, %d cores, %d threads used, %.0f GiB of memory, %s" % (
        model, os.cpu_count(), threads, gib,
        platform.freedesktop_os_release().get("PRETTY_NAME", "Linux"))


def build_setting(build, name):
    """An entry of the build's cache; "" if there is none."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^%s:[^=]*=(.*)$" % name, file.read(), re.MULTILINE)
    return found.group(1) if found else ""


def describe_build(build):
    """Build type and compiler."""
    compiler = run(build_setting(build, "CMAKE_CXX_COMPILER"),
                   "--version").splitlines()[0]
    kind = build_setting(build, "CMAKE_BUILD_TYPE") or "no build type"
    return "%s, %s %s" % (compiler, kind,
                          build_setting(build,
                                        "CMAKE_CXX_FLAGS_" + kind.upper()))


def load():
    """How busy the machine is, as `uptime` says it."""
    return "%.1f" % os.getloadavg()[0]


def write(path, text):
    """Writes a file under a temporary name first."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False,
                                     encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)

# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that end in time, with everything that they started."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

running = set()


def start(command, **options):
    # In a group of its own, so that what it starts can be ended with it.
    process = subprocess.Popen(command, start_new_session=True, **options)
    running.add(process)
    return process


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.discard(process)
    return process.wait()


def end_with_children():
    """On SIGTERM nothing is left behind."""
    def handler(*_):
        for process in list(running):
            end(process)
        os._exit(1)
    signal.signal(signal.SIGTERM, handler)


def run_limited(command, seconds, **options):
    """Exit code, standard output and standard error; an error in time."""
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True, errors="replace", **options)
    try:
        output, errors = process.communicate(timeout=seconds)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        raise RuntimeError("no end after %.0f s" % seconds) from None
    finally:
        end(process)


def describe_exit(code):
    if code >= 0:
        return "the process ended with exit code %d" % code
    return "the process ended with signal %d" % -code


def run_items(command, names, limit, deadline):
    """The result of each item, by workers: `command INDEX` begins with an item
    and writes a line of JSON for every one. When it hangs, dies, or says that
    it can't go on, the next item begins in another process."""
    index = 0
    while index < len(names):
        left = deadline - time.monotonic()
        if left < 1:
            yield names[index], {"error": "no time was left"}
            index += 1
            continue
        process = start(command + [str(index)], stdout=subprocess.PIPE)
        lines = queue.Queue()

        def read(process=process, lines=lines):
            for line in process.stdout:
                lines.put(line)
            lines.put(None)
        threading.Thread(target=read, daemon=True).start()
        is_alive = True
        while is_alive and index < len(names):
            seconds = max(min(limit, deadline - time.monotonic()), 0.1)
            try:
                line = lines.get(timeout=seconds)
            except queue.Empty:
                result = {"error": "no end after %.0f s" % seconds}
                is_alive = False
            else:
                if line is None:
                    result = {"error": describe_exit(end(process))}
                    is_alive = False
                else:
                    result = json.loads(line.decode())
                    is_alive = not result.pop("is_last", False)
            yield names[index], result
            index += 1
        end(process)


def work(items, first, is_fatal):
    """The other end of it: runs functions by name."""
    # What libraries print doesn't come between the results.
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for function in list(items.values())[first:]:
        is_last = False
        try:
            result = function()
        except Exception as error:  # pylint: disable=broad-except
            result = {"error": "%s: %s" % (type(error).__name__, error)}
            is_last = is_fatal(error)
        if is_last:
            result["is_last"] = True
        results.write(json.dumps(result) + "\n")
        results.flush()
        if is_last:
            return
    sys.stdout.flush()

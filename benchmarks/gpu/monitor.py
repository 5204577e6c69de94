# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NVML says of a device: the same for Echo and for PyTorch."""

import ctypes
import os
import statistics
import time


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Monitor:
    """Every figure is None where there is none."""

    def __init__(self, device):
        self.is_open, self.handle = False, ctypes.c_void_p()
        name, _, number = device.partition(":")
        if name != "cuda":
            return
        try:
            self.find(int(number or 0))
        except (OSError, AttributeError, ValueError):
            pass

    def find(self, number):
        # By its place on the bus: CUDA may count other devices than NVML.
        driver = ctypes.CDLL(os.environ.get("ECHO_CUDA_DRIVER") or
                             "libcuda.so.1")
        device, place = ctypes.c_int(), ctypes.create_string_buffer(64)
        nvml = ctypes.CDLL(os.environ.get("ECHO_NVML") or
                           "libnvidia-ml.so.1")
        if (driver.cuInit(0) == 0 and
                driver.cuDeviceGet(ctypes.byref(device), number) == 0 and
                driver.cuDeviceGetPCIBusId(place, len(place), device) == 0 and
                nvml.nvmlInit_v2() == 0 and
                nvml.nvmlDeviceGetHandleByPciBusId_v2(
                    place, ctypes.byref(self.handle)) == 0):
            self.memory = nvml.nvmlDeviceGetMemoryInfo
            self.energy = nvml.nvmlDeviceGetTotalEnergyConsumption
            self.is_open = True

    def used_bytes(self):
        """Of all the device's users."""
        memory = Memory()
        if not self.is_open or self.memory(self.handle,
                                           ctypes.byref(memory)) != 0:
            return None
        return memory.used

    def joules(self):
        millijoules = ctypes.c_ulonglong()
        if not self.is_open or self.energy(self.handle,
                                           ctypes.byref(millijoules)) != 0:
            return None
        return millijoules.value / 1e3


def difference(after, before):
    return None if after is None or before is None else after - before


def time_steps(step, issue_seconds, monitor, steps, seconds):
    """Times of steps. `step` runs one, and returns its loss when it has ended;
    `issue_seconds` says how long the host took to hand the last one over.
    Stops early where steps take long."""
    times, issued, losses = [], [], []
    joules, begin = monitor.joules(), time.perf_counter()
    while len(times) < steps and (not times or
                                  time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        losses.append(step())
        times.append(time.perf_counter() - start)
        issued.append(issue_seconds())
    joules = difference(monitor.joules(), joules)
    return {"median_seconds": statistics.median(times),
            "least_seconds": min(times), "measured_steps": len(times),
            "host_seconds": statistics.median(issued), "losses": losses,
            "last_loss": losses[-1],
            "joules_per_step": None if joules is None else joules / len(times)}

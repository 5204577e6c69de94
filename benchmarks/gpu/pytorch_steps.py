# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a model of pytorch_models.py, in a process of its own so that memory
is that of one model:

    pytorch_steps.py MODEL VARIANT MODE

MODE is "eager" or "compiled", perhaps with ", TF32". The last line is JSON.
$PYTORCH_DEVICE is the device, that of Echo unless told.
"""

import json
import os
import sys
import time

from monitor import Monitor, difference, time_steps
from values import load

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = (os.environ.get("PYTORCH_DEVICE") or
          os.environ.get("ECHO_DEVICE", "cuda"))


class Step:
    def __init__(self, model, variant, is_compiled):
        import pytorch_models
        import torch
        self.torch = torch
        self.device = torch.device(DEVICE)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device.index or 0)
        torch.manual_seed(model["seed"])
        module = getattr(pytorch_models, variant)(
            *(model["sizes"][name] for name in model["pytorch_sizes"])).to(
                self.device)
        inputs = load(os.path.join(HERE, "values", model["inputs"]))
        self.inputs = [
            torch.frombuffer(bytearray(inputs[name][1]), dtype=torch.int32)
            .reshape(-1, model["sizes"]["batch"]).long().to(self.device)
            for name in model["pytorch_inputs"]]
        self.optimizer = torch.optim.Adam(
            [p for p in module.parameters() if p.requires_grad],
            lr=model["learning_rate"], fused=True)
        self.forward = torch.compile(module) if is_compiled else module
        self.issue_seconds = 0

    def synchronize(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def __call__(self):
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        loss = self.forward(*self.inputs)
        loss.backward()
        self.optimizer.step()
        self.issue_seconds = time.perf_counter() - begin
        self.synchronize()
        return loss.item()

    def memory(self):
        """The allocator's peaks, in the steps since reset_peaks()."""
        if self.device.type != "cuda":
            return {}
        cuda = self.torch.cuda
        return {"allocated_bytes": cuda.max_memory_allocated(),
                "reserved_bytes": cuda.max_memory_reserved()}

    def reset_peaks(self):
        if self.device.type == "cuda":
            self.torch.cuda.reset_peak_memory_stats()


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.strip())
    name, variant, mode = sys.argv[1:]
    with open(os.path.join(HERE, "manifest.json"), encoding="utf-8") as file:
        model = next(each for each in json.load(file)["timed"]
                     if each["name"] == name)
    monitor = Monitor(DEVICE)
    used = monitor.used_bytes()
    import torch
    allows_tf32 = mode.endswith("TF32")
    torch.backends.cuda.matmul.allow_tf32 = allows_tf32
    torch.backends.cudnn.allow_tf32 = allows_tf32
    begin = time.perf_counter()
    step = Step(model, variant, mode.startswith("compiled"))
    for _ in range(model["settling"]):
        step()
    ready = time.perf_counter() - begin
    step.reset_peaks()
    times = time_steps(step, lambda: step.issue_seconds, monitor,
                       model["steps"], model["seconds"])
    print(json.dumps({
        **times, **step.memory(), "ready_seconds": ready,
        "device_bytes": difference(monitor.used_bytes(), used),
        "version": torch.__version__}))


if __name__ == "__main__":
    main()

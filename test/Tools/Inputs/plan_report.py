# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON that echo-plan wrote for two-layers.mlir; the arithmetic is
in echo-plan.test."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)

assert list(report) == ["strategy", "bytes", "by_structure", "by_layer", "ops",
                        "time", "overhead", "seconds"], list(report)
assert report["strategy"] == "echo"
assert report["bytes"] == {
    "persistent": 2112, "feature_maps": 4096, "logical_peak": 16712,
    "arena": 16832, "total": 18944}, report["bytes"]
assert report["by_structure"] == {
    "weights": 2112, "optimizer_state": 0, "feature_maps": 4096,
    "gradients": 4160, "inputs": 8452, "workspace": 0, "other": 4,
    "gaps": 120}, report["by_structure"]
assert [(layer["layer"], layer["bytes"], layer["feature_maps"])
        for layer in report["by_layer"]] == [
            ("", 8452, 0), ("net/first", 6144, 4096), ("net/second", 4224, 0),
            ("loss", 4, 0)], report["by_layer"]
assert report["by_layer"][1]["by_structure"] == {
    "weights": 2048, "optimizer_state": 0, "feature_maps": 4096,
    "gradients": 0, "inputs": 0, "workspace": 0, "other": 0}
assert report["ops"] == {"forward": 4, "backward": 7, "side": 0,
                         "recomputed": 0, "unwritten": 0}, report["ops"]
assert report["time"]["modelled"] == report["time"]["baseline"] > 137.216e-6
assert report["overhead"] == {"modelled": 0}, report["overhead"]
assert {"remat", "schedule", "placement"} <= set(report["seconds"])
assert all(seconds >= 0 for seconds in report["seconds"].values())

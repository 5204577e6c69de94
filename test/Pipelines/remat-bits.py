"""A step with rematerialization gives the bits of one without: results and all
parameters and states after three steps, whatever the strategy, fused and run on
the cpu target; and the arena of what is applied is smaller.

RUN: %python %s %t
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def path(name):
    return os.path.join(folder, name)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def train(step, name):
    """What three steps leave behind: every result, parameter and state."""
    run("echo-run", step, "--strategy=none", "--steps=3", "--seed=5",
        "--output=" + path(name), "--checkpoint=" + path(name + ".npz"))
    tensors = {file: np.load(path(name) + "/" + file)
               for file in sorted(os.listdir(path(name)))
               if file.endswith(".npy")}
    checkpoint = np.load(path(name + ".npz"))
    tensors.update({key: checkpoint[key] for key in checkpoint.files})
    return tensors


def plan(step, strategy):
    run("echo-plan", step, "--strategy=" + strategy,
        "--report=" + path("plan.json"), "--quiet")
    with open(path("plan.json")) as file:
        return json.load(file)


NMT = ["nmt", "--batch=3", "--src-len=5", "--tgt-len=6", "--hidden=8",
       "--embed=8", "--src-vocab=20", "--tgt-vocab=22", "--attention=mlp"]
LM = ["lstm-lm", "--batch=3", "--length=6", "--hidden=8", "--embed=8",
      "--vocab=20", "--layers=2"]
MODELS = [NMT + ["--layer-norm=" + norm, "--dropout=" + rate]
          for norm in ("true", "false") for rate in ("0", "0.2")]
MODELS += [LM + ["--dropout=" + rate] for rate in ("0", "0.3")]
MODELS += [NMT + ["--layer-norm=true", "--dropout=0", "--type=" + element]
           for element in ("f16", "bf16")]

for number, model in enumerate(MODELS):
    forward, step = path(f"{number}.mlir"), path(f"{number}.step.mlir")
    run("echo-zoo", *model, "-o", forward)
    run("echo-opt", forward, "--echo-training-step=optimizer=adam", "-o", step)
    expected = train(step, f"{number}.none")
    for strategy in ("mirror", "echo-paper", "echo"):
        again = path(f"{number}.{strategy}.mlir")
        run("echo-opt", step, "-o", again,
            f"--echo-remat=strategy={strategy} promise=none")
        with open(again) as file:
            text = file.read()
        assert "echo.optimization_barrier" in text, (model, strategy)
        if strategy == "echo-paper" and "--dropout=0" not in model:
            # Masks of dropout.
            assert "echo.debinarize" in text, model
        found = train(again, f"{number}.{strategy}")
        assert found.keys() == expected.keys()
        for name, tensor in expected.items():
            assert tensor.tobytes() == found[name].tobytes(), (
                model, strategy, name)
    without, applied = plan(step, "none"), plan(step, "echo")
    assert applied["bytes"]["arena"] <= without["bytes"]["arena"], model
    if model[0] == "nmt":
        # Attention's feature maps, [batch, source, hidden] a step, are gone.
        assert applied["ops"]["recomputed"] > 0
        assert applied["bytes"]["arena"] < without["bytes"]["arena"]

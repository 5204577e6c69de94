#!/bin/sh
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks and times Echo on a machine with a GPU, which has the driver, the CUDA
# Toolkit and PyTorch, and nothing of Echo:
#
#   tar xJf gpu-check.tar.xz && gpu-check/check.sh [OUTPUT-FOLDER]
#
# The archive is made by prepare.py. Every part has a time limit of its own,
# under 6 minutes in all, and may fail alone. Writes results.json and results.md
# into the folder (default: where it is called). Exits with 1 if a value was
# wrong or a check of Echo couldn't be made.
#
# DEVICE names another device than cuda (cuda:1; sim or cpu to try the script),
# PYTHON another Python than python3.

set -u
here=$(cd "$(dirname "$0")" && pwd)
output=${1:-.}
python=${PYTHON:-python3}
mkdir -p "$output" || exit 1
output=$(cd "$output" && pwd)
parts="$output/parts"
rm -rf "$parts"
mkdir -p "$parts" || exit 1

export ECHO_RUNTIME="$here/lib/libEchoRuntime.so"
export ECHO_LIBRARIES="$here/lib"
export ECHO_DEVICE="${DEVICE:-cuda}"

# part NAME SECONDS: runs a part; what it printed is kept.
part() {
  name=$1 seconds=$2
  begin=$(date +%s)
  timeout -k 5 "$seconds" "$python" "$here/check.py" "$name" "$parts" \
    >"$parts/$name.log" 2>&1
  code=$?
  end=$(date +%s)
  echo "$code $((end - begin)) $seconds" >"$parts/$name.status"
  echo "$name: exit code $code after $((end - begin)) s"
  [ $code -eq 0 ] || tail -n 5 "$parts/$name.log"
}

part machine 15
part kernels 30
part models 40
part sanitizer 60
part timing 70
part pytorch 120
exec "$python" "$here/check.py" report "$parts" "$output"

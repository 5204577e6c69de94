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
# into the folder (default: where it is called), and what the parts found into
# gpu-check-parts there. Exits with 1 if a value was wrong or a check of Echo
# couldn't be made, with 2 if it was called in a way that it doesn't know.
#
#   DEVICE          another device than cuda: cuda:1, or sim and cpu, to try the
#                   script
#   PYTORCH_DEVICE  another one for PyTorch
#   PYTHON          another Python than python3
#   PARTS           the parts to run (default: all): machine, kernels, models,
#                   sanitizer, timing, pytorch
#   LIMITS          other limits in seconds, "kernels=60 pytorch=200"

set -u
refuse() {
  echo "check.sh: $1, see check.sh --help" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd) || exit 1
case ${1:-} in
-h | --help)
  sed -n '6,/^$/s/^# \{0,1\}//p' "$here/check.sh"
  exit 0
  ;;
-*) refuse "unknown option '$1'" ;;
esac
[ $# -le 1 ] || refuse "expected one folder, found $#"
for name in ${PARTS:-} ${LIMITS:-}; do
  case " machine kernels models sanitizer timing pytorch " in
  *" ${name%%=*} "*) ;;
  *) refuse "there is no part '${name%%=*}'" ;;
  esac
done
for limit in ${LIMITS:-}; do
  case ${limit#*=} in
  '' | *[!0-9]*) refuse "expected PART=SECONDS in LIMITS, found '$limit'" ;;
  esac
done

output=${1:-.}
python=${PYTHON:-python3}
mkdir -p "$output" && output=$(cd "$output" && pwd) || exit 1
parts="$output/gpu-check-parts"
rm -rf "$parts"
mkdir -p "$parts" || exit 1

if ! "$python" -c ''; then
  echo '{"ok": false, "failed": ["python"]}' >"$output/results.json"
  echo "no Python: '$python' (PYTHON names another one)" |
    tee "$output/results.md"
  exit 1
fi

export ECHO_RUNTIME="$here/lib/libEchoRuntime.so"
export ECHO_DEVICE="${DEVICE:-cuda}"
export PYTHONDONTWRITEBYTECODE=1

# The process that runs; a signal ends it too.
running=
trap '[ -z "$running" ] || kill "$running"; exit 130' INT TERM
await() {
  running=$!
  wait "$running"
  code=$?
  running=
}

# part NAME SECONDS: runs a part; what it printed is kept.
part() {
  name=$1 seconds=$2
  case " ${PARTS:-$name} " in *" $name "*) ;; *) return ;; esac
  for limit in ${LIMITS:-}; do
    [ "${limit%%=*}" != "$name" ] || seconds=${limit#*=}
  done
  begin=$(date +%s)
  # Parts end by themselves 2 seconds before.
  timeout -k 2 "$seconds" "$python" "$here/check.py" "$name" "$parts" \
    "$seconds" >"$parts/$name.log" 2>&1 &
  await
  end=$(date +%s)
  echo "$code $((end - begin)) $seconds" >"$parts/$name.status"
  echo "$name: exit code $code after $((end - begin)) s"
  [ $code -eq 0 ] || tail -n 3 "$parts/$name.log"
}

# 335 seconds in all, and at most 2 more each.
part machine 15
part kernels 40
part models 40
part sanitizer 60
part timing 75
part pytorch 105
timeout -k 2 8 "$python" "$here/report.py" "$parts" "$output" &
await
exit $code

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job of `make run`: what Sextant is for, shown end to end. Usage: tools/main-job.sh PROGRAM
set -euo pipefail
sextant=$1

show() {
  printf '\n$ sextant %s\n\n' "$*"
  "$sextant" "$@"
}

show ops gemm --device h100-sxm --dtype bf16 -m 4096 -n 4096 -k 4096
show train --model gpt3-175b --system dgx-a100 --gpus 64 --tp 8 --pp 8 --interleave 3 --sp --recompute selective \
  --microbatch 1 --batch 64 --seq 2048
show validate
printf '\nGo on with: %s --help, %s list, or another shape or device above.\n' "$sextant" "$sextant"

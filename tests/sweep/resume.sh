#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep that is killed, that finds no room, or that is asked to stop goes on to the same table.
# Usage: resume.sh PROGRAM DEVICES
# shellcheck source=tests/sweep/common.sh
program=$(realpath "$1")
. "$(dirname "$(realpath "$0")")/common.sh"
write_plan "$2"
"$program" sweep plan.toml -o reference.db --threads 2 >/dev/null
table reference.db >reference.txt
[ "$(wc -l <reference.txt)" = $((20 * $2)) ] || { echo "the reference is not whole" >&2; exit 1; }

# Killed once rows are committed.
"$program" sweep plan.toml -o killed.db --threads 2 >/dev/null 2>&1 &
background=$!
wait_for_rows killed.db "$background"
kill -KILL "$background" 2>/dev/null || true
wait "$background" 2>/dev/null || true
background=0
killed=$(rows killed.db)
"$program" sweep plan.toml -o killed.db --resume --threads 2 >/dev/null
same killed.db "killed after $killed rows"

# Asked to stop: it says how to go on, and what it had is there.
"$program" sweep plan.toml -o stopped.db --threads 2 >/dev/null 2>stopped.err &
background=$!
wait_for_rows stopped.db "$background"
status=0
kill -INT "$background" 2>/dev/null || true
wait "$background" || status=$?
background=0
if [ "$(rows stopped.db)" -lt $((20 * $2)) ]; then
  [ "$status" = 3 ] || { echo "stopped: status $status" >&2; exit 1; }
  grep -q -- --resume stopped.err || { cat stopped.err >&2; exit 1; }
fi
"$program" sweep plan.toml -o stopped.db --resume --threads 2 >/dev/null
same stopped.db "stopped"

# Files that may not grow beyond a size: the system kills what tries, wherever it is.
size=8
while [ "$size" -le 512 ]; do
  (
    ulimit -f "$size"
    exec "$program" sweep plan.toml -o small.db --resume --threads 1 >/dev/null 2>&1
  ) || true
  size=$((size * 4))
done 2>/dev/null
"$program" sweep plan.toml -o small.db --resume --threads 1 >/dev/null
same small.db "without room"

# A write that fails instead: what is said to be added is there.
status=0
(
  trap '' XFSZ
  ulimit -f 96
  exec "$program" sweep plan.toml -o full.db --threads 1 >/dev/null 2>full.err
) || status=$?
[ "$status" = 3 ] || { echo "full: status $status" >&2; cat full.err >&2; exit 1; }
said=$(sed -nE 's/.*[^0-9,]([0-9,]+) points were added.*/\1/p' full.err | tr -d ,)
[ "$(rows full.db)" = "$said" ] || { echo "full: $(rows full.db) rows, said $said" >&2; cat full.err >&2; exit 1; }
"$program" sweep plan.toml -o full.db --resume --threads 1 >/dev/null
same full.db "full, of $said rows"
echo "the same table after a kill at $killed of $((20 * $2)) rows, a stop, and full disks"

# SPDX-License-Identifier: Apache-2.0
# What the tests of sweeps share: an empty folder, a plan that takes a while, tables to compare.
set -euo pipefail
folder=$(mktemp -d)
background=0
finish() {
  if [ "$background" -gt 0 ]; then kill -KILL "$background" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
# A program that is killed may leave its memory to the system; unit tests look for leaks.
export ASAN_OPTIONS=detect_leaks=0
cd "$folder"

write_plan() { # DEVICES: twenty points each
  cat >plan.toml <<END
kind = "train"
energy = true  # which takes time
[base]
model = "gpt3-175b"
system = "dgx-a100"
gpus = 512
batch = 512
[[axis]]
field = "device.memory.bandwidth"
from = "1 TB/s"
to = "8 TB/s"
points = $1
[[axis]]
field = "tp"
values = [1, 2, 3, 4, 8]
[[axis]]
field = "pp"
values = [1, 2, 4, 8]
END
}

table() { # DATABASE: all of it, as text
  sqlite3 -cmd '.timeout 60000' "$1" 'SELECT * FROM results ORDER BY point'
}

rows() { # DATABASE: how many; none where there is no table yet
  sqlite3 -cmd '.timeout 60000' "$1" 'SELECT count(*) FROM results' 2>/dev/null || echo 0
}

same() { # DATABASE WHAT: its table is the reference
  table "$1" >"$1.txt"
  if ! cmp -s reference.txt "$1.txt"; then
    echo "$2: another table than the reference"
    diff reference.txt "$1.txt" | head -n 5
    exit 1
  fi
  [ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ] || { echo "$2: damaged" >&2; exit 1; }
}

wait_for_rows() { # DATABASE PROCESS: until some are committed, or the process has ended
  while kill -0 "$2" 2>/dev/null && [ "$(rows "$1")" = 0 ]; do sleep 0.02; done
}

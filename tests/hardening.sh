#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the linker and the compiler were asked for is in the binary. Usage: hardening.sh PROGRAM
set -euo pipefail
program=$1
failed=0
must() { # WHAT PATTERN TEXT
  grep -qE -- "$2" <<<"$3" || { echo "$1 is missing"; failed=1; }
}
headers=$(readelf -Wh -Wl "$program")
dynamic=$(readelf -Wd "$program")
symbols=$(readelf -W --dyn-syms "$program")
must "a load address of its own each time (PIE)" 'Type: +DYN' "$headers"
must "read-only relocations" 'GNU_RELRO' "$headers"
must "all symbols bound at the start" 'BIND_NOW|FLAGS_1.*NOW' "$dynamic"
must "the stack protector" '__stack_chk_fail' "$symbols"
must "checked library calls (_FORTIFY_SOURCE)" '__[a-z]+_chk' "$symbols"
# What the compiler leaves no symbol for, as it is written on this machine: where an indirect jump may land, and that a
# large frame touches every page of the stack.
if grep -q 'X86-64' <<<"$headers"; then
  code() { # WHAT BYTES LEAST
    [ "$(LC_ALL=C grep -oaP -- "$2" "$program" | wc -l)" -ge "$3" ] || { echo "$1 is missing"; failed=1; }
  }
  code "branch protection" '\xf3\x0f\x1e\xfa' 1000
  code "stack-clash protection" '\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00' 10
fi
grep -qE 'GNU_STACK.* RWE' <<<"$headers" && { echo "the stack is executable"; failed=1; }
# The same source gives the same bytes wherever it lies, so the folder it was built in must not be inside.
grep -qaF -- "$(cd "$(dirname "$program")" && pwd)" "$program" && { echo "the folder of the build is inside"; failed=1; }
exit "$failed"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats all C++ sources, or with --check says which are not formatted.
set -eu
cd "$(dirname "$0")/.."

files=$(find src tests bench fuzz -name '*.[ch]pp' 2>/dev/null | LC_ALL=C sort)
[ -n "$files" ] || exit 0
if [ "${1-}" = --check ]; then
  # Other versions format otherwise; their opinion would only confuse.
  if ! clang-format --version | grep -q 'version 14\.'; then
    echo "format: needs clang-format 14, not checked"
    exit 0
  fi
  xargs clang-format --dry-run -Werror <<<"$files" 2>&1 | grep -oE '^[^ :]+:[0-9]+' |
    sort -t: -uk1,1 | sed "s/$/: not formatted; run 'make format'/" >&2
  [ "${PIPESTATUS[0]}" = 0 ]
else
  xargs clang-format -i <<<"$files"
fi

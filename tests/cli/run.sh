#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a conversation with the program. Usage: run.sh PROGRAM FILE.test
#
#   # what this shows
#   $ sextant show no-such-thing        a shell command; `sextant` is the program under test
#   status 2                            its exit status; 0 where nothing is said
#   out TEXT-PATTERN                    some line of its output matches (grep -E)
#   err did you mean                    the same of standard error
#   no-out PATTERN, no-err PATTERN      no line matches
#
# Commands run one after another in an empty folder, which later ones find as earlier ones left it.
set -euo pipefail
program=$(realpath "$1")
conversation=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$program" "$folder/bin/sextant"
export PATH="$folder/bin:$PATH" LC_ALL=C.UTF-8 NO_COLOR=1 COLUMNS=100
# A program that ends may leave its memory to the system; unit tests look for leaks.
export ASAN_OPTIONS=detect_leaks=0
SEXTANT_SOURCE=$(cd "$(dirname "$conversation")/../.." && pwd)
export SEXTANT_SOURCE
cd "$folder/work"

line_number=0
command=""
status=0
expected_status=0
commands=0
expectations=0
failures=0

fail() { # MESSAGE
  failures=$((failures + 1))
  echo "$(basename "$conversation"):$command_line: \$ $command"
  echo "    $1"
  if [ "$failures" -le 3 ]; then
    sed 's/^/    out | /' "$folder/out" | head -n 20
    sed 's/^/    err | /' "$folder/err" | head -n 20
  fi
}
end_command() {
  [ -n "$command" ] || return 0
  [ "$status" = "$expected_status" ] || fail "exit status $status, expected $expected_status"
  command=""
}
expect() { # out|err yes|no PATTERN
  expectations=$((expectations + 1))
  local found=no
  if grep -qE -- "$3" "$folder/$1"; then found=yes; fi
  [ "$found" = "$2" ] || fail "$1: '$3' was $([ "$2" = yes ] && echo "not found" || echo "found")"
}

while IFS= read -r line || [ -n "$line" ]; do
  line_number=$((line_number + 1))
  case $line in
    '' | '#'*) ;;
    '$ '*)
      end_command
      command=${line#\$ }
      command_line=$line_number
      commands=$((commands + 1))
      expected_status=0
      status=0
      bash -c "$command" >"$folder/out" 2>"$folder/err" </dev/null || status=$?
      ;;
    'status '*) expected_status=${line#status } ;;
    'out '*) expect out yes "${line#out }" ;;
    'err '*) expect err yes "${line#err }" ;;
    'no-out '*) expect out no "${line#no-out }" ;;
    'no-err '*) expect err no "${line#no-err }" ;;
    *)
      echo "$(basename "$conversation"):$line_number: not understood: $line" >&2
      exit 2
      ;;
  esac
done <"$conversation"
end_command

[ "$commands" -gt 0 ] || { echo "no commands in $conversation" >&2; exit 2; }
echo "$commands commands, $expectations expectations, $failures failures"
[ "$failures" = 0 ]

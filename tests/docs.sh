#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every `sextant …` line in a sh block of the documents runs and answers. A block that starts with
# ```toml NAME or ```json NAME is a file of that name for them. Usage: docs.sh PROGRAM FILE.md…
set -euo pipefail
program=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$program" "$folder/bin/sextant"
export PATH="$folder/bin:$PATH"
commands=0
studies=$(sextant study no-such-study 2>&1 || true)
for document in "$@"; do
  document=$(realpath "$document")
  for name in $(sed -nE 's/^```(toml|json) ([a-z0-9.-]+)$/\2/p' "$document"); do
    sed -nE "/^\`\`\`(toml|json) $name\$/,/^\`\`\`\$/p" "$document" | sed '1d;$d' >"$folder/work/$name"
  done
  while IFS= read -r command; do
    commands=$((commands + 1))
    # One takes half a minute, and tests/cli/study.test runs them all: here each has to be one of them.
    if [[ $command =~ ^sextant\ study\ ([a-z-]+)$ ]] && [[ $studies == *" ${BASH_REMATCH[1]},"* ]]; then continue; fi
    if ! (cd "$folder/work" && bash -c "$command" >"$folder/out" 2>&1); then
      echo "$(basename "$document"): $command"
      sed 's/^/    /' "$folder/out"
      exit 1
    fi
  done < <(sed -n '/^```sh$/,/^```$/p' "$document" | sed -e ':a' -e '/\\$/{N;s/\\\n *//;ta' -e '}' |
    grep '^sextant ' || true)
done
[ "$commands" -gt 0 ] || { echo "no commands found" >&2; exit 1; }
echo "$commands commands of the documents run"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shells accept the completions, bash completes as people expect, and troff has nothing to say about the
# manual pages. Shells that are not installed are passed over. Usage: manual.sh FOLDER
set -euo pipefail
folder=$1
failures=0

fail() {
  echo "$1"
  failures=$((failures + 1))
}
have() { command -v "$1" >/dev/null; }

bash -n "$folder/completions/sextant" || fail "bash does not read its completion"
! have zsh || zsh -n "$folder/completions/_sextant" || fail "zsh does not read its completion"
! have fish || fish --no-execute "$folder/completions/sextant.fish" || fail "fish does not read its completion"

# shellcheck source=/dev/null
source "$folder/completions/sextant"
complete_words() { # WORD…: what is offered for the last of them
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _sextant
  printf '%s\n' "${COMPREPLY[@]}"
}
offers() { # OFFERED WORD…
  local offered
  offered=$(complete_words "${@:2}")  # whole: grep -q would leave while it is being written
  grep -qxF -- "$1" <<<"$offered" || fail "'${*:2}' does not offer $1"
}
offers train sextant tr
offers ops sextant ""
offers gemm sextant ops ""
offers --recompute sextant train --re
offers selective sextant train --recompute ""
offers gpt3-175b sextant train --model gpt3-
offers --kv-heads sextant ops attention --kv
offers devices sextant list ""
offers h100-sxm sextant show h100
offers dram-scaling sextant study d
offers --no-sp sextant train --no
offers --port sextant serve --p

if have groff; then
  for page in "$folder"/man/man1/*.1; do
    warnings=$(groff -ww -k -man -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "$warnings"
  done
fi
[ "$failures" = 0 ] || exit 1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what compilers do not: modules depend one way only, third-party headers stay in their one
# file, every file says its licence. Usage: tools/check-source.sh [ROOT]
set -euo pipefail
shopt -s extglob
cd "${1:-"$(dirname "$0")/.."}"

# What each module of src/sextant may include, besides itself. A new module gets a line here.
declare -A may_include=(
  [units]=""
  [spec]="units"
  [graph]="units spec"
  [cost]="units spec graph"
  [io]="units spec serving profile"
  [report]="units spec graph cost io predict serving"
  [predict]="units spec graph cost"
  [run]="units spec graph cost predict"
  [serving]="units spec graph cost predict"
  [profile]="units spec cost graph"
  [tech]="units spec graph cost predict"
  [scenario]="units spec graph cost predict run io"
  [import]="units spec graph cost predict run io scenario"
  [search]="units spec graph cost predict scenario serving"
  [validate]="units spec graph cost io predict scenario serving"
  [sweep]="units spec graph cost predict serving tech io scenario search"
  [study]="units spec graph cost predict run scenario tech io report validate"
  [design]="units spec graph cost predict scenario tech io report validate study search"
  [answer]="units spec graph cost predict serving run profile tech io report validate search sweep study design scenario import"
  [options]="units spec graph cost predict serving run profile tech io report validate search sweep study design scenario import answer"
  [ask]="units spec graph cost predict serving run profile tech io report validate search sweep study design scenario import answer options"
)
# No files, sockets, clocks or printing here: these serve a program, a server and a page alike.
core="units spec graph cost predict serving profile run tech search report sweep answer"
# The places that start threads.
with_threads="src/sextant/search/parallel.hpp src/sextant/sweep/parallel.hpp"
# Each third-party header and the one place that may include it.
third_party=(
  'toml\+\+/|<toml\.hpp     src/sextant/io/toml.cpp'
  '<nlopt                   src/sextant/validate/fit.cpp'
  '<sqlite3                 src/sextant/io/store.cpp'
  '<mpi                     src/mpi/*'
  '<CLI/                    src/cli/*'
  '<httplib                 src/server/exchange.cpp'
  '<zlib                    src/sextant/io/inflate.cpp'
  '<pybind11/               src/python/module.cpp'
)
# Headers that print, wait or open files.
core_forbids='<(iostream|fstream|filesystem|thread|mutex|unistd\.h|sys/|cstdio>)'
max_lines=900
# Spelt in parts, so that this file passes its own check.
unfinished="TO""DO|FIX""ME|XX""X|HA""CK"

problems=0
problem() {
  echo "$1"
  problems=$((problems + 1))
}

# Each check is one search through all files: a process a file and a pattern would take most of a minute.
# report MESSAGE PATTERN FILE…: one problem per line of the files that matches.
report() {
  local message=$1 pattern=$2 file line
  shift 2
  [ $# -gt 0 ] || return 0
  while IFS=: read -r file line _; do problem "$file:$line: $message"; done < <(grep -nHE -- "$pattern" "$@" || true)
}

# select_files PATTERN…: those of `files` that match one of the patterns, in the array `selected`.
select_files() {
  local file pattern
  selected=()
  for file in "${files[@]}"; do
    for pattern in "$@"; do
      # shellcheck disable=SC2053  # a pattern
      if [[ $file == $pattern ]]; then
        selected+=("$file")
        break
      fi
    done
  done
}

check_modules() {
  local file line text module target modules=() inside=()
  select_files 'src/sextant/*/*.?pp'
  [ ${#selected[@]} -gt 0 ] || return 0
  report "the library may not include the program" '^ *# *include *"(cli|server)/' "${selected[@]}"
  for file in "${selected[@]}"; do
    module=${file#src/sextant/}
    module=${module%%/*}
    if [ -z "${may_include[$module]+known}" ]; then
      problem "$file:1: module '$module' is not in the table of tools/check-source.sh"
      continue
    fi
    case $file in *_test.cpp | */test_*.hpp) continue ;; esac  # a test may set the scene with any module
    modules+=("$file")
    case " $with_threads " in *" $file "*) continue ;; esac
    case " $core " in *" $module "*) inside+=("$file") ;; esac
  done
  report "no input, output or threads in the core" "^ *# *include *$core_forbids" "${inside[@]}"
  [ ${#modules[@]} -gt 0 ] || return 0
  while IFS=: read -r file line text; do
    module=${file#src/sextant/}
    module=${module%%/*}
    target=${text#*\"sextant/}
    target=${target%%[/\"]*}
    case " $module ${may_include[$module]} " in
      *" $target "*) ;;
      *) problem "$file:$line: module '$module' may not include '$target'" ;;
    esac
  done < <(grep -nHE '^ *# *include *"sextant/' "${modules[@]}" || true)
}

check_third_party() {
  local entry pattern home file others
  select_files '*.[ch]pp'
  for entry in "${third_party[@]}"; do
    read -r pattern home <<<"$entry"
    others=()
    for file in "${selected[@]}"; do
      # shellcheck disable=SC2053  # the home is a pattern
      [[ $file == $home ]] || others+=("$file")
    done
    report "this header belongs to $home alone" "^ *# *include.*($pattern)" "${others[@]}"
  done
}

# A page without a server has none of these libraries: its list of sources leaves out who needs them.
check_site() {
  local entry pattern home
  [ -f src/site/CMakeLists.txt ] || return 0
  for entry in "${third_party[@]}"; do
    read -r pattern home <<<"$entry"
    case $home in *toml.cpp) continue ;; src/sextant/*.cpp) ;; *) continue ;; esac
    home=${home#src/sextant/}
    grep -qF "${home%.cpp}|" src/site/CMakeLists.txt ||
      problem "src/site/CMakeLists.txt: ${home} needs $pattern> and is not left out"
  done
}

check_texts() {
  local file head lines
  declare -A licensed=()
  while IFS= read -r file; do licensed[$file]=yes; done < <(awk '
    FNR == 1 { first = /^#!/ ? 2 : 1 }
    FNR == first && /SPDX-License-Identifier: Apache-2.0/ { print FILENAME }' "${files[@]}")
  for file in "${files[@]}"; do
    [ -z "${licensed[$file]+yes}" ] || continue
    head=""
    read -r head <"$file" || true
    case $head in
      '#!'*) problem "$file:2: the SPDX line is missing" ;;
      *) problem "$file:1: the SPDX line is missing" ;;
    esac
  done
  report "unfinished; finish it or open an issue" "\\b($unfinished)\\b" "${files[@]}"
  while read -r lines file; do
    [ "$lines" -le "$max_lines" ] || [ "$file" = total ] || problem "$file:1: more than $max_lines lines"
  done < <(wc -l "${files[@]}")
  select_files '*.cpp' '*.hpp' '*.cmake' '*CMakeLists.txt' '*.sh'
  report "a tab; indent with spaces" $'\t' "${selected[@]}"
}

# Two types of one name in one namespace are one to the linker, which keeps one destructor for both.
# Test programs that are never linked together may each have their own.
check_names() {
  local twice
  twice=$(printf '%s\n' "${files[@]}" | grep -v '_test\.' | grep '\.[ch]pp$' | xargs awk '
    FNR == 1 { space = ""; hidden = 0 }
    /^namespace \{/ { hidden = 1; next }
    /^\}  \/\/ namespace$/ { hidden = 0; next }
    /^namespace [A-Za-z:]+ \{/ { space = $2; next }
    /^(struct|class) [A-Za-z]+[^;]*\{/ && !hidden {
      name = space "::" $2
      if (name in at && at[name] != FILENAME) print FILENAME ":" FNR ": " name " is also in " at[name]
      at[name] = FILENAME
    }')
  [ -z "$twice" ] || problem "$twice"
}

mapfile -t files < <(find . -mindepth 1 \( -name '.?*' -o -name 'build*' -o -name node_modules \) -prune -o -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.sh' \
  -o -name Makefile \) -print | sed 's|^\./||' | LC_ALL=C sort)
check_texts
check_third_party
select_files '*.[ch]pp'
report "include from the root of src" '^ *# *include *"\.' "${selected[@]}"
select_files '*.hpp'
while IFS= read -r file; do problem "$file:1: #pragma once is missing"; done < <(grep -L '^#pragma once' "${selected[@]}")
select_files 'src/cli/!(main).?pp' 'src/cli/main.hpp'
report "commands know no server" '^ *# *include *"server/' "${selected[@]}"
# Commands are thin: what they know lives in src/sextant.
lines=$(cat src/cli/*.[ch]pp 2>/dev/null | wc -l)
if [ "$lines" -ge 4000 ]; then problem "src/cli:1: $lines lines, at most 3999"; fi
check_modules
check_names
check_site

if [ "$problems" -gt 0 ]; then
  echo "$problems problems in ${#files[@]} files" >&2
  exit 1
fi
echo "${#files[@]} files in order"
